"""Blocks of a report: which are next to each other, stay on a page, lose columns, and name missing characters."""

from __future__ import annotations

import pytest

from clusterspec.report.paper.blocks import (
    Block,
    Heading,
    NumberedSentences,
    PaperTable,
    Picture,
    TableColumn,
    TableRow,
    Text,
    embedded_json,
    paired_blocks,
    without_empty_columns,
)
from clusterspec.report.paper.fonts import drawable_page
from tests.effort import each

NO_FONT = ((0, 0),)
"""Ranges of the fonts of a system that has none of the characters below."""


def table(*rows: tuple[str, ...], heads: tuple[str, ...] = ("a", "b")) -> PaperTable:
    return PaperTable(tuple(map(TableColumn, heads)), tuple(TableRow(cells, "x") for cells in rows), "x")


@pytest.mark.parametrize(
    ("rows", "length", "short"), [(4, 10, True), (5, 10, False), (4, 112, True), (1, 450, True), (1, 451, False)]
)
def test_a_table_of_few_rows_and_characters_stays_on_a_page(rows: int, length: int, short: bool) -> None:
    assert table(*[("x" * length,)] * rows, heads=("a",)).stays_on_page is short


@pytest.mark.parametrize(
    ("widths", "rows", "slim", "narrow"),
    [
        ((32, 32), 1, True, True),  # 32 + 3 + 32 + 3 = 70 characters
        ((33, 32), 1, False, True),
        ((32, 32), 8, True, True),
        ((32, 32), 9, False, True),
        ((90, 30), 1, True, True),  # a cell is wrapped to 34, or 40 where the page is wide: 37 + 33, and 43 + 33
        ((90, 31), 1, False, True),
        ((90, 32), 1, False, True),
        ((90, 33), 1, False, False),
        ((36, 36), 1, False, True),  # 34 + 3 + 34 + 3 = 74, and 39 + 39 = 78
    ],
)
def test_a_table_stands_on_half_a_page_where_its_wrapped_cells_fit(
    widths: tuple[int, ...], rows: int, slim: bool, narrow: bool
) -> None:
    found = table(*[tuple("x" * wide for wide in widths)] * rows)
    assert (found.fits_half_page, found.fits_half_width) == (slim, narrow)


def test_a_head_is_wrapped_to_half_of_what_a_cell_takes() -> None:
    """17 + 3 for a long head, and 34 + 3 for a cell: 57 characters with one such head, 77 with two, of 70."""
    for head in ("h" * 17, "h" * 60):
        assert table(("1", "x" * 34), heads=(head, "b")).fits_half_page
        assert not table(("1", "1", "x" * 34), heads=(head, head, "b")).fits_half_page


SMALL, BROAD = table(("1", "2")), table(("x" * 60, "y" * 60))
LONG, LONGER = table(*[("1", "2")] * 14), table(*[("1", "2")] * 15)
DRAWN, WIDE = Picture("<svg/>", "", "x"), Picture("<svg/>", "", "x", wide=True)
SAID, TOLD, TITLE = Text("said"), NumberedSentences(()), Heading("title")


@each(
    ("blocks", "rows"),
    [
        ((SMALL, SMALL), [2]),
        ((SMALL, SMALL, SMALL), [2, 1]),
        ((SMALL, BROAD, SMALL), [1, 1, 1]),
        ((SMALL, TITLE, SMALL), [1, 1, 1]),
        ((DRAWN, SAID), [2]),
        ((SAID, DRAWN), [1, 1]),
        ((SMALL, SAID), [1, 1]),
        ((WIDE, SAID), [1, 1]),
        ((WIDE, SMALL), [1, 1]),
        ((DRAWN, SMALL, SAID), [2, 1]),
        ((DRAWN, LONG), [2]),
        ((DRAWN, LONGER), [1, 1]),
        ((DRAWN, DRAWN, LONG), [2, 1]),
        ((SMALL, LONG), [1, 1]),
        ((DRAWN, SAID, SAID), [2, 1]),
        ((TOLD, DRAWN, SMALL, SMALL), [2, 2]),
        ((SAID, BROAD, TITLE), [1, 1, 1]),
    ],
)
def test_two_blocks_of_half_a_page_are_side_by_side_in_order(blocks: tuple[Block, ...], rows: list[int]) -> None:
    found = paired_blocks(blocks)
    assert [len(row) for row in found] == rows
    assert tuple(block for row in found for block in row) == blocks
    assert all(len(row) == 1 for row in paired_blocks((SMALL, SMALL), lambda _: False)), "a word would be broken"


def test_a_column_without_a_value_takes_its_fields_and_marks_with_it() -> None:
    rows = (
        TableRow(("one", "", "–", "4"), "r", fields=("a", "b", "c", "d"), best=frozenset({1, 3})),
        TableRow(("", "–", "", "5"), "s", best=frozenset({0})),
    )
    found = without_empty_columns(PaperTable(tuple(map(TableColumn, "ABCD")), rows, "x"))
    assert isinstance(found, PaperTable)
    assert [column.label for column in found.columns] == ["A", "D"]
    assert [(row.cells, row.fields, row.best) for row in found.rows] == [
        (("one", "4"), ("a", "d"), frozenset({1})),
        (("", "5"), (), frozenset({0})),
    ]
    first = table(("", "1"))
    assert without_empty_columns(first) is first, "the first column stays"
    form = PaperTable(first.columns, (TableRow(("", ""), "x"),), "x", form=True)
    assert without_empty_columns(form) is form, "a form is filled in by hand"
    assert without_empty_columns(SAID) is SAID


@pytest.mark.parametrize("count", [1, 8, 9, 11])
def test_at_most_eight_characters_without_a_font_are_named_and_the_others_counted(count: int) -> None:
    page, said = drawable_page("a" + "".join(chr(0x10F000 + at) for at in range(count)), NO_FONT)
    assert page == "a" + "(unnamed character)" * count
    assert said.count("U+") == min(count, 8) and said.index("U+10F000") < 60
    assert (f" and {count - 8} more" in said) is (count > 8) and (" more" in said) is (count > 8)


def test_characters_of_a_font_and_in_tags_and_styles_stay() -> None:
    odd = chr(0x10F000)
    for page in ("Ünïcode − × → Ω Я", f'<p title="{odd}">x</p>', f"<style>{odd}</style>x"):
        assert drawable_page(page, NO_FONT) == (page, ""), page
    for ranges in (((0x10F000, 0x10F000),), ((0, 1), (0x10EFFF, 0x10F001))):
        assert drawable_page(odd, ranges) == (odd, "")
    assert drawable_page(odd, ((0x10F001, 0x10F002), (0, 0x10EFFF))).html == "(unnamed character)"


def test_embedded_json_holds_its_value_and_no_markup() -> None:
    text = embedded_json({"a": "<&>é", "b": [1, 2.5]})
    assert text == r'{"a":"\u003c\u0026\u003e\u00e9","b":[1,2.5]}'
