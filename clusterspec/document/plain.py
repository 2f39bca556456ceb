"""YAML events: from PyYAML, or faster from a parser of plain YAML, the subset that nearly all specs use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Events of a YAML text: the starts and ends of collections, scalars and aliases

_KINDS = {
    "ScalarEvent": "scalar",
    "AliasEvent": "alias",
    "MappingStartEvent": "mapping",
    "SequenceStartEvent": "list",
    "MappingEndEvent": "end",
    "SequenceEndEvent": "end",
    "DocumentStartEvent": "document",
}


class Event:
    """A parser event: a ``scalar``, an ``alias``, the start of a ``mapping``, ``list`` or ``document``, or the ``end``
    of a collection.

    ``start`` and ``end`` are offsets into the text. A scalar is ``bare`` if unquoted, and ``block`` after ``|`` or
    ``>``.
    """

    __slots__ = ("anchor", "bare", "block", "end", "kind", "start", "tag", "value")

    def __init__(self, kind: str, start: int, end: int, value: str = "", *, bare: bool = False) -> None:
        self.kind, self.start, self.end, self.value, self.bare = kind, start, end, value, bare
        self.block = False
        self.anchor: str | None = None
        self.tag: str | None = None


SMALL = 20_000
"""Characters that PyYAML reads in Python in a second or two, unless more than `NESTED` brackets may be nested."""
NESTED = 1000
DISPUTED = pattern(r"\t|[{\[,][^#\n]*(?:\?|:[,\[\]{}])")
"""Syntax that libyaml and the Python implementation of PyYAML may judge differently: tabs between words, and question
marks and colons before a mark in flow collections.
"""


TOO_DEEP = "maximum nesting depth"
"""The message of PyYAML 6.0.4 for brackets that are nested deeper than libyaml reads (1,000)."""


def pyyaml_events(text: str) -> Iterator[Event]:
    """The events of a text, parsed by PyYAML. Raises `yaml.YAMLError` if it is not YAML.

    For texts of up to `SMALL` characters the result is the same on every platform: libyaml reads most texts where it is
    installed, but the Python implementation decides about texts that libyaml rejects or reads differently.
    """
    import yaml

    small = len(text) <= SMALL and text.count("{") + text.count("[") <= NESTED
    count = 0
    try:
        for event in _events_of(
            _interpreted_parser()(text) if small and DISPUTED.search(text) else _event_parser(text)
        ):
            count += 1
            yield event
    except yaml.YAMLError as error:
        if TOO_DEEP in str(getattr(error, "problem", "")):
            # NOTE: libyaml gives no event of a bracket before the line or the text around it ends. What stands before
            # the bracket that is one too many has the same events, on every platform.
            yield from islice(_events_of(_event_parser(text[: error.problem_mark.index])), count, None)  # type: ignore[attr-defined]
        if small:
            for _ in _events_of(_interpreted_parser()(text)):
                pass
        raise


def _events_of(parser: Any) -> Iterator[Event]:
    while (given := parser.get_event()) is not None:
        name = type(given).__name__
        if name not in _KINDS:
            continue
        event = Event(_KINDS[name], given.start_mark.index, given.end_mark.index)
        event.anchor, event.tag = getattr(given, "anchor", None), getattr(given, "tag", None)
        if name == "ScalarEvent":
            event.value, event.bare, event.block = given.value, bool(given.implicit[0]), given.style in {"|", ">"}
        yield event


def _event_parser(text: str) -> Any:
    """The event parser: libyaml if PyYAML was built with it, else the Python implementation."""
    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]
    except ImportError:
        return _interpreted_parser()(text)
    return CParser(text)


def _interpreted_parser() -> type[Any]:
    """PyYAML's parser in Python, for platforms without libyaml: the same events, a hundred times slower."""
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class PurePythonParser(Reader, Scanner, Parser):
        def __init__(self, text: str) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)

    return PurePythonParser


# Parser of plain YAML, the subset in which nearly all specs and catalog entries are written

KEY_NAME = r"(?![^:\n]{1000})[A-Za-z_][A-Za-z0-9_./+*-]*+(?: [A-Za-z0-9_./+*-]++)*"
"""A key of fewer than 1,000 characters; YAML allows 1,024."""
KEY = re.compile(rf"{KEY_NAME}(?=:(?:[ \n]|\Z))")
QUOTED = re.compile(r""""[^"\\\n]*"|'(?:[^'\n]|'')*'""")
_GAP = re.compile(r"(?:(?: |\n(?=[ \n]))+(?:#[^\n]*)?)*")
"""Space between two tokens of a flow collection; continuation lines are indented."""
_WORD = r"[^ \n,\[\]{}:#?]|:(?=[^ \n,\[\]{}])"
FLOW_SCALAR = re.compile(rf"""(?:[^ \n,\[\]{{}}:#?&*!|>'"%@`-]|-(?=[0-9A-Za-z.]))(?:{_WORD}| +(?={_WORD}))*""")
INDICATORS = frozenset("?:,[]{}#&*!|>'\"%@`")
DEEPEST = 40
"""Maximum nesting of flow collections, more than any accepted document has."""


class NotPlainError(Exception):
    """Raised for a text that is not plain YAML."""


def plain_events(text: str) -> list[Event] | None:
    """The events of a plain YAML text; None for other texts."""
    if "\t" in text or "\r" in text or "\ufeff" in text:
        return None
    try:
        return _PlainParser(text).read()
    except NotPlainError:
        return None


class _PlainParser:
    """Parses a text line by line; ``opened`` are the enclosing block collections, each with its column."""

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
                at = self._read_line(at, at - start)
        if self.waiting:
            raise NotPlainError  # an empty text, or a key without a value
        self._close_deeper(-1)
        return self.found

    def _next_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def _close_deeper(self, column: int) -> None:
        """Ends the block collections that are indented deeper than a line."""
        while self.opened and self.opened[-1][0] > column:
            self.opened.pop()
            self.found.append(Event("end", 0, 0))

    def _read_line(self, at: int, column: int) -> int:
        """Reads the entry that starts at an offset; returns the start of the next line."""
        item = self.text.startswith("- ", at)
        kind = "list" if item else "mapping"
        if self.waiting:
            deepest, around = self.opened[-1] if self.opened else (-1, "mapping")
            of_key = item and around == "mapping" and column == deepest  # a list may start at the column of its key
            if column <= deepest and not of_key:
                raise NotPlainError
            self._open_collection(kind, at, column)
        else:
            self._close_deeper(column)
            if not item and self.opened[-2:] == [(column, "mapping"), (column, "list")]:
                self.opened.pop()
                self.found.append(Event("end", 0, 0))
            if not self.opened or self.opened[-1] != (column, kind):
                raise NotPlainError
        if not item:
            return self._read_pair(at)
        first = at + 2
        while self.text.startswith(" ", first):
            first += 1
        if KEY.match(self.text, first):
            self._open_collection("mapping", first, column + first - at)
            return self._read_pair(first)
        return self._read_value(first)

    def _open_collection(self, kind: str, at: int, column: int) -> None:
        self.opened.append((column, kind))
        self.found.append(Event(kind, at, at))
        self.waiting = False

    def _read_pair(self, at: int) -> int:
        """Reads a key, and its value if both are on one line."""
        at = self._read_key(at)
        while self.text.startswith(" ", at):
            at += 1
        if at == len(self.text) or self.text[at] in "\n#":
            self.waiting = True
            return self._next_line(at)
        return self._read_value(at)

    def _read_key(self, at: int) -> int:
        """Reads a key; returns the offset behind its colon."""
        match = KEY.match(self.text, at)
        if match is None:
            raise NotPlainError
        self.found.append(Event("scalar", at, match.end(), match[0], bare=True))
        return match.end() + 1

    def _read_value(self, at: int) -> int:
        """Reads a scalar or a flow collection, after which the line ends."""
        text = self.text
        mark = text[at : at + 1]
        if mark and mark in "{[":
            return self._end_of_line(self._read_flow(at))
        if mark and mark in "\"'":
            return self._end_of_line(self._read_quoted(at))
        end = self._next_line(at)
        written = text[at:end].removesuffix("\n").partition(" #")[0].rstrip(" ")
        if not written or mark in INDICATORS or ": " in written or written.endswith(":"):
            raise NotPlainError
        if mark == "-" and not written[1:2].isalnum() and written[1:2] != ".":
            raise NotPlainError
        self.found.append(Event("scalar", at, at + len(written), written, bare=True))
        return end

    def _end_of_line(self, at: int) -> int:
        """The start of the next line. Raises `NotPlainError` if anything but a comment follows on this line."""
        end = self._next_line(at)
        rest = self.text[at:end].removesuffix("\n")
        if (rest.strip(" ") and not rest.lstrip(" ").startswith("#")) or rest.startswith("#"):
            raise NotPlainError
        return end

    def _read_quoted(self, at: int) -> int:
        match = QUOTED.match(self.text, at)
        if match is None:
            raise NotPlainError
        value = match[0][1:-1]
        value = value.replace("''", "'") if match[0][0] == "'" else value
        self.found.append(Event("scalar", at, match.end(), value))
        return match.end()

    def _read_flow(self, at: int, depth: int = 0) -> int:
        """Read a flow collection and the collections inside it; return the end of it."""
        mapping = self.text[at] == "{"
        if depth > DEEPEST:
            raise NotPlainError
        self.found.append(Event("mapping" if mapping else "list", at, at + 1))
        at, first = self._next_flow_token(at + 1), True
        while not self.text.startswith("}" if mapping else "]", at):
            if not first and not self.text.startswith(",", at):
                raise NotPlainError
            at, first = at if first else self._next_flow_token(at + 1), False
            if mapping:
                at = self._next_flow_token(self._read_key(at))
            at = self._next_flow_token(self._read_flow_value(at, depth))
        self.found.append(Event("end", at, at + 1))
        return at + 1

    def _read_flow_value(self, at: int, depth: int) -> int:
        mark = self.text[at : at + 1]
        if mark and mark in "{[":
            return self._read_flow(at, depth + 1)
        if mark and mark in "\"'":
            return self._read_quoted(at)
        match = FLOW_SCALAR.match(self.text, at)
        if match is None:
            raise NotPlainError
        self.found.append(Event("scalar", at, match.end(), match[0], bare=True))
        return match.end()

    def _next_flow_token(self, at: int) -> int:
        """The offset of the next token of a flow collection."""
        match = _GAP.match(self.text, at)
        return match.end() if match else at
