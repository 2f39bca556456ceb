"""Values of YAML texts without positions: of plain scalars, and of whole files of the program itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clusterspec.document.plain import (
    DEEPEST,
    FLOW_SCALAR,
    INDICATORS,
    KEY,
    QUOTED,
    Event,
    NotPlainError,
    pyyaml_events,
)
from clusterspec.patterns import pattern

# Values of plain scalars: the core schema of YAML 1.2 without octal and hexadecimal

Scalar = str | int | float | bool | None

_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_FLOAT = pattern(r"[-+]?((\.[0-9]+|[0-9]+\.[0-9]*)([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)")
_ENDLESS = pattern(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_OCTAL = pattern(r"[-+]?0[0-7]+")
"""Octal in YAML 1.1 and decimal in YAML 1.2; as all digits after a zero it is kept as text, which no count takes."""
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
    if text[0] not in "+-.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _LONGEST_INTEGER else float(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if abs(number) > _SMALLEST else 0.0
    if _ENDLESS.fullmatch(text):
        return float(text.replace(".", "").lower())
    return text


def is_octal(text: str) -> bool:
    """Whether a text is a number of octal digits after a zero, which versions of YAML read differently."""
    return _OCTAL.fullmatch(text) is not None


# Values of a YAML text without positions, for trusted files of the program itself

_PAIR = re.compile(r"""([A-Za-z_][A-Za-z0-9_.]*): (?:"([^"\\]*)"|([A-Za-z0-9][^"'{}\[\],:#&*!|>%@`?\n]*))(?:, |(\}))""")
"""A key of a flow mapping and its value, as nearly all are written."""


def yaml_value(text: str) -> Any:
    """The value of a YAML text, without aliases and tags. Raises `yaml.YAMLError` if it is not YAML.

    Plain texts are read line by line; the events of such a text take twice as long.
    """
    try:
        return value_of_lines(text)
    except NotPlainError:
        return value_of_events(pyyaml_events(text))


def value_of_lines(text: str) -> Any:
    """The value of a plain YAML text; ``opened`` are the block collections around a line, each with its column."""
    holder: list[Any] = []
    opened: list[tuple[int, Any]] = [(-1, holder)]
    key, waiting = "", True
    for line in text.split("\n"):
        body = line.lstrip(" ")
        if not body or body[0] == "#":
            continue
        column, item = len(line) - len(body), body.startswith("- ")
        if waiting:
            deepest, into = opened[-1]
            if column <= deepest and not (item and column == deepest and isinstance(into, dict)):
                raise NotPlainError
            opened.append((column, [] if item else {}))
            _add_value(into, key, opened[-1][1])
        into = _collection_of_line(opened, column, item)
        at = _offset_of_next_word(line, column + 1) if item else column
        match = KEY.match(line, at)
        if item and match is None:
            waiting = False
            into.append(_value_of_line(line, at))
            continue
        if item:
            opened.append((at, {}))
            into.append(opened[-1][1])
            into = opened[-1][1]
        if match is None or match[0] in into:
            raise NotPlainError
        key, at = match[0], _offset_of_next_word(line, match.end() + 1)
        waiting = at == len(line) or line[at] == "#"
        if not waiting:
            into[key] = _value_of_line(line, at)
    if waiting or "\t" in text or "\r" in text or "\ufeff" in text:
        raise NotPlainError
    return holder[0]


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
    found: dict[str, Any] = {}
    if line[at] != "{":
        return None
    at += 1
    while (match := _PAIR.match(line, at)) is not None:
        key, quoted, bare, last = match.groups()
        if key in found:
            return None
        found[key], at = scalar_value(bare.rstrip(" ")) if quoted is None else quoted, match.end()
        if last:
            return found, at
    return None


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
