"""Blocks of a text: which lines belong together, what of them is read, and which problems a waiver takes back."""

from __future__ import annotations

from datetime import date

import pytest

from clusterspec.document.comments import WRAPPED
from clusterspec.finding import Confidence, Problem, Severity
from clusterspec.prose.blocks import LONGEST, text_blocks, unwaived_problems
from clusterspec.source import Position, Span
from tests.effort import each

LONG = "x" * WRAPPED


@each(
    ("text", "blocks"),
    [
        ("one\ntwo", [("prose", 1), ("prose", 1)]),
        (f"{LONG}\ntwo", [("prose", 2)]),
        (f"{LONG[1:]}\ntwo", [("prose", 1), ("prose", 1)]),
        (f"{LONG}:\ntwo", [("prose", 1), ("prose", 1)]),
        (f"{LONG}  \ntwo", [("prose", 2)]),
        (f"{LONG}\n\ntwo", [("prose", 1), ("prose", 1)]),
        (f"- {LONG}\n  two", [("item", 2)]),
        (f"{LONG}\n- two", [("prose", 1), ("item", 1)]),
        ("1. one\n(b) two\n> three\n├── four", [("item", 1)] * 4),
        (f"# {LONG}\ntwo", [("heading", 1), ("prose", 1)]),
        (f"### {LONG}\n#no", [("heading", 1), ("prose", 1)]),
        ("    # no heading", [("prose", 1)]),
        ("title\n===\ntext", [("prose", 1), ("prose", 1)]),
        (f"{LONG}\n---\ntext", [("prose", 1), ("prose", 1)]),
        (f"{LONG}\n--\ntext", [("prose", 2), ("prose", 1)]),
        ("| a |\n| b |\ntext", [("table", 2), ("prose", 1)]),
        (f"{LONG}\n| a |", [("prose", 1), ("table", 1)]),
        (" \n", []),
    ],
)
def test_lines_belong_together_where_the_first_is_full(text: str, blocks: list[tuple[str, int]]) -> None:
    assert [(str(block.kind), len(block.lines)) for block in text_blocks(text)] == blocks


def shown(text: str) -> list[tuple[int, str]]:
    return [(line.number, line.text.strip()) for block in text_blocks(text) for line in block.lines]


@each(
    ("text", "lines"),
    [
        ("---\na: 1\n---\ntext", [(4, "text")]),
        ("---\na: 1\n...\ntext", [(4, "text")]),
        ("\n---\na: 1", [(3, "a: 1")]),
        ("```\ncode\n```\ntext", [(4, "text")]),
        ("````\ncode\n```\nmore\n````\ntext", [(6, "text")]),
        ("```\ncode\n```` \ntext", [(4, "text")]),
        ("```\ncode\n``` x\nmore", []),
        ("```\ncode\n~~~\nmore", []),
        ("~~~\ncode\n~~~\ntext", [(4, "text")]),
        ("a <!-- b --> c", [(1, "a            c")]),
        ("a <!-- b\nc\nd --> e", [(1, "a"), (3, "e")]),
        ("<!-- a --> b <!-- c --> d", [(1, "b            d")]),
        ("a\tb", [(1, "a b")]),
        ("x" * LONGEST + "y", [(1, "x" * LONGEST)]),
        ("[NVLink](https://a.b/c) d", [(1, "[NVLink                  d")]),
        ('[a](b "c") d', [(1, "[a          d")]),
        ("https://a.b/c d", [(1, "d")]),
        ("<b>x</b> y < z", [(1, "x     y < z")]),
        ("**8** x 2**3 a", [(1, "8   x 2**3 a")]),
        (r"\(a\) \times b \cdot c", [(1, "a   ×      b ·     c")]),
        ("`900 GB/s` `900 GB/s duplex` `989 TFLOP/s dense`", [(1, "`900 GB/s`")]),
        ('"it has 900 GB/s here now" "900 GB/s only"', [(1, '"900 GB/s only"')]),
        ('"it had 900GB/s" a', [(1, '"it had 900GB/s" a')]),
        ('"it has 900 GB/s" a', [(1, "a")]),
    ],
)
def test_code_comments_and_addresses_are_blank_and_keep_their_place(text: str, lines: list[tuple[int, str]]) -> None:
    found = shown(text)
    assert [(number, " ".join(line.split())) for number, line in found] == [
        (number, " ".join(line.split())) for number, line in lines
    ]
    for block in text_blocks(text):
        for line in block.lines:
            assert len(line.text) == min(len(text.split("\n")[line.number - 1]), LONGEST)


def problem(line: int, rule: str = "ambiguous-unit") -> Problem:
    span = Span("notes.md", Position(line, 1), Position(line, 2))
    return Problem(rule, (), "m", "h", Severity.ERROR, Confidence.LIKELY, span=span)


TODAY = date(2026, 7, 1)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a <!-- clusterspec: ignore[ambiguous-unit]: known -->\nb", [2, 3]),
        ("<!-- clusterspec: ignore[ambiguous-unit]: known -->\nb", [3]),
        ("\n<!-- clusterspec: ignore[ambiguous-unit]: known -->\nb", [1]),
        ("<!-- clusterspec: ignore[peak-off-catalog , ambiguous-unit]: known -->", [3]),
        ("<!-- clusterspec: ignore[peak-off-catalog]: known -->", [1, 2, 3]),
        ("<!-- clusterspec: ignore-file[ambiguous-unit]: known -->", []),
        ("# a\n<!-- clusterspec: ignore-file[ambiguous-unit]: known -->", [1, 2, 3]),
        ("\n<!-- a -->\n<!-- clusterspec: ignore-file[ambiguous-unit]: known -->", []),
        ("<!-- clusterspec: ignore[ambiguous-unit] until 2026-07-01: known -->", [3]),
        ("<!-- clusterspec: ignore[ambiguous-unit] until 2026-07-02: known -->", [3]),
    ],
)
def test_a_waiver_covers_its_line_the_next_or_the_whole_file(text: str, lines: list[int]) -> None:
    left = list(unwaived_problems([problem(line) for line in (1, 2, 3)], text, "notes.md", TODAY))
    assert [one.span and one.span.start.line for one in left] == lines
    assert {one.rule for one in left} <= {"ambiguous-unit"}


@pytest.mark.parametrize(
    ("waiver", "rule"),
    [
        ("[ambiguous-unit]", "waiver-without-reason"),
        ("[ambiguous-unit]: ", "waiver-without-reason"),
        ("[ambiguous-unit] until 2026-06-30: known", "expired-waiver"),
        ("[ambiguous-unit] until 2026-06-31: known", "expired-waiver"),
    ],
)
def test_a_waiver_without_a_reason_or_after_its_date_has_no_effect(waiver: str, rule: str) -> None:
    text = f"a <!-- clusterspec: ignore{waiver} -->"
    first, second = unwaived_problems([problem(1)], text, "notes.md", TODAY)
    assert first == problem(1)
    assert (second.rule, second.severity, second.confidence) == (rule, Severity.WARNING, Confidence.CERTAIN)
    assert second.span == Span("notes.md", Position(1, 3), Position(1, len(text) + 1))


def test_no_waiver_expires_without_a_date_of_today() -> None:
    text = "a <!-- clusterspec: ignore[ambiguous-unit] until 2020-01-01: known -->"
    assert list(unwaived_problems([problem(1)], text, "notes.md", None)) == []
