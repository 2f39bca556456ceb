"""JSON as all commands print it.

An indented document is written here: from ``indent`` on, the encoder of the standard library writes each token in
Python, which took a fifth of the time of ``estimate --format json`` (CPython 3.11).
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring
from math import isfinite

from clusterspec.report import escaped_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def json_text(value: Any, indent: int | None = 2) -> str:
    """JSON as printed by all commands: UTF-8, indented by two spaces, or one line without ``indent``.

    It holds no NaN, no CI runner commands, and hidden characters only as escapes. Raises `ValueError` for NaN and
    infinity, and `TypeError` for values that JSON lacks.
    """
    text = _one_line(value) if indent is None else indented_json(value, " " * indent)
    return escaped_text(text).replace("##", "#\\u0023") + "\n"


def indented_json(value: Any, indent: str, line: str = "\n") -> str:
    """The result of ``json.dumps`` for the same indent, with characters beyond ASCII as they are.

    ``line`` is the line end and the indentation of the line on which the value begins.

    >>> print(indented_json({"degrees": [4, 2], "idle": [], "ratio": 0.5}, "  "))
    {
      "degrees": [
        4,
        2
      ],
      "idle": [],
      "ratio": 0.5
    }
    """
    scalar = _SCALARS.get(type(value))
    if scalar is not None:
        return scalar(value)
    inner = line + indent
    if isinstance(value, dict):
        parts = [f"{_key_text(key)}: {indented_json(each, indent, inner)}" for key, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}" if parts else "{}"
    if isinstance(value, list | tuple):
        parts = [indented_json(each, indent, inner) for each in value]
        return f"[{inner}{f',{inner}'.join(parts)}{line}]" if parts else "[]"
    return _one_line(value)


def _one_line(value: Any) -> str:
    """A value on one line, by the encoder of the standard library."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _key_text(key: Any) -> str:
    """A key of an object; keys that are no text as the encoder of the standard library names them."""
    return encode_basestring(key) if isinstance(key, str) else _one_line({key: None})[1 : -len(": null}")]


def _float_text(value: float) -> str:
    """A finite number; the encoder of the standard library refuses others."""
    return float.__repr__(value) if isfinite(value) else _one_line(value)


_SCALARS: dict[type, Callable[[Any], str]] = {
    str: encode_basestring,
    float: _float_text,
    int: int.__repr__,
    bool: {True: "true", False: "false"}.__getitem__,
    type(None): {None: "null"}.__getitem__,
}
"""The writers of values that hold no others; subclasses are left to the standard library."""
