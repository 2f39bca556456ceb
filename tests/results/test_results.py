"""Results say with each field what was found, and what they derive from it is worked out by hand."""

from __future__ import annotations

import json
from datetime import date
from math import inf, nan
from typing import Any

import pytest

from clusterspec import analysis
from clusterspec.document.waivers import WaivedFinding, Waiver
from clusterspec.finding import Confidence, Edit, Finding, Severity
from clusterspec.procurement.quotes import QuotedPart
from clusterspec.records import replace
from clusterspec.results import CheckReport, Input, Tool, common_fields, finding_json, waived_json
from clusterspec.results.decision import (
    PRICE,
    Change,
    CostReport,
    DiffReport,
    Effect,
    ProjectDiffReport,
    SpecDiff,
    json_value,
)
from clusterspec.results.diagnosis import AcceptanceOutcome, AcceptanceReport, ComparedCollective, ComparedRow
from clusterspec.results.estimate_json import figure_names, layout_json, memory_json
from clusterspec.results.faults import FaultsReport, FirstYear, YearlyCost, YearlyGoodput
from clusterspec.results.fleet_search import JobOption
from clusterspec.results.full import OF_SERVING, OF_TRAINING, glossary
from clusterspec.results.levers import SolveReport, SweepRow
from clusterspec.results.machine_search import MachineRow
from clusterspec.results.search import Comparison, Grid, GridCell, LayoutRow, SearchReport
from clusterspec.results.simulation import SimulatedTarget
from clusterspec.results.verdict import Gate, GateStatus, Influence, Purchase
from clusterspec.source import Position, Span
from clusterspec.studies import study_text
from tests.cli.conftest import BASE
from tests.settings import SETTINGS

PARTLY_USED = """clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 4}}
workload: {{model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}}
layout: {{nodes: {nodes}}}
"""

TOOL, READ = Tool("1.2", "2026.1"), Input("folder/spec.yaml", b"clusterspec: 1\n")


def span(line: int, column: int, end: int) -> Span:
    return Span("folder/spec.yaml", Position(line, column), Position(line, end))


def finding(severity: Severity = Severity.WARNING, **more: Any) -> Finding:
    made = Finding("few-spines", severity, Confidence.LIKELY, "m", "h", span(3, 10, 12), ("cluster", "nodes"))
    return replace(made, **more)


def test_the_head_of_a_result_names_version_tool_and_input() -> None:
    made = common_fields(TOOL, Input("folder/spec.yaml", b""))
    assert list(made) == ["version", "tool", "input"]
    assert (made["version"], made["tool"]) == (1, {"version": "1.2", "catalog": "2026.1"})
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"  # FIPS 180-4, of no bytes
    assert made["input"] == {"file": "folder/spec.yaml", "sha256": empty}
    assert Input().to_json() == {"file": None, "sha256": None}
    assert (READ.name, Input().name) == ("folder/spec.yaml", "-")


def test_a_finding_gives_its_place_and_its_fix() -> None:
    fixed = finding(
        edits=(Edit(span(3, 10, 12), "8", ("cluster", "nodes")),),
        fix_description="write 8",
        fix_safe=True,
        related=((span(7, 2, 4), "see here"),),
    )
    assert finding_json(fixed) == {
        "rule": "few-spines",
        "severity": "warning",
        "confidence": "likely",
        "message": "m",
        "help": "h",
        "file": "folder/spec.yaml",
        "line": 3,
        "column": 10,
        "end_line": 3,
        "end_column": 12,
        "path": "/cluster/nodes",
        "related": [{"file": "folder/spec.yaml", "line": 7, "column": 2, "message": "see here"}],
        "fix": {
            "description": "write 8",
            "safe": True,
            "edits": [{"line": 3, "column": 10, "end_line": 3, "end_column": 12, "text": "8"}],
        },
    }
    assert "fix" not in finding_json(finding())


@pytest.mark.parametrize(("until", "told"), [(date(2027, 1, 31), "2027-01-31"), (None, None)])
def test_a_waiver_gives_its_reason_and_last_day(until: date | None, told: str | None) -> None:
    waiver = Waiver(None, ("few-spines",), None, until, "agreed")  # type: ignore[arg-type]
    made = waived_json(WaivedFinding(finding(), waiver))
    assert (made["rule"], made["line"], made["reason"], made["until"]) == ("few-spines", 3, "agreed", told)


REACHED = [
    (Severity.ERROR, {Severity.ERROR}),
    (Severity.WARNING, {Severity.ERROR, Severity.WARNING}),
    (Severity.NOTE, {*Severity}),
]


@pytest.mark.parametrize(("threshold", "reaching"), REACHED)
def test_a_finding_reaches_its_own_severity_and_those_below(threshold: Severity, reaching: set[Severity]) -> None:
    reports = {level: CheckReport(TOOL, (READ,), (finding(level),)) for level in Severity}
    assert {level for level, report in reports.items() if report.reaches(threshold)} == reaching
    assert not CheckReport(TOOL, (READ,), ()).reaches(threshold)


def test_a_check_counts_its_findings_and_those_that_the_baseline_hides() -> None:
    found = (finding(), finding(), finding(Severity.ERROR))
    one = CheckReport(TOOL, (READ,), found)
    assert one.summary == {"error": 1, "warning": 2, "note": 0}
    assert "baseline" not in one.to_json() and "notes" not in one.to_json() and "hidden" not in one.to_json()["summary"]
    assert one.to_json()["input"]["file"] == "folder/spec.yaml"
    two = CheckReport(TOOL, (READ, Input("b.yaml", b"")), found, hidden=4, stale=(("few-spines", "c.yaml"),))
    document = two.to_json()
    assert document["input"] == {"file": "folder/spec.yaml, b.yaml", "sha256": None}
    assert document["summary"] == {"error": 1, "warning": 2, "note": 0, "hidden": 4}
    assert document["baseline"] == {"hidden": 4, "stale": [{"rule": "few-spines", "file": "c.yaml"}]}
    assert CheckReport(TOOL, (READ,), (), hidden=0).to_json()["baseline"] == {"hidden": 0, "stale": []}


def test_a_check_says_what_limits_it() -> None:
    assert "Nothing was checked" in CheckReport(TOOL, (), ()).to_json()["notes"][0]
    (note,) = CheckReport(TOOL, (READ,), (), failed=("spec.yaml",)).notes
    assert note == "spec.yaml: an internal error prevented a part of the check"


@pytest.mark.parametrize(
    ("nodes", "with_word", "without"),
    [(4, "32 accelerators", "32"), (2, "16 of 32 accelerators", "16 of 32")],
)
def test_the_accelerators_in_use_are_told_where_some_are_idle(nodes: int, with_word: str, without: str) -> None:
    told = analysis.estimate(study_text(PARTLY_USED.format(nodes=nodes), SETTINGS))
    assert (told.used_text(), told.used_text("")) == (with_word, without)
    nothing = analysis.estimate(study_text("clusterspec: 1\nname: x\n", SETTINGS))
    assert nothing.used_text() == ""


@pytest.mark.parametrize(
    ("value", "told"),
    [(inf, ".inf"), (-inf, "-.inf"), (nan, ".nan"), (0.0, 0.0), ({"a": [inf, 1]}, {"a": [".inf", 1]}), ("inf", "inf")],
)
def test_a_number_that_json_lacks_is_told_as_yaml_writes_it(value: object, told: object) -> None:
    assert json_value(value) == told
    assert Change(("a", 0), value, None).to_json() == {"path": "/a/0", "old": told, "new": None}


def test_a_figure_of_two_designs_keeps_both_and_whether_their_ranges_overlap() -> None:
    made = Effect("step time", "s", 1.0, 2.0, within_band=False).to_json()
    assert made == {"name": "step time", "unit": "s", "old": 1.0, "new": 2.0, "within_band": False}


def test_a_cost_that_is_not_known_has_every_field_and_no_figure() -> None:
    nothing = CostReport(TOOL, READ, None).to_json()
    priced = BASE + "procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, prices: {node: 300000}}\n"
    document = analysis.cost(study_text(priced, SETTINGS)).to_json()
    assert {*nothing} <= {*document}
    empty = {"by_year", "parts", "assumptions", "not_counted"}
    assert {key: nothing[key] for key in empty} == {key: [] for key in empty}
    assert all(nothing[key] is None for key in {*nothing} - empty - {"version", "tool", "input"})
    assert document["term"] == 4 * 365.25 * 86400 and document["currency"] == "USD"
    assert sum(row["total"] for row in document["by_year"]) == pytest.approx(document["total"])
    assert document["range"][0] <= document["total"] <= document["range"][1]
    assert [term["name"] for term in document["terms"]][:1] == ["total"]


ROW = LayoutRow({"tp": 8}, 2.0, 1.8, 2.2, 0.4, 6e10, fits=True)


def search_report(best: float | None, present: float | None) -> SearchReport:
    rows = [LayoutRow({}, seconds, None, None, None, None, None) for seconds in (best, present)]
    return SearchReport(TOOL, READ, "step_time", 9, 5, 1, (rows[0],), (), rows[1])


@pytest.mark.parametrize(
    ("best", "present", "lost"),
    [(1.5, 2.0, 0.25), (2.0, 2.0, 0.0), (None, 2.0, None), (1.0, None, None), (1.0, 0.0, None)],
)
def test_what_the_present_layout_loses_is_a_share_of_its_step(
    best: float | None, present: float | None, lost: float | None
) -> None:
    assert search_report(best, present).saved_share == lost


def test_a_search_without_layouts_loses_nothing_that_is_known() -> None:
    assert SearchReport(TOOL, READ, "step_time", 0, 0, 0, (), (), ROW).saved_share is None
    document = SearchReport(TOOL, READ, "step_time", 0, 0, 0, (), (), None).to_json()
    assert (document["present"], document["smallest"], document["grid"], document["why"]) == (None, None, None, None)
    assert document["currency"] is None and document["layouts"] == []


def test_a_row_of_a_search_has_each_figure_in_its_field() -> None:
    row = LayoutRow(
        {"tp": 8}, 2.0, 1.8, 2.2, 0.4, 6e10, False, 7.5, True, {"ttft": 1.0}, (5e10, 7e10), True, ("a",), ("b",)
    )
    assert row.to_json() == {
        "layout": {"tp": 8},
        "serving": {"ttft": 1.0},
        "step_time": 2.0,
        "range": [1.8, 2.2],
        "mfu": 0.4,
        "memory": 6e10,
        "memory_range": [5e10, 7e10],
        "fits": False,
        "surely_fits": True,
        "cost": 7.5,
        "tied": True,
        "findings": ["a"],
        "errors": ["b"],
    }
    assert ROW.to_json()["memory_range"] is None


def test_a_cell_of_a_grid_names_the_degrees_of_its_axes() -> None:
    grid = Grid(("tp", "pp"), (GridCell(2, 4, 1.5, 6e10, fits=True, present=True),))
    cell = {"tp": 2, "pp": 4, "step_time": 1.5, "memory": 6e10, "fits": True, "present": True}
    assert grid.to_json() == {"axes": ["tp", "pp"], "cells": [cell]}


def test_a_comparison_names_the_parts_of_the_difference() -> None:
    made = Comparison("tp 4", 0.5, -1e9, (("exposed dp", 0.4), ("compute", 0.1))).to_json()
    parts = [{"part": "exposed dp", "seconds": 0.4}, {"part": "compute", "seconds": 0.1}]
    assert made == {"other": "tp 4", "seconds": 0.5, "memory": -1e9, "parts": parts}


def test_a_probe_of_solve_names_the_rules_that_refuse_it() -> None:
    report = SolveReport(
        *(TOOL, READ, "nodes", "1", "fits", 4.0, 8.0, None, False, {"tp": 2}, None),
        probes=((4.0, None, False), (8.0, 0.5, True)),
        errors={4.0: ("nodes-too-few",)},
        misfits={4.0: "may not fit"},
    )
    assert report.to_json()["probes"] == [
        {"value": 4.0, "metric": None, "holds": False, "errors": ["nodes-too-few"], "misfit": "may not fit"},
        {"value": 8.0, "metric": 0.5, "holds": True, "errors": [], "misfit": None},
    ]


def test_a_point_of_a_sweep_takes_over_its_layout_or_why_there_is_none() -> None:
    point = SweepRow({"nodes": 4})
    told = point.row_of_layout(LayoutRow({"tp": 8}, 2.0, 1.8, 2.2, 0.4, 6e10, True, 7.5, errors=("b",))).to_json()
    whole = {"step_time": 2.0, "mfu": 0.4, "memory": 6e10, "cost": 7.5, "layout": {"tp": 8}, "serving": None}
    assert told == {"nodes": 4} | whole | {"why": None, "fits": True, "errors": ["b"]}
    refused = point.refused_row(6e10, False, ("b",), "error").to_json()
    assert [refused[key] for key in ("step_time", "mfu", "cost", "layout")] == [None] * 4
    assert (refused["memory"], refused["fits"], refused["errors"], refused["why"]) == (6e10, False, ["b"], "error")
    assert point.without_layout("no layout").to_json()["why"] == "no layout"


@pytest.mark.parametrize(
    ("measured", "verdict"), [(79.0, "slow"), (80.0, "expected"), (120.0, "expected"), (121.0, "fast")]
)
def test_a_log_is_judged_at_its_largest_size_against_the_range(measured: float, verdict: str) -> None:
    rows = (ComparedRow(1e9, measured, 100.0, 80.0, 120.0), ComparedRow(1e6, 1.0, 10.0, 8.0, 12.0))
    compared = ComparedCollective("log.txt", "all-reduce", 16, 2, "ring", rows, ())
    assert (compared.verdict, compared.largest.size) == (verdict, 1e9)
    assert rows[1].ratio == 0.1
    assert ComparedRow(1.0, 5.0, 0.0, 0.0, 0.0).ratio == 0.0


def test_an_acceptance_passes_where_every_test_does() -> None:
    passed, failed = (AcceptanceOutcome("a", 1.0, 2.0, status, "") for status in ("pass", "fail"))
    assert AcceptanceReport(TOOL, READ, (passed, passed)).is_passed
    assert not AcceptanceReport(TOOL, READ, (passed, failed)).is_passed
    assert not AcceptanceReport(TOOL, READ, ()).is_passed
    assert AcceptanceReport(TOOL, READ, (passed,)).to_json()["plan"] == "spec"
    assert AcceptanceReport(TOOL, READ, (passed,), stated=False).to_json()["plan"] == "computed"


@pytest.mark.parametrize(("step_time", "memory", "size"), [(-0.3, 0.1, 0.3), (0.1, -0.2, 0.2), (0.0, 0.0, 0.0)])
def test_the_size_of_an_influence_is_its_larger_change(step_time: float, memory: float, size: float) -> None:
    assert Influence(("layout.tp", 1, "why"), 2, step_time, memory).size == size


def test_the_names_of_figures_are_those_of_an_estimate() -> None:
    serving = BASE.partition("workload:")[0] + (
        "workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1024,"
        " output_tokens: 256, concurrency: 8, targets: {ttft: 1 s, tpot: 40 ms, percentile: 90}}}\nlayout: {tp: 8}\n"
    )
    for text in (BASE, serving):
        document = json.loads(json.dumps(analysis.estimate(study_text(text, SETTINGS)).to_json()))
        for key, inner in figure_names().items():
            assert key in document
            if inner is not None and document[key] is not None and key != "serving":
                assert {*inner} == {*document[key]}, key
    assert document["serving"] is not None and {*figure_names()["serving"]} == {*document["serving"]}


def test_a_layout_of_json_holds_lists() -> None:
    plan = analysis.estimate(study_text(BASE, SETTINGS)).plan
    layout, memory = layout_json(plan.design.layout), memory_json(plan.memory)
    assert layout is not None and layout["tp"] == 2 and isinstance(layout["order"], list)
    parts = [memory[name] for name in ("weights", "gradients", "optimizer", "activations", "other")]
    assert sum(parts) == pytest.approx(memory["total"]) and memory["capacity"] == 81559 * 2**20
    assert layout_json(None) is None and {*memory_json(None).values()} == {None}


def test_the_glossary_of_a_report_holds_the_terms_of_its_workload() -> None:
    training, serving = ({term for term, _ in glossary(serving=serves)} for serves in (False, True))
    assert training - serving == OF_TRAINING
    assert serving - training == {term for term, _ in OF_SERVING}
    told = [term.lower() for term, _ in glossary(serving=True)]
    assert told == sorted(told)


def test_the_hours_that_keep_no_step_cost_their_share_of_a_year() -> None:
    """8,766 hours at 100: 5 % of them cost 43,830. Of the 95 % dearest years the goodput is that of the 5 % worst. Ten
    hours by which steps are slowed cost 1,000 more.
    """
    year = YearlyGoodput(0.95, 0.9, 0.96, 0.99)
    assert YearlyCost.from_goodput(year, 100.0, 10.0, used=1.0) == pytest.approx((44_830.0, 36_064.0, 88_660.0))
    assert YearlyCost.from_goodput(year, 100.0, 0.0, used=1.0) == pytest.approx((43_830.0, 35_064.0, 87_660.0))
    report = FaultsReport(TOOL, READ, (), 2.0, 100.0, "USD", year, {}, ())
    assert (
        report.cost_of_lost_hours == YearlyCost.from_goodput(year, 100.0, 0.0, used=1.0)
        and report.lost_at_first is None
    )
    first = YearlyGoodput(0.8, 0.7, 0.8, 0.9)
    early = replace(report, first_year=FirstYear(2.0, first))
    assert early.lost_at_first == YearlyCost.from_goodput(first, 100.0, 0.0, used=1.0)
    assert early.to_json()["first_year"]["cost_of_lost_hours"]["mean"] == pytest.approx(175_320.0)
    for unknown in (replace(early, hour=None), replace(early, goodput=None, first_year=None)):
        assert (unknown.cost_of_lost_hours, unknown.lost_at_first) == (None, None)
    assert replace(early, hour=0.0).cost_of_lost_hours == (0.0, 0.0, 0.0)


def test_a_repository_sums_what_adds_up_over_its_machines() -> None:
    def spec(*effects: Effect) -> SpecDiff:
        return SpecDiff("a.yaml", "changed", DiffReport(TOOL, READ, READ, (), effects, (), ()))

    def totals(*specs: SpecDiff) -> list[tuple[str, str, float | None, float | None]]:
        found = ProjectDiffReport(TOOL, "old", "new", specs).totals
        return [(each.name, each.unit, each.old, each.new) for each in found]

    one, other = Effect("accelerators", "1", 8.0, 16.0), Effect("accelerators", "1", 32.0, 24.0)
    dollars, euros = Effect(PRICE, "USD", 1e6, 3e6), Effect(PRICE, "EUR", 1e6, 2e6)
    time = Effect("step time", "s", 1.0, 2.0)
    assert totals(spec(one, dollars, time), spec(other, dollars, time)) == [
        ("accelerators", "1", 40.0, 40.0),
        (PRICE, "USD", 2e6, 6e6),
    ]
    assert totals(spec(one), spec(time)) == []  # one machine has no sum
    assert totals(spec(dollars), spec(euros)) == []
    assert totals(spec(one), spec(replace(other, new=None))) == []
    assert SpecDiff("b.yaml", "added", None).effect("accelerators") is None


def test_the_drift_of_a_test_is_its_change_since_the_earlier_acceptance() -> None:
    report = AcceptanceReport(TOOL, READ, (), earlier={"a": 200.0, "b": None, "c": 0.0})
    outcomes = {name: AcceptanceOutcome(name, 180.0, 190.0, "pass", "") for name in "abcd"}
    assert {name: report.drift(each) for name, each in outcomes.items()} == {
        "a": pytest.approx(-0.05),
        **dict.fromkeys("bcd"),
    }
    assert report.drift(replace(outcomes["a"], measured=None)) is None
    assert replace(report, earlier=None).drift(outcomes["a"]) is None


def test_a_change_is_beyond_repeats_where_two_runs_of_one_machine_differ_less() -> None:
    """Each run is within 4 % of the machine, so two differ by at most 4 % × sqrt(2) = 5.66 %, in both directions."""
    report = AcceptanceReport(TOOL, READ, (), earlier={"a": 200.0})
    for measured, beyond in ((188.5, True), (189.0, False), (211.0, False), (211.5, True), (None, None)):
        outcome = AcceptanceOutcome("a", 180.0, measured, "pass", "")
        assert report.beyond_repeats(outcome) is beyond, measured


def test_a_target_is_met_up_to_its_value_and_where_no_request_has_one() -> None:
    told = {value: SimulatedTarget("ttft", 90.0, 1.0, value).is_met for value in (0.9, 1.0, 1.1, None)}
    assert told == {0.9: True, 1.0: True, 1.1: False, None: True}


def test_a_machine_meets_its_limits_with_a_layout_and_is_as_fast_as_its_run() -> None:
    row = MachineRow("a.yaml", 4, "rail-optimized", {}, layout={"tp": 8}, step_time=2.0)
    assert row.meets and row.time == 2.0
    assert not replace(row, layout=None).meets and not replace(row, missed=("power",)).meets
    assert replace(row, elapsed=0.0).time == 0.0
    assert replace(row, elapsed=90.0, serving={"tpot": 0.02}).time == 0.02
    document = replace(row, elapsed=90.0, run=99.0).to_json()
    assert (document["time_to_train"], document["time_to_train_with_interruptions"]) == (90.0, 99.0)


def test_an_option_of_a_job_is_usable_with_a_layout_that_misses_nothing() -> None:
    option = JobOption("a", "p", 4, layout={"tp": 8})
    assert (
        option.is_usable
        and not replace(option, missed=("ttft",)).is_usable
        and not replace(option, layout=None).is_usable
    )
    assert option.has_same_nodes(replace(option, layout=None)) and not option.has_same_nodes(None)
    assert not any(
        option.has_same_nodes(other)
        for other in (JobOption("b", "p", 4), JobOption("a", "q", 4), JobOption("a", "p", 5))
    )


def test_a_purchase_is_as_ready_as_its_worst_gate() -> None:
    gates = {status: Gate(str(status), status, "") for status in GateStatus}
    for states, told in (
        ((), "ready"),
        ((GateStatus.MET, GateStatus.NOT_NEEDED), "ready"),
        ((GateStatus.MET, GateStatus.OPEN), "not ready"),
        ((GateStatus.OPEN, GateStatus.FAILED), "do not sign"),
    ):
        purchase = Purchase(None, "", None, tuple(gates[each] for each in states))
        assert purchase.status == purchase.to_json()["status"] == told
        assert purchase.gates_with_status(GateStatus.OPEN) == (
            (gates[GateStatus.OPEN],) if GateStatus.OPEN in states else ()
        )


def test_the_nodes_that_a_quote_adds_are_those_of_its_lines_for_a_machine_in_place() -> None:
    def added(*parts: tuple[str, float | None, str]) -> int:
        quoted = tuple(QuotedPart(kind, 64, count, None, None, state) for kind, count, state in parts)
        return Purchase(None, "", None, (), quoted).added_nodes

    assert added(("node", 24.0, "in place"), ("cable", 9.0, "in place")) == 24
    assert added(("node", None, "in place")) == 0
    assert added(("node", 64.0, "quoted")) == added(("cable", 9.0, "in place")) == added() == 0
