"""Fields of results that only some calls fill: what is absent is null, what is there keeps its number."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.outputs import estimate
from clusterspec.money import Money
from clusterspec.records import replace
from clusterspec.results import Input, Tool, expectations
from clusterspec.results.decision import DiffReport, Effect, SpecDiff
from clusterspec.results.diagnosis import Cause, ComparedRow
from clusterspec.results.faults import FaultRow, FaultsReport, FirstYear, PairRow, Stock, YearlyCost, YearlyGoodput
from clusterspec.results.fleet import FleetDiffReport, _top_fields
from clusterspec.results.machine import Operation, Schedule
from clusterspec.results.search import LayoutRow, SearchReport, Separation
from clusterspec.results.serving_json import serving_json
from clusterspec.results.survival import Curve
from clusterspec.results.verdict import Risk
from clusterspec.studies import study_text
from tests.settings import SETTINGS

TOOL, READ = Tool("1.2", "2026.1"), Input("folder/spec.yaml", b"clusterspec: 1\n")
ROW = FaultRow("node", 8, 4.0, "stops", 0.0, None, 12.0, None, "why")
PAIR = PairRow(("node", "NIC"), "leaf", "", 12, 0.5, "slows", True, 2.0, 3.0, 40.0)


def faults(hour: float | None = None, goodput: YearlyGoodput | None = None, **more: Any) -> FaultsReport:
    return FaultsReport(TOOL, READ, (ROW,), 2.0, hour, "USD", goodput, {"node": 2}, (), **more)


def test_a_class_of_parts_has_a_range_of_failures_where_a_rate_is_known() -> None:
    assert ROW.to_json()["failures_range"] is None
    ranged = FaultRow("node", 8, 4.0, "slows", 0.25, 2.5, 12.0, 30.0, "why", (1.0, 9.0), ("ttft",)).to_json()
    assert (ranged["failures_range"], ranged["breaks"], ranged["count"]) == ([1.0, 9.0], ["ttft"], 8)
    assert (ranged["bandwidth_lost"], ranged["step_time"], ranged["cost_per_year"]) == (0.25, 2.5, 30.0)


def test_a_pair_of_links_says_whether_they_share_a_plane() -> None:
    assert PAIR.to_json()["planes"] is None
    assert replace(PAIR, planes="same").to_json()["planes"] == "same"
    assert PAIR.to_json()["parts"] == ["node", "NIC"] and PAIR.to_json()["worse_than_alone"] is True


def test_lost_hours_cost_what_the_year_has_of_them() -> None:
    """A year has 8,766 hours: at 10 a share of 0.9 loses 8,766, of 0.8 (one year in twenty) twice that."""
    goodput = YearlyGoodput(0.9, 0.8, 0.95, 0.99)
    cost = YearlyCost.from_goodput(goodput, 10.0, 0.0, used=1.0)
    assert cost == pytest.approx((8766, 4383, 17532))
    report = faults(hour=10.0, goodput=goodput, first_year=FirstYear(2.0, goodput))
    assert report.cost_of_lost_hours == report.lost_at_first == cost
    assert faults(hour=0.0, goodput=goodput).cost_of_lost_hours == (0.0, 0.0, 0.0)
    assert faults(hour=0.0, first_year=FirstYear(2.0, goodput)).lost_at_first == (0.0, 0.0, 0.0)
    for nothing in (faults(), faults(hour=10.0), faults(goodput=goodput)):
        assert nothing.cost_of_lost_hours is nothing.lost_at_first is None
    document = report.to_json()
    assert document["first_year"]["failures_factor"] == 2.0 and document["cost_per_hour"] == 10.0
    assert document["pairs"] is None and faults(pairs=(PAIR,)).to_json()["pairs"][0]["count"] == 12
    assert document["spares"] == {"node": {"p95": 2}} and faults().to_json()["first_year"] is None
    assert faults(first_year=FirstYear(2.0, goodput)).to_json()["first_year"]["cost_of_lost_hours"] is None


def test_a_stock_has_its_price_where_a_part_has_one() -> None:
    stock = Stock(0.95, 30 * 86400.0, {"node": 2, "NIC": 3}, Money.of(5e5, "USD"), ("NIC",))
    told = faults(stock=stock).to_json()["stock"]
    assert (told["percentile"], told["lead_time"], told["parts"]) == (0.95, 2_592_000.0, {"node": 2, "NIC": 3})
    assert (told["price"], told["unpriced"]) == (Money.of(5e5, "USD").to_json(), ["NIC"])
    assert faults(stock=stock._replace(price=None)).to_json()["stock"]["price"] is None
    assert faults().to_json()["stock"] is None


@pytest.mark.parametrize(("weight", "likely"), [(0.0, False), (0.49, False), (0.5, True), (1.0, True)])
def test_a_cause_is_likely_from_half_of_the_weight_on(weight: float, likely: bool) -> None:
    assert Cause("slow link", "evidence", "next", weight).is_likely is likely


def test_a_ratio_of_bandwidths_is_measured_over_expected() -> None:
    row = ComparedRow(1e9, 40e9, 50e9, 45e9, 55e9)
    assert row.ratio == 0.8 and replace(row, expected=0.0).ratio == 0.0


APART = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 200, request_rate: 4/s,
  targets: {ttft: 2 s, tpot: 40 ms},
  disaggregated: {prefill: {replicas: 1, tp: 4}, decode: {replicas: 2, tp: 4}, transfer: {first_token: FIRST}}}}
"""


@pytest.mark.parametrize("first", ["prefill", "decode"])
def test_a_handoff_is_before_the_first_token_where_decode_gives_it(first: str) -> None:
    plan = study_text(APART.replace("FIRST", first), SETTINGS).plan
    assert plan.design.workload is not None
    served = serving_json(plan.serving, plan.design.workload.serving)
    assert served is not None
    handoff = served["handoff"]
    assert handoff["before_first_token"] is (first == "decode")
    assert plan.serving is not None and plan.serving.sent is not None
    transfer = plan.serving.sent.transfer
    assert (handoff["bytes"], handoff["bandwidth"]) == (transfer.size, transfer.bandwidth)
    assert handoff["descriptors"] == (transfer.descriptors or None) and handoff["descriptors"] != 0


def test_the_difference_of_a_spec_is_that_of_its_design_or_of_its_fleet() -> None:
    design = DiffReport(TOOL, READ, READ, (), (), (), ())
    fleet = FleetDiffReport(TOOL, READ, READ, {}, (), (), {}, {})
    assert SpecDiff("a.yaml", "changed", design).differences is design
    assert SpecDiff("a.yaml", "changed", None, fleet=fleet).differences is fleet
    assert SpecDiff("a.yaml", "added", None).differences is None


def test_tests_pass_where_no_expectation_is_missed() -> None:
    passed = expectations.TestOutcome("t.yaml", 3, "a", "a.yaml", 2, ())
    failed = replace(passed, missed=(expectations.FailedExpectation("fits: true", "it does not"),))
    report = expectations.TestedReport(TOOL, (READ, Input("b.yaml", b"")), (passed, failed, passed))
    document = report.to_json()
    assert report.failed_tests == 1 and document["summary"] == {"pass": 2, "fail": 1}
    assert document["input"]["file"] == "folder/spec.yaml" and len(document["inputs"]) == 2
    assert [one["status"] for one in document["tests"]] == ["pass", "fail", "pass"]


def test_a_fleet_of_one_pool_and_one_job_has_the_fields_of_its_job() -> None:
    one: dict[str, dict[str, Any]] = {"a": {"mfu": 0.4}}
    two: dict[str, dict[str, Any]] = {"a": {"mfu": 0.4}, "b": {"cost": 3}}
    assert _top_fields(one, 1) == {"mfu": 0.4}
    assert _top_fields(one, 2) == {"mfu": None}
    assert _top_fields(two, 1) == _top_fields(two, 2) == {"mfu": None, "cost": None}


def layout(serving: dict[str, object] | None) -> LayoutRow:
    return LayoutRow({}, 1.0, None, None, None, None, None, serving=serving)


def test_plans_with_targets_meet_them_and_others_hold_the_load() -> None:
    def aim(*rows: LayoutRow, present: LayoutRow | None = None) -> str:
        return SearchReport(TOOL, READ, "ttft", 9, 5, 1, rows, (), present).aim

    plain, target = layout({"ttft": 1.0}), layout({"targets": [{"ttft": 1.0}]})
    assert aim() == aim(plain, layout(None)) == "hold the load"
    assert aim(plain, target) == aim(plain, present=target) == "meet the targets at the load"


def test_a_separation_without_a_comparison_gives_its_reason_alone() -> None:
    told = Separation(None, "one kind").to_json()
    assert told == {"separate": None, "why": "one kind", "together": None, "apart": None, "break_even": []}
    assert Separation(True, "").to_json()["why"] is None


@pytest.mark.parametrize(
    ("change", "amounts"), [("added", (0.0, 3.0)), ("removed", (2.0, 0.0)), ("changed", (2.0, 3.0))]
)
def test_a_spec_on_one_side_only_has_nothing_on_the_other(change: str, amounts: tuple[float, float]) -> None:
    diff = SpecDiff("a.yaml", change, None, figures=(Effect("cost", "USD", 2.0, 3.0),))
    assert diff.amounts("cost") == amounts
    assert diff.amounts("power") == tuple(0.0 if amount == 0 else None for amount in amounts)
    document = diff.to_json()
    assert ("findings" in document, "figures" in document) == (change == "added", change != "changed")
    assert document["diff"] is None and diff.differences is None


def test_a_risk_in_days_is_one_in_seconds() -> None:
    assert Risk("late", 2.0, None, "").to_json()["seconds"] == 172800
    assert Risk("late", 0.0, None, "").seconds == 0
    assert Risk("late", None, None, "").to_json()["seconds"] is Risk("late", 1.0, None, "").to_json()["money"] is None


def test_a_curve_is_written_with_five_digits_of_its_logarithms() -> None:
    found = Curve((1.1234567,), (2.0,), (0.000004,), True, False, (((0.123456, 1.0),), ((3.0000051,),)), 0.25).to_json()
    assert (found["x"], found["y"], found["z"]) == ([1.12346], [2.0], [0.0])
    assert found["tables"] == [[[0.12346, 1.0]], [[3.00001]]]
    assert (found["joint"], found["ratio"], found["crossing"]) == (True, False, 0.25)


def test_a_schedule_is_written_without_its_operations() -> None:
    one = Operation(0, False, 1, 0, 0.0, 1.5)
    found = Schedule("1f1b", 4, 1, 8, 4, 1.0, 0.5, 2.0, 3.0, 10.0, 9.5, (one,)).to_json()
    assert "operations" not in found and len(found) == 11
    assert (found["stages"], found["micro_batches"], found["drawn"], found["idle"]) == (4, 8, 4, 3.0)
    assert (found["predicted"], found["simulated"]) == (10.0, 9.5)


def test_a_report_counts_accelerators_and_nodes_with_and_without_work() -> None:
    text = "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: %s}\nlayout: {tp: 2, nodes: 2}\n"
    text += "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}\n"
    some, whole = (estimate(study_text(text % nodes, SETTINGS)) for nodes in (3, 2))
    assert (some.used_text(), some.used_text("")) == ("16 of 24 accelerators", "16 of 24")
    assert (whole.used_text(), whole.used_text("rank"), whole.used_text("")) == ("16 accelerators", "16 ranks", "16")
    assert (some.nodes_text(), whole.nodes_text(" of H100")) == ("3 nodes, 1 node idle", "2 nodes of H100")
    assert some.accelerators_away == {}
    nothing = estimate(study_text("clusterspec: 1\nworkload: {model: llama-3.1-8b}\n", SETTINGS))
    assert nothing.used_text() == nothing.nodes_text() == ""
