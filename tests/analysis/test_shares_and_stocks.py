"""Conditions, levers, stocks and drawn schedules: each value from inputs of its own."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from clusterspec.analysis.failures.parts import _yearly_losses, incomplete_keys, priced_stock, yearly_goodput
from clusterspec.analysis.levers.conditions import Condition, ConditionFault, metric_unit, parse
from clusterspec.analysis.levers.effects import neighboring_lever_values, next_steps, sold_steps
from clusterspec.analysis.levers.keys import LEVERS
from clusterspec.analysis.schedule import _drawn_micro_batches
from clusterspec.cluster.model import Design
from clusterspec.cost.plan import Plan
from clusterspec.money import Money
from clusterspec.quantity import Quantity
from clusterspec.records import replace
from clusterspec.results.faults import Stock
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.spec.model import EarlyFailuresSpec, OperationsSpec, Spec, StockSpec
from tests.analysis.jobs import study_of

DESIGN = Design(Spec("test"))
JOB = """
cluster: {platform: dgx-h100, nodes: 2}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 32}
layout: {framework: megatron-core, tp: 2}
"""


@pytest.mark.parametrize(
    ("count", "stages", "virtual", "drawn"),
    [  # 160 operations are 80 micro-batches, forward and backward
        (50, 4, 1, 50),
        (100, 4, 1, 80),
        (100, 3, 1, 78),  # whole groups of three
        (100, 4, 2, 40),
        (100, 4, 20, 4),
        (100, 100, 1, 100),  # a group at least
        (500, 100, 1, 100),
    ],
)
def test_as_many_micro_batches_are_drawn_as_operations_fit(count: int, stages: int, virtual: int, drawn: int) -> None:
    assert _drawn_micro_batches(count, stages, virtual) == drawn


def test_a_failure_that_stops_the_job_takes_up_to_one_interval_of_work() -> None:
    """Two nodes that fail five times a year each; a restart of 10 min, and half an hour of an interval in the mean.
    Early failures are of hardware alone.
    """
    more = (
        "operations: {restart_time: 10 min, checkpoint_interval: 1 h, failures: {node: {afr: 5}, software: {afr: 1}}}\n"
    )
    machine = FailingMachine(study_of(JOB.replace("nodes: 2", "nodes: 2, spare_nodes: 1") + more).design, 5.0, None)
    for factor in (1.0, 1.5):
        losses = _yearly_losses(machine, factor)
        node, software = losses["node"], losses["software"]
        assert (node.failures, node.fixed, node.spread) == pytest.approx((10 * factor, 1 / 6, 1.0))
        assert node.mean == pytest.approx(2 / 3) and software.failures == pytest.approx(16)
        assert not [part for part in losses if part.endswith("spine link")]  # slows the job
    assert yearly_goodput(FailingMachine(machine.design, None, None)) is None


PRICES = "{currency: EUR, prices: {node: 1000, leaf_switch: [10, 20], cable: 3, transceiver: 5}}"


def test_a_stock_costs_what_replaces_its_parts() -> None:
    """Two nodes, a leaf switch, and four links with a cable and two modules each; a NIC has no price."""
    study = study_of(f"cluster: {{platform: dgx-h100, nodes: 2}}\nprocurement: {PRICES}\n")
    machine = FailingMachine(study.design, None, None)
    assert not machine.has_fixed_ends("NIC-leaf link")
    parts = {"node": 2, "leaf switch": 1, "NIC-leaf link": 4, "NIC": 3, "accelerator": 1, "spine switch": 0}
    found = priced_stock(Stock(0.95, 1.0, parts), study, machine)
    assert found is not None and found.price == Money(2000 + 10 + 4 * 13, 2000 + 20 + 4 * 13, "EUR")
    assert found.unpriced == ("NIC", "accelerator")
    nothing = priced_stock(Stock(0.95, 1.0, {"NIC": 1, "node": 0}), study, machine)
    assert nothing is not None and nothing.price is None and nothing.unpriced == ("NIC",)
    half = study_of(
        f"cluster: {{platform: dgx-h100, nodes: 2}}\nprocurement: {PRICES.replace(', transceiver: 5', '')}\n"
    )
    links = priced_stock(Stock(0.95, 1.0, {"NIC-leaf link": 4, "node": 2}), half, machine)
    assert links is not None and links.price == Money(2000, 2000, "EUR"), "a link without the price of its modules"
    assert links.unpriced == ("NIC-leaf link",)
    plain = study_of("cluster: {platform: dgx-h100, nodes: 2}\n")
    given = Stock(0.95, 1.0, parts)
    assert priced_stock(given, plain, machine) == given and priced_stock(None, study, machine) is None
    fixed = study_of(
        "cluster: {platform: dgx-h100, nodes: 2, scale_out: {cable_type: {node_leaf: dac}}}\n"
        f"procurement: {PRICES}\n"
    )
    bare = FailingMachine(fixed.design, None, None)
    assert bare.has_fixed_ends("NIC-leaf link")
    cables = priced_stock(Stock(0.95, 1.0, {"NIC-leaf link": 4}), fixed, bare)
    assert cables is not None and cables.price == Money.of(12, "EUR")


def test_keys_that_are_not_enough_by_themselves_are_named() -> None:
    half_life, lead = Quantity(1.0, "s", "1 s"), Quantity(1.0, "s", "1 s")
    cases: list[tuple[dict[str, Any], int]] = [
        ({}, 0),
        ({"early_failures": EarlyFailuresSpec(ratio=2.0)}, 1),
        ({"early_failures": EarlyFailuresSpec(half_life=half_life)}, 1),
        ({"early_failures": EarlyFailuresSpec(ratio=2.0, half_life=half_life)}, 0),
        ({"stock": StockSpec()}, 1),
        ({"stock": StockSpec(lead_time=lead)}, 0),
        ({"stock": StockSpec(), "early_failures": EarlyFailuresSpec()}, 2),
    ]
    for keys, count in cases:
        assert len(list(incomplete_keys(OperationsSpec(**keys)))) == count, keys


def test_a_condition_admits_its_limit_and_nothing_beyond() -> None:
    for text, value, admitted in (
        ("mfu>=0.4", 0.4, True),
        ("mfu>=0.4", 0.399, False),
        ("mfu<=0.4", 0.4, True),
        ("mfu<=0.4", 0.401, False),
    ):
        condition = parse(text)
        assert condition.admits(value) == admitted
        assert condition.holds(Plan(DESIGN, mfu=value)) == admitted
    assert not parse("mfu>=0").holds(Plan(DESIGN))
    late = Plan(DESIGN, time_to_train=100.0)
    elapsed = parse("elapsed<=200 s")
    assert elapsed.value(late) == 100 and replace(elapsed, share=0.5).value(late) == 200
    assert replace(elapsed, share=0.0).value(late) is None
    assert (
        parse("time_to_train<=200 s").value(late) == 100 == replace(parse("time_to_train<=9 d"), share=0.5).value(late)
    )


def test_a_slowdown_is_relative_to_the_step_of_the_spec() -> None:
    plan = study_of(JOB).plan
    assert plan.step is not None
    for part, value in ((1.0, 0.0), (0.8, 0.25), (2.0, -0.5)):
        assert parse("slowdown<=5%", plan.step.seconds * part).value(plan) == pytest.approx(value, abs=1e-12)
    assert parse("slowdown<=5%").value(plan) is None and parse("slowdown<=5%").baseline == inf
    assert parse("slowdown<=5%", 1.0).value(Plan(DESIGN)) is None


def test_a_plan_that_does_not_fit_meets_no_condition_but_one_that_may_fit_does() -> None:
    """The upper end of memory counts unless the condition says otherwise, without what the allocator gives back."""
    plan = study_of(JOB).plan
    assert plan.stored is not None and plan.stored.capacity is not None and plan.memory is not None
    upper = plan.memory.total.ends[1]
    share = plan.stored.total / upper
    for capacity, surely, likely in ((1.01, True, True), (0.99, False, True), (share * 0.99, False, False)):
        size = replace(plan.stored.capacity, value=upper * capacity)
        found = replace(plan, stored=plan.stored._replace(capacity=size))
        fits = Condition("fits", "fits", at_most=False, limit=1.0)
        assert (fits.holds(found), replace(fits, surely=False).holds(found)) == (surely, likely), capacity
        assert fits.value(found) == float(surely) and parse("mfu>=0").holds(found) == surely
    headroom = parse("headroom>=0").value(plan)
    assert headroom == pytest.approx(1 - plan.stored.total / plan.stored.capacity.value)
    exposed = parse("exposed<=1").value(plan)
    assert plan.step is not None
    assert exposed == pytest.approx(sum(each.exposed for each in plan.communication) / plan.step.seconds)


def test_limits_have_the_units_of_their_metric() -> None:
    for text, limit in (("mfu>=40%", 0.4), ("mfu>=0.4", 0.4), ("fleet_cost<=20M", 20e6), ("fleet_cost<=1,500", 1500.0)):
        assert parse(text).limit == pytest.approx(limit)
    assert parse("output_tokens_per_second>=100").limit == 100
    for wrong in ("fleet_cost<=20 EUR", "output_tokens_per_second>=40%", "memory<=60", "power<=3", "mfu>=inf"):
        with pytest.raises(ConditionFault):
            parse(wrong)
    assert [metric_unit(each) for each in ("fits", "targets", "slowdown", "memory", "mfu")] == [
        None,
        None,
        "1",
        "B",
        "1",
    ]


def test_the_values_around_one_are_the_next_of_those_that_are_sold() -> None:
    steps = (1.0, 2.0, 4.0, 8.0)
    for value, near in (
        (0.5, (None, 1.0)),
        (1.0, (None, 2.0)),
        (3.0, (2.0, 4.0)),
        (8.0, (4.0, None)),
        (9.0, (8.0, None)),
    ):
        assert next_steps(steps, value) == near
    assert next_steps(steps, 2.0 * (1 + 1e-12)) == next_steps(steps, 2.0 * (1 - 1e-12)) == (1.0, 4.0)
    study = study_of(JOB)
    for count in (1, 3):
        found = neighboring_lever_values(study, count)
        assert found["nodes"] == (1.0, 2.0, *(4.0, 8.0, 16.0)[:count])
        assert found["nic_bandwidth"] == tuple(
            rate * 1e9 / 8 for rate in (*(50, 100, 200)[3 - count :], 400, *(800, 1600)[:count])
        )
    assert "concurrency" not in found and "storage.read" not in found
    rack = study_of("cluster: {platform: gb200-nvl72, nodes: 36}\n")
    sold = sold_steps(rack.design, rack.settings.catalog)
    assert sold["nodes"][:3] == (18.0, 36.0, 72.0) and 72.0 in sold["scale_up.domain"]
    part = study_of("cluster: {platform: gb200-nvl72, nodes: 9}\n")
    assert sold_steps(part.design, part.settings.catalog)["nodes"][:2] == (9.0, 18.0)  # the domain has nine nodes
    assert "nodes" not in sold_steps(study.design, study.settings.catalog)
    assert sold_steps(DESIGN, rack.settings.catalog) == {}


def test_a_lever_removes_what_contradicts_it_and_buys_what_it_lacks() -> None:
    rate = LEVERS["nic_bandwidth"]
    changes = dict(rate.changes(50e9))
    assert changes.pop(rate.path) == Quantity(50e9, "B/s", "400 Gb/s", "Gb/s", bits=True)
    assert set(changes) == set(rate.removed) and set(changes.values()) == {None}
    job = replace(LEVERS["nodes"], path=("layout", "nodes"), removed=(), grown_from=8.0)
    assert job.changes(8.0) == {("layout", "nodes"): 8}
    assert job.changes(9.0) == {("layout", "nodes"): 9, ("cluster", "nodes"): 9, ("cluster", "accelerators"): None}
    assert LEVERS["concurrency"].written(0.4) == 1 and LEVERS["concurrency"].written(7.9) == 7
    assert LEVERS["request_rate"].written(1.23456789) == 1.23457
    assert rate.is_hardware and not LEVERS["global_batch"].is_hardware
