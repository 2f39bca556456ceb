"""Values of YAML texts without positions: plain scalars, and whole files of the program itself. `dump` writes values as
YAML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.document.plain import (
    DEEPEST,
    FLOW_SCALAR,
    INDICATORS,
    KEY,
    KEY_NAME,
    QUOTED,
    Event,
    NotPlainError,
    pyyaml_events,
)
from clusterspec.standard import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Values of plain scalars: the core schema of YAML 1.2 without octal and hexadecimal

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERALS = frozenset("0123456789.eE+-")
"""The characters of decimal numbers. A text of these is a number if `float` reads it, unless it is an integer with
leading zeros.
"""
_ENDLESS = {
    **{f"{sign}.{word}": float(f"{sign}inf") for sign in ("", "+", "-") for word in ("inf", "Inf", "INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_OCTAL = pattern(r"[-+]?0[0-7]+")
"""Digits after a leading zero are octal in YAML 1.1 and decimal in YAML 1.2. They are kept as text, which no key for a
count accepts.
"""
_LONGEST_INTEGER = 100
"""Digits beyond which an integer is read as a float: int() takes quadratic time, then refuses."""


_SMALLEST = 1e-300
"""Smaller numbers count as zero, since a division by them would overflow."""


def scalar_value(text: str) -> Scalar:
    """The value of an unquoted scalar.

    >>> [scalar_value(text) for text in ("64", "4.5", "1e3", "true", "~", "no", "1:1", "0o17", "064")]
    [64, 4.5, 1000.0, True, None, 'no', '1:1', '0o17', '064']
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":  # most others are quantities with units
        return text
    return _number_of_digits(text) if _NUMERALS.issuperset(text) else _ENDLESS.get(text, text)


def _number_of_digits(text: str) -> int | float | str:
    """The number that a text of `_NUMERALS` states; the text itself if it is no number."""
    digits = text[1:] if text[0] in "+-" else text
    if digits.isdecimal():
        if digits[0] == "0" != digits:
            return text
        return int(text) if len(text) <= _LONGEST_INTEGER else float(text)
    try:
        number = float(text)
    except ValueError:  # a date, or the number of a release
        return text
    return number if abs(number) > _SMALLEST else 0.0


def is_octal(text: str) -> bool:
    """Whether a text has a leading zero and octal digits only, which versions of YAML read as different numbers."""
    return _OCTAL.fullmatch(text) is not None


# Values of a YAML text without positions, for trusted files of the program itself

_PAIR = re.compile(
    r"""(?<![A-Za-z0-9_.])([A-Za-z_][A-Za-z0-9_.]*): (?:"([^"\\]*)"|([A-Za-z0-9][^"'{}\[\],:#&*!|>%@`?\n]*))"""
)
"""A key of a flow mapping and its value, as nearly all are written."""
_PAIRS = re.compile(rf"\{{{_PAIR.pattern}(?:, {_PAIR.pattern})*\}}")
"""A flow mapping of such pairs."""
_LINE = re.compile(rf"""( *)({KEY_NAME}):(?: (?:"([^"\\]*)"|([A-Za-z0-9][^:#]*+(?::[^ :#][^:#]*+)*)|(\{{.*)))?""")
"""A line of a block mapping: a key with a quoted value, an unquoted one, a flow mapping, or none yet."""


def yaml_value(text: str) -> Any:
    """The value of a YAML text, without aliases and tags. Raises `yaml.YAMLError` if it is not YAML.

    Plain texts are read line by line; the events of such a text take twice as long.
    """
    try:
        return value_of_lines(text)
    except NotPlainError:
        return value_of_events(pyyaml_events(text))


def value_of_lines(text: str) -> Any:
    """The value of a plain YAML text."""
    if "\t" in text or "\r" in text or "\ufeff" in text:
        raise NotPlainError
    reader = _LineReader()
    for line in text.split("\n"):
        pair = _LINE.fullmatch(line)
        if pair is not None:
            reader.add_pair(line, pair)
        elif (body := line.lstrip(" ")) and body[0] != "#":
            reader.add_line(line, len(line) - len(body), item=body.startswith("- "))
    if reader.waiting:
        raise NotPlainError
    return reader.holder[0]


class _LineReader:
    """Reads a value line by line; ``opened`` are the enclosing block collections, each with its column."""

    def __init__(self) -> None:
        self.holder: list[Any] = []
        self.opened: list[tuple[int, Any]] = [(-1, self.holder)]
        self.key = ""
        self.waiting = True
        """Whether the last key has no value yet, as at the start of the text."""

    def add_pair(self, line: str, pair: re.Match[str]) -> None:
        """Adds a line that matches `_LINE`."""
        indent, key, quoted, bare, flow = pair.groups()
        deepest, into = self.opened[-1]
        if self.waiting or deepest != len(indent) or isinstance(into, list):
            into = self._collection_at_column(len(indent), item=False)
        if key in into:
            raise NotPlainError
        self.key, self.waiting = key, False
        if bare is not None:
            into[key] = scalar_value(bare.rstrip(" "))
        elif quoted is not None:
            into[key] = quoted
        elif flow is None:
            self.waiting = True
        else:
            usual = _flow_pairs(flow, 0)
            into[key] = usual[0] if usual and usual[1] == len(flow) else _value_of_line(line, pair.start(5))

    def add_line(self, line: str, column: int, *, item: bool) -> None:
        """Adds a line that starts at ``column``: a key, or with ``item`` an item of a list."""
        into = self._collection_at_column(column, item=item)
        at = _offset_of_next_word(line, column + 1) if item else column
        match = KEY.match(line, at)
        if item and match is None:
            self.waiting = False
            into.append(_value_of_line(line, at))
            return
        if item:
            self.opened.append((at, {}))
            into.append(self.opened[-1][1])
            into = self.opened[-1][1]
        if match is None or match[0] in into:
            raise NotPlainError
        self.key, at = match[0], _offset_of_next_word(line, match.end() + 1)
        self.waiting = at == len(line) or line[at] == "#"
        if not self.waiting:
            into[self.key] = _value_of_line(line, at)

    def _collection_at_column(self, column: int, *, item: bool) -> Any:
        """The collection of a line that starts at a column: a new one after a key without a value."""
        if not self.waiting:
            return _collection_of_line(self.opened, column, item)
        deepest, into = self.opened[-1]
        if column <= deepest and not (item and column == deepest and isinstance(into, dict)):
            raise NotPlainError
        made: Any = [] if item else {}
        self.opened.append((column, made))
        _add_value(into, self.key, made)
        return made


def _add_value(into: Any, key: str, value: object) -> None:
    """Adds a value to a list, or to a mapping under a key."""
    if isinstance(into, list):
        into.append(value)
    else:
        into[key] = value


def _collection_of_line(opened: list[tuple[int, Any]], column: int, item: bool) -> Any:
    """The collection of a line that starts at a column; deeper-indented collections end."""
    while opened[-1][0] > column:
        opened.pop()
    if not item and isinstance(opened[-1][1], list) and opened[-1][0] == column:
        opened.pop()
    if opened[-1][0] != column or isinstance(opened[-1][1], list) != item:
        raise NotPlainError
    return opened[-1][1]


def _offset_of_next_word(line: str, at: int) -> int:
    """The offset of the next character that is no space."""
    while line.startswith(" ", at):
        at += 1
    return at


def _value_of_line(line: str, at: int) -> Any:
    """The value of a scalar or a flow collection, after which the line ends."""
    mark = line[at : at + 1]
    if mark and mark in "{[\"'":
        value, at = _flow_value(line, at)
        rest = line[at:]
        if rest and (rest[0] == "#" or rest.lstrip(" ")[:1] not in {"", "#"}):
            raise NotPlainError
        return value
    written = line[at:].partition(" #")[0].rstrip(" ")
    if not written or mark in INDICATORS or ": " in written or written[-1] == ":":
        raise NotPlainError
    if mark == "-" and not written[1:2].isalnum() and written[1:2] != ".":
        raise NotPlainError
    return scalar_value(written)


def _flow_value(line: str, at: int, depth: int = 0) -> tuple[Any, int]:
    """The value of a scalar or a collection inside a flow collection, and its end."""
    mark = line[at : at + 1]
    if mark and mark in "{[":
        if depth > DEEPEST:
            raise NotPlainError
        return _flow_pairs(line, at) or _flow_collection(line, at, depth)
    match = (QUOTED if mark and mark in "\"'" else FLOW_SCALAR).match(line, at)
    if match is None:
        raise NotPlainError
    if mark in "\"'":
        value = match[0][1:-1]
        return value.replace("''", "'") if mark == "'" else value, match.end()
    return scalar_value(match[0]), match.end()


def _flow_pairs(line: str, at: int) -> tuple[dict[str, Any], int] | None:
    """The value of a flow mapping of usual pairs, and its end; None for other collections."""
    usual = _PAIRS.match(line, at)
    if usual is None:
        return None
    pairs = _PAIR.findall(line, at, usual.end())
    found = {key: scalar_value(bare.rstrip(" ")) if bare else quoted for key, quoted, bare in pairs}
    return (found, usual.end()) if len(found) == len(pairs) else None


def _flow_collection(line: str, at: int, depth: int) -> tuple[Any, int]:
    """The value of a flow collection on one line, and its end."""
    end = "}" if line[at] == "{" else "]"
    found: Any = {} if end == "}" else []
    at = _offset_of_next_word(line, at + 1)
    while not line.startswith(end, at):
        if found:
            if not line.startswith(",", at):
                raise NotPlainError
            at = _offset_of_next_word(line, at + 1)
        key = ""
        if end == "}":
            match = KEY.match(line, at)
            if match is None or match[0] in found:
                raise NotPlainError
            key, at = match[0], _offset_of_next_word(line, match.end() + 1)
        value, at = _flow_value(line, at, depth + 1)
        _add_value(found, key, value)
        at = _offset_of_next_word(line, at)
    return found, at + 1


def value_of_events(events: Iterator[Event]) -> Any:
    """The value of a YAML text by its events."""
    stack: list[tuple[Any, str | None]] = []
    holder: list[Any] = []
    into: Any = holder
    key: str | None = None
    for event in events:
        kind = event.kind
        if kind == "scalar":
            value: Any = scalar_value(event.value) if event.bare else event.value
        elif kind == "mapping":
            value = {}
        elif kind == "list":
            value = []
        elif kind == "end":
            into, key = stack.pop()
            continue
        else:
            continue
        if isinstance(into, list):
            into.append(value)
        elif key is None:
            key = str(value)
            continue
        else:
            into[key], key = value, None
        if kind != "scalar":
            stack.append((into, key))
            into, key = value, None
    return holder[0] if holder else None


# Plain values as YAML text


def dump(value: Any) -> str:
    """The YAML text of a plain value, one key per line. `parse` restores the value."""
    import yaml

    text: str = yaml.dump(value, Dumper=yaml.SafeDumper, sort_keys=False, allow_unicode=True, width=100)
    return text
