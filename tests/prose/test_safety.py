"""No text crashes the reader, none takes long, and every finding points into the text."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from clusterspec.catalog import Catalog
from clusterspec.prose import text_problems
from clusterspec.source import Source
from tests.effort import diagonal, examples, sampled, steps

CATALOG = Catalog.open()
PIECES = (
    *(
        "NVLink 4",
        "H100",
        "DGX H100",
        "NDR",
        "InfiniBand",
        "PCIe 5 x16",
        "Gen5",
        "EFA v2",
        "ConnectX-7",
        "MI300X",
        "NDR400",
    ),
    *(
        "900 GB/s",
        "400 Gb/s",
        "50 GB/s",
        "80 GiB",
        "16 GB",
        "0.05 s",
        "0 GB/s",
        "989 TFLOPS",
        "8 x",
        "18",
        "0",
        "1e999",
    ),
    *(
        "9999999999999999999999",
        "1,000",
        "9_000",
        "½",
        "²",
        "٣ GB/s",
        "40%",
        "3200Gps",
        "bw_gbps=50",
        "18x faster",
        "3x",
    ),
    *("=", "≈", "(", ")", "/", "*", "+", "-", ".", ",", ":", ";", "|", "`", '"', "~", "x", "×", "\n", "\n\n"),
    *(
        "|\n|---|---|\n|",
        "```",
        "<!--",
        "-->",
        "# ",
        "- ",
        "BF16",
        "dense",
        "sparse",
        "per GPU",
        "per link",
        "each",
        "total of",
    ),
    *(
        "bidirectional",
        "unidirectional",
        "lanes",
        "links",
        "nodes",
        "GPUs",
        "all-reduce",
        "NCCL",
        "busbw",
        "vs",
        "out of",
    ),
    *("bisection bandwidth of", "instead of", "connects to", "other chips", "ZeRO-3", "DDP", "communication"),
)
LONG = (
    "NVLink 4 ",
    "900 GB/s ",
    "1 = 2 * ",
    "8 x 400 Gb/s = 3 ",
    "18x faster NVLink IB ",
    "| 900 GB/s ",
    "((((",
    "](",
    "<b",
    "1,111",
    "- ",
)


def check(text: str) -> None:
    lines = text.split("\n")
    for problem in text_problems(Source("notes.md", text), CATALOG):
        assert problem.span is not None and problem.message and problem.help
        start, end = problem.span.start, problem.span.end
        assert 1 <= start.line <= len(lines) and start.line == end.line
        assert 1 <= start.column < end.column <= len(lines[start.line - 1]) + 1


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.lists(some.sampled_from(PIECES), max_size=40).map(" ".join))
def test_no_arrangement_of_known_words_crashes_the_reader(text: str) -> None:
    check(text)


@settings(max_examples=examples(20), deadline=None)
@given(some.text(max_size=300))
def test_no_text_at_all_crashes_the_reader(text: str) -> None:
    check(text)


@pytest.mark.parametrize(("piece", "width"), sampled(diagonal(len(LONG), LONG, [90, 100_000]), 2 * len(LONG)))
def test_a_hostile_text_costs_no_more_than_its_length(piece: str, width: int) -> None:
    work = []
    for length in (1_000, 1_000, 2_000):  # the first reads the entries that the text names
        text = piece * (length // len(piece))
        source = Source("notes.md", "\n".join(text[at : at + width] for at in range(0, len(text), width)))
        work.append(steps(lambda source=source: text_problems(source, CATALOG)))  # type: ignore[misc]
    assert work[2] < 2.5 * work[1] + 1000


NUMBERED = (
    "NDR{} all-reduce rate delivers {} GB/s. ",
    "NDR{} is 18x faster than NVLink, see {}. ",
    "NDR{} has {} GB/s instead of the network's 3 GB/s. ",
    "NVLink {} carries {} GB/s per GPU, bisection bandwidth 3 GB/s. ",
    "ConnectX-{} x{} of H100 at {} GB/s each, {} TB/s in total. ",
    "<!-- clusterspec: ignore[metric-unsaid]: {} --> NCCL delivers a rate of {} GB/s. ",
    "| NDR{} | {} GB/s | ",
)
"""Texts in which no two names are the same."""


@pytest.mark.parametrize("form", sampled(NUMBERED, 2 * len(NUMBERED)))
def test_distinct_names_cost_no_more_than_their_number(form: str) -> None:
    work = []
    for count in (20, 20, 40):  # the first reads the entries that the text names
        text = "\n\n".join(form.replace("{}", str(number)) for number in range(1000, 1000 + count))
        work.append(steps(lambda text=text: text_problems(Source("notes.md", text), CATALOG)))  # type: ignore[misc]
    assert work[2] < 2.2 * work[1]
