"""Claims in table cells, columns that mix directions, and rows that break the relation of the other rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from clusterspec.prose.claims import BY_UNIT, Claim
from clusterspec.prose.document import Header, ProseTable, ProseText, TableCell, sole_meaning
from clusterspec.prose.factors import DOES_NOT_CLOSE, rule_of_ratio, text_in_unit_of
from clusterspec.prose.lexicon import Channel, FigureScope, Hint, PrecisionName
from clusterspec.prose.subjects import Subject
from clusterspec.prose.tier_comparison import DirectionCount, direction_count, mixed_pair_problems
from clusterspec.prose.tokenize import TextProblem, Token, TokenKind
from clusterspec.quantity import Direction, Sparsity
from clusterspec.units.display import agrees_within

MAX_NAME_WORDS = 3
"""Maximum words of a cell that is a name."""
_MEMORY_HEADING = re.compile(
    r"(?i)(?:gpu |device |hbm )?(?:memory|hbm\d?e?|vram)(?: size| capacity| bandwidth)?(?:,? \(?(?:[GT]i?B(?:/s)?)\)?)?"
)
"""Headings of columns that state the memory or memory bandwidth of parts."""
_OF_PARTS = (FigureScope.LANE, FigureScope.LINK, FigureScope.PORT)


def claims_of_table(table: ProseTable, text: ProseText) -> Iterator[tuple[TableCell, Claim]]:
    """The figures of a table that have a subject, each with its cell."""
    for cell in table.figures():
        token = cell.figure
        subjects = _cell_subjects(table, cell, text)
        if (
            token is None
            or token.ranged
            or not subjects
            or Hint.BOUND in cell.meanings
            or _counts_lanes_or_links(table, cell)
        ):
            continue
        yield cell, _cell_claim(table, cell, subjects)


def _counts_lanes_or_links(table: ProseTable, cell: TableCell) -> bool:
    """Whether the first column counts lanes or links, so that the figures of a row are products."""
    first = table.cells[cell.row][0].figure
    return bool(table.head(0).nouns & {FigureScope.LANE, FigureScope.LINK}) and first is not None and not first.unit


def _cell_subjects(table: ProseTable, cell: TableCell, text: ProseText) -> tuple[Subject, ...]:
    """The subjects of a cell: named in the cell, earlier in its row, or in its column header.

    Later cells of the row count only if short; a long one is a remark.
    """
    row = table.cells[cell.row]
    before = [subject for each in row[: cell.column] for subject in each.subjects]
    behind = [s for each in row[cell.column + 1 :] if _is_name(each) for s in each.subjects]
    own = (*cell.subjects, *before, *table.head(cell.column).subjects, *behind)
    near = (*own, *(subject for head in table.headers for subject in head.subjects))
    sizes = [each.figure.value for each in row if each is not cell and each.figure and each.figure.unit == "B"]
    known = (text.known.with_memory(text.subject_with_generation(subject, near), sizes) for subject in own)
    return tuple(dict.fromkeys(known))


def _is_name(cell: TableCell) -> bool:
    """Whether a cell is a name or a list of names rather than a remark."""
    return sum(word.kind is TokenKind.WORD for word in cell.words) <= MAX_NAME_WORDS


def _cell_claim(table: ProseTable, cell: TableCell, subjects: tuple[Subject, ...]) -> Claim:
    assert cell.figure is not None
    head, label = table.head(cell.column), table.labels[cell.row]
    meanings = (cell.meanings, head.meanings, label.meanings, table.lead_in.meanings)
    precision = sole_meaning(PrecisionName, *meanings)
    scope = _cell_scope(cell, head, table)
    sparse = Sparsity.SPARSE in {meaning for each in meanings for meaning in each}
    noted = "*" in head.text or any(word.text == "*" for word in cell.words)
    return Claim(
        cell.figure,
        subjects,
        subjects,
        channel=BY_UNIT.get(cell.figure.unit) or _cell_channel(subjects, meanings),
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


def _cell_scope(cell: TableCell, head: Header, table: ProseTable) -> FigureScope | None:
    """The scope of a cell: from its words, its column header, a noun in the header, or the lead-in."""
    scope = sole_meaning(FigureScope, cell.meanings, head.meanings)
    if scope is not None and scope is not FigureScope.SUM:
        return scope
    parts = [scope for scope in _OF_PARTS if scope in head.nouns]
    if len(parts) == 1 and scope is None:
        return parts[0]
    return scope or sole_meaning(FigureScope, table.lead_in.meanings)


def _cell_channel(subjects: tuple[Subject, ...], meanings: tuple[frozenset[object], ...]) -> Channel | None:
    """The channel of a cell: from its words, its column's, its row's; else the subject's; else the lead-in."""
    *own, lead = meanings
    scope = _first_channel(own)
    named = next((subject.channel for subject in subjects if subject.channel is not None), None)
    return scope or named or _first_channel([lead])


def _first_channel(meanings: Sequence[frozenset[object]]) -> Channel | None:
    """The channel of the first set of meanings that has exactly one."""
    for each in meanings:
        channels = [meaning for meaning in each if isinstance(meaning, Channel)]
        if len(channels) == 1:
            return channels[0]
    return None


def mixed_direction_problems(table: ProseTable, text: ProseText) -> Iterator[TextProblem]:
    """Columns without a stated direction that mix one-way and duplex figures."""
    columns: dict[int, list[tuple[Claim, DirectionCount]]] = {}
    for cell, claim in claims_of_table(table, text):
        if (how := direction_count(claim, text)) is not None:
            columns.setdefault(cell.column, []).append((claim, how))
    for found in columns.values():
        both = next((each for each in found if each[1] is DirectionCount.DUPLEX), None)
        single = next((each for each in found if each[1] is DirectionCount.ONE_WAY), None)
        if both is not None and single is not None:
            yield from mixed_pair_problems(both, single)


# Consistency of tables: if most rows follow one relation between columns, the rows that do not are reported

MIN_SHARE = 2 / 3
"""Share of rows that must follow a relation before the others are reported."""
MIN_ROWS = 3
"""Minimum rows that follow a relation."""
MAX_RATE_COLUMNS = 6
"""Maximum columns of rates that are compared."""
MATCH_TOLERANCE = 0.02
MISMATCH_TOLERANCE = 0.03
_DIRECTION_FACTORS = (1.0, 2.0, 0.5)


def inconsistent_cells(table: ProseTable) -> Iterator[TextProblem]:
    """The cells that contradict the relation of the other rows, each reported once."""
    reported: set[int] = set()
    for mismatch in (*_product_mismatches(table), *_width_mismatches(table), *_cell_mismatches(table)):
        if id(mismatch.start) not in reported:
            reported.add(id(mismatch.start))
            yield mismatch


def _product_mismatches(table: ProseTable) -> Iterator[TextProblem]:
    """Mismatches in a column that is, in other rows, the product of a column of rates and columns of counts (lanes,
    links, NICs).
    """
    if _row_widths(table):
        return
    columns = [table.column(at) for at in range(len(table.headers))]
    rates = [at for at, cells in enumerate(columns) if _has_values(cells, True)]
    for target in rates[:MAX_RATE_COLUMNS]:
        for rate in rates[:MAX_RATE_COLUMNS]:
            if rate != target:
                yield from _relation_mismatches(table, columns, target, rate)


def _has_values(cells: Sequence[TableCell], unit: bool) -> bool:
    """Whether a column has rates (``unit``) or bare numbers in enough rows for a relation."""
    figures = [cell.figure for cell in cells if cell.figure is not None and not cell.figure.ranged]
    return sum((figure.unit == "B/s") if unit else not figure.unit for figure in figures) >= MIN_ROWS


def _relation_mismatches(
    table: ProseTable, columns: Sequence[Sequence[TableCell]], target: int, rate: int
) -> Iterator[TextProblem]:
    """Mismatches of one relation: ``target`` is ``rate`` times some counts, or the rate in the other direction."""
    counts = [at for at, cells in enumerate(columns) if table.head(at).nouns and _has_values(cells, False)][:4]
    for size in range(0 if _is_same_rate(table, target, rate) else 1, min(len(counts), 3) + 1):
        for chosen in combinations(counts, size):
            rows = list(_row_products(columns, target, (rate, *chosen)))
            for factor in _DIRECTION_FACTORS if rows else ():
                kept = [row for row in rows if agrees_within(row[0].value, row[1] * factor, MATCH_TOLERANCE)]
                if (
                    len(kept) >= MIN_ROWS
                    and len(kept) >= MIN_SHARE * len(rows)
                    and len({row[0].value for row in kept}) > 1
                ):
                    mismatched = (
                        row
                        for row in rows
                        if row[1] and not agrees_within(row[0].value, row[1] * factor, MISMATCH_TOLERANCE + row[2])
                    )
                    yield from (_cell_mismatch(token, value * factor) for token, value, _ in mismatched)
                    return


def _is_same_rate(table: ProseTable, target: int, rate: int) -> bool:
    """Whether two column headers give one rate in two directions or two units."""
    directions = [{m for m in table.head(at).meanings if isinstance(m, Direction)} for at in (target, rate)]
    units = [table.head(at).unit for at in (target, rate)]
    return (all(directions) and directions[0] != directions[1]) or (all(units) and units[0] != units[1])


def _row_products(
    columns: Sequence[Sequence[TableCell]], target: int, factors: Sequence[int]
) -> Iterator[tuple[Token, float, float]]:
    """For each complete row: the figure, the product of the factors, and their relative rounding."""
    for cell in columns[target]:
        figures = [columns[at][cell.row].figure for at in factors if cell.row < len(columns[at])]
        found = [figure for figure in figures if figure is not None and not figure.ranged]
        if cell.figure is not None and not cell.figure.ranged and len(found) == len(factors):
            rounding = sum(
                figure.step / figure.value / 2 for figure in (cell.figure, *found) if figure.value and figure.unit
            )
            yield cell.figure, prod(figure.value for figure in found), rounding


def _cell_mismatch(token: Token, value: float) -> TextProblem:
    right = text_in_unit_of(token, value)
    message = f"{token.written} differs from {right}, which the relation of the other rows gives"
    return TextProblem(rule_of_ratio(token.value / value) or DOES_NOT_CLOSE, token, message, f"write `{right}`")


def _width_mismatches(table: ProseTable) -> Iterator[TextProblem]:
    """Mismatches in a table by width: each row is the first one times its number of lanes or links."""
    widths = _row_widths(table)
    if not widths:
        return
    first = table.cells[0]
    checked: list[tuple[Token, float]] = []
    for row, width in zip(table.cells[1:], widths[1:], strict=False):
        for cell, base in zip(row[1:], first[1:], strict=False):
            if cell.figure and base.figure and cell.figure.unit == base.figure.unit == "B/s":
                checked.append((cell.figure, base.figure.value * width / widths[0]))
    kept = sum(agrees_within(token.value, value, MATCH_TOLERANCE) for token, value in checked)
    if kept >= 2 * MIN_ROWS and kept >= 0.8 * len(checked):
        yield from (
            _cell_mismatch(token, value)
            for token, value in checked
            if value and not agrees_within(token.value, value, MISMATCH_TOLERANCE)
        )


def _row_widths(table: ProseTable) -> list[float]:
    """The numbers of lanes or links in the first column; empty if it has anything else."""
    if (
        not table.head(0).nouns & {FigureScope.LANE, FigureScope.LINK, FigureScope.PORT, FigureScope.DEVICE}
        or len(table.cells) < MIN_ROWS
    ):
        return []
    figures = [row[0].figure for row in table.cells if row]
    plain = [figure.value for figure in figures if figure is not None and not figure.unit and figure.value > 0]
    if any(cell.figure is not None and cell.figure.text[-1:].isalpha() for row in table.cells for cell in row[1:]):
        return []  # figures with their own units do not scale with the header
    return plain if len(plain) == len(table.cells) else []


def _cell_mismatches(table: ProseTable) -> Iterator[TextProblem]:
    """Mismatches of a product in one column (`8x400`) and its total in another."""
    for row in table.cells:
        parts = [cell for cell in row if cell.factor > 1 and cell.figure is not None and cell.figure.unit == "B/s"]
        totals = [
            c for c in row if c.factor == 1 and c.figure is not None and "total" in table.head(c.column).text.lower()
        ]
        if len(parts) == 1 and len(totals) == 1 and totals[0].figure and parts[0].figure:
            token, value = totals[0].figure, parts[0].figure.value * parts[0].factor
            if (
                token.unit == "B/s"
                and value
                and not any(
                    agrees_within(token.value, value * factor, MISMATCH_TOLERANCE) for factor in _DIRECTION_FACTORS
                )
            ):
                yield _product_cell_mismatch(token, value, parts[0])


def _product_cell_mismatch(token: Token, value: float, part: TableCell) -> TextProblem:
    right = text_in_unit_of(token, value)
    count = "".join(word.text for word in part.words if word.kind is not TokenKind.SIGN)
    message = f"{count} is {right}, not {token.written}"
    return TextProblem(rule_of_ratio(token.value / value) or DOES_NOT_CLOSE, token, message, f"write `{right}`")
