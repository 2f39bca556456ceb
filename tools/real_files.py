"""Real files of other projects and what the importers read in them: ``python -m tools.real_files [--clones DIR]``.

``tests/exchange/real.csv`` lists addresses (repository, commit, path) and facts, not files. A fact is ``key=value``,
``#name=value`` (a count), ``measured.key=value`` (of the only entry of ``measured:``), ``not=key`` (nothing may be
stated) or ``refused``; ``refused or `` before other facts allows both. Files come from clones in ``DIR``
(``OWNER+NAME``, ``OWNER/NAME``, or either with a folder ``repo``), else from GitHub, and are kept in ``out/real``.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from clusterspec.exchange import import_formats
from clusterspec.exchange.import_result import FormatError, ImportResult, InputFile

LIST = Path(__file__).parents[1] / "tests" / "exchange" / "real.csv"
KEPT = Path("out/real")
LARGEST = 32 << 20


class RealFile(NamedTuple):
    """One row of the list: an address, the part of the file to read, and the facts expected, apart by semicolons."""

    repository: str
    commit: str
    path: str
    kind: str
    part: str
    facts: str


def listed(path: Path = LIST) -> list[RealFile]:
    """The rows of the list."""
    with path.open(newline="") as lines:
        return [RealFile(*row) for row in list(csv.reader(lines))[1:]]


class Absent(NamedTuple):
    """Why a file is not to be had, in words that counts are grouped by."""

    why: str


_UNANSWERED = Absent("no clone, and GitHub does not answer")


def content(file: RealFile, clones: Path | None, unanswered: set[str] | None = None) -> bytes | Absent:
    """The bytes of a file, from a clone, the kept copy or GitHub, or why none of them has it.

    ``unanswered`` collects addresses that did not answer: once there is one, none is asked again.
    """
    names = (file.repository.replace("/", "+"), file.repository)
    folders = [clones / name / inner for name in names for inner in ("repo", "")] if clones else []
    if folder := next((folder for folder in folders if folder.is_dir()), None):
        return _content_of_clone(file, folder)
    kept = KEPT / file.repository / file.commit / file.path
    if kept.is_file():
        return kept.read_bytes()
    if unanswered:
        return _UNANSWERED
    address = f"https://raw.githubusercontent.com/{file.repository}/{file.commit}/{quote(file.path)}"
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            data: bytes = answer.read(LARGEST)
    except urllib.error.HTTPError as fault:
        return Absent(f"GitHub answers {fault.code}")
    except OSError:
        if unanswered is not None:
            unanswered.add(address)
        return _UNANSWERED
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(data)
    return data


def _content_of_clone(file: RealFile, folder: Path) -> bytes | Absent:
    """The bytes of a file in a clone, or what the clone lacks: the commit, the path or the content."""
    git = ["git", "-C", str(folder)]
    done = subprocess.run([*git, "show", f"{file.commit}:{file.path}"], capture_output=True, check=False)
    if done.returncode == 0:
        pointer = done.stdout.startswith(b"version https://git-lfs.github.com/spec/")
        return Absent("the clone has a pointer of Git LFS") if pointer else done.stdout
    commit = subprocess.run([*git, "cat-file", "-e", f"{file.commit}^{{commit}}"], capture_output=True, check=False)
    return Absent("the clone lacks the path" if commit.returncode == 0 else "the clone lacks the commit")


def outcome(file: RealFile, data: bytes) -> tuple[str, str]:
    """How a file was read: right, wrong (a fact contradicted), left out, or refused rightly or wrongly; and why."""
    given = InputFile(file.path.rsplit("/", 1)[-1], data, int(file.part) if file.part else None)
    try:
        kind = import_formats.format_named(file.kind) if file.part else import_formats.guessed_format(given)
        reading = kind.read(given)
    except FormatError as why:
        return ("refused rightly" if file.facts.startswith("refused") else "refused wrongly"), str(why)[:120]
    if file.facts == "refused":
        return "wrong", "read, and should be refused"
    contradicted, lacking = [], []
    for fact, expected, found in _compared_facts(file.facts.removeprefix("refused or "), reading):
        if found is None:
            lacking.append(fact)
        elif found != expected:
            contradicted.append(f"{fact} is {found}, not {expected}")
    if contradicted:
        return "wrong", "; ".join(contradicted)
    return ("left out" if lacking else "right"), ", ".join(lacking)


def _compared_facts(facts: str, reading: ImportResult) -> Iterator[tuple[str, str, str | None]]:
    """Each fact with the value expected and the one found."""
    stated = {".".join(map(str, each.path)): str(each.value) for each in reading.given}
    entries = [each.value for each in reading.given if each.appended and each.path == ("measured",)]
    if len(entries) == 1 and isinstance(entries[0], dict):
        stated |= {f"measured.{key}": str(value) for key, value in entries[0].items()}
    counted = {f"#{each.name}": str(each.value) for each in reading.counts}
    for fact in facts.split("; "):
        name, _, value = fact.partition("=")
        if name == "not":
            yield f"not {value}", "nothing", stated.get(value, "nothing")
        else:
            yield name, value, (counted if name.startswith("#") else stated).get(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clones", type=Path, help="a folder of clones")
    parser.add_argument("--list", type=Path, default=LIST, help="the list of files")
    given = parser.parse_args()
    clones = given.clones
    totals: dict[str, Counter[str]] = {}
    unanswered = set[str]()
    for file in listed(given.list):
        data = content(file, clones, unanswered)
        how, why = (f"not to be had ({data.why})", "") if isinstance(data, Absent) else outcome(file, data)
        totals.setdefault(file.kind, Counter())[how] += 1
        if how not in {"right", "refused rightly"} and data is not _UNANSWERED:
            print(f"{how}: {file.repository} {file.path} {file.part}: {why}")
    for kind, counts in sorted(totals.items()):
        print(f"{kind}: {', '.join(f'{count} {how}' for how, count in counts.most_common())}")
    whole = sum(totals.values(), Counter[str]())
    print(f"{whole.total()} files: {', '.join(f'{count} {how}' for how, count in whole.most_common())}")
    return 1 if whole["wrong"] or whole["refused wrongly"] else 0


if __name__ == "__main__":
    sys.exit(main())
