"""Results of importers: spec keys, counts and unknown parts, each with its file and line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clusterspec.records import dataclass, field
from clusterspec.source import Path, dotted

Value = str | int | float | bool | None | Sequence["Value"] | Mapping[str, "Value"]
"""A value of a spec as YAML holds it; quantities are text with their unit."""


class FormatError(Exception):
    """Raised, with the reason, if a file cannot be read in its format; ``line`` counts from 1, 0 for the whole file."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {why}" if line else why)


class UnresolvedSpec(FormatError):
    """Raised, with the reason, if a spec is too faulty or incomplete for what is asked of it."""


@dataclass(frozen=True, slots=True)
class FileLine:
    """A line of a file; 0 for the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class ImportedValue:
    """A key of the spec with its value from a file. ``appended`` values are items of the list at ``path``."""

    path: Path
    value: Value
    at: FileLine
    appended: bool = False


@dataclass(frozen=True, slots=True)
class ObservedCount:
    """A number in a file that has no key in the spec, such as the links of one accelerator."""

    name: str
    value: int | float | str
    at: FileLine


@dataclass(frozen=True, slots=True)
class SkippedPart:
    """A part of a file that was not imported, and the reason."""

    what: str
    why: str
    at: FileLine


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The content of one or more imported files, in their order."""

    kind: str
    given: tuple[ImportedValue, ...] = ()
    counts: tuple[ObservedCount, ...] = ()
    unknown: tuple[SkippedPart, ...] = ()

    def value(self, path: Path) -> Value:
        """The value of a key; None if it is absent."""
        return next((each.value for each in self.given if each.path == path and not each.appended), None)

    def number(self, name: str) -> int | float | str | None:
        """A count by name; None if it is absent."""
        return next((each.value for each in self.counts if each.name == name), None)


@dataclass(slots=True)
class ImportBuilder:
    """Collects the import result of one file."""

    kind: str
    file: str
    given: list[ImportedValue] = field(default_factory=list)
    counts: list[ObservedCount] = field(default_factory=list)
    unknowns: list[SkippedPart] = field(default_factory=list)

    def set(self, path: str, value: Value, line: int = 0) -> None:
        """Set a key, given as a dotted path; ignored if the value is None."""
        if value is not None:
            self.given.append(ImportedValue(tuple(path.split(".")), value, FileLine(self.file, line)))

    def append(self, path: str, item: Value, line: int = 0) -> None:
        """Append an item to a list."""
        self.given.append(ImportedValue(tuple(path.split(".")), item, FileLine(self.file, line), appended=True))

    def count(self, name: str, value: int | float | str | None, line: int = 0) -> None:
        """Record a number that has no key; ignored if the value is None."""
        if value is not None:
            self.counts.append(ObservedCount(name, value, FileLine(self.file, line)))

    def unknown(self, what: str, why: str, line: int = 0) -> None:
        """Record a part that was not imported."""
        self.unknowns.append(SkippedPart(what, why, FileLine(self.file, line)))

    def reading(self) -> ImportResult:
        return ImportResult(self.kind, tuple(self.given), tuple(self.counts), tuple(self.unknowns))


def combined(readings: Iterable[ImportResult]) -> ImportResult:
    """Several import results as one. If two values of a key differ, the first is kept, the second listed as unknown."""
    all_of = list(readings)
    given: dict[Path, ImportedValue] = {}
    items: list[ImportedValue] = []
    unknown = [each for reading in all_of for each in reading.unknown]
    for each in (given_ for reading in all_of for given_ in reading.given):
        first = given.setdefault(each.path, each) if not each.appended else None
        if first is None:
            items.append(each)
        elif first.value != each.value:
            why = f"{first.at} states {shown(first.value)}, which is kept"
            unknown.append(SkippedPart(f"{dotted(each.path)}: {shown(each.value)}", why, each.at))
    kinds = " + ".join(dict.fromkeys(reading.kind for reading in all_of))
    counts = tuple(count for reading in all_of for count in reading.counts)
    return ImportResult(kinds, (*given.values(), *items), counts, tuple(unknown))


def shown(value: Value) -> str:
    """A value as one line of text."""
    from clusterspec.exchange.yaml_text import flow

    return flow(value)


def to_json(reading: ImportResult) -> dict[str, Any]:
    """An import result as JSON: the spec, and each part with its file and line."""
    from clusterspec.exchange.merge import tree

    def place(at: FileLine) -> dict[str, Any]:
        return {"file": at.file, "line": at.line or None}

    return {
        "kind": reading.kind,
        "spec": tree(reading),
        "provenance": [{"path": dotted(each.path), "value": each.value, **place(each.at)} for each in reading.given],
        "counts": {each.name: each.value for each in reading.counts},
        "unknown": [{"what": each.what, "why": each.why, **place(each.at)} for each in reading.unknown],
    }
