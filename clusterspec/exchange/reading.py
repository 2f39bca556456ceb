"""What an importer returns: keys of a spec, counts and unknown parts, each with the file and line it came from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clusterspec.records import dataclass, field
from clusterspec.source import Path, dotted

Value = str | int | float | bool | None | Sequence["Value"] | Mapping[str, "Value"]
"""A value of a spec as YAML holds it; quantities are text with their unit."""


class Refusal(Exception):
    """Why a file cannot be read as what it was taken for; ``line`` counts from 1, 0 for the whole file."""

    def __init__(self, why: str, line: int = 0) -> None:
        super().__init__(f"line {line}: {why}" if line else why)


@dataclass(frozen=True, slots=True)
class At:
    """The line of a file; 0 for the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Given:
    """One key of the spec that a file states. ``appended`` values are items of the list at ``path``."""

    path: Path
    value: Value
    at: At
    appended: bool = False


@dataclass(frozen=True, slots=True)
class Count:
    """A number that a file shows and that has no key in the spec, such as the links of one accelerator."""

    name: str
    value: int | float | str
    at: At


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part of a file that was not taken over, and why."""

    what: str
    why: str
    at: At


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one or more files state, in the order in which they state it."""

    kind: str
    given: tuple[Given, ...] = ()
    counts: tuple[Count, ...] = ()
    unknown: tuple[Unknown, ...] = ()

    def value(self, path: Path) -> Value:
        """What is given for a key; None where nothing is."""
        return next((each.value for each in self.given if each.path == path and not each.appended), None)

    def number(self, name: str) -> int | float | str | None:
        """A count by its name; None where the file does not show it."""
        return next((each.value for each in self.counts if each.name == name), None)


@dataclass(slots=True)
class Notes:
    """Collects a reading while one file is read."""

    kind: str
    file: str
    given: list[Given] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)
    unknowns: list[Unknown] = field(default_factory=list)

    def give(self, path: str, value: Value, line: int = 0) -> None:
        """States a key, written with dots. A key without a value is left out."""
        if value is not None:
            self.given.append(Given(tuple(path.split(".")), value, At(self.file, line)))

    def append(self, path: str, item: Value, line: int = 0) -> None:
        """States one more item of a list."""
        self.given.append(Given(tuple(path.split(".")), item, At(self.file, line), appended=True))

    def count(self, name: str, value: int | float | str | None, line: int = 0) -> None:
        """States a number without a key. A number that the file does not show is left out."""
        if value is not None:
            self.counts.append(Count(name, value, At(self.file, line)))

    def unknown(self, what: str, why: str, line: int = 0) -> None:
        """Lists a part that was not taken over."""
        self.unknowns.append(Unknown(what, why, At(self.file, line)))

    def reading(self) -> Reading:
        return Reading(self.kind, tuple(self.given), tuple(self.counts), tuple(self.unknowns))


def joined(readings: Iterable[Reading]) -> Reading:
    """Several readings as one. Of two different values of a key the first is kept, the second listed as unknown."""
    all_of = list(readings)
    given: dict[Path, Given] = {}
    items: list[Given] = []
    unknown = [each for reading in all_of for each in reading.unknown]
    for each in (given_ for reading in all_of for given_ in reading.given):
        first = given.setdefault(each.path, each) if not each.appended else None
        if first is None:
            items.append(each)
        elif first.value != each.value:
            why = f"{first.at} states {shown(first.value)}, which is kept"
            unknown.append(Unknown(f"{dotted(each.path)}: {shown(each.value)}", why, each.at))
    kinds = " + ".join(dict.fromkeys(reading.kind for reading in all_of))
    counts = tuple(count for reading in all_of for count in reading.counts)
    return Reading(kinds, (*given.values(), *items), counts, tuple(unknown))


def shown(value: Value) -> str:
    """A value in one line."""
    from clusterspec.exchange.yaml_text import flow

    return flow(value)


def to_json(reading: Reading) -> dict[str, Any]:
    """A reading for programs: the spec that it states, and each part with its file and line."""
    from clusterspec.exchange.merge import tree

    def place(at: At) -> dict[str, Any]:
        return {"file": at.file, "line": at.line or None}

    return {
        "kind": reading.kind,
        "spec": tree(reading),
        "provenance": [{"path": dotted(each.path), "value": each.value, **place(each.at)} for each in reading.given],
        "counts": {each.name: each.value for each in reading.counts},
        "unknown": [{"what": each.what, "why": each.why, **place(each.at)} for each in reading.unknown],
    }
