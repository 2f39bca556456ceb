"""F-strings of Python 3.12 that hold their own quotes (PEP 701), for parsers of earlier releases."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"#[^\n]*|\b(?:[rRuUbB]{0,2}|[fF][rR]?|[rR][fF])(?:\"\"\"|'''|\"|')|\"\"\"|'''|\"|'")
_DEEPEST = 8
"""Largest depth of strings within strings that is read."""


def without_own_quotes(text: str) -> str:
    r"""Replace each field of an f-string that holds the quotes of the string by a name of the same length.

    Lines and columns stay. A text that this cannot read is returned as it is.

    >>> without_own_quotes('f"{names["a"]}/{run}"'), without_own_quotes("'f\"{a[\"b\"]}\"'")
    ('f"{_         }/{run}"', '\'f"{a["b"]}"\'')
    """
    kept, at = [], 0
    try:
        while found := _TOKEN.search(text, at):
            kept.append(text[at : found.start()])
            at = found.end() if found[0].startswith("#") else _end_of_string(text, found, 0)
            kept.append(text[found.start() : at] if found[0].startswith("#") else _plain_string(text, found, at))
    except ValueError:
        return text
    return "".join([*kept, text[at:]])


def _end_of_string(text: str, start: re.Match[str], depth: int) -> int:
    """The place behind a string. Raises `ValueError` if it does not end, or nests too deeply."""
    quote, is_raw = start[0].lstrip("rRuUbBfF"), "r" in start[0].lower()
    is_formatted, at = "f" in start[0].lower(), start.end()
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    while at < len(text):
        if text.startswith(quote, at):
            return at + len(quote)
        if text[at] == "\n" and len(quote) == 1:
            raise ValueError("does not end")
        if is_formatted and text[at] == "{" and not text.startswith("{{", at):
            at = _end_of_field(text, at + 1, depth)
        else:
            at += 2 if text.startswith("{{", at) or (text[at] == "\\" and not is_raw) else 1
    raise ValueError("does not end")


def _end_of_field(text: str, at: int, depth: int) -> int:
    """The place behind the field of an f-string whose content begins at ``at``; its strings may have any quotes."""
    opened = 1
    while at < len(text) and opened:
        if (inner := _TOKEN.match(text, at)) and not inner[0].startswith("#"):
            at = _end_of_string(text, inner, depth + 1)
            continue
        if text[at] == "\n":
            raise ValueError("a field over several lines")
        opened += (text[at] == "{") - (text[at] == "}")
        at += 1
    return at


def _plain_string(text: str, start: re.Match[str], end: int) -> str:
    """A string with a name instead of each field that holds its quotes."""
    quote, at, kept = start[0].lstrip("rRuUbBfF"), start.end(), [start[0]]
    while "f" in start[0].lower() and at < end - len(quote):
        if text[at] != "{" or text.startswith("{{", at):
            width = 2 if text.startswith("{{", at) else 1
            kept.append(text[at : at + width])
            at += width
            continue
        behind = _end_of_field(text, at + 1, 0)
        field = text[at:behind]
        kept.append("{_" + " " * (len(field) - 3) + "}" if quote in field and len(field) > 2 else field)
        at = behind
    return "".join([*kept, text[at:end]])
