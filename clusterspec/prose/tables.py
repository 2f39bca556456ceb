"""Tables: the cells of a block of rows, with the words that their column, their row and what leads in give them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from clusterspec.prose.document import WrittenQuantity
from clusterspec.prose.lexicon import COUNTED, Channel, FigureScope, Meaning, Precision, marks
from clusterspec.prose.names import Names, Subject
from clusterspec.prose.scan import Sort, Token, measured, tokens, unit_alone
from clusterspec.prose.text import ProseLine
from clusterspec.quantity import Direction, Sparsity
from clusterspec.records import dataclass, replace

_M = TypeVar("_M", Direction, Sparsity, Precision, FigureScope, Channel)
_RULE = re.compile(r"[\s|:=-]+")
MOST_ROWS = 500
"""Rows of a table that are judged: a longer one is a log."""
MOST_COLUMNS = 40
NEAR = 4
"""How many words behind the figure of a cell a part may be named that it is of; what comes later is a remark."""
_FILLERS = frozenset(("x", "up", "to"))


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its tokens, the subjects it names, and the one figure in it (None where it holds none, or several)."""

    row: int
    column: int
    words: tuple[Token, ...]
    subjects: tuple[Subject, ...]
    meanings: frozenset[Meaning]
    figure: Token | None
    factor: float = 1.0
    """How many times the figure is counted in the cell: 8 in `8x400`."""


@dataclass(frozen=True)
class Head:
    """The words over a column, or before a row: what they say of its figures."""

    text: str
    subjects: tuple[Subject, ...]
    meanings: frozenset[Meaning]
    nouns: frozenset[FigureScope]

    @cached_property
    def unit(self) -> str:
        return unit_alone(self.text)


NOTHING = Head("", (), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class ProseTable:
    """A table with its heads resolved; ``lead`` is what the last sentence before it says."""

    heads: tuple[Head, ...]
    labels: tuple[Head, ...]
    lead: Head
    cells: tuple[tuple[Cell, ...], ...]

    def head(self, column: int) -> Head:
        return self.heads[column] if column < len(self.heads) else NOTHING

    def figures(self) -> Iterator[Cell]:
        """The cells that hold one figure with a unit."""
        return (cell for row in self.cells for cell in row if cell.figure is not None and cell.figure.unit)

    def column(self, number: int) -> list[Cell]:
        return [row[number] for row in self.cells if number < len(row)]


def table(written: WrittenQuantity, names: Names) -> ProseTable:
    """A table read with its heads and what leads in to it."""
    rows = [_split(line) for line in written.block.lines[:MOST_ROWS]]
    rule = next((at for at, line in enumerate(written.block.lines[:6]) if _RULE.fullmatch(line.text)), 0)
    columns = max((len(row) for row in rows), default=0)
    above = rows[:rule] if rule else rows[:1]
    heads = tuple(_head([row[at] for row in above if at < len(row)], names) for at in range(columns))
    lead = _lead(written)
    body = [
        row
        for row in rows[rule + 1 if rule else 1 :]
        if row and not _RULE.fullmatch("|".join(c.text for c in row) + "|")
    ]
    labels = tuple(_head(row[:1], names) for row in body)
    cells = tuple(
        tuple(_cell(at, column, part, (heads[column], labels[at], lead), names) for column, part in enumerate(row))
        for at, row in enumerate(body)
    )
    return ProseTable(heads, labels, lead, cells)


def _split(line: ProseLine) -> list[ProseLine]:
    """The cells of a row."""
    parts, at = [], 0
    for piece in line.text.rstrip().removesuffix("|").split("|", MOST_COLUMNS)[:MOST_COLUMNS]:
        parts.append(ProseLine(line.number, piece, at))
        at += len(piece) + 1
    return parts[1:] if parts and not parts[0].text.strip() else parts


def _head(parts: Sequence[ProseLine], names: Names) -> Head:
    words = tokens(parts)
    found = tuple(named.subject for named in names.find(words))
    nouns = frozenset(scope for token in words if (scope := COUNTED.get(token.text.lower())) is not None)
    text = " ".join(part.text.strip() for part in parts)
    return Head(text, found, frozenset(mark.meaning for mark in marks(words)), nouns)


def _lead(written: WrittenQuantity) -> Head:
    """What the sentence before a table says; its heading, where that sentence does not say what carries the bytes."""
    said = written.before[-1] if written.before and _adjoins(written) else None
    meanings = {mark.meaning for mark in said.marks} if said else set()
    if not any(isinstance(meaning, Channel) for meaning in meanings):
        meanings |= {subject.channel for subject in written.heading if subject.channel is not None}
    text = " ".join(token.text for token in said.words) if said else ""
    return Head(text, (), frozenset(meanings), frozenset())


def _adjoins(written: WrittenQuantity) -> bool:
    """Whether the sentence before a table is right above it."""
    return written.block.lines[0].number - written.before[-1].words[-1].line <= 3


def _cell(row: int, column: int, part: ProseLine, heads: tuple[Head, Head, Head], names: Names) -> Cell:
    words = tokens([part])
    named = list(names.find(words))
    taken = {at for each in named for at in range(each.start, each.end)}
    figures = [at for at, word in enumerate(words) if word.sort in (Sort.QUANTITY, Sort.NUMBER) and at not in taken]
    last = figures[-1] if figures else len(words)
    found = tuple(each.subject for each in named if each.start <= last + NEAR)
    cell = Cell(row, column, tuple(words), found, frozenset(mark.meaning for mark in marks(words)), None)
    if any(word.sort is Sort.WORD and at not in taken and word.text not in _FILLERS for at, word in enumerate(words)):
        heads = (NOTHING, NOTHING, NOTHING)  # a number among words is not the figure of its column
    if len(figures) == 2 and any(token.sort is Sort.TIMES for token in words):
        return replace(cell, figure=_measured(words[figures[1]], column, heads), factor=words[figures[0]].value)
    return replace(cell, figure=_measured(words[figures[0]], column, heads)) if len(figures) == 1 else cell


def _measured(token: Token, column: int, heads: tuple[Head, Head, Head]) -> Token:
    """A figure with its own unit, else that of its column, its row, or what leads in."""
    over, label, lead = heads if column else (NOTHING, NOTHING, NOTHING)
    unit = (
        over.unit
        or label.unit
        or ("" if over.nouns & {FigureScope.LANE, FigureScope.LINK, FigureScope.PORT} else lead.unit)
    )
    return measured(token, unit) if token.sort is Sort.NUMBER and unit else token


def one(kind: type[_M], *heads: frozenset[Meaning]) -> _M | None:
    """The one meaning of a kind that the nearest of some words gives; None where it gives several."""
    for meanings in heads:
        found = [meaning for meaning in meanings if isinstance(meaning, kind)]
        if found:
            return found[0] if len(found) == 1 else None
    return None
