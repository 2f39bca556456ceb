"""Pieces of running text by hand: digits, fences, comments, waivers and equations."""

from __future__ import annotations

from datetime import date

import pytest

from clusterspec.prose.arithmetic import _agrees_with_written, _states_equality, _subset_products
from clusterspec.prose.blocks import (
    BlockKind,
    _block_kind,
    _line_without_comments,
    _open_fence,
    _parse_date,
    _read_waivers,
    _visible_lines,
)
from clusterspec.prose.collectives import _is_traffic
from clusterspec.prose.subjects import _plain_name
from clusterspec.prose.tokenize import MAX_VALUE, _digit_step, _is_name, _number_value
from tests.effort import each


@each(
    ("digits", "step"),
    [
        ("190", 9.5),  # 10, but no more than a twentieth
        ("1,900", 95.0),
        ("200,190", 10.0),
        ("191", 1.0),
        ("10.2", 0.1),
        ("10.20", 0.01),
        ("1.5e6", 1e5),
        ("2e3", 1000.0),  # no less than the unit, which is 1,000
    ],
)
def test_the_step_of_a_number_is_the_unit_of_its_last_digit(digits: str, step: float) -> None:
    assert _digit_step(digits) == pytest.approx(step)


def test_numbers_lose_their_separators_and_none_is_too_large() -> None:
    assert [_number_value(text) for text in ("1,200", "1_200", "0.5", "1e400")] == [1200.0, 1200.0, 0.5, 0.0]
    assert _number_value(f"{MAX_VALUE:.0f}") == 0.0 and _number_value("1e3") == 1000.0
    assert [_is_name("x-7s", 2), _is_name("-7", 1), _is_name("8-7", 2), _is_name("x 7", 2)] == [1, 0, 0, 0]
    assert _plain_name("ConnectX-7.b‑c") == "connectx7bc"


@each(
    ("worked", "written", "step", "wanted"),
    [
        (24.8, 25.0, 1.0, True),  # rounded; a hundredth is 0.248
        (24.8, 24.0, 1.0, True),  # truncated
        (24.8, 26.0, 1.0, False),
        (24.8, 23.0, 1.0, False),
        (24.8, 20.0, 10.0, True),
        (24.8, 30.0, 10.0, False),
        (100.0, 150.0, 0.0, False),
    ],
)
def test_a_figure_is_its_equation_at_the_last_digit(worked: float, written: float, step: float, wanted: bool) -> None:
    assert _agrees_with_written(worked, written, step, False) is wanted


def test_equations_have_few_words_and_products_of_four_counts_at_most() -> None:
    assert _subset_products([2.0, 3.0]) == [2.0, 3.0, 6.0]
    assert _subset_products([2.0] * 5) == [2.0, 4.0, 8.0, 16.0]
    assert not _states_equality([]) and not _states_equality([","]) and not _states_equality(["draws"])
    assert _states_equality(["is"]) and _states_equality(["is"] * 5) and not _states_equality(["is"] * 6)
    assert _is_traffic(["traffic"]) and not _is_traffic(["traffic", "memory"]) and not _is_traffic(["memory"])


@each(
    ("line", "kind"),
    [
        ("", None),
        (" ", None),
        ("----", None),
        ("| a | b |", BlockKind.TABLE),
        ("## A", BlockKind.HEADING),
        ("- a", BlockKind.ITEM),
        ("a", BlockKind.PROSE),
    ],
)
def test_a_line_begins_a_block(line: str, kind: BlockKind | None) -> None:
    assert _block_kind(line) is kind


def test_a_fence_closes_with_as_many_signs_on_a_line_by_itself() -> None:
    assert [_open_fence(*each) for each in (("```py", ""), ("text", "```"), ("````", "```"), ("```", "````"))] == [
        *("```", "```", "", "````"),
    ]
    assert _open_fence("``` x", "```") == "```" and _open_fence("```", "```") == "" and _open_fence("a", "") == ""


def test_comments_front_matter_and_code_are_blank() -> None:
    assert _line_without_comments("a <!-- b --> c", False) == ("a            c", False)
    assert _line_without_comments("a <!-- b", False) == ("a       ", True)
    assert _line_without_comments("b --> c", True) == ("      c", False)
    text = "---\nkey: 1\n---\nfirst\n```\ncode\n```\n<!-- x\ny -->last\n---\nend"
    assert [(line.number, line.text.strip()) for line in _visible_lines(text) if line.text.strip()] == [
        *((4, "first"), (9, "last"), (10, "---"), (11, "end")),
    ]


def test_a_waiver_of_a_file_stands_before_its_text() -> None:
    text = "<!-- clusterspec: ignore-file[a, b]: why -->\nText <!-- clusterspec: ignore[c] until 2027-01-31 -->\n"
    first, second = _read_waivers(text, "page.md")
    assert (first.rules, first.line, first.alone, first.until, first.reason) == (("a", "b"), None, True, None, "why")
    assert (second.rules, second.line, second.alone, second.reason) == (("c",), 2, False, "")
    assert second.until == date(2027, 1, 31) and (second.span.start.line, second.span.start.column) == (2, 6)
    assert not [*_read_waivers("Text\n<!-- clusterspec: ignore-file[a] -->\n", "page.md")]
    assert [_parse_date("2027-01-31"), _parse_date("2027-02-31"), _parse_date(None), _parse_date("")] == [
        *(date(2027, 1, 31), date.min, None, None),
    ]
