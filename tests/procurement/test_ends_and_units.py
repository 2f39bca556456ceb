"""Ends of ranges, units of a cost and the parts that a price rests on, worked out from small results."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.estimate import estimate
from clusterspec.cost.term import Term
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.bill import ASSUMED_BY, bill
from clusterspec.procurement.cost import Cost
from clusterspec.procurement.growth import leaves_of_nodes
from clusterspec.procurement.neighbor import _idle_nodes
from clusterspec.procurement.quotes import quoted_parts
from clusterspec.procurement.total import PICKS, _figure_at_end
from clusterspec.records import replace
from clusterspec.source import Computed, Written
from clusterspec.spec.model import QuoteLine
from tests.cluster.resolving import clean
from tests.procurement.test_cost import OWNED, costs
from tests.spec_keys import unknown_keys

POWER = Term("busy", 300.0, "W", "sum", low=200.0, high=500.0)


@pytest.mark.parametrize(
    ("term", "ends"),
    [
        (POWER, (200.0, 300.0, 500.0)),
        (replace(POWER, low=None), (300.0, 300.0, 500.0)),
        (replace(POWER, high=None), (200.0, 300.0, 300.0)),
    ],
)
def test_a_power_has_a_low_end_a_middle_and_a_high_end(term: Term, ends: tuple[float, ...]) -> None:
    found = tuple(_figure_at_end(term, pick) for pick in PICKS)
    assert tuple(figure.value for figure in found) == ends
    assert {(figure.unit, figure.origin) for figure in found} == {("W", Computed("sum"))}


def cost_of(*parts: Term, **changes: Any) -> Cost:
    total = Term.total("total", parts, "1") if parts else None
    return replace(
        costs(OWNED), total=total, of_nodes=total, years=2.0, accelerators=10, nodes=4, accelerators_used=5.0, **changes
    )


CAPITAL, ENERGY = Term("capital", 1.0e6, "1", "x"), Term("energy", 753_200.0, "1", "x")
RENT = Term("rent", 1.0e6, "1", "x")


def test_a_cost_is_divided_over_the_hours_weeks_and_nodes_of_its_term() -> None:
    """1,753,200 over two years of 8,766 hours are 100 an hour: 10 for each of 10 accelerators, 16,800 a week."""
    found = cost_of(CAPITAL, ENERGY, utilization=0.5)
    assert found.per_accelerator_hour == pytest.approx(10.0)
    assert found.per_hour_at_work == pytest.approx(10.0 * 10 / (5 * 0.5))
    assert found.per_week == pytest.approx(16_800.0)
    assert found.rent_of_node is None
    assert cost_of(RENT, ENERGY).rent_of_node == 250_000.0 and replace(cost_of(RENT), nodes=0).rent_of_node is None
    for nothing in (cost_of(), replace(found, years=None)):
        assert nothing.per_week is nothing.per_accelerator_hour is nothing.per_hour_at_work is None
    assert replace(found, years=167 / 8766).per_week is None, "a term of less than a week"
    assert replace(found, years=168 / 8766).per_week == found.total.value if found.total else None
    assert replace(found, utilization=0.0).per_hour_at_work is None
    assert replace(found, accelerators_used=None).per_hour_at_work is None


def test_a_cost_is_of_the_machine_with_its_price_or_rent() -> None:
    told = {(CAPITAL, ENERGY): True, (RENT,): True, (ENERGY,): False, (): False}
    assert {parts: cost_of(*parts).of_machine for parts in told} == told


@pytest.mark.parametrize(
    ("price", "unit_price", "credit"),
    [
        (-1, None, True),
        (None, -1, True),
        (5, -1, True),
        (0, 0, False),
        (None, None, False),
        (0.5, 0.5, False),
        (9, 3, False),
    ],
)
def test_a_line_below_zero_is_a_credit(price: float | None, unit_price: float | None, credit: bool) -> None:
    assert is_credit(QuoteLine("trade-in", 1, unit_price, price)) is credit


def test_nodes_without_work_are_those_outside_the_job() -> None:
    """31 nodes, of which a layout of 20 leaves 11."""
    whole = clean(OWNED)
    assert _idle_nodes(whole) == 0
    assert _idle_nodes(clean(OWNED.replace("layout: {tp: 2", "layout: {nodes: 20, tp: 2"))) == 11
    assert _idle_nodes(replace(whole, layout=None)) == _idle_nodes(replace(whole, cluster=None)) == 0


ROLLOUT = """
cluster: {platform: dgx-h200, nodes: 4}
workload:
  {kind: rl, model: qwen3-8b, sequence_length: 8192, rl: {algorithm: grpo, prompts_per_step: 64, samples_per_prompt: 8,
   input_tokens: 300, output_tokens: {mean: 2000, max: 8000}, minibatches: 2, placement: split,
   rollout: {framework: vllm, tp: 1, nodes: 2}}}
layout: {framework: megatron-core, nodes: 1, tp: 4, recompute: full}
"""


def test_nodes_of_rollout_have_work() -> None:
    """Of four nodes one trains and two roll out."""
    design = clean(ROLLOUT)
    work = design.workload
    assert work is not None and work.rl is not None and design.layout is not None and design.cluster is not None
    assert _idle_nodes(design) == design.cluster.nodes - design.layout.nodes - (work.rl.nodes - work.rl.trainer_nodes)
    assert _idle_nodes(design) == 1


def test_the_price_of_a_kwh_is_that_of_its_key_or_the_mean_of_a_tariff() -> None:
    found = costs(OWNED)
    assert found.total is not None
    energy = next(part for part in found.total.parts if part.name == "energy")
    assert dict(energy.inputs)["electricity"].origin == Written("procurement.electricity")
    assert dict(energy.inputs)["electricity"].value == 0.10


def test_a_store_is_derived_from_its_key_or_from_its_price() -> None:
    priced, stated = (
        clean(OWNED),
        clean(OWNED.replace("  power:", "  networks: {storage: {bandwidth: 100 GB/s}}\n  power:")),
    )
    keys = [next(item for item in bill(each).items if item.kind == "storage").derivation for each in (priced, stated)]
    assert keys[0].startswith("procurement.prices.storage") and "another" not in keys[0]
    assert keys[1].startswith("cluster.networks.storage")
    assert not unknown_keys(" ".join(f"`{key}`" for key in {*ASSUMED_BY.values(), "procurement.prices.storage"}))


def test_accelerators_of_a_quote_replace_its_nodes_where_no_line_has_nodes() -> None:
    """256 accelerators of 32 nodes of 8."""
    design = clean(OWNED)
    assert design.cluster is not None
    alone = {
        part.kind: part
        for part in quoted_parts(
            bill(design), (QuoteLine("H100 GPU", 256), QuoteLine("leaf switch", 8)), design.cluster
        )
    }
    assert (alone["accelerator"].needed, alone["accelerator"].state) == (256, "quoted") and "node" not in alone
    lines = (QuoteLine("H100 GPU", 8), QuoteLine("DGX H100", 32), QuoteLine("leaf switch", 8))
    both = {part.kind: part for part in quoted_parts(bill(design), lines, design.cluster)}
    assert (both["node"].needed, both["accelerator"].needed, both["accelerator"].state) == (32, None, "not needed")


@pytest.mark.parametrize(("nodes", "leaves"), [(1, 8), (32, 8)])
def test_nodes_of_a_rail_connect_to_a_leaf_of_each_rail(nodes: int, leaves: int) -> None:
    design = clean(OWNED)
    counted = bill(design).fabric
    assert design.cluster is not None and counted is not None
    assert leaves_of_nodes(design.cluster, counted, nodes) == leaves
    assert estimate(design).time_to_train is not None
