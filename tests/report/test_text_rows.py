"""Rows of printed texts, worked out from terms and lines of round figures."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.term import Term
from clusterspec.finding import Severity
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.report import (
    PLAIN,
    TextStyle,
    cost_text,
    faults_text,
    findings_text,
    fleet_text,
    readings_block,
    sensitivity_text,
    separation_text,
    share_bar,
    simulation_text,
    text_table,
    text_width,
    wrapped_lines,
)
from clusterspec.report.assumption_rows import change_text, cut_value, influences_text, short_key
from clusterspec.report.breakdown_text import breakdown_text, folded_term, nested_parts
from clusterspec.report.estimate_rows import clock_text, value_text
from clusterspec.report.estimate_text import _memory_views, memory_row, memory_text
from clusterspec.report.explanations import term_text
from clusterspec.results import Input, Tool
from clusterspec.results.fleet import LinkUse
from clusterspec.results.levers import LeverRow, SensitivityReport
from clusterspec.results.search import BreakEvenRow
from clusterspec.results.simulation import QueuePoint
from clusterspec.results.verdict import Influence
from clusterspec.source import Computed, Position, Source, Span, Written
from clusterspec.units.readings import Reading
from tests.report.columns import lines
from tests.report.test_paper_words import trained
from tests.report.test_result_texts import SIMULATED, TOGETHER


def seconds(name: str, value: float, *parts: Term) -> Term:
    return Term(name, value, "s", "", parts=parts)


STEP = seconds(
    "step", 8.0, seconds("forward", 6.0, seconds("gemm", 4.0), seconds("attention", 2.0)), seconds("idle", 0.0)
)
STEP = replace(STEP, parts=(*STEP.parts, seconds("optimizer", 2.0)))


def test_a_sum_has_a_row_for_each_part_that_is_not_zero() -> None:
    """Bars of 20 columns for the whole, at the first level alone; 6 of 8 s are 15 columns."""
    first = ["part time share", f"forward 6 s 75 % {'█' * 15}", f"optimizer 2 s 25 % {'█' * 5}"]
    assert lines(breakdown_text(STEP, PLAIN)) == first
    inner = ["gemm 4 s 50 %", "attention 2 s 25 %"]
    assert lines(breakdown_text(STEP, PLAIN, depth=2)) == [*first[:2], *inner, first[2]]
    assert [(part.name, level) for part, level, _ in nested_parts(STEP, 2)] == [
        ("forward", 1), ("gemm", 2), ("attention", 2), ("optimizer", 1),
    ]  # fmt: skip
    deep = seconds("a", 1.0, seconds("b", 1.0, seconds("c", 1.0, seconds("d", 1.0))))
    assert [level for _, level, _ in nested_parts(deep, 2)] == [1, 2]
    assert [level for _, level, _ in nested_parts(deep, 3)] == [1, 2, 3]
    held = replace(STEP, unit="B", parts=tuple(replace(part, unit="B") for part in STEP.parts))
    assert lines(breakdown_text(held, PLAIN))[0] == "part size share"
    none = seconds("none", 0.0, seconds("a", 1.0), seconds("b", -1.0))
    assert lines(breakdown_text(none, PLAIN)) == ["part time", "a 1 s", "b −1 s"]


@pytest.mark.parametrize(
    ("most", "names"),
    [
        (3, ["a", "b", "c"]),
        (2, ["b", "2 smaller parts"]),
        (4, ["a", "b", "c"]),
    ],
)
def test_the_smallest_parts_of_a_long_sum_are_one_row(most: int, names: list[str]) -> None:
    """Parts of 1, 5 and 2 s, and one of none, keep their order."""
    term = Term.total("all", (seconds("a", 1.0), seconds("b", 5.0), seconds("none", 0.0), seconds("c", 2.0)))
    found = folded_term(term, most)
    assert [part.name for part in found.parts if part.value] == names
    assert found.value == 8.0 and sum(part.value for part in found.parts) == 8.0


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0004, ""), (0.0005, "+0.05 %"), (-0.0006, "−0.06 %"), (0.104, "+10 %"), (8.96, "+896 %"), (9.0, "× 10"),
        (-0.5, "−50 %"),
    ],
)  # fmt: skip
def test_a_change_is_a_share_up_to_tenfold(share: float, said: str) -> None:
    assert change_text(share) == said


def test_a_long_value_and_a_long_key_are_cut() -> None:
    assert cut_value("a" * 14) == "a" * 14 and cut_value("a" * 15) == "a" * 12 + " …"
    assert cut_value("a" * 8, 8) == "a" * 8 and cut_value("a" * 9, 8) == "a" * 6 + " …"
    assert short_key(f"{'a' * 29} bbbb") == f"{'a' * 29} bbbb" and short_key(f"{'a' * 30} bbbb") == "bbbb"


@pytest.mark.parametrize(("count", "most", "shown"), [(9, 8, 5), (5, 8, 5), (6, 8, 5), (3, 2, 1), (2, 4, 1)])
def test_as_many_influences_stand_as_there_are_lines(count: int, most: int, shown: int) -> None:
    """Three lines less for the title, the heads and the note."""
    report = trained().estimate
    each = [Influence((f"key.{at}", 1.0, "why"), 2.0, 0.1, -0.2) for at in range(count)]
    table = influences_text(each, report, PLAIN, most).splitlines()
    assert table[2].endswith("+10 %   −20 %") and len(table[1]) == len(table[2]), "changes end below their heads"
    said = [" ".join(line.split()) for line in table]
    assert said[1] == "assumed value alternative step time memory"
    assert said[2 : 2 + shown] == [f"key.{at} 1 2 +10 % −20 %" for at in range(shown)]
    more = count - shown
    told = f"{more} more assumption{'s' if more > 1 else ''} with an effect; " if more else ""
    assert said[2 + shown] == f"{told}`--assumptions` and `--constants` list {len(report.plan.assumptions)}"
    assert lines(influences_text([], report, PLAIN, most))[0].startswith("No assumption changes the step time or ")


def test_a_term_is_told_with_its_formula_source_range_and_inputs() -> None:
    term = Term(
        "step_time",
        8.0,
        "s",
        "a * b",
        (("a", Figure(2.0, "s", Computed("half"))),),
        source="a paper",
        low=7.0,
        high=9.0,
    )
    report = trained().estimate
    said = lines(term_text(term, report))
    assert said[:6] == [
        "step_time = 8 s", "formula a * b", "source a paper", "range 7 s to 9 s", "input value where from", said[5],
    ]  # fmt: skip
    assert said[5].startswith("a 2 s ") and len(said) == 6
    for gone in (replace(term, low=None), replace(term, high=None)):
        assert not [line for line in lines(term_text(gone, report)) if line.startswith("range")]
    assert lines(term_text(Term("MFU", 0.4, "1", "x"), report)) == ["MFU = 40 %", "formula x"]


def test_memory_has_a_row_for_each_part_that_is_not_zero_and_its_sum() -> None:
    """Of a capacity of 8 GB: 3.2, 1.6, 0, 0.8 and 0.4 GB, in bars of 20 columns for the whole."""
    use = trained().estimate.plan.memory
    cluster = trained().estimate.design.cluster
    assert use is not None and use.capacity is not None and cluster is not None
    sizes = {"weights": 3.2e9, "gradients": 1.6e9, "optimizer": 0.0, "activations": 8e8, "other": 4e8, "total": 6e9}
    parts: dict[str, Any] = {name: replace(getattr(use, name), value=value) for name, value in sizes.items()}
    held = replace(use, capacity=replace(use.capacity, value=8e9), **parts)
    said = lines(memory_text(held, cluster.accelerator, PLAIN))
    assert said[:6] == [
        "part size of capacity",
        f"weights 3.2 GB 40 % {'█' * 8}",
        f"gradients 1.6 GB 20 % {'█' * 4}",
        "activations 800 MB 10 % ██",
        "other 400 MB 5 % █",
        f"memory 6 GB 75 % {'█' * 15}",
    ]
    assert said[6].startswith("(as nvidia-smi shows it; the framework's allocator holds ")
    unknown = replace(held, capacity=None)
    assert lines(memory_text(unknown, None, PLAIN))[:2] == ["part size share", f"weights 3.2 GB 53 % {'█' * 10}▋"]


def test_memory_is_as_the_tools_of_its_vendor_show_it() -> None:
    """Of 80 GB an engine may use 60, and its framework 58.2 of them: 1.8 GB are the driver's and the collectives'."""
    use, cluster = trained().estimate.plan.memory, trained().estimate.design.cluster
    assert use is not None and use.capacity is not None and cluster is not None
    assert use.total.value - use.allocator == pytest.approx(1.8e9)
    assert cluster.accelerator.memory is not None
    part = replace(cluster.accelerator, memory=replace(cluster.accelerator.memory, value=80e9), memory_printed="80 GiB")
    held = replace(use, capacity=replace(use.capacity, value=60e9))
    first, second = _memory_views(held, part)
    assert first == "(as nvidia-smi shows it; the framework's allocator holds 11.6 GB of it)"
    assert (
        second
        == "(80 GB on the device, sold as 80 GiB; the engine may use 75 % of it, which leaves 58.2 GB to the framework)"
    )
    whole = replace(held, capacity=replace(use.capacity, value=80e9))
    assert _memory_views(whole, replace(part, memory_printed="80 GB"))[1] == (
        "(80 GB on the device; a framework can use 78.2 GB of it)"
    )
    assert _memory_views(held, replace(part, vendor="AMD"))[0].startswith("(as the driver reports it; ")
    assert len(_memory_views(held, None)) == len(_memory_views(replace(held, capacity=None), part)) == 1


def test_the_row_of_memory_says_whether_it_fits() -> None:
    name, size, note = memory_row(trained().estimate.plan)
    assert (name, size) == ("memory", "13.4 GB") and note.startswith("fits: 15.7 % of 85.5 GB; 11.6 GB to 18.3 GB")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (True, "yes"), (False, "no"), (None, "none"), ((1, 1), "1, 1"), ([0] * 16, ", ".join(["0"] * 16)),
        ([0] * 17, "17 × 0"), ([0, 0, 1] + [2] * 14, "2 × 0, 1 × 1, 14 × 2"), (0.25, "0.25"), (12345.6, "12,346"),
        (Figure(5e10, "B/s", Written("key")), "50 GB/s"),
    ],
)  # fmt: skip
def test_a_value_of_an_assumption_is_in_words(value: object, said: str) -> None:
    assert value_text(value) == said


@pytest.mark.parametrize(
    ("minute", "said"), [(0, "00:00"), (59, "00:59"), (60, "01:00"), (1439, "23:59"), (1440, "24:00")]
)
def test_a_minute_of_the_day_is_a_time(minute: int, said: str) -> None:
    assert clock_text(minute) == said


def span(line: int, start: int, end: int) -> Span:
    return Span("a.yaml", Position(line, start), Position(line, end))


LINES = "first: 1\nsecond: 2\n\nfourth: 4\n" + "x: 1\n" * 95 + "y: 2\n"


@pytest.mark.parametrize(
    ("place", "framed"),
    [
        (span(1, 1, 6), ["  --> a.yaml:1:1", "   |", " 1 | first: 1", "   | ^^^^^"]),
        (span(2, 9, 10), ["  --> a.yaml:2:9", "   |", " 1 | first: 1", " 2 | second: 2", "   |         ^"]),
        (span(3, 1, 1), ["  --> a.yaml:3:1"]),
        (span(4, 1, 7), ["  --> a.yaml:4:1", "   |", " 4 | fourth: 4", "   | ^^^^^^"]),
        (span(100, 1, 2), ["   --> a.yaml:100:1", "    |", " 99 | x: 1", "100 | y: 2", "    | ^"]),
        (span(4, 1, 1), ["  --> a.yaml:4:1", "   |", " 4 | fourth: 4", "   | ^"]),
    ],
)
def test_a_finding_stands_below_its_line_and_the_one_before(place: Span, framed: list[str]) -> None:
    """A line before that is empty, or absent, is left out; line numbers are as wide as the longest, at least two."""
    sources = {"a.yaml": Source("a.yaml", LINES)}
    assert findings_text.frame_lines(place, Severity.ERROR, sources, PLAIN) == framed
    assert findings_text.frame_lines(place, Severity.ERROR, {}, PLAIN) == framed[:1]


@pytest.mark.parametrize(
    ("line", "columns", "first", "said"),
    [
        ("a" * 10, 10, 0, "a" * 10),
        ("a" * 11, 10, 0, "a" * 9 + "…"),
        ("a\tb", 10, 0, "a b"),
        ("0123456789abcdef", 8, 10, "…abcdef"),
        ("0123456789abcdefgh", 8, 10, "…abcdef…"),
        ("漢" * 5, 10, 0, "漢" * 5),
        ("漢" * 6, 10, 0, "漢" * 4 + "…"),
    ],
)
def test_a_line_is_cut_at_the_columns_of_the_terminal(line: str, columns: int, first: int, said: str) -> None:
    found = findings_text.cut_line(line, columns, first)
    assert found == said and text_width(found) <= columns


@pytest.mark.parametrize(
    ("length", "start", "end", "columns", "first", "marker"),
    [
        (40, 1, 6, 50, 0, "^^^^^"),
        (40, 11, 13, 50, 0, " " * 10 + "^^"),
        (200, 101, 104, 60, 80, " " * 21 + "^^^"),  # shown from 20 before, after an ellipsis
        (200, 101, 180, 60, 80, " " * 21 + "^" * 39),  # to the edge of the terminal
        (200, 31, 34, 60, 0, " " * 30 + "^^^"),
        (200, 58, 61, 60, 37, " " * 21 + "^^^"),
        (200, 101, 104, 30, 85, " " * 16 + "^^^"),  # at most half of a narrow terminal
    ],
)
def test_a_long_line_is_shown_from_shortly_before_its_marked_part(
    length: int, start: int, end: int, columns: int, first: int, marker: str
) -> None:
    line, place = "k" * length, span(1, start, end)
    assert findings_text.window_start(line, place, columns) == first
    assert findings_text.marker_line(line, place, columns, first) == marker


@pytest.mark.parametrize(
    ("value", "number", "hours"),
    [
        (None, faults_text.UNKNOWN, faults_text.UNKNOWN), (0.0, "0", "0"), (0.0005, "0.0005", "< 0.001"),
        (0.001, "0.001", "0.001"), (0.5, "0.5", "0.5"), (12.345, "12.3", "12.3"), (12345.6, "12,346", "12,346"),
    ],
)  # fmt: skip
def test_a_number_of_failures_and_hours_is_rounded(value: float | None, number: str, hours: str) -> None:
    assert (faults_text._number_text(value), faults_text._hours_text(value)) == (number, hours)


def test_parts_of_a_cost_stand_with_their_shares_and_the_sum_last() -> None:
    money = Term("capital", 3e6, "1", "price * count", (("price", Figure(3e5, "1", Computed("x"))),))
    total = Term.total("total", (money, Term("energy", 1e6, "1", "kwh")), "1")
    said = lines(cost_text._parts_text(total, "USD", PLAIN))
    assert said == [
        "part amount share formula",
        "capital 3,000,000 USD 75 % price * count (price 300,000)",
        "energy 1,000,000 USD 25 % kwh",
        "total 4,000,000 USD 100 % capital + energy",
    ]


def test_a_bar_has_eighths_of_its_columns() -> None:
    assert [share_bar(share, 2) for share in (-1.0, 0.0, 1 / 16, 0.5, 9 / 16, 1.0, 2.0)] == [
        "", "", "▏", "█", "█▏", "██", "██",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1), ("\x1b[1;31mab\x1b[0m", 2), ("µs", 2)]
)
def test_the_width_of_a_text_counts_columns(text: str, width: int) -> None:
    assert text_width(text) == width


def test_columns_are_two_spaces_apart_and_one_where_there_is_no_room() -> None:
    """Cells of 3 and 16 columns: 21 with two spaces between them, 20 with one."""
    heads, rows = ("a", "b"), [("abc", "word " * 3 + "w")]
    for width, gap in ((21, "  "), (20, " ")):
        first, second = text_table(heads, rows, style=TextStyle(width=width)).splitlines()
        assert second == f"abc{gap}word word word w" and first == f"a  {gap}b"
    right = text_table(("a", "number"), [("x", "1"), ("yy", "22")], right=(1,), style=PLAIN)
    assert right.splitlines() == ["a   number", "x        1", "yy      22"]


def test_a_wrapped_cell_keeps_the_indent_of_its_name() -> None:
    """Continuation lines are two deeper; the column is as wide as the terminal leaves."""
    table = text_table(
        ("part", "size"), [("  " + "word " * 8, "1 GB")], right=(1,), wrap=(0,), style=TextStyle(width=30)
    )
    assert table.splitlines() == [
        "part                      size",
        "  word word word word     1 GB",
        "    word word word word",
    ]


@pytest.mark.parametrize(
    ("text", "width", "told"),
    [
        ("a b", 10, [">a b"]),
        ("aaaa bbbb", 10, [">aaaa bbbb"]),
        ("aaaa bbbbb", 10, [">aaaa", "-bbbbb"]),
        ("waits 10 GB", 10, [">waits", "-10 GB"]),  # a unit stays with its number
        ("see note[x] ab", 12, [">see note[x]", "-ab"]),  # a line never begins like a finding
    ],
)
def test_a_paragraph_is_folded_between_words(text: str, width: int, told: list[str]) -> None:
    assert wrapped_lines(text, width, ">", "-") == told


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (BreakEvenRow("input_tokens", 1.0, 1207.9, True, 100.0, 5000.0), "prompts above 1,200 tokens"),
        (BreakEvenRow("concurrency", 1.0, 64.4, False, 1.0, 512.0), "loads below 64 requests in flight"),
        (
            BreakEvenRow("requests_per_accelerator", 1.0, 5.03, True, 1.0, 9.0),
            "loads above 5 requests in flight per accelerator",
        ),
        (BreakEvenRow("link_bandwidth", 1.0, 25e9, True, 1e9, 50e9), "links above 200 Gb/s per accelerator"),
        (BreakEvenRow("link_bandwidth", 1.0, None, True, 1e9, 50e9), "all links tried (8 to 400 Gb/s per accelerator)"),
    ],
)
def test_a_break_even_is_told_in_the_unit_of_its_quantity(row: BreakEvenRow, said: str) -> None:
    assert separation_text._break_even_text(row) == said


def test_the_values_of_a_quantity_at_which_one_plan_is_never_better_are_those_tried() -> None:
    row = BreakEvenRow("input_tokens", 1.0, None, False, 100.0, 5000.0)
    assert separation_text._tried_text(row, "any") == "any prompts tried (100 to 5,000 tokens)"


@pytest.mark.parametrize(
    ("excess", "said"),
    [(1.05, "by 5 %"), (1.099, "by 9.9 %"), (1.1, "1.10 times"), (2.5, "2.50 times")],
)
def test_the_nearest_plan_is_told_by_what_it_exceeds(excess: float, said: str) -> None:
    side = replace(TOGETHER, excess=excess, limit="", accelerators=4.0)
    assert separation_text._excess_text(side) == f"the closest, on 4 accelerators, exceeds a limit {said}"


def test_a_link_between_pools_is_told_with_what_jobs_send() -> None:
    """A burst is told where it is more than the mean."""
    link = LinkUse(("a", "b"), 5e10, 2e-3, {"x": 1e9, "y": 2e9}, {"x": 4e9, "y": 2e9})
    said = fleet_text._sent_text(link)
    assert said == (
        "Between a and b caches and weights pass at 50 GB/s at most, each way, after 2 ms. Sent on average: x 1 GB/s "
        "(4 GB/s while it sends), y 2 GB/s."
    )
    assert "after" not in fleet_text._sent_text(replace(link, latency=None))


@pytest.mark.parametrize(
    ("key", "unit", "value", "said"),
    [
        ("nic_bandwidth", "B/s", 5e10, "400 Gb/s"),
        ("scale_up.bandwidth", "B/s", 4.5e11, "450 GB/s"),
        ("request_rate", "1/s", 2.5, "2.5/s"),
        ("request_rate", "1/s", 1234.5, "1,234/s"),
        ("oversubscription", "1", 2.5, "2.5:1"),
        ("nodes", "1", 1234, "1,234"),
        ("overlap", "1", True, "yes"),
        ("overlap", "1", False, "no"),
        ("recompute", "1", "full", "full"),
    ],
)
def test_a_lever_is_told_in_the_unit_of_its_key(key: str, unit: str, value: object, said: str) -> None:
    row = LeverRow(key, value, value, unit, 2.0, 1e9, 123.456, True, -0.25)
    assert sensitivity_text._lever_value_text(row, value) == said
    assert sensitivity_text._lever_cells(row, costs=True) == (key, said, said, "−25.0 %", "2 s", "1 GB", "123.46")
    bare = LeverRow(key, value, value, unit, None, None, 1234.5, False, None)
    assert sensitivity_text._lever_cells(bare, costs=False) == (key, said, said, "–", "–", "– x")
    assert sensitivity_text._lever_cells(bare, costs=True)[-1] == "1,234"


def test_the_steps_of_a_lever_are_idle_below_a_shown_effect() -> None:
    row = LeverRow("nodes", 1, 2, "1", 2.0, 1e9, None, True, 0.0004)
    assert sensitivity_text._is_hidden(row) and sensitivity_text._is_hidden(replace(row, effect=-0.0004))
    assert not sensitivity_text._is_hidden(replace(row, effect=0.0005)) and not sensitivity_text._is_hidden(
        replace(row, effect=None)
    )


def test_refused_steps_are_told_by_rule_and_by_parameter() -> None:
    def row(key: str, after: object, *errors: str) -> LeverRow:
        return LeverRow(key, 8, after, "1", None, None, None, None, None, errors)

    rows = (row("nodes", 4, "a"), row("sharding", "none", "a"), row("nodes", 16, "a"), row("nodes", 2, "a", "b"))
    report = SensitivityReport(Tool("1", "1"), Input("a.yaml", b""), 1.0, 1.0, None, rows)
    assert sensitivity_text._refusals_text(report, PLAIN).splitlines() == [
        "Left out, since `check` finds an error with these values:",
        "  a: nodes → 4 or 16; sharding → none",
        "  a and b: nodes → 2",
    ]
    assert sensitivity_text._refusals_text(replace(report, levers=()), PLAIN) == ""


@pytest.mark.parametrize(
    ("last", "head", "shown"), [(9.0, "s", "9"), (599.0, "s", "599"), (600.0, "min", "10"), (36000.0, "h", "10")]
)
def test_the_times_of_a_queue_have_one_unit(last: float, head: str, shown: str) -> None:
    report = replace(SIMULATED, queue=(QueuePoint(0.0, 0, 0), QueuePoint(last, 1, 2)))
    table = simulation_text._queue_table(report, PLAIN)
    assert [line.split() for line in table.splitlines()] == [
        ["time", "in", head, "waiting", "running"], ["0", "0", "0"], [shown, "1", "2"],
    ]  # fmt: skip


def test_conventions_stand_below_each_other_with_their_units_side_by_side() -> None:
    """Each column ends where its widest text does; a convention with fewer units leaves its last columns empty."""
    rows = [("per direction", text) for text in ("50 GB/s", "400 Gb/s", "46.6 GiB/s")]
    rows += [("both directions", text) for text in ("100 GB/s", "800 Gb/s", "93.1 GiB/s")] + [("a year", "1.5 EB")]
    found = readings_block(tuple(Reading(label, text, 1.0, "B/s") for label, text in rows))
    assert found == (
        "    per direction     50 GB/s  400 Gb/s  46.6 GiB/s\n"
        "    both directions  100 GB/s  800 Gb/s  93.1 GiB/s\n"
        "    a year             1.5 EB\n"
    )
    wider = readings_block(
        (
            Reading("one", "1 B", 1.0, "B"),
            Reading("one", "8 b", 1.0, "B"),
            Reading("many", "1 kB", 1.0, "B"),
            Reading("many", "8000 b", 1.0, "B"),
        )
    )
    assert wider == "    one    1 B     8 b\n    many  1 kB  8000 b\n"
