"""The energy and the cost of jobs of a fleet: one figure in every output, and their sum is the bill of the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clusterspec.analysis.fleets.costs import FleetCosts, drawn_energy
from clusterspec.analysis.fleets.results import _tokens_per_second, _unit_cost, fleet_report
from clusterspec.analysis.levers.boundaries import _condition_in_fleet
from clusterspec.analysis.levers.conditions import parse
from clusterspec.analysis.outputs import cost, estimate
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Term
from clusterspec.procurement.cost import Cost
from clusterspec.records import replace
from clusterspec.results.fleet import FleetReport
from clusterspec.studies import Study, study_text
from clusterspec.studies.fleet import FleetStudy
from clusterspec.studies.variation import varied_study
from tests.designs import REINFORCED, SERVED, TRAINED, changed, plan_of
from tests.effort import sampled, thorough
from tests.settings import SETTINGS

TRAIN = "workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, tokens: 1B}, layout: {tp: 2}"
SERVE = (
    "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, concurrency: 64}}"
)
PAID = "procurement: {currency: USD, as_of: 2026-11-01, term: 1 year, electricity: 0.1, pue: 1.2"
HAND = f"""\
clusterspec: 1
pools:
  p: {{platform: dgx-h100, nodes: 8, power: {{node: 3 kW, node_idle: 2 kW, switch: 1 kW}}}}
jobs:
  a: {{pool: p, nodes: 4, {TRAIN}}}
  b: {{pool: p, nodes: 2, share: 0.5, {TRAIN}}}
{PAID}}}
"""
"""Nodes at work would draw more than 3 kW, so they draw their nameplate; switches draw 1 kW each."""
TURNS = f"""\
clusterspec: 1
pools:
  train: {{platform: dgx-b200, nodes: 16, spare_nodes: 2}}
  serve: {{platform: dgx-h200, nodes: 4}}
  free: {{platform: dgx-h100, nodes: 2}}
jobs:
  a: {{pool: train, nodes: 8, share: 0.5, {TRAIN}}}
  b: {{pool: train, nodes_of: a, nodes: 8, share: 0.25, {TRAIN}}}
  c: {{pool: train, nodes: 4, {TRAIN}}}
  d: {{pool: serve, {SERVE}, layout: {{framework: vllm}}}}
{PAID}, prices: {{node: 300000, support_per_year: 1000000}}}}
"""
LAB = (Path(__file__).parents[2] / "examples/lab-fleet.yaml").read_text("utf-8")
FLEETS = {
    "hand": HAND,
    "turns": TURNS,
    "unused time": TURNS.replace("pue: 1.2", "pue: 1.2, utilization: 0.6"),
    "lab": f"{LAB}\n{PAID}, prices: {{node: 300000}}}}\n",
}
HOURS = 8766


def study(text: str) -> Study:
    return study_text(text, SETTINGS, "fleet.yaml")


def parts_of(text: str) -> tuple[FleetStudy, FleetReport]:
    whole = study(text)
    assert whole.fleet is not None
    return whole.fleet, fleet_report(whole, "cost")


def test_the_bill_worked_out_by_hand() -> None:
    """8 nodes: 4 at work always, 2 at work half of the time, so 3 idle on average, and the switches."""
    parts, found = parts_of(HAND)
    report = cost(parts.pools["p"]).cost
    assert report is not None
    switches = next(part.value for part in report.watts.parts if part.name == "switches") / 1000
    assert switches >= 1
    price = HOURS * 1.2 * 0.1
    assert found.jobs["a"].billed == pytest.approx((4 * 3 + switches * 4 / 8) * price)
    assert found.jobs["b"].billed == pytest.approx((2 * 3 + switches * 2 / 8) * 0.5 * price)
    idle = 3 * 2 + switches * 3 / 8
    assert found.pools["p"].cost == pytest.approx((4 * 3 + 2 * 3 * 0.5 + 3 * 2 + switches) * price)
    billed = [found.jobs[name].billed or 0.0 for name in "ab"]
    assert found.pools["p"].cost == pytest.approx(sum(billed) + idle * price)


@thorough
@pytest.mark.parametrize("name", sampled(FLEETS, 8))
def test_jobs_and_idle_nodes_are_the_bill_of_the_fleet(name: str) -> None:
    """The energy of a job from the power of its estimate, and that of idle nodes from the idle power of a job."""
    parts, found = parts_of(FLEETS[name])
    machines = fleet_report(study(FLEETS[name].replace("electricity: 0.1, ", "")), "cost").pools
    used = 0.6 if "utilization" in FLEETS[name] else 1.0
    price = HOURS * 1.2 * 0.1 / 1000
    for pool, use in found.pools.items():
        machine, energy, at_work, idle = machines[pool].cost or 0.0, 0.0, 0.0, None
        for job, each in found.jobs.items():
            drawn = estimate(parts.jobs[job]).drawn
            if each.pool != pool or each.nodes is None or use.nodes is None:
                continue
            assert drawn is not None and use.power is not None
            watts = used * use.power * each.nodes / use.nodes  # of reinforcement learning only nameplates are known
            if drawn.busy is not None:
                watts = used * drawn.busy.value + (1 - used) * drawn.idle.value
            own = watts * each.share * price
            idle = drawn.idle.value / each.nodes
            energy, at_work = energy + own, at_work + each.nodes * each.share
            assert each.billed == pytest.approx(machine * each.nodes / use.nodes * each.share + own), job
        assert use.nodes is not None
        if idle is not None:
            bill = machine + energy + (use.nodes - at_work) * idle * price
            assert use.cost == pytest.approx(bill), pool
    assert all(use.cost is not None for use in found.pools.values())


@thorough
@pytest.mark.parametrize("name", sampled(FLEETS, 8))
def test_the_table_and_the_job_alone_have_the_same_figures(name: str) -> None:
    parts, found = parts_of(FLEETS[name])
    for job, use in found.jobs.items():
        alone, pool = cost(parts.jobs[job]).cost, cost(parts.pools[use.pool or ""]).cost
        assert alone is not None and pool is not None and pool.total is not None and alone.total is not None
        unit = alone.per_run or alone.per_million_tokens
        assert unit is not None and unit.value == use.unit_cost, job
        assert alone.total.value == pool.total.value == found.pools[use.pool or ""].cost
        assert alone.of_nodes is not None and alone.of_nodes.value * use.share == pytest.approx(use.billed)


def test_the_energy_of_a_run_is_that_of_the_estimate() -> None:
    """Without a price of the machine, the cost of a run is the money of the estimate for its energy."""
    parts, found = parts_of(HAND)
    for job in "ab":
        drawn = estimate(parts.jobs[job]).drawn
        assert drawn is not None
        money = next(term.value for term in drawn.money if term.name == "of_run")
        assert found.jobs[job].unit_cost == pytest.approx(money)


def test_a_pool_without_a_job_draws_its_idle_power() -> None:
    text = HAND.replace("jobs:", "  q: {platform: dgx-h100, nodes: 1, power: {node: 3 kW, node_idle: 2 kW}}\njobs:")
    _, found = parts_of(text)
    idle, busy = found.pools["q"].cost, found.pools["p"].cost
    assert idle is not None and busy is not None
    assert idle == pytest.approx(2 * HOURS * 1.2 * 0.1)


def test_a_job_without_a_layout_counts_at_nameplates() -> None:
    """3 of 8 nodes at 3 kW for half of the term; what remains of the term, and 5 nodes, idle at 2 kW."""
    text = f"{HAND.split('jobs:', maxsplit=1)[0]}jobs:\n  a: {{pool: p, nodes: 3, share: 0.5}}\n{PAID}}}\n"
    parts, found = parts_of(text)
    report = cost(parts.pools["p"]).cost
    assert report is not None
    switches = next(part.value for part in report.watts.parts if part.name == "switches") / 1000
    price = HOURS * 1.2 * 0.1
    assert found.pools["p"].cost == pytest.approx((1.5 * 3 + 6.5 * 2 + switches) * price)
    assert found.jobs["a"].billed == pytest.approx((1.5 * 3 + switches * 1.5 / 8) * price)


@pytest.mark.parametrize("name", sampled(FLEETS, 4))
def test_a_condition_on_the_cost_of_a_fleet_counts_its_bill(name: str) -> None:
    whole = study(FLEETS[name])
    parts, found = parts_of(FLEETS[name])
    bill = sum(pool.cost or 0.0 for pool in found.pools.values())
    for one in (*parts.pools.values(), *parts.jobs.values()):
        if not one.has_figures and one in parts.jobs.values():
            continue
        condition = _condition_in_fleet(parse("fleet_cost<=1"), one, whole)
        assert condition.value(one.plan) == pytest.approx(bill), one.fleet_part


def test_more_nodes_of_a_pool_are_idle_ones() -> None:
    """Eight nodes more than the eight of the pool draw 2 kW each while no job has them, and no price but energy."""
    parts, found = parts_of(HAND)
    pool = parts.pools["p"]
    wide = varied_study(pool, {("cluster", "nodes"): 16})
    cost_of = FleetCosts(parts).of_changed(wide.plan, "p", None)
    more = 8 * 2 * HOURS * 1.2 * 0.1
    switches = 0.1 * 1.2 * HOURS * 6  # at most six more switches of 1 kW
    assert more <= (cost_of or 0.0) - (found.pools["p"].cost or 0.0) <= more + switches


def test_the_energy_of_an_option_is_what_its_nodes_draw() -> None:
    """Four nodes at 3 kW and their half of the switches of 1 kW, over 1,000 s; without a plan the nameplates."""
    parts, _ = parts_of(HAND)
    one = parts.jobs["a"]
    report = cost(parts.pools["p"]).cost
    assert report is not None
    switches = next(part.value for part in report.watts.parts if part.name == "switches")
    assert drawn_energy(one, None, 1000.0, 4) == pytest.approx((4 * 3000 + switches * 4 / 8) * 1000)
    assert drawn_energy(one, None, 1000.0, 2) == pytest.approx((4 * 3000 + switches * 4 / 8) * 500)
    assert drawn_energy(one, None, None, 4) is None
    bare = parts.pools["p"]
    assert drawn_energy(bare, None, 1000.0, 4) is None
    assert drawn_energy(bare, report, 1000.0, 4) == pytest.approx(report.watts.value * 4 / 8 * 1000)


DOLLAR = Term("cost", 1.0, "USD", "x")
OWN = Cost(
    *("USD", None, 1.0, None, (), replace(DOLLAR, value=0.5), None, None, None, (), (), ()),
    *(8.0, 8, 8, replace(DOLLAR, value=0.0), (), ()),
    utilization=0.8,
)
"""The cost of a year of eight accelerators, of whose time half is goodput."""
RUN, EACH, MILLION = (replace(DOLLAR, value=value) for value in (100.0, 7.0, 3.0))


def timed_plan(kind: str) -> Plan:
    """A plan that trains 1,000 tokens a second on each accelerator, or serves 500 in all."""
    trained = changed(plan_of(TRAINED), {"tokens_per_second_per_accelerator": 1000.0})
    return trained if kind == "train" else changed(plan_of(SERVED), {"serving.output_tokens_per_second": 500.0})


@pytest.mark.parametrize(
    ("kind", "own", "cost"),
    [
        ("train", {}, 250.0),  # 4,000 tokens of 8 accelerators are kept per second: 1 / 4,000 for each
        ("train", {"run": RUN}, 100.0),
        ("train", {"per_run": EACH, "run": RUN}, 7.0),
        ("train", {"per_million_tokens": MILLION}, 3.0),
        ("train", {"per_million_tokens": MILLION, "run": RUN}, 100.0),
        ("train", {"years": None}, None),
        ("train", {"utilization": 0.0}, None),
        ("train", {"accelerators_used": None}, None),
        ("train", {"goodput": None}, None),
        ("serve", {}, 2000.0),
    ],
)
def test_a_run_or_a_million_tokens_cost_their_part_of_the_bill(
    kind: str, own: dict[str, Any], cost: float | None
) -> None:
    """A job with half of a year of 31,557,600 s, at a utilization of 0.8, and a bill of one unit for each second."""
    whole, plan, billed = replace(OWN, **own), timed_plan(kind), 31_557_600 * 0.5 * 0.8
    found = _unit_cost(plan, 0.5, whole, billed)
    assert found == (pytest.approx(cost) if cost is not None else None)
    assert _unit_cost(None, 0.5, whole, billed) is None
    assert _unit_cost(plan, 0.5, whole, None) is None and _unit_cost(plan, 0.5, None, billed) is None


def test_the_tokens_of_a_plan_are_those_it_serves_or_keeps() -> None:
    assert _tokens_per_second(timed_plan("train"), OWN) == 4000.0
    assert _tokens_per_second(timed_plan("serve"), OWN) == 500.0
    reinforced = plan_of(REINFORCED)
    assert reinforced.rl is not None
    assert _tokens_per_second(reinforced, OWN) == reinforced.rl.tokens / reinforced.rl.step
