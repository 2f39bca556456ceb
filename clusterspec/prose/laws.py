"""Tables that multiply up: where most rows obey one law, the one that does not is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from clusterspec.prose.factors import DOES_NOT_CLOSE, named, shown
from clusterspec.prose.lexicon import FigureScope
from clusterspec.prose.scan import Sort, Token
from clusterspec.prose.tables import Cell, ProseTable
from clusterspec.prose.told import Told
from clusterspec.quantity import Direction
from clusterspec.units.slips import near

MOST = 2 / 3
"""The share of rows that must obey a law before a row breaks it."""
LEAST = 3
"""The rows that a law needs."""
MOST_COLUMNS = 6
"""Columns of rates that are held against each other."""
HOLDS = 0.02
BREAKS = 0.03
_WAYS = (1.0, 2.0, 0.5)


def broken(table: ProseTable) -> Iterator[Told]:
    """The cells that break a law of their table, each reported once."""
    told: set[int] = set()
    for mismatch in (*_products(table), *_multiples(table), *_cells(table)):
        if id(mismatch.start) not in told:
            told.add(id(mismatch.start))
            yield mismatch


def _products(table: ProseTable) -> Iterator[Told]:
    """A column of rates that is another column of rates times columns of counts (lanes, links, NICs)."""
    if _widths(table):
        return
    columns = [table.column(at) for at in range(len(table.heads))]
    rates = [at for at, cells in enumerate(columns) if _has(cells, True)]
    for target in rates[:MOST_COLUMNS]:
        for rate in rates[:MOST_COLUMNS]:
            if rate != target:
                yield from _product(table, columns, target, rate)


def _has(cells: Sequence[Cell], unit: bool) -> bool:
    """Whether a column holds rates, or bare numbers, in at least as many rows as a law needs."""
    figures = [cell.figure for cell in cells if cell.figure is not None and not cell.figure.ranged]
    return sum((figure.unit == "B/s") if unit else not figure.unit for figure in figures) >= LEAST


def _product(table: ProseTable, columns: Sequence[Sequence[Cell]], target: int, rate: int) -> Iterator[Told]:
    """One law of a table: ``target`` is ``rate`` times some of the counts, or the same rate counted otherwise."""
    counts = [at for at, cells in enumerate(columns) if table.head(at).nouns and _has(cells, False)][:4]
    for size in range(0 if _related(table, target, rate) else 1, min(len(counts), 3) + 1):
        for chosen in combinations(counts, size):
            rows = list(_rows(columns, target, (rate, *chosen)))
            for way in _WAYS if rows else ():
                kept = [row for row in rows if near(row[0].value, row[1] * way, HOLDS)]
                if len(kept) >= LEAST and len(kept) >= MOST * len(rows) and len({row[0].value for row in kept}) > 1:
                    broken = (row for row in rows if row[1] and not near(row[0].value, row[1] * way, BREAKS + row[2]))
                    yield from (_law(token, value * way) for token, value, _ in broken)
                    return


def _related(table: ProseTable, target: int, rate: int) -> bool:
    """Whether two columns of rates are one figure in two directions or two units, by their heads."""
    directions = [{m for m in table.head(at).meanings if isinstance(m, Direction)} for at in (target, rate)]
    units = [table.head(at).unit for at in (target, rate)]
    return (all(directions) and directions[0] != directions[1]) or (all(units) and units[0] != units[1])


def _rows(
    columns: Sequence[Sequence[Cell]], target: int, factors: Sequence[int]
) -> Iterator[tuple[Token, float, float]]:
    """For each row where all stand, the figure, the product of the others, and how far rounding may part them."""
    for cell in columns[target]:
        figures = [columns[at][cell.row].figure for at in factors if cell.row < len(columns[at])]
        found = [figure for figure in figures if figure is not None and not figure.ranged]
        if cell.figure is not None and not cell.figure.ranged and len(found) == len(factors):
            rounding = sum(
                figure.step / figure.value / 2 for figure in (cell.figure, *found) if figure.value and figure.unit
            )
            yield cell.figure, prod(figure.value for figure in found), rounding


def _law(token: Token, value: float) -> Told:
    right = shown(token, value)
    message = f"{token.written} breaks the rule of the other rows, by which it is {right}"
    return Told(named(token.value / value) or DOES_NOT_CLOSE, token, message, f"write `{right}`")


def _multiples(table: ProseTable) -> Iterator[Told]:
    """A table of widths: each row is the first one times its number of lanes or links."""
    widths = _widths(table)
    if not widths:
        return
    first = table.cells[0]
    checked: list[tuple[Token, float]] = []
    for row, width in zip(table.cells[1:], widths[1:], strict=False):
        for cell, base in zip(row[1:], first[1:], strict=False):
            if cell.figure and base.figure and cell.figure.unit == base.figure.unit == "B/s":
                checked.append((cell.figure, base.figure.value * width / widths[0]))
    kept = sum(near(token.value, value, HOLDS) for token, value in checked)
    if kept >= 2 * LEAST and kept >= 0.8 * len(checked):
        yield from (_law(token, value) for token, value in checked if value and not near(token.value, value, BREAKS))


def _widths(table: ProseTable) -> list[float]:
    """The numbers of lanes or links in the first column; none where it holds anything else."""
    if (
        not table.head(0).nouns & {FigureScope.LANE, FigureScope.LINK, FigureScope.PORT, FigureScope.DEVICE}
        or len(table.cells) < LEAST
    ):
        return []
    figures = [row[0].figure for row in table.cells if row]
    plain = [figure.value for figure in figures if figure is not None and not figure.unit and figure.value > 0]
    if any(cell.figure is not None and cell.figure.text[-1:].isalpha() for row in table.cells for cell in row[1:]):
        return []  # figures with units of their own are no multiples of one head
    return plain if len(plain) == len(table.cells) else []


def _cells(table: ProseTable) -> Iterator[Told]:
    """`8x400` in one column and its total in another."""
    for row in table.cells:
        parts = [cell for cell in row if cell.factor > 1 and cell.figure is not None and cell.figure.unit == "B/s"]
        totals = [
            c for c in row if c.factor == 1 and c.figure is not None and "total" in table.head(c.column).text.lower()
        ]
        if len(parts) == 1 and len(totals) == 1 and totals[0].figure and parts[0].figure:
            token, value = totals[0].figure, parts[0].figure.value * parts[0].factor
            if token.unit == "B/s" and value and not any(near(token.value, value * way, BREAKS) for way in _WAYS):
                yield _of_cell(token, value, parts[0])


def _of_cell(token: Token, value: float, part: Cell) -> Told:
    right = shown(token, value)
    count = "".join(word.text for word in part.words if word.sort is not Sort.SIGN)
    message = f"{count} is {right}, and not {token.written}"
    return Told(named(token.value / value) or DOES_NOT_CLOSE, token, message, f"write `{right}`")
