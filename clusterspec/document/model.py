"""The text of a YAML file; its `Document`, with the position of each key; findings from key paths."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path as FilePath

from clusterspec.finding import Edit, Finding, Fix, Problem, Replacement
from clusterspec.records import dataclass, field
from clusterspec.source import Path, Position, Source, Span
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EDITOR_COMMENT = "yaml-language-server:"
"""The content of a comment that names the schema for editors."""

# Decoding of bytes to text that is safe to parse, and conversion of offsets to positions

LARGEST = 1024 * 1024
"""The largest file read. A cluster spec of a thousand lines has some 40 kB."""

_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags to open a file without waiting for a writer, and without changing its line ends."""
_PART = 64 * 1024
"""Bytes read at a time."""
_PRINTABLE = bytes([9, 10, *range(0x20, 0x7F)])


def _is_harmless(text: str) -> bool:
    """Whether a text has only printable ASCII and line feeds, as nearly all specs do."""
    return text.isascii() and not text.encode("ascii").translate(None, _PRINTABLE)


@cache
def _forbidden_pattern() -> re.Pattern[str]:
    """The pattern of forbidden characters; compiled only for texts with non-ASCII characters."""
    return pattern(
        "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # not printable in YAML 1.2
        "|\r(?!\n)"  # and characters that only some readers treat as line ends
    )


_DIRECTIVE = pattern(r"^%[^\n]*", re.MULTILINE)
_MAX_DIRECTIVES = 8  # libyaml compares each %TAG with all before it
_NAMES = {
    "\r": "a carriage return without a line feed",
    "\x00": "a NUL character",
    "\x85": "a next-line character (U+0085)",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
}


class Lines:
    """Converts offsets of a text to positions."""

    def __init__(self, source: Source) -> None:
        self._file = source.name
        self._text = source.text
        self._starts: list[int] = []

    def position(self, offset: int) -> Position:
        if not self._starts:
            self._starts = [0, *accumulate(len(line) + 1 for line in self._text.split("\n"))]
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def span(self, start: int, end: int) -> Span:
        return Span(self._file, self.position(start), self.position(end))


def unreadable_problem(span: Span, message: str, advice: str = "") -> Problem:
    """A problem with the text itself, which has no key path."""
    return Problem("unreadable-yaml", (), message, advice, span=span)


def read_bytes(path: FilePath | str, most: int = LARGEST) -> bytes:
    """The bytes of a file, at most ``most`` + 1, so that `forbidden_character_problem` detects a file that is too
    large.

    A pipe without a writer reads as empty, without waiting. Raises `OSError`, and `ValueError` for an invalid name.
    """
    opened = os.open(path, os.O_RDONLY | _AT_ONCE)
    parts: list[bytes] = []
    left = most + 1
    try:
        while left and (part := _next_bytes(opened, min(left, _PART))):
            parts.append(part)
            left -= len(part)
    except OSError as fault:
        raise type(fault)(fault.errno, fault.strerror, os.fspath(path)) from None
    finally:
        os.close(opened)
    return b"".join(parts)


def _next_bytes(opened: int, most: int) -> bytes:
    """The next bytes of an open file. Waits for a pipe that has a writer."""
    try:
        return os.read(opened, most)
    except BlockingIOError:
        os.set_blocking(opened, True)
        return os.read(opened, most)


def decode(name: str, data: bytes) -> Source:
    """The text of a file. Bytes that are not UTF-8 become lone surrogates: see `forbidden_character_problem`."""
    return Source(name, data.decode("utf-8", "surrogateescape"))


def encode(text: str) -> bytes:
    """The bytes of a text, the inverse of `decode`.

    A surrogate that no file yields, but an editor or a program may pass, becomes three bytes.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def forbidden_character_problem(source: Source, lines: Lines) -> Problem | None:
    """The first problem that prevents parsing a text, or None."""
    if source.text.startswith(("\udcff\udcfe", "\udcfe\udcff", "\0\0\udcfe\udcff")):
        return unreadable_problem(lines.span(0, 0), "the file is encoded in UTF-16 or UTF-32", "save it as UTF-8")
    if not _is_harmless(source.text) and (match := _forbidden_pattern().search(source.text)):
        return _not_yaml_problem(match[0], lines.span(*match.span()))
    if len(source.text.encode("utf-8")) > LARGEST:
        return unreadable_problem(lines.span(0, 0), f"the file is larger than {LARGEST // 1024} KiB, the maximum")
    directives = list(_DIRECTIVE.finditer(source.text)) if "%" in source.text else []
    if len(directives) > _MAX_DIRECTIVES:
        span = lines.span(*directives[_MAX_DIRECTIVES].span())
        return unreadable_problem(span, f"more than {_MAX_DIRECTIVES} lines begin with %", "a spec needs none of them")
    return None


def _not_yaml_problem(character: str, span: Span) -> Problem:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return unreadable_problem(span, f"the byte 0x{code - 0xDC00:02X} here is not UTF-8", "save the file as UTF-8")
    name = _NAMES.get(character, f"the character U+{code:04X}")
    return unreadable_problem(span, f"{name} is not allowed in YAML", "delete it")


# Application of edits to a text

_MARK = "\ufeff"


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits applied. Equal edits apply once; if two overlap, only the first applies.

    A byte order mark at the start of ``text`` is kept and does not count as a column.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    text = text[len(mark) :]
    parts, done = [mark], 0
    for start, end, edit in _applied_edits(text, edits):
        parts += [text[done:start], edit.text]
        done = end
    return "".join([*parts, text[done:]])


def applied_edits(text: str, edits: Iterable[Edit]) -> list[Edit]:
    """The edits that `apply_edits` applies, in text order."""
    return [edit for _, _, edit in _applied_edits(text.removeprefix(_MARK), edits)]


def _applied_edits(text: str, edits: Iterable[Edit]) -> Iterator[tuple[int, int, Edit]]:
    """The edits that do not overlap an earlier edit, each with the offsets of the replaced text."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def offset(at: Position) -> int:
        return min(starts[min(at.line, len(starts)) - 1] + at.column - 1, len(text))

    done = 0
    for edit in sorted(set(edits), key=lambda edit: (edit.span.start, edit.span.end)):
        start, end = offset(edit.span.start), offset(edit.span.end)
        if start >= done and end >= start:
            done = end
            yield start, end, edit


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
    all texts read, by name. ``partial`` is true if a file of ``extends`` or a further document
    of the text could not be read, so that absent keys may be defined there.
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
        """The text of a document outside its keys: its description and its comments, except the comment for editors."""
        stated = self.value.get("description") if isinstance(self.value, dict) else None
        described = stated if isinstance(stated, str) else ""
        told = [each for each in self.comments if EDITOR_COMMENT not in each.text]
        if not told and "\n" not in described:
            return described
        from clusterspec.document.comments import joined_comments, running_text  # one line loads nothing

        return ". ".join([running_text(described), *joined_comments(told)])


# Conversion of key paths to lines: the only place that does it


def to_finding(problem: Problem, document: Document | None, source: Source) -> Finding:
    """The finding of a problem with the document of ``source``.

    If the text could not be parsed (``document`` is None), a problem without a span points at the first line.
    """
    document = document or Document(source, None, _unparsed_places(source), sources={source.name: source})
    related = tuple(
        (where if isinstance(where, Span) else locate(document, where), words) for where, words in problem.related
    )
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
    """The value that a problem refers to, as written; for running text, the text of the span or its line."""
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
    edits = [_edit_of(document, wanted) for wanted in fix.replacements]
    found = [edit for edit in edits if edit is not None]
    return tuple(sorted(found, key=lambda edit: (edit.span.file, edit.span.start))) if len(found) == len(edits) else ()


def _edit_of(document: Document, replacement: Replacement) -> Edit | None:
    """The edit of a replacement. A block below its key is replaced by a value on the key's line. None if a comment
    follows the key, since the value would end up after it.
    """
    place = document.places[replacement.path]
    if replacement.key or place.key is None or place.value.start.line == place.key.end.line:
        span = place.key if replacement.key else place.value
        return Edit(span, replacement.text, replacement.path, replacement.key) if span else None
    _, _, key_end, start, _ = document.places.offsets[replacement.path]
    between = document.sources.get(place.value.file, document.source).text[key_end:start]
    if between.strip() != ":":
        return None
    colon = Position(place.key.end.line, place.key.end.column + 1 + between.index(":"))
    return Edit(Span(place.value.file, colon, place.value.end), f" {replacement.text}", replacement.path)


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
