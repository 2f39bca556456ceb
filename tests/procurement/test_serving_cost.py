"""The cost of a million output tokens, worked out by hand from the throughput of the plan."""

from __future__ import annotations

import pytest

from clusterspec import analysis
from clusterspec.analysis.searches.serving import present_row, search_serving
from clusterspec.analysis.searches.studied import SearchOptions, StudyVariations
from clusterspec.cluster.requests import Engines
from clusterspec.cost.serving.constants import Part, StepTime
from clusterspec.cost.serving.latency import serving_range
from clusterspec.cost.term import Term
from clusterspec.procurement.unit_costs import costs_by_kind
from clusterspec.report import TextStyle
from clusterspec.report.cost_text import cost_text
from clusterspec.results.decision import CostReport
from clusterspec.studies import Study, study_text
from clusterspec.studies.variation import rewritten_study
from tests.designs import SERVED, changed, plan_of
from tests.settings import SETTINGS

TEXT = """
clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 1}}
workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 1000, output_tokens: 500, concurrency: 32}}}}
layout: {{tp: {tp}}}
procurement: {{currency: USD, term: 4 years, prices: {{node: {node}}}, utilization: 0.5}}
"""


def studied(tp: int = 8, node: str = "315576") -> Study:
    return study_text(TEXT.format(tp=tp, node=node), SETTINGS)


def cost(one: Study) -> CostReport:
    return analysis.cost(one)


def test_a_million_output_tokens_cost_the_seconds_in_which_they_are_made() -> None:
    one = studied()
    assert one.plan.serving is not None
    # 315,576 USD over 4 × 365.25 days, half of which the machine works: 0.005 USD a second.
    wanted = 0.005 / one.plan.serving.output_tokens_per_second * 1e6
    body = cost(one).to_json()
    assert body["per_million_output_tokens"] == pytest.approx(wanted)
    assert body["per_million_tokens"] == body["per_million_output_tokens"]
    assert body["per_run"] is None and body["goodput"] is None


def test_tokens_carry_the_cost_of_idle_accelerators() -> None:
    """One engine of two ranks on a node of eight, and on two nodes of which one has no engine, costs what the machine
    costs: a node is not rented by the quarter. The search, the cost and the report state the same figure."""
    second = 315_576 / (4 * 365.25 * 86_400 * 0.5)
    for text, nodes in ((TEXT, 1), (TEXT.replace("nodes: 1", "nodes: 2"), 2)):
        few = text.replace("layout: {{tp: {tp}}}", "layout: {{tp: {tp}, dp: 1}}")
        one = study_text(few.format(tp=2, node="315576"), SETTINGS)
        assert one.plan.serving is not None
        wanted = nodes * second / one.plan.serving.output_tokens_per_second * 1e6
        found = cost(one).cost
        assert found is not None and found.per_million_tokens is not None
        assert found.accelerators_used == 2 and found.charged_accelerators == 8 * nodes
        assert found.per_million_tokens.value == pytest.approx(wanted)
        assert present_row(StudyVariations(one)).cost == pytest.approx(wanted)
        assert f"uses 2 of {8 * nodes} accelerators; pays for all" in " ".join(
            cost_text(cost(one), TextStyle(width=200)).split()
        )


def test_a_job_of_a_fleet_carries_its_own_nodes() -> None:
    """Two nodes of four: the other two may have another job."""
    text = """
clusterspec: 1
pools: {a: {platform: dgx-h100, nodes: 4}}
jobs:
  serve:
    pool: a
    nodes: 2
    workload:
      {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 32}}
    layout: {tp: 8, dp: 1}
procurement: {currency: USD, term: 4 years, prices: {node: 315576}, utilization: 0.5}
"""
    fleet = study_text(text, SETTINGS).fleet
    assert fleet is not None
    for one in (fleet.jobs["serve"], rewritten_study(fleet.jobs["serve"], {("layout", "tp"): 4})):
        found, times = cost(one).cost, one.plan.serving
        assert found is not None and found.per_million_tokens is not None and times is not None
        assert (found.charged_accelerators, found.accelerators) == (16, 32)
        second = 2 * 315_576 / (4 * 365.25 * 86_400 * 0.5)
        assert found.per_million_tokens.value == pytest.approx(second / times.output_tokens_per_second * 1e6)


def test_the_cheapest_plan_is_the_one_that_makes_the_whole_machine_cheapest() -> None:
    one = study_text(TEXT.format(tp=8, node="315576"), SETTINGS)
    rows = search_serving(one, SearchOptions({}, objective="cost", top=5), lambda done, total: None).layouts
    costs = [row.cost for row in rows if row.cost is not None]
    tokens = [row.serving["output_tokens_per_second"] for row in rows if row.serving]
    assert len(costs) == len(rows) == 5 and costs == sorted(costs) and tokens == sorted(tokens, reverse=True)
    assert all(each * rate == pytest.approx(costs[0] * tokens[0]) for each, rate in zip(costs, tokens, strict=True))


def test_its_range_spans_those_of_the_price_and_of_the_throughput() -> None:
    fixed, ranged = (cost(studied(node=node)).cost for node in ("300000", "[200000, 400000]"))
    assert fixed is not None and ranged is not None
    one, other = fixed.per_million_tokens, ranged.per_million_tokens
    assert one is not None and other is not None
    assert one.low and one.high and other.low and other.high
    assert one.low < one.value < one.high
    times = studied(node="300000").plan.serving
    assert times is not None
    slow, fast = serving_range(times, "output_tokens_per_second")
    rate = times.output_tokens_per_second
    assert (one.low, one.high) == pytest.approx((one.value * rate / fast, one.value * rate / slow))
    assert other.low == pytest.approx(one.low * 2 / 3) and other.high == pytest.approx(one.high * 4 / 3)


def test_training_has_no_cost_of_output_tokens() -> None:
    text = TEXT.format(tp=8, node="300000").replace("kind: serve, ", "")
    text = text.replace(
        "serving: {input_tokens: 1000, output_tokens: 500, concurrency: 32}", "global_batch: 64, sequence_length: 4096"
    )
    body = cost(study_text(text, SETTINGS)).to_json()
    assert body["per_million_output_tokens"] is None and body["per_million_tokens"] is not None


def test_the_kinds_of_tokens_share_the_cost() -> None:
    for hit in (0.0, 0.5):
        one = study_text(
            TEXT.format(tp=8, node="315576").replace("concurrency", f"prefix_hit: {hit}, concurrency"), SETTINGS
        )
        times, body = one.plan.serving, cost(one).to_json()
        assert times is not None
        kinds, whole = body["per_million"], body["per_million_output_tokens"]
        # two tokens of a prompt for each of the output
        found = kinds["generated"] + 2 * (1 - hit) * kinds["input"] + 2 * hit * kinds.get("cached", 0.0)
        assert found == pytest.approx(whole)
        assert kinds["generated"] == pytest.approx(whole * (1 - times.prefill_share))
        # of the pairs of attention of a computed token, hit are with cached tokens and (1 - hit) / 2 with computed ones
        attention = sum(part.seconds for part in times.prefill.parts if part.name == "attention")
        share = attention / (times.prefill.total / times.prefill.steps) * hit / (hit + (1 - hit) / 2)
        assert 2 * hit * kinds.get("cached", 0.0) == pytest.approx(whole * times.prefill_share * share)
        assert ("cached" in kinds) == (hit > 0) and kinds.get("cached", 0.0) < kinds["input"] < kinds["generated"]


def test_the_hours_of_a_day_cost_the_accelerator_hours_of_their_engines() -> None:
    """Engines of four run without starting ahead, so that the hours add up to the day; 8 accelerators over 35,064
    hours cost 315,576, each hour of one 1.125. Tokens are those of the requests: the hours' tokens are the day's."""
    hours = '{from: "08:00", to: "20:00", request_rate: 20}, {from: "20:00", to: "08:00", request_rate: 1}'
    text = TEXT.format(tp=4, node="315576").replace("concurrency: 32", f"day: [{hours}]")
    one = study_text(text.replace("nodes: 1}", "nodes: 4}"), SETTINGS)
    day, found = one.plan.day, cost(one).cost
    assert day is not None and found is not None
    prices = {each.name: each for each in found.of_day}
    assert [(each.start, each.end) for each in found.of_hours] == [each.hours[:2] for each in day.hours]
    for each in found.of_hours:
        assert each.amount == pytest.approx(1.125 * each.accelerators * (each.end - each.start) / 60)
    assert sum(each.amount for each in found.of_hours) == pytest.approx(prices["per_day"].value)
    tokens = sum(
        each.amount / each.per_million_output_tokens * 1e6 for each in found.of_hours if each.per_million_output_tokens
    )
    assert tokens == pytest.approx(day.output_tokens) == pytest.approx(12 * 3600 * 21 * 500)
    assert prices["per_day_of_all_engines"].value == pytest.approx(1.125 * day.constant_accelerator_hours)
    of_tokens = prices["per_million_output_tokens_of_day"]
    assert of_tokens.value == pytest.approx(prices["per_day"].value / day.output_tokens * 1e6)


def _part(name: str, seconds: float) -> Part:
    return Part(name, lambda seconds: seconds, {"seconds": seconds}, {})


def test_cached_input_costs_the_attention_of_the_computed_tokens_to_it() -> None:
    """Prompts take 0.4 of the time, and attention 1 s of a step of 2 s. The half of a prompt that is computed
    attends to the cached half, and to half of itself: 0.5 of 0.75 is for cached input.
    """
    parts = (_part("attention", 1.0), _part("mlp", 3.0))
    times = {"state.prefill": StepTime(parts, 2.0, 4.0, 4.0), "state.share": 0.4, "prefix_hit": 0.5}
    load = {"design.workload.serving.input_tokens": 3000, "design.workload.serving.output_tokens": 1000}
    given = changed(plan_of(SERVED), {f"serving.{name}": value for name, value in times.items()} | load)
    given = changed(given, {"serving.output_tokens_per_second": 100.0})
    second = Term("per_second", 6.0, "USD/s", "a")
    cached = 0.4 * (1 / 2) * (2 / 3)
    wanted = {
        "input": 6 * (0.4 - cached) / 150 * 1e6,  # of 300 input tokens a second half are computed
        "cached": 6 * cached / 150 * 1e6,
        "generated": 6 * 0.6 / 100 * 1e6,
    }
    found = {term.name: term.value for term in costs_by_kind(second, given)}
    assert found == pytest.approx({f"per_million_{kind}_tokens": value for kind, value in wanted.items()})
    engines = {"design.workload.serving.prefill": Engines(1, 8), "design.workload.serving.decode": Engines(3, 8)}
    given = changed(given, engines | {"serving.prefix_hit": 0.0})
    split = {term.name: term.value for term in costs_by_kind(second, given)}
    assert split == pytest.approx(
        {"per_million_input_tokens": 6 * 0.25 / 300 * 1e6, "per_million_generated_tokens": 6 * 0.75 / 100 * 1e6}
    )
    given = changed(given, {"serving.output_tokens_per_second": 0.5})  # 200 times as slow, and as expensive
    slow = {term.name: term.value for term in costs_by_kind(second, given)}
    assert slow == pytest.approx({name: 200 * value for name, value in split.items()})
    assert not list(costs_by_kind(second, changed(given, {"serving.output_tokens_per_second": 0.0})))
