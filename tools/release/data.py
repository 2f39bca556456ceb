"""Dated releases of the catalog's data, apart from those of the program.

``python -m tools.release.data changes OLD [NEW]`` prints what differs by value between two states of the catalog, each
a revision of git or a folder. ``... cut catalog-2026.11`` locks the state at hand: a line in ``catalog/releases.csv``
with its version and counts, the changes by value since the release before in ``catalog/CHANGES.md``, and version and
day in ``CITATION.cff``. A release that is cut again in its month replaces itself.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from clusterspec.records import dataclass

ROOT = Path(__file__).resolve().parents[2]
CATALOG, CITATION = ROOT / "catalog", ROOT / "CITATION.cff"
COLUMNS = ("release", "day", "version", "commit", "entries", "facts")
NAME = re.compile(r"catalog-20\d\d\.(0[1-9]|1[0-2])")
FIRST = "af7ab52f"
"""The first state that could be exported under the license of the data: what the first release is compared with."""
SECTIONS = ("facts", "achievable", "status")
PARTS = "known-parts.csv"
Facts = dict[str, dict[str, str]]
"""By entry (``accelerator/a100-sxm-80gb``), each figure's text by its path."""


@dataclass(frozen=True)
class Changes:
    """Differences between two states: entries by name, figures by entry as (path, before, after)."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: dict[str, tuple[tuple[str, str, str], ...]]
    filled: dict[str, int]
    parts: tuple[str, ...] = ()
    """Added parts without an entry, by vendor and name."""


def facts_of(files: Mapping[str, str]) -> Facts:
    """The figures of a catalog from the texts of its files, by path below ``catalog/``."""
    found: Facts = {}
    for text in files.values():
        entry = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        figures = {key: value for section in SECTIONS for key, value in _flat_figures(section, entry.get(section, {}))}
        found[f"{entry['kind']}/{entry['id']}"] = figures
    return found


def _flat_figures(path: str, node: Any) -> Iterator[tuple[str, str]]:
    """Figures below a node: a mapping with ``is`` is one figure, whatever else it says of sources and notes."""
    if isinstance(node, dict):
        if "is" in node:
            yield path, _text(node["is"])
        else:
            for key, value in node.items():
                yield from _flat_figures(f"{path}.{key}", value)
    elif node is not None:
        yield path, _text(node)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def changes(before: Facts, after: Facts) -> Changes:
    """The added, removed and changed values.

    >>> found = changes({"nic/a": {"facts.ports": "1"}}, {"nic/a": {"facts.ports": "2", "facts.year": "2026"}})
    >>> found.changed, found.filled
    ({'nic/a': (('ports', '1', '2'),)}, {'nic/a': 1})
    """
    changed, filled = {}, {}
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        pairs = tuple(
            (_short_path(key), old[key], new[key]) for key in sorted(old.keys() & new.keys()) if old[key] != new[key]
        )
        gone = tuple((_short_path(key), old[key], "–") for key in sorted(old.keys() - new.keys()))
        if pairs or gone:
            changed[name] = (*pairs, *gone)
        if new.keys() - old.keys():
            filled[name] = len(new.keys() - old.keys())
    added, removed = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
    return Changes(tuple(added), tuple(removed), changed, filled)


def added_parts(before: str, after: str) -> tuple[str, ...]:
    """The parts without an entry, by vendor and name, that the second text of their table has and the first has not.

    >>> added_parts("kind,name,vendor\\n", "kind,name,vendor\\ndrive,9650,Micron\\n")
    ('Micron 9650',)
    """
    names = [[f"{row['vendor']} {row['name']}" for row in csv.DictReader(one.splitlines())] for one in (before, after)]
    return tuple(each for each in names[1] if each not in names[0])


def read_parts(revision: str) -> str:
    """The table of parts without an entry of a revision of git."""
    shown = ["git", "show", f"{revision}:catalog/{PARTS}"]
    return subprocess.run(shown, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def _short_path(path: str) -> str:
    return path.removeprefix("facts.")


def read_state(state: str) -> Facts:
    """The figures of a folder or of a revision of git."""
    if Path(state).is_dir():
        return facts_of({str(file): file.read_text("utf-8") for file in sorted(Path(state).rglob("*.yaml"))})
    packed = subprocess.run(["git", "archive", state, "catalog"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        members = [one for one in archive.getmembers() if one.name.endswith(".yaml")]
        return facts_of({one.name: _member(archive, one) for one in members})


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    return file.read().decode() if file else ""


def releases() -> list[dict[str, str]]:
    """The releases that were cut, oldest first."""
    file = CATALOG / "releases.csv"
    return list(csv.DictReader(file.read_text("utf-8").splitlines())) if file.exists() else []


def page(name: str, since: str, changes: Changes) -> str:
    """The changes of a release as Markdown."""
    figures, more = sum(map(len, changes.changed.values())), sum(changes.filled.values())
    lines = [
        f"## {name}\n",
        f"Since {since}: {len(changes.added)} entries added, {len(changes.removed)} removed, {figures} figures of"
        f" {len(changes.changed)} entries changed, {more} figures added to {len(changes.filled)} entries.\n",
    ]
    titles = (
        ("Added", changes.added),
        ("Removed", changes.removed),
        ("Parts without an entry added", changes.parts),
    )
    for title, names in titles:
        if names:
            lines.append(f"{title}: {', '.join(names)}.\n")
    if changes.changed:
        lines += ["| entry | figure | before | after |", "|---|---|---|---|"]
        rows = ((entry, *row) for entry, pairs in changes.changed.items() for row in pairs)
        lines += [f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in rows]
        lines.append("")
    return "\n".join(lines)


HEAD = """# Changes of the catalog's data

By release of the data, newest first, each figure with its value before and after. Written by
`python -m tools.release.data cut`; sources, notes and days of reading are not compared.

"""


def cut(name: str, day: str) -> None:
    """Locks the state at hand as a release."""
    if not NAME.fullmatch(name):
        raise SystemExit(f"{name} is not a release of the data: catalog-YEAR.MONTH, such as catalog-2026.11")
    earlier = [row for row in releases() if row["release"] != name]
    since, base = (earlier[-1]["release"], earlier[-1]["commit"]) if earlier else (f"the first export ({FIRST})", FIRST)
    after = read_state(str(CATALOG))
    version = (CATALOG / "VERSION").read_text("utf-8").strip()
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    row = {"release": name, "day": day, "version": version, "commit": commit.strip()[:12]}
    row |= {"entries": str(len(after)), "facts": str(sum(map(len, after.values())))}
    with (CATALOG / "releases.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*earlier, row])
    log = CATALOG / "CHANGES.md"
    older = re.split(r"(?m)^(?=## )", log.read_text("utf-8"))[1:] if log.exists() else []
    kept = [section for section in older if not section.startswith(f"## {name}\n")]
    parts = added_parts(read_parts(base), (CATALOG / PARTS).read_text("utf-8")) if earlier else ()
    found = replace(changes(read_state(base), after), parts=parts)
    log.write_text(HEAD + "\n".join([page(name, since, found), *kept]), "utf-8")
    text = re.sub(r"(?m)^(version|date-released): .*\n", "", CITATION.read_text("utf-8"))
    CITATION.write_text(f"{text.rstrip()}\nversion: {name}\ndate-released: {day}\n", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.release.data", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    compare = actions.add_parser("changes", help="what differs by value between two states")
    compare.add_argument("old")
    compare.add_argument("new", nargs="?", default=str(CATALOG))
    release = actions.add_parser("cut", help="lock the state at hand")
    release.add_argument("name")
    release.add_argument("--day", required=True, help="the day of the release, such as 2026-11-21")
    chosen = parser.parse_args()
    if chosen.action == "cut":
        cut(chosen.name, chosen.day)
    else:
        print(page(chosen.new, chosen.old, changes(read_state(chosen.old), read_state(chosen.new))))


if __name__ == "__main__":
    main()
