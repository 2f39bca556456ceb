"""Printed tables, cut into cells by the spaces between them: figures end at one place, words begin at one."""

from __future__ import annotations

import re
from collections.abc import Iterator

FIGURE = re.compile(r"(?:[<+−±-] ?)?[\d,]*\.?\d+(?:[kMBT%]|:1)?(?: (?:%|[A-Za-zµ/]+))?(?: [x?*])?")
OF_A_SPEC = {"old", "new", "taken"}
"""Heads of values as a spec writes them, which are words."""
NOTHING = {"–", "-", "?", "unknown"}


def cut(line: str) -> list[tuple[int, int, str]]:
    """Start, end and text of each cell: cells are at least two spaces apart."""
    return [(found.start(), found.end(), found[0]) for found in re.finditer(r"\S+(?: \S+)*", line)]


def tables(text: str) -> Iterator[list[list[tuple[int, int, str]]]]:
    """The cells of each block that begins with two or more heads without a figure, and of its rows below all heads."""
    for block in re.split(r"\n\s*\n", text):
        lines = [cut(line) for line in block.strip("\n").splitlines()]
        for at, heads in enumerate(lines):
            rows = [row for row in lines[at + 1 :] if len(row) == len(heads) and all(map(overlap, row, heads))]
            if len(heads) > 1 and rows and not any(FIGURE.fullmatch(head) for *_, head in heads):
                yield [heads, *rows]
                break


def overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def crooked(text: str) -> list[str]:
    """The columns between the first and the last whose figures do not end at one place, or whose words neither begin
    nor end at one.
    """
    found = []
    for heads, *rows in tables(text):
        for head, *cells in [*zip(heads, *rows, strict=True)][1:-1]:
            told = [cell for *_, cell in cells if cell not in NOTHING]
            figures = head[2] not in OF_A_SPEC and all(FIGURE.fullmatch(cell) for cell in told)
            starts, ends = ({cell[side] for cell in (head, *cells)} for side in (0, 1))
            if told and len(ends) > 1 and (figures or len(starts) > 1):
                found.append(f"{head[2]}: {', '.join(told)}")
    return found


def lines(text: str) -> list[str]:
    """The lines of a text with single spaces. Its columns are straight."""
    assert not crooked(text), (crooked(text), text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
