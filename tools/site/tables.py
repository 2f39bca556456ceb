"""Tables of a built page as scrolling regions, written at build time: wrapping them by script would make the browser
lay out each table again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import unescape

TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
HEAD = re.compile(r"<thead>.*?</thead>", re.DOTALL)
ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
CELL = re.compile(r"<t[hd][^>]*>(.*?)</t[hd]>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
LONG = 12
"""Number of rows (heading included) from which the browser lays out a table only when it becomes visible; styles state
its height until then.
"""
MOST = 80
"""Maximum number of rows of one table; the browser lays out a whole table if any row is visible."""
PART = 50
"""Rows of each part of a longer table, which repeats the heading."""
WIDEST = 22
"""Characters at which a column with longer text wraps, unless one of its words is longer."""


def with_regions(page: str) -> str:
    """The page with its tables in keyboard-accessible regions, named by number and first heading."""
    number = 0

    def region(table: re.Match[str]) -> str:
        nonlocal number
        number += 1
        title = _attribute_text(cells[0]) if (cells := CELL.findall(table[1])) else ""
        name = f"Table {number}{f', by {title}' if title else ''}"
        return f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">{"".join(_parts(table[1]))}</div>'

    return TABLE.sub(region, page)


def _parts(body: str) -> Iterator[str]:
    """A table, or the tables of its parts with columns of the same widths."""
    head, rows = HEAD.search(body), ROW.findall(HEAD.sub("", body))
    if head is None or len(rows) < MOST:
        yield _when_seen(f'<table class="data">{body}</table>', body.count("<tr>"))
        return
    widths = _widths([CELL.findall(row) for row in [head[0], *rows]])
    columns = "".join(f'<col style="width:{100 * width / sum(widths):.1f}%">' for width in widths)
    start = f'<table class="data even" style="--letters:{sum(widths)}"><colgroup>{columns}</colgroup>{head[0]}<tbody>'
    for at in range(0, len(rows), PART):
        part = rows[at : at + PART]
        yield _when_seen(f"{start}{''.join(part)}</tbody></table>", len(part) + 1)


def _when_seen(table: str, rows: int) -> str:
    return table if rows < LONG else f'<div class="long" style="--rows:{rows}">{table}</div>'


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Characters of each column with its padding: its longest text, up to `WIDEST` or its longest word."""
    columns = ([_attribute_text(cell) for cell in column] for column in zip(*rows, strict=False))
    return [4 + max(min(WIDEST, max(map(len, texts))), *map(_longest_word, texts)) for texts in columns]


def _longest_word(text: str) -> int:
    """Characters of the longest part that is not broken: lines break at spaces and after hyphens."""
    return max(map(len, re.split(r"[\s-]+", text)))


def _attribute_text(cell: str) -> str:
    """The text of a cell, as an attribute can hold it."""
    return " ".join(unescape(TAG.sub("", cell)).replace('"', "").split())
