"""Text of YAML files: safe decoding, positions of offsets, output of plain values, and application of edits."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path as FilePath

from clusterspec.finding import Edit, Problem
from clusterspec.patterns import pattern
from clusterspec.source import Position, Source, Span

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    """The first ``most`` + 1 bytes of a file, so that `forbidden_character_problem` detects a larger one.

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


# Plain values as YAML text


def dump(value: Any) -> str:
    """The YAML text of a plain value, one key per line. `parse` restores the value."""
    import yaml

    text: str = yaml.dump(value, Dumper=yaml.SafeDumper, sort_keys=False, allow_unicode=True, width=100)
    return text


# Application of edits to a text

_MARK = "\ufeff"


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text with all edits applied. Equal edits apply once; of two that overlap, the first applies.

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
