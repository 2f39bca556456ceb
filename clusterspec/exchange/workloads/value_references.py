"""References of a chart's values to other values of the same file: ``{{ .Values.PATH }}``, which templates expand with
``tpl``.

Syntax: https://helm.sh/docs/howto/charts_tips_and_tricks/, "Using the 'tpl' Function". Values that an installation
overrides are others; the file states its own.
"""

from __future__ import annotations

import re
from typing import Any

from clusterspec.source import value_at

_REFERENCE = re.compile(
    r"\{\{-?\s{0,9}(?:tpl\s{1,9})?\.Values\.(?P<path>\w{1,60}(?:\.\w{1,60}){0,8})"
    r"(?:\s{0,9}\|\s{0,9}(?:quote|toString|int|trim)){0,3}(?:\s{1,9}[.$])?\s{0,9}-?\}\}"
)
MOST_PASSES = 3
"""Longest chain of references that is resolved."""
MARK = "{{"


def with_references(values: dict[str, Any]) -> dict[str, Any]:
    """Values whose references are replaced if exactly one value fits; other references do not change.

    >>> with_references({"a": {"m": "org/x"}, "args": ["--model={{ .Values.a.m }}", "--port={{ .Values.p }}"]})["args"]
    ['--model=org/x', '--port={{ .Values.p }}']
    """
    for _ in range(MOST_PASSES):
        expanded = _expanded_value(values, values, 0)
        if expanded == values:
            break
        values = expanded
    return values


DEEPEST = 24


def _expanded_value(value: Any, values: dict[str, Any], depth: int) -> Any:
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: _text_of(match, values), value) if MARK in value else value
    if depth >= DEEPEST:
        return value
    if isinstance(value, dict):
        return {key: _expanded_value(held, values, depth + 1) for key, held in value.items()}
    return [_expanded_value(each, values, depth + 1) for each in value] if isinstance(value, list) else value


def _text_of(match: re.Match[str], values: dict[str, Any]) -> str:
    """The text of the value to which a reference refers; the reference itself if the value is no text or number."""
    held = value_at(values, *match["path"].split("."))
    single = isinstance(held, str | int | float) and not isinstance(held, bool) and held != ""
    return str(held) if single and len(str(held)) <= 400 else match[0]
