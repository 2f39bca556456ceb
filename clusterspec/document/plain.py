"""Parser of plain YAML, the subset in which nearly all specs and catalog entries are written.

Plain YAML has block mappings and lists with keys and values on one line, flow mappings and lists, and quoted or
unquoted single-line scalars. Other texts, with anchors, tags, escapes, block scalars or tabs, are parsed by PyYAML,
whose import takes a sixth of a check. A test compares both parsers on every spec of the project, on mutated and on
random texts.
"""

from __future__ import annotations

import re

from clusterspec.document.events import Event

_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,99}(?=:(?: |\n|\Z))")
_QUOTED = re.compile(r""""[^"\\\n]*"|'(?:[^'\n]|'')*'""")
_GAP = re.compile(r"(?:(?: |\n(?=[ \n]))+(?:#[^\n]*)?)*")
"""Space between two tokens of a flow collection; continuation lines are indented."""
_WORD = r"[^ \n,\[\]{}:#?]|:(?=[^ \n,\[\]{}])"
_FLOW_SCALAR = re.compile(rf"""(?:[^ \n,\[\]{{}}:#?&*!|>'"%@`-]|-(?=[0-9A-Za-z.]))(?:{_WORD}| +(?={_WORD}))*""")
_INDICATORS = frozenset("?:,[]{}#&*!|>'\"%@`")
_DEEPEST = 40
"""Maximum nesting of flow collections, more than any accepted document has."""


class _NotPlainError(Exception):
    """Raised for a text that is not plain YAML."""


def events(text: str) -> list[Event] | None:
    """The events of a plain YAML text; None for other texts."""
    if "\t" in text or "\r" in text or "\ufeff" in text:
        return None
    try:
        return _PlainParser(text).read()
    except _NotPlainError:
        return None


class _PlainParser:
    """Parses a text line by line; ``opened`` are the block collections around a line, each with its column."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Event] = []
        self.opened: list[tuple[int, str]] = []
        self.waiting = True
        """Whether a key has no value yet, as at the start of the text."""

    def read(self) -> list[Event]:
        at, text = 0, self.text
        while at < len(text):
            start = at
            while text.startswith(" ", at):
                at += 1
            if text.startswith("#", at) or text.startswith("\n", at):
                at = self._next_line(at)
            elif at < len(text):
                at = self._line(at, at - start)
        if self.waiting:
            raise _NotPlainError  # an empty text, or a key without a value
        self._close(-1)
        return self.found

    def _next_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def _close(self, column: int) -> None:
        """Ends the block collections that are indented deeper than a line."""
        while self.opened and self.opened[-1][0] > column:
            self.opened.pop()
            self.found.append(Event("end", 0, 0))

    def _line(self, at: int, column: int) -> int:
        """Reads the entry that starts at an offset; returns the start of the next line."""
        item = self.text.startswith("- ", at)
        kind = "list" if item else "mapping"
        if self.waiting:
            deepest, around = self.opened[-1] if self.opened else (-1, "mapping")
            beside = item and around == "mapping" and column == deepest  # a list may start at the column of its key
            if column <= deepest and not beside:
                raise _NotPlainError
            self._open(kind, at, column)
        else:
            self._close(column)
            if not item and self.opened[-2:] == [(column, "mapping"), (column, "list")]:
                self.opened.pop()
                self.found.append(Event("end", 0, 0))
            if not self.opened or self.opened[-1] != (column, kind):
                raise _NotPlainError
        if not item:
            return self._pair(at)
        first = at + 2
        while self.text.startswith(" ", first):
            first += 1
        if _KEY.match(self.text, first):
            self._open("mapping", first, column + first - at)
            return self._pair(first)
        return self._value(first)

    def _open(self, kind: str, at: int, column: int) -> None:
        self.opened.append((column, kind))
        self.found.append(Event(kind, at, at))
        self.waiting = False

    def _pair(self, at: int) -> int:
        """Reads a key, and its value where it is on the same line."""
        at = self._key(at)
        while self.text.startswith(" ", at):
            at += 1
        if at == len(self.text) or self.text[at] in "\n#":
            self.waiting = True
            return self._next_line(at)
        return self._value(at)

    def _key(self, at: int) -> int:
        """Reads a key; returns the offset behind its colon."""
        match = _KEY.match(self.text, at)
        if match is None:
            raise _NotPlainError
        self.found.append(Event("scalar", at, match.end(), match[0], bare=True))
        return match.end() + 1

    def _value(self, at: int) -> int:
        """Reads a scalar or a flow collection, after which the line ends."""
        text = self.text
        mark = text[at : at + 1]
        if mark and mark in "{[":
            return self._end_of_line(self._flow(at))
        if mark and mark in "\"'":
            return self._end_of_line(self._quoted(at))
        end = self._next_line(at)
        written = text[at:end].removesuffix("\n").partition(" #")[0].rstrip(" ")
        if not written or mark in _INDICATORS or ": " in written or written.endswith(":"):
            raise _NotPlainError
        if mark == "-" and not written[1:2].isalnum() and written[1:2] != ".":
            raise _NotPlainError
        self.found.append(Event("scalar", at, at + len(written), written, bare=True))
        return end

    def _end_of_line(self, at: int) -> int:
        """The start of the next line, where nothing but a comment follows."""
        end = self._next_line(at)
        rest = self.text[at:end].removesuffix("\n")
        if (rest.strip(" ") and not rest.lstrip(" ").startswith("#")) or rest.startswith("#"):
            raise _NotPlainError
        return end

    def _quoted(self, at: int) -> int:
        match = _QUOTED.match(self.text, at)
        if match is None:
            raise _NotPlainError
        value = match[0][1:-1]
        value = value.replace("''", "'") if match[0][0] == "'" else value
        self.found.append(Event("scalar", at, match.end(), value))
        return match.end()

    def _flow(self, at: int, depth: int = 0) -> int:
        """Reads a flow collection and those inside it; returns its end."""
        mapping = self.text[at] == "{"
        if depth > _DEEPEST:
            raise _NotPlainError
        self.found.append(Event("mapping" if mapping else "list", at, at + 1))
        at, first = self._gap(at + 1), True
        while not self.text.startswith("}" if mapping else "]", at):
            if not first and not self.text.startswith(",", at):
                raise _NotPlainError
            at, first = at if first else self._gap(at + 1), False
            if mapping:
                at = self._gap(self._key(at))
            at = self._gap(self._flow_value(at, depth))
        self.found.append(Event("end", at, at + 1))
        return at + 1

    def _flow_value(self, at: int, depth: int) -> int:
        mark = self.text[at : at + 1]
        if mark and mark in "{[":
            return self._flow(at, depth + 1)
        if mark and mark in "\"'":
            return self._quoted(at)
        match = _FLOW_SCALAR.match(self.text, at)
        if match is None:
            raise _NotPlainError
        self.found.append(Event("scalar", at, match.end(), match[0], bare=True))
        return match.end()

    def _gap(self, at: int) -> int:
        """The offset of the next token of a flow collection."""
        match = _GAP.match(self.text, at)
        return match.end() if match else at
