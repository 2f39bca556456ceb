"""YAML documents: plain values with positions, and comments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterspec.records import dataclass, field
from clusterspec.source import Path, Source, Span


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a value, and of its key; None for the root and list items."""

    key: Span | None
    value: Span


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
    places: Mapping[Path, Place]
    comments: tuple[Comment, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    partial: bool = False
