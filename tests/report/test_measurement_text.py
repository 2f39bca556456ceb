"""Collectives, diagnoses and acceptance as text, from figures that are given by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from clusterspec.cost.collectives.predict import CollectiveRow
from clusterspec.records import replace
from clusterspec.report import TextStyle, measurement_text
from clusterspec.results import CollectiveReport, Input, Tool
from clusterspec.results.diagnosis import (
    AcceptanceOutcome,
    AcceptanceReport,
    Cause,
    ComparedCollective,
    ComparedRow,
    DiagnosisReport,
    FigureChange,
    PlannedTest,
)
from tests.report.columns import lines

TOOL, READ, WIDE = Tool("1", "1"), Input("spec.yaml", b""), TextStyle(width=200)
ROWS = (ComparedRow(2.0**20, 10e9, 20e9, 16e9, 24e9), ComparedRow(2.0**33, 80e9, 160e9, 140e9, 170e9))
SLOW = ComparedCollective("run.log", "all-reduce", 16, 2, "ring", ROWS, ())
CAUSES = (
    Cause("one rail", "half of the rate", "ibstat", 0.9),
    Cause("a cable", "errors", "swap it", 0.5),
    Cause("heat", "none", "look", 0.49),
)


def diagnosis(*compared: ComparedCollective, **more: Any) -> str:
    report = replace(DiagnosisReport(TOOL, READ, compared, ()), **more)
    return measurement_text.diagnosis_text(report, WIDE)


def test_a_comparison_has_a_row_for_each_size_and_the_verdict_of_the_largest() -> None:
    found = lines(diagnosis(SLOW))
    assert found[0] == "run.log: all-reduce over 16 ranks on 2 nodes: slower than expected: 50 % at 8 GiB"
    assert found[2] == "1 MiB 10.00 20.00 16.00 – 24.00 50 % █▉ │"
    assert found[3].startswith("8 GiB 80.00 160.00 140.00 – 170.00 50 % ███████████████")
    assert found[-1] == "None of the known causes explains the difference: compare pairs of nodes, then single nodes."
    inside = lines(diagnosis(replace(SLOW, nodes=1)))
    assert inside[-1].endswith("compare halves of the accelerators of the node.")
    for measured, told in (
        (140e9, "as expected: 87.5 %"),
        (170e9, "as expected: 106 %"),
        (171e9, "faster than expected: 107 %"),
    ):
        text = diagnosis(replace(SLOW, rows=(ROWS[0], replace(ROWS[1], measured=measured))))
        assert f"{told} at 8 GiB" in text and "None of the known causes" not in text


def test_a_bar_marks_what_was_expected() -> None:
    """32 characters for the larger of what was measured and the upper end of the band."""
    (row,) = (line for line in diagnosis(replace(SLOW, rows=(ROWS[1],))).splitlines() if "8 GiB  " in line)
    bar = row[row.index("█") :]
    assert (bar.count("█"), bar.index("│")) == (15, round(160 / 170 * 32) - 1)


def test_bars_of_all_sizes_begin_below_their_head_and_numbers_end_below_theirs() -> None:
    head, *rows = diagnosis(SLOW).splitlines()[2:5]
    assert [row.index("█") for row in rows] == [head.index("busbw")] * 2
    assert [row.index("0.00") + 4 for row in rows] == [head.index("measured") + len("measured")] * 2


def test_causes_are_numbered_and_those_without_evidence_stand_apart() -> None:
    found = lines(diagnosis(replace(SLOW, causes=CAUSES)))
    at = found.index("Likely causes, the likeliest first")
    assert found[at + 1 :] == [
        *("1. one rail: half of the rate", "next: ibstat", "2. a cable: errors", "next: swap it"),
        *("Possible, with little evidence", "3. heat: none", "next: look"),
    ]
    only = lines(diagnosis(replace(SLOW, causes=CAUSES[2:])))
    assert only[-2:] == ["1. heat: none", "next: look"] and "None of the known causes" in "".join(only)


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        (FigureChange(2.0, 2.5), "Step time with these measurements: 2 s → 2.5 s (+25 %)."),
        (FigureChange(2.0, 1.5), "Step time with these measurements: 2 s → 1.5 s (−25 %)."),
        (FigureChange(2.0, 2.0), "Step time with these measurements: 2 s → 2 s (+0 %)."),
        (FigureChange(None, 2.5), "The spec has no step time that the measurements could change."),
        (FigureChange(2.0, None), "The spec has no step time that the measurements could change."),
    ],
)
def test_a_diagnosis_says_how_the_step_moves(moved: FigureChange, told: str) -> None:
    text = diagnosis(moved=moved, unread=(("b.log", "two tables"),), written=("out.yaml",))
    assert lines(text) == ["b.log: not compared: two tables", told, "wrote out.yaml"]


PASSED = AcceptanceOutcome("one", 100e9, 110e9, "pass", "", (("a.log", "1f"), ("b.log", "2e")))
FAILED = AcceptanceOutcome("two", 1000e9, 990e9, "fail", "below")
UNRUN = AcceptanceOutcome("three", 50e9, None, "not-run", "no log")


def test_an_acceptance_lists_and_counts_its_tests() -> None:
    report = AcceptanceReport(TOOL, READ, (PASSED, FAILED, UNRUN), (("c.log", "no test of 4 nodes"),))
    assert lines(measurement_text.acceptance_as_text(report, WIDE)) == [
        "Acceptance tests of the spec; bus bandwidth in GB/s",
        "test at least measured status why",
        *("one 100.0 110.0 pass", "two 1,000.0 990.0 fail below", "three 50.0 not run no log"),
        "c.log: not counted: no test of 4 nodes",
        "1 passed, 1 failed, 1 not run",
    ]
    earlier = replace(report, stated=False, earlier={"one": 100e9, "two": None})
    found = lines(measurement_text.acceptance_as_text(earlier, WIDE))
    assert found[:2] == [
        "Acceptance tests of the cost model (the spec has none); bus bandwidth in GB/s",
        "test at least measured status since then why",
    ]
    assert found[2:5] == [
        "one 100.0 110.0 pass +10.0 % of 100.0",
        "two 1,000.0 990.0 fail not measured below",
        "three 50.0 not run not measured no log",
    ]
    changed = "than before, by more than the difference between two runs of one machine (5.7 %):"
    said = f"one: faster {changed} something was repaired or changed."
    assert said in " ".join(found)
    slower = lines(measurement_text.acceptance_as_text(replace(earlier, earlier={"one": 120e9, "two": 1e12}), WIDE))
    assert f"one: slower {changed} `clusterspec diagnose` ranks the causes." in " ".join(slower)
    assert "two: slower" not in " ".join(slower), "1 % is a repeat"


def test_the_form_of_an_acceptance_names_logs_and_a_remedy_where_a_test_did_not_pass() -> None:
    plan = [
        PlannedTest(
            "all-reduce", 4, 32, 8e9, "network", "t", "run it", 1e9, 2e9, 3e9, "links", name, None, "replace it"
        )
        for name in ("one", "two")
    ]
    report = AcceptanceReport(TOOL, READ, (PASSED, FAILED, UNRUN), plan=tuple(plan))
    one, two, three = csv.DictReader(io.StringIO(measurement_text.acceptance_csv(report)))
    assert (one["log"], one["sha256"], one["remedy"], one["command"]) == ("a.log; b.log", "1f; 2e", "", "run it")
    assert (float(one["threshold"]), float(one["measured"]), one["nodes"]) == (100e9, 110e9, "4")
    assert (two["remedy"], two["status"], two["demanded"], two["witness"]) == ("replace it", "fail", "", "")
    assert (three["measured"], three["nodes"], three["why"]) == ("", "", "no log")


def test_a_collective_has_its_tiers_where_there_are_several_and_its_sizes_as_asked() -> None:
    row = CollectiveRow(
        "all-reduce", 16, 2.0**30, 0.002, 0.001, 0.003, 5e11, 9e11, 1e12, "NIC bandwidth", "NVLink", "ring"
    )
    one = CollectiveReport(TOOL, READ, (row, replace(row, size=16e6)), asked=("1G", "16000000"))
    found = lines(measurement_text.collective_text(one, WIDE))
    assert found[0] == "all-reduce over 16 ranks, NVLink; bandwidths in GB/s"
    assert found[1].split()[-2:] == ["bound", "by"]
    assert found[2] == "1G 2 ms 500.00 900.00 1,000.00 90 % ring NIC"
    assert found[3].startswith("16 MB 2 ms")
    both = lines(measurement_text.collective_text(replace(one, rows=(row, replace(row, tier="network"))), WIDE))
    assert both[0] == "all-reduce over 16 ranks; bandwidths in GB/s" and both[1].endswith("tier")
    assert (both[2].split()[-1], both[3].split()[-1]) == ("NVLink", "network")
    assert measurement_text.size_texts(replace(one, asked=("1G",))) == ["1 GiB", "16 MB"]
    ceiling = lines(
        measurement_text.collective_text(replace(one, rows=(replace(row, ceiling_busbw=0.0),), asked=()), WIDE)
    )
    assert ceiling[2] == "1 GiB 2 ms 500.00 900.00 0.00 ring NIC"
    alone = replace(row, ranks=1, algorithm="none", bound_by="nothing", tier="none")
    head = lines(measurement_text.collective_text(replace(one, rows=(alone,), algorithm="ring"), WIDE))
    assert head[0] == "all-reduce over 1 rank, which sends nothing; bandwidths in GB/s" and "On these" not in head[-1]
    for asked, said in (("nvls", True), ("ring", False), ("", False)):
        text = measurement_text.collective_text(replace(one, algorithm=asked), WIDE)
        assert ("On these ranks `nvls` is `ring`." in " ".join(text.split())) is said
    nothing = CollectiveReport(TOOL, READ, (), "one rank")
    assert measurement_text.collective_text(nothing, WIDE).startswith("Nothing can be predicted: one rank\n")
    (told, *_) = csv.DictReader(io.StringIO(measurement_text.collective_csv(one)))
    assert (told["size"], told["bound_by"], told["low"]) == (str(2.0**30), "NIC bandwidth", "0.001")


def test_a_log_that_decides_no_cause_says_so_and_which_steps_decide() -> None:
    stopped = replace(SLOW, rows=(), causes=CAUSES[2:])
    assert not stopped.is_decided
    assert lines(diagnosis(stopped))[-3:] == ["Possible, with little evidence", "1. heat: none", "next: look"]
    alone = "Not decided by this log: none of its lines states the cause. This one is possible; its next step shows"
    assert alone in " ".join(diagnosis(stopped).split())
    several = diagnosis(replace(stopped, causes=(CAUSES[2], replace(CAUSES[2], name="dust"))))
    assert "Each of these is possible; its next step distinguishes it" in " ".join(several.split())


@pytest.mark.parametrize(
    ("compared", "decided"),
    [
        (replace(SLOW, causes=CAUSES), True),
        (replace(SLOW, causes=CAUSES[2:]), False),
        (replace(SLOW, rows=(), causes=CAUSES[:1]), True),
        (replace(SLOW, rows=(), causes=()), False),
        (replace(SLOW, rows=(ROWS[0], replace(ROWS[1], measured=150e9))), True),
    ],
)
def test_a_cause_is_decided_where_one_is_likely_or_none_is_needed(compared: ComparedCollective, decided: bool) -> None:
    assert compared.is_decided is decided
    assert "Not decided" not in diagnosis(compared) or not decided


def test_causes_that_no_line_names_stand_last() -> None:
    stopped = replace(
        SLOW, rows=(), causes=CAUSES[2:], alike=(Cause("dust", "line 1 of the log: alike", "clean", 0.2),)
    )
    assert lines(diagnosis(stopped))[-3:] == [
        "Not named by any line, but runs with these causes end in the same way",
        "2. dust",
        "next: clean",
    ]
    unknown = replace(stopped, causes=(), error="line 1: KeyError: 'a'")
    assert lines(diagnosis(unknown))[-2:] == ["1. dust", "next: clean"]
    symptom = replace(stopped, causes=(Cause("peer-ended", "it ended", "its log", 0.7),))
    assert "another rank ended first, and the log of that rank has the reason" in " ".join(diagnosis(symptom).split())


def test_the_check_that_decides_stands_behind_the_possible_causes() -> None:
    slow = replace(SLOW, rows=(), causes=CAUSES[2:], deciding="compare both")
    text = " ".join(diagnosis(slow).split())
    assert text.index("Possible, with little evidence") < text.index(
        "To decide between the first of them: compare both."
    )
    assert "To decide" not in diagnosis(replace(slow, deciding=""))
