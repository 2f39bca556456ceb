"""Claims made by table cells, and columns that mix directions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clusterspec.prose.claims import BY_UNIT, Claim
from clusterspec.prose.document import ProseText
from clusterspec.prose.lexicon import Channel, FigureScope, Hint, PrecisionName
from clusterspec.prose.subjects import Subject
from clusterspec.prose.tables import Header, ProseTable, TableCell, sole_meaning
from clusterspec.prose.text_problem import TextProblem
from clusterspec.prose.tier_comparison import DirectionCount, direction_count, mixed_pair
from clusterspec.prose.tokenize import TokenKind
from clusterspec.quantity import Direction, Sparsity

MAX_NAME_WORDS = 3
"""Maximum words of a cell that is a name."""
_MEMORY_HEADING = re.compile(
    r"(?i)(?:gpu |device |hbm )?(?:memory|hbm\d?e?|vram)(?: size| capacity| bandwidth)?(?:,? \(?(?:[GT]i?B(?:/s)?)\)?)?"
)
"""Headings of columns that state the memory or memory bandwidth of parts."""
_OF_PARTS = (FigureScope.LANE, FigureScope.LINK, FigureScope.PORT)


def claims(table: ProseTable, text: ProseText) -> Iterator[tuple[TableCell, Claim]]:
    """The figures of a table that have a subject, each with its cell."""
    for cell in table.figures():
        token = cell.figure
        subjects = _subjects(table, cell, text)
        if token is None or token.ranged or not subjects or Hint.BOUND in cell.meanings or _is_width(table, cell):
            continue
        yield cell, _claim(table, cell, subjects)


def _is_width(table: ProseTable, cell: TableCell) -> bool:
    """Whether the first column counts lanes or links, so that the figures of a row are products."""
    first = table.cells[cell.row][0].figure
    return bool(table.head(0).nouns & {FigureScope.LANE, FigureScope.LINK}) and first is not None and not first.unit


def _subjects(table: ProseTable, cell: TableCell, text: ProseText) -> tuple[Subject, ...]:
    """The subjects of a cell: named in it, in its row before it, in its column header.

    A later cell of the row counts only if it is short; a longer one is a remark.
    """
    row = table.cells[cell.row]
    before = [subject for each in row[: cell.column] for subject in each.subjects]
    behind = [s for each in row[cell.column + 1 :] if _is_name(each) for s in each.subjects]
    own = (*cell.subjects, *before, *table.head(cell.column).subjects, *behind)
    near = (*own, *(subject for head in table.headers for subject in head.subjects))
    return tuple(dict.fromkeys(text.with_generation(subject, near) for subject in own))


def _is_name(cell: TableCell) -> bool:
    """Whether a cell is a name or a list of names rather than a remark."""
    return sum(word.kind is TokenKind.WORD for word in cell.words) <= MAX_NAME_WORDS


def _claim(table: ProseTable, cell: TableCell, subjects: tuple[Subject, ...]) -> Claim:
    assert cell.figure is not None
    head, label = table.head(cell.column), table.labels[cell.row]
    meanings = (cell.meanings, head.meanings, label.meanings, table.lead_in.meanings)
    precision = sole_meaning(PrecisionName, *meanings)
    scope = _scope(cell, head, table)
    sparse = Sparsity.SPARSE in {meaning for each in meanings for meaning in each}
    noted = "*" in head.text or any(word.text == "*" for word in cell.words)
    return Claim(
        cell.figure,
        subjects,
        subjects,
        channel=BY_UNIT.get(cell.figure.unit) or _channel(subjects, meanings),
        direction=sole_meaning(Direction, *meanings),
        scope=scope,
        sparsity=sole_meaning(Sparsity, *meanings),
        precision=precision.name if precision else "",
        approximate=Hint.ABOUT in cell.meanings,
        counts=(cell.factor,) if cell.factor > 1 else (),
        of_port=scope is FigureScope.PORT or FigureScope.PORT in head.nouns,
        doubled=cell.factor > 1 or FigureScope.SUM in head.meanings,
        sparse_near=sparse or noted or "dense" in head.text.lower(),
        specified=bool(_MEMORY_HEADING.fullmatch(head.text.strip())),
    )


def _scope(cell: TableCell, head: Header, table: ProseTable) -> FigureScope | None:
    """The scope of a cell: from its words, its column header, a noun in the header, or the lead-in."""
    scope = sole_meaning(FigureScope, cell.meanings, head.meanings)
    if scope is not None and scope is not FigureScope.SUM:
        return scope
    parts = [scope for scope in _OF_PARTS if scope in head.nouns]
    if len(parts) == 1 and scope is None:
        return parts[0]
    return scope or sole_meaning(FigureScope, table.lead_in.meanings)


def _channel(subjects: tuple[Subject, ...], meanings: tuple[frozenset[object], ...]) -> Channel | None:
    """The channel of a cell: from its words, its column's, its row's; else the subject's; else the lead-in."""
    *own, lead = meanings
    scope = _first(own)
    named = next((subject.channel for subject in subjects if subject.channel is not None), None)
    return scope or named or _first([lead])


def _first(meanings: Sequence[frozenset[object]]) -> Channel | None:
    """The channel of the first set of meanings that has exactly one."""
    for each in meanings:
        channels = [meaning for meaning in each if isinstance(meaning, Channel)]
        if len(channels) == 1:
            return channels[0]
    return None


def mixed_directions(table: ProseTable, text: ProseText) -> Iterator[TextProblem]:
    """Columns without a stated direction that mix one-way and duplex figures."""
    columns: dict[int, list[tuple[Claim, DirectionCount]]] = {}
    for cell, claim in claims(table, text):
        if (how := direction_count(claim, text)) is not None:
            columns.setdefault(cell.column, []).append((claim, how))
    for found in columns.values():
        both = next((each for each in found if each[1] is DirectionCount.DUPLEX), None)
        single = next((each for each in found if each[1] is DirectionCount.ONE_WAY), None)
        if both is not None and single is not None:
            yield from mixed_pair(both, single)
