"""The YAML as written: plain values, each with its place, and the comments beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clusterspec.records import dataclass, field
from clusterspec.source import Path, Source, Span


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands, and its key where it has one (the root and list items have none)."""

    key: Span | None
    value: Span


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its ``#``; ``alone`` when nothing else is on its line."""

    file: str
    line: int
    column: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document, its bases merged in.

    ``value`` holds only dict, list, str, int, float, bool and None, and every dict key is a str.
    ``places`` has an entry for each path of ``value``, naming the file the value comes from.
    ``sources`` are all the texts read, by name. ``partial`` is true when a file named by
    ``extends`` could not be had: what seems absent may have stood there.
    """

    source: Source
    value: Any
    places: Mapping[Path, Place]
    comments: tuple[Comment, ...] = ()
    sources: Mapping[str, Source] = field(default_factory=dict)
    partial: bool = False
