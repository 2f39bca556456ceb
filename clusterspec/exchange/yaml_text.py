"""Values of a spec as YAML text: block mappings with the file and line after each value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from clusterspec.exchange.import_result import Value

_PLAIN = re.compile(r"[A-Za-z0-9./][A-Za-z0-9 ./_+()@%-]*")
_WORDS = {"true", "false", "null", "~", "yes", "no", "on", "off"}
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|nan)", re.IGNORECASE)


def scalar(value: str | int | float | bool | None) -> str:
    """A YAML scalar; text is quoted if it could be read as another type.

    >>> scalar("400 Gb/s"), scalar("1:1"), scalar("no"), scalar(True), scalar("=1+1"), scalar("64")
    ('400 Gb/s', '"1:1"', '"no"', 'true', '"=1+1"', '"64"')
    """
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return f"{value:.12g}" if isinstance(value, float) else str(value)
    plain = _PLAIN.fullmatch(value) and value == value.strip() and value.lower() not in _WORDS
    return value if plain and not _NUMBER.fullmatch(value) else _quoted(value)


def _quoted(text: str) -> str:
    """Text in double quotes, with characters that YAML forbids escaped."""
    kept = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else "?" for c in kept)


def flow(value: Value) -> str:
    """A value in YAML flow style.

    >>> flow({"size": "4 GiB", "ranks": 8, "shape": [4, 4]})
    '{size: 4 GiB, ranks: 8, shape: [4, 4]}'
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def block(key: str, value: Value, indent: int, note: str = "") -> Iterator[str]:
    """The lines of a key, without line ends; nested mappings are indented by two columns."""
    lead, tail = " " * indent, f"  # {note}" if note else ""
    if isinstance(value, Mapping) and value:
        yield f"{lead}{scalar(key)}:"
        for inner, item in value.items():
            yield from block(inner, item, indent + 2, note)
    elif isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(v, Mapping) for v in value):
        yield f"{lead}{scalar(key)}:"
        for item in value:
            yield f"{lead}  - {flow(item)}{tail}"
    else:
        yield f"{lead}{scalar(key)}: {flow(value)}{tail}"


def comment(text: str) -> str:
    """Text as it may appear in a comment: one line of printable characters."""
    return "".join(c if c.isprintable() else "?" for c in text)
