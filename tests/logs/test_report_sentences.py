"""Sentences of people in a text with a log, and those that report a run that hangs."""

from __future__ import annotations

import pytest

from clusterspec.logs.reports.report_sentences import (
    MOST_LINES,
    is_sentence,
    is_written,
    report_sentences,
    reported_hang,
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("It trains.\nWith two nodes the training hangs.", 2),
        ("The process gets stuck randomly after some steps.", 1),
        ("If it hangs, set NCCL_DEBUG=INFO.", None),
        ("It does not hang with one node.", None),
        ("The hang is fixed since then.", None),
        ("With 8 nodes it gets stuck without any error.", 1),
        ("It trains without a hang.", None),
        ("[rank0]: watchdog thread is stuck", None),
    ],
)
def test_a_hang_is_reported_by_a_sentence_that_is_no_condition(text: str, line: int | None) -> None:
    found = reported_hang(text)
    assert (found and found[1]) == line


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("We run it on two nodes", True),
        ("NCCL_P2P_DISABLE=1 works", True),
        ("设置了之后还是报错", True),
        ("works", False),
        ("n1:2:2 [0] NCCL INFO it works on both of them", False),
        ("Sep  1 10:00:00 n1 kernel: it works with it", False),
        ("2026-01-01 10:00:00 it works with it", False),
        ("(raylet) worker works with memory", False),
        ("  Caused by: a network is disabled", False),
        ("ValueError: it works with two nodes", False),
    ],
)
def test_a_line_of_a_program_is_no_sentence(line: str, sentence: bool) -> None:
    assert is_sentence(line) is sentence


@pytest.mark.parametrize(
    ("line", "written"), [("We | saw that it fails with 4 nodes.", True), ("We | saw | it fails.", False)]
)
def test_a_line_with_two_bars_is_a_row_of_a_table(line: str, written: bool) -> None:
    assert is_written(line) is written


def test_the_first_and_the_last_lines_of_a_long_text_are_read() -> None:
    long = ["It is the first line", *["a"] * MOST_LINES, "It is the last line"]
    assert [number for number, _ in report_sentences("\n".join(long))] == [1, MOST_LINES + 2]
