"""The figures of a table as claims, and the lanes and directions that tables confuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.prose.claims import Claim
from clusterspec.prose.document import ProseText
from clusterspec.prose.lexicon import Channel, FigureScope, Hint, Precision
from clusterspec.prose.names import Subject
from clusterspec.prose.scan import Sort
from clusterspec.prose.tables import Cell, Head, ProseTable, one
from clusterspec.prose.tiers import Counted, count_of, mixed_pair
from clusterspec.prose.told import Told
from clusterspec.quantity import Direction, Sparsity

SHORT = 3
"""Words of a cell that only names something."""
_OF_PARTS = (FigureScope.LANE, FigureScope.LINK, FigureScope.PORT)


def claims(table: ProseTable, text: ProseText) -> Iterator[tuple[Cell, Claim]]:
    """Every figure of a table that says what it is of."""
    for cell in table.figures():
        token = cell.figure
        subjects = _subjects(table, cell, text)
        if token is None or token.ranged or not subjects or Hint.BOUND in cell.meanings or _is_width(table, cell):
            continue
        yield cell, _claim(table, cell, subjects)


def _is_width(table: ProseTable, cell: Cell) -> bool:
    """Whether the rows of a table are numbers of lanes or links, so that its figures are products."""
    first = table.cells[cell.row][0].figure
    return bool(table.head(0).nouns & {FigureScope.LANE, FigureScope.LINK}) and first is not None and not first.unit


def _subjects(table: ProseTable, cell: Cell, text: ProseText) -> tuple[Subject, ...]:
    """What a cell is of: what it names, what its row names before it, what its column names.

    A short cell behind it may name it as well; a longer one is a remark.
    """
    row = table.cells[cell.row]
    before = [subject for each in row[: cell.column] for subject in each.subjects]
    behind = [s for each in row[cell.column + 1 :] if _is_short(each) for s in each.subjects]
    own = (*cell.subjects, *before, *table.head(cell.column).subjects, *behind)
    near = (*own, *(subject for head in table.heads for subject in head.subjects))
    return tuple(dict.fromkeys(text.settled(subject, near) for subject in own))


def _is_short(cell: Cell) -> bool:
    """Whether a cell is a name or a list of names, no remark."""
    return sum(word.sort is Sort.WORD for word in cell.words) <= SHORT


def _claim(table: ProseTable, cell: Cell, subjects: tuple[Subject, ...]) -> Claim:
    assert cell.figure is not None
    head, label = table.head(cell.column), table.labels[cell.row]
    meanings = (cell.meanings, head.meanings, label.meanings, table.lead.meanings)
    precision = one(Precision, *meanings)
    scope = _scope(cell, head, table)
    sparse = Sparsity.SPARSE in {meaning for each in meanings for meaning in each}
    noted = "*" in head.text or any(word.text == "*" for word in cell.words)
    return Claim(
        cell.figure,
        subjects,
        subjects,
        channel=_channel(subjects, meanings),
        direction=one(Direction, *meanings),
        scope=scope,
        sparsity=one(Sparsity, *meanings),
        precision=precision.name if precision else "",
        about=Hint.ABOUT in cell.meanings,
        counts=(cell.factor,) if cell.factor > 1 else (),
        of_port=scope is FigureScope.PORT or FigureScope.PORT in head.nouns,
        twofold=cell.factor > 1 or FigureScope.SUM in head.meanings,
        sparse_near=sparse or noted or "dense" in head.text.lower(),
    )


def _scope(cell: Cell, head: Head, table: ProseTable) -> FigureScope | None:
    """What a cell is of: its own words, its column's, the part that its column names, what leads in."""
    said = one(FigureScope, cell.meanings, head.meanings)
    if said is not None and said is not FigureScope.SUM:
        return said
    parts = [scope for scope in _OF_PARTS if scope in head.nouns]
    if len(parts) == 1 and said is None:
        return parts[0]
    return said or one(FigureScope, table.lead.meanings)


def _channel(subjects: tuple[Subject, ...], meanings: tuple[frozenset[object], ...]) -> Channel | None:
    """What carries the bytes: the cell's own words, its column's, its row's; then the subject; then what leads in."""
    *own, lead = meanings
    said = _first(own)
    named = next((subject.channel for subject in subjects if subject.channel is not None), None)
    return said or named or _first([lead])


def _first(meanings: Sequence[frozenset[object]]) -> Channel | None:
    """The channel of the first words that name just one."""
    for each in meanings:
        channels = [meaning for meaning in each if isinstance(meaning, Channel)]
        if len(channels) == 1:
            return channels[0]
    return None


def mixed(table: ProseTable, text: ProseText) -> Iterator[Told]:
    """A column without a direction that sets a figure of both directions beside one of a single direction."""
    columns: dict[int, list[tuple[Claim, Counted]]] = {}
    for cell, claim in claims(table, text):
        if (how := count_of(claim, text)) is not None:
            columns.setdefault(cell.column, []).append((claim, how))
    for found in columns.values():
        both = next((each for each in found if each[1] is Counted.DUPLEX), None)
        single = next((each for each in found if each[1] is Counted.ONE_WAY), None)
        if both is not None and single is not None:
            yield from mixed_pair(both, single)
