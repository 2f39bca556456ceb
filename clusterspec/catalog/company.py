"""Faults of company catalog folders: entries that are invalid, misplaced, or refer to unknown ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path as FilePath

from clusterspec.catalog.folders import FOLDER_OF_KIND, KINDS, Folders
from clusterspec.catalog.library import BrokenEntry, Catalog
from clusterspec.catalog.raw_entry import RawEntry
from clusterspec.document import decode, parse, read_bytes, to_finding
from clusterspec.finding import Finding, Problem
from clusterspec.records import dataclass
from clusterspec.source import Position, Source, Span

REFERENCES = {
    "accelerator": {
        "scale_up.interconnects": "interconnect",
        "scale_out.technology": "interconnect",
        "kernels": "kernels",
    },
    "kernels": {"accelerator": "accelerator"},
    "platform": {
        "accelerator": "accelerator",
        "interconnect": "interconnect",
        "technologies": "interconnect",
        "nic": "nic",
    },
}
"""Facts whose value is the id of another entry, and of which kind that is."""
DEEPEST = 3
"""Folders below a catalog folder that are searched for misplaced entries."""
MOST = 1_000
"""Files of a catalog folder that are searched for misplaced entries."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file of a catalog folder with its findings."""

    source: Source
    findings: tuple[Finding, ...]


def checked_files(folders: Sequence[FilePath]) -> Iterator[CheckedFile]:
    """The YAML files of catalog folders with their findings; entries may refer to each other and to shipped ones.

    Raises `NotADirectoryError` if a folder does not exist, `UnreadableFolder` if it cannot be read.
    """
    whole = Catalog.open(folders)
    for folder in folders:
        own, files = Catalog.open([folder]), Folders([folder])
        for kind in KINDS:
            for id_, file in files.files(kind).items():
                yield CheckedFile(_source(FilePath(file)), _faults(own, whole, kind, id_))
        yield from (_misplaced(file, why, help_) for file, why, help_ in _misplaced_files(folder))


def _faults(own: Catalog, catalog: Catalog, kind: str, id_: str) -> tuple[Finding, ...]:
    try:
        own.get(kind, id_)
    except BrokenEntry as broken:
        return broken.findings
    return tuple(own.finding(kind, id_, problem) for problem in _unknown(catalog, own.raw_entry(kind, id_)))


def _unknown(catalog: Catalog, entry: RawEntry) -> Iterator[Problem]:
    """The problems of references to unknown ids."""
    for name, kind in REFERENCES.get(entry.kind, {}).items():
        fact = entry.facts.get(name)
        value = fact.value if fact else []
        for id_ in value if isinstance(value, list) else [value]:
            if fact and str(id_) not in catalog.ids(kind):
                near = catalog.nearest(kind, str(id_))
                advice = f"did you mean {', '.join(near)}?" if near else f"`clusterspec catalog list {kind}` lists them"
                yield Problem("unknown-catalog-id", fact.path, f"no {kind} `{id_}` in the catalog", advice)


def _misplaced_files(folder: FilePath) -> Iterator[tuple[FilePath, str, str]]:
    """The YAML files of a catalog folder that are not read, each with the reason and the advice."""
    places = {place: kind for kind, place in FOLDER_OF_KIND.items()}
    found = (file for file in sorted(folder.rglob("*.y*ml"))[:MOST] if file.suffix in {".yaml", ".yml"})
    for file in found:
        *parents, _ = file.relative_to(folder).parts
        if any(part.startswith(".") for part in file.relative_to(folder).parts) or len(parents) > DEEPEST:
            continue
        if len(parents) == 1 and parents[0] in places:
            if file.suffix == ".yml":
                yield file, "an entry is a file with the suffix .yaml", f"rename it to {file.stem}.yaml"
            continue
        why = f"{'/'.join(parents)} is not a folder of entries" if parents else "this is outside the folders of entries"
        near = get_close_matches(parents[0], places, n=1) if parents else []
        known = ", ".join(FOLDER_OF_KIND.values())
        kind = _kind(file)
        place = FOLDER_OF_KIND.get(kind or "", near[0] if near else "")
        yield (
            file,
            f"{why}; it is not read",
            f"move it to {place}/{file.stem}.yaml" if place else f"entries are in the folders {known}",
        )


def _kind(file: FilePath) -> str | None:
    """The kind that a misplaced entry names; None where it names none."""
    try:
        document, _ = parse(decode(str(file), read_bytes(file)))
    except OSError:
        return None
    value = document.value if document is not None else None
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if isinstance(kind, str) else None


def _source(file: FilePath) -> Source:
    try:
        return decode(str(file), read_bytes(file))
    except OSError:
        return Source(str(file), "")


def _misplaced(file: FilePath, why: str, help_: str) -> CheckedFile:
    source, top = _source(file), Position(1, 1)
    span = Span(source.name, top, top)
    return CheckedFile(
        source, (to_finding(Problem("catalog-entry-misplaced", (), why, help_, span=span), None, source),)
    )
