"""The `Document`: plain values, the position of each key and value, comments; and findings from key paths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.document.source_text import Lines
from clusterspec.finding import Edit, Finding, Fix, Problem
from clusterspec.records import dataclass, field
from clusterspec.source import Path, Position, Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Offsets = tuple[Lines, int, int, int, int]
"""Offsets in a text: of its lines, of the start and end of a key (-1 without a key), and of the key's value."""


# YAML documents: plain values with positions, and comments


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Comment:
    """A comment with its ``#``; ``alone`` if nothing else is on its line."""

    file: str
    line: int
    column: int
    text: str
    alone: bool


@dataclass(frozen=True)
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

    @property
    def may_have_waivers(self) -> bool:
        """Whether a comment names the program, as every waiver does, in whatever case."""
        return any("clusterspec" in comment.text.casefold() for comment in self.comments)

    @property
    def remarks(self) -> str:
        """What the text says outside its keys: its description and its comments."""
        described = self.value.get("description") if isinstance(self.value, dict) else None
        return ". ".join([described if isinstance(described, str) else "", *(each.text for each in self.comments)])


# Conversion of key paths to lines: the only place that does it


def to_finding(problem: Problem, document: Document | None, source: Source) -> Finding:
    """The finding of a problem with the document of ``source``.

    If the text could not be parsed (``document`` is None), a problem without a span points at the first line.
    """
    document = document or Document(source, None, _unparsed_places(source), sources={source.name: source})
    related = tuple((_related_span(document, where), words) for where, words in problem.related)
    span = problem.span or locate(document, problem.path, at_key=problem.at_key)
    return Finding(
        rule=problem.rule,
        severity=problem.severity,
        confidence=problem.confidence,
        message=problem.message,
        help=problem.help,
        span=span,
        path=problem.path,
        related=related,
        fix_description=problem.fix.description if problem.fix else "",
        edits=_fix_edits(problem.fix, document),
        fix_safe=problem.fix is not None and problem.fix.safe,
        written=_written_value(problem, span, document),
    )


def _written_value(problem: Problem, span: Span, document: Document) -> str:
    """The value that a problem refers to, as written; in text without paths, the span or its line."""
    if problem.path and problem.path in document.places:
        value = document.value
        for key in problem.path:
            value = value[key]
        return "" if isinstance(value, dict) else text_at(document, problem.path)
    if problem.span is None or span.file not in document.sources:
        return ""
    line = document.sources[span.file].line(span.start.line)
    marked = line[span.start.column - 1 : span.end.column - 1] if span.start.line == span.end.line else ""
    return marked if len(marked) > 1 else line.strip()


def _unparsed_places(source: Source) -> Places:
    """The places of a text that could not be parsed: only its start."""
    return Places({(): (Lines(Source(source.name, "")), -1, -1, 0, 0)})


def locate(document: Document, path: Path, *, at_key: bool = False) -> Span:
    """The span of a path: its value, or its key with ``at_key`` or if the value has several lines.

    An absent path has the span of its nearest present ancestor; the first item of a list that is written as one value
    has the span of that value.
    """
    present = path
    while present not in document.places:
        present = present[:-1]
    place = document.places[present]
    if not present:
        return _document_span(document)
    is_absent = path[len(present) :] not in {(), (0,)}
    if place.key and (at_key or is_absent or not _fits_a_line(place.value)):
        return place.key
    return _first_line(document, place.value)


def _related_span(document: Document, where: Path | Span) -> Span:
    return where if isinstance(where, Span) else locate(document, where)


def _fits_a_line(span: Span) -> bool:
    return span.start.line == span.end.line and span.start != span.end


def _first_line(document: Document, span: Span) -> Span:
    """A span limited to its first line, so that a block is not underlined entirely."""
    if span.start.line == span.end.line:
        return span
    text = document.sources[span.file].line(span.start.line).rstrip()
    return Span(span.file, span.start, Position(span.start.line, max(len(text) + 1, span.start.column)))


def _document_span(document: Document) -> Span:
    """The span that represents the whole document: its first key, or its first line."""
    if isinstance(document.value, dict):
        for name in document.value:
            place = document.places.get((name,))
            if place is not None and place.key and place.key.file == document.source.name:
                return place.key
    return _first_line(document, document.places[()].value)


def _fix_edits(fix: Fix | None, document: Document) -> tuple[Edit, ...]:
    """The edits of a fix; empty if one of its paths is absent."""
    if fix is None:
        return ()
    places = [document.places.get(replacement.path) for replacement in fix.replacements]
    if any(place is None for place in places):
        return ()
    spans = [_edit_span(place, key=wanted.key) for place, wanted in zip(places, fix.replacements, strict=True) if place]
    if any(span is None for span in spans):
        return ()
    edits = [
        Edit(span, wanted.text, wanted.path, wanted.key)
        for span, wanted in zip(spans, fix.replacements, strict=True)
        if span
    ]
    return tuple(sorted(edits, key=lambda edit: (edit.span.file, edit.span.start)))


def _edit_span(place: Place, *, key: bool) -> Span | None:
    return place.key if key else place.value


def text_at(document: Document, path: Path) -> str:
    """A value as written, including quotes; empty if the path is absent."""
    place = document.places.get(path)
    if place is None:
        return ""
    source, (start, end) = document.sources[place.value.file], (place.value.start, place.value.end)
    if start.line == end.line:
        return source.line(start.line)[start.column - 1 : end.column - 1]
    between = [source.line(number) for number in range(start.line + 1, end.line)]
    return "\n".join([source.line(start.line)[start.column - 1 :], *between, source.line(end.line)[: end.column - 1]])
