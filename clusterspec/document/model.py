"""YAML documents: plain values with positions, and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from clusterspec.records import dataclass, field
from clusterspec.source import Path, Source, Span

if TYPE_CHECKING:
    from clusterspec.document.source_text import Lines

    Offsets = tuple[Lines, int, int, int, int]
    """The lines of a text, the start and end of a key (-1 without one), and those of its value."""


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a value, and of its key; None for the root and list items."""

    key: Span | None
    value: Span


class Places(Mapping[Path, Place]):
    """The places of all values of a document by path, each computed from its offsets when it is used."""

    def __init__(self, offsets: Mapping[Path, Offsets]) -> None:
        self.offsets = offsets

    def __getitem__(self, path: Path) -> Place:
        lines, key, key_end, start, end = self.offsets[path]
        return Place(lines.span(key, key_end) if key >= 0 else None, lines.span(start, end))

    def __contains__(self, path: object) -> bool:
        return path in self.offsets

    def __iter__(self) -> Iterator[Path]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its ``#``; ``alone`` if nothing else is on its line."""

    file: str
    line: int
    column: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML document with its bases merged in.

    ``value`` consists of dict, list, str, int, float, bool and None; dict keys are str.
    ``places`` has an entry for each path of ``value``, with the file it comes from. ``sources`` are
    all texts read, by name. ``partial`` is true if a file of ``extends`` could not be read, so that
    absent keys may be defined there.
    """

    source: Source
    value: Any
    places: Places
    comments: tuple[Comment, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    partial: bool = False
