"""From bytes to text that is safe to parse, and from offsets to positions."""

from __future__ import annotations

import re
from bisect import bisect_right

from clusterspec.finding import Problem
from clusterspec.source import Position, Source, Span

MAX_BYTES = 1024 * 1024
"""The largest file read. A cluster spec of a thousand lines has some 40 kB."""

_FORBIDDEN = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"  # not printable in YAML 1.2
    "|\r(?!\n)"  # and what breaks a line for some readers and not for others
)
_DIRECTIVE = re.compile(r"^%[^\n]*", re.MULTILINE)
_MAX_DIRECTIVES = 8  # libyaml compares each %TAG with all before it
_NAMES = {
    "\r": "a carriage return without a line feed",
    "\x00": "a NUL character",
    "\x85": "a next-line character (U+0085)",
    "\u2028": "a line separator (U+2028)",
    "\u2029": "a paragraph separator (U+2029)",
}


class Lines:
    """Turns offsets into one text into positions."""

    def __init__(self, source: Source) -> None:
        self._file = source.name
        self._starts = [0, *(match.end() for match in re.finditer("\n", source.text))]

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def span(self, start: int, end: int) -> Span:
        return Span(self._file, self.position(start), self.position(end))


def unreadable(span: Span, message: str, advice: str = "") -> Problem:
    """A problem with the text itself, which no key path can name."""
    return Problem("unreadable-yaml", (), message, advice, span=span)


def decode(name: str, data: bytes) -> Source | Problem:
    """The text of a file, or why it has none. A byte order mark is dropped."""
    top = Span(name, Position(1, 1), Position(1, 1))
    if len(data) > MAX_BYTES:
        return unreadable(top, f"the file is larger than {MAX_BYTES // 1024} KiB, the most that is read")
    if data.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")):
        return unreadable(top, "the file is encoded in UTF-16 or UTF-32", "save it as UTF-8")
    try:
        return Source(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        before = Source(name, data[: error.start].decode("utf-8", "replace"))
        byte = data[error.start] if error.start < len(data) else 0
        lines = Lines(before)
        span = lines.span(len(before.text), len(before.text))
        return unreadable(span, f"the byte 0x{byte:02X} here is not UTF-8", "save the file as UTF-8")


def forbidden(source: Source, lines: Lines) -> Problem | None:
    """The first character that may not stand in a YAML text, where there is one."""
    if match := _FORBIDDEN.search(source.text):
        character = match[0]
        name = _NAMES.get(character, f"the control character U+{ord(character):04X}")
        if 0xD800 <= ord(character) <= 0xDFFF:
            name = f"half of a surrogate pair (U+{ord(character):04X})"
        return unreadable(lines.span(*match.span()), f"{name} may not stand in YAML", "delete it")
    directives = list(_DIRECTIVE.finditer(source.text))
    if len(directives) > _MAX_DIRECTIVES:
        span = lines.span(*directives[_MAX_DIRECTIVES].span())
        return unreadable(span, f"more than {_MAX_DIRECTIVES} lines begin with %", "a spec needs none of them")
    return None
