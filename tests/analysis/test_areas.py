"""The verdict by area: what binds each part of the machine."""

from __future__ import annotations

import json

import pytest

from clusterspec.analysis import outputs
from clusterspec.analysis.areas import verdict_areas
from clusterspec.analysis.verdict import fit_text
from clusterspec.cost.serving.targets import target_results
from clusterspec.procurement.bill import Bill
from clusterspec.records import replace
from clusterspec.results.machine import Rack
from clusterspec.studies import study_text
from clusterspec.units import display
from tests.cost.test_reinforcement import described
from tests.settings import SETTINGS

TORUS = """\
clusterspec: 1
cluster: {platform: tpu-v5p, nodes: 512, scale_up: {shape: [16, 8, 16]}}
workload: {model: gpt3-175b, sequence_length: 2048, global_batch: 4096}
layout: {framework: maxtext, tp: 8, micro_batch: 1}
"""
SERVED = """\
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 1000, output_tokens: 100, concurrency: 8, targets: {ttft: %s s, percentile: 99}}
layout: {framework: vllm}
"""


def test_links_of_different_torus_axes_are_not_added() -> None:
    plan = study_text(TORUS, SETTINGS).plan
    (found,) = (area for area in verdict_areas(plan, Bill(), None) if area.area == "scale-up links")
    busy = [sum(row.seconds for row in plan.communication if row.axis == axis) for axis in ("tp", "dp_cp")]
    assert plan.step_seconds is not None and found.value is not None
    assert found.value == max(busy) < plan.step_seconds < sum(busy)
    assert found.state == "good"


SPREAD = """\
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 512}
layout: {framework: megatron-core, tp: TENSOR, pp: 1, ep: 8, recompute: full, sharding: none}
"""


def test_the_time_of_links_is_named_after_one_collective_only_where_they_carry_no_other() -> None:
    for tensor in (1, 2):
        plan = study_text(SPREAD.replace("TENSOR", str(tensor)), SETTINGS).plan
        links = {area.area: area for area in verdict_areas(plan, Bill(), None) if area.area.endswith("links")}
        assert links
        for name, area in links.items():
            rows = [row for row in plan.communication if f"{row.tier} links" == name]
            assert area.value == sum(row.seconds for row in rows)
            several = len({(row.axis, row.collective) for row in rows}) > 1
            assert area.constraint.endswith(" and other traffic") == area.note.startswith("together ") == several
        if tensor == 1:  # the experts of a node exchange tokens over NVLink, and nothing else does
            assert links["scale-up links"].constraint == "ep all-to-all"


HALL = """\
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: fat-tree}
  power: {node: 10 kW, switch: 2 kW, nodes_per_rack: 2%s}
  networks: {storage: {bandwidth: 8 GB/s}}
operations: {checkpoint_interval: %s%s}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {framework: megatron-core, tp: 2}
"""


def power_areas(power: str, operations: str = "", rack: Rack | None = None) -> list[tuple[object, ...]]:
    plan = study_text(HALL % (power, "1 h", operations), SETTINGS).plan
    return [(area.value, area.limit, area.state) for area in verdict_areas(plan, Bill(), rack) if area.area == "power"]


def test_the_least_of_the_stated_budgets_of_power_counts() -> None:
    """4 × 10 kW and a switch of 2 kW are 42 kW; with less than a tenth of a budget left it is tight."""
    site = ", power_budget: 60 kW"
    assert power_areas(", budget: 50 kW", site) == [(pytest.approx(42e3), 50e3, "good")]
    assert power_areas(", budget: 80 kW", site) == [(pytest.approx(42e3), 60e3, "good")]
    assert power_areas(", budget: 46 kW") == [(pytest.approx(42e3), 46e3, "tight")]
    assert power_areas(", budget: 41 kW") == [(pytest.approx(42e3), 41e3, "bad")]
    assert power_areas("") == []


def test_a_rack_is_judged_by_its_limit() -> None:
    def rack(watts: float | None, limit: float | None) -> Rack:
        return Rack(nodes=2, racks=2, watts=watts, limit=limit, node_watts=10e3, overhead=0.0)

    for watts, limit, state in (
        (20e3, 22e3, "tight"),
        (20e3, 19e3, "bad"),
        (20e3, 30e3, "good"),
        (20e3, None, "open"),
    ):
        assert power_areas("", rack=rack(watts, limit)) == [(watts, limit, state)]
    assert power_areas("", rack=rack(None, 22e3)) == []
    assumed = replace(rack(20e3, 19e3), least=18e3)
    assert power_areas("", rack=assumed) == [(20e3, 19e3, "tight")], "nodes of assumed power draw 9 kW or more"
    assert power_areas("", rack=replace(assumed, least=19.1e3)) == [(20e3, 19e3, "bad")]


@pytest.mark.parametrize(("interval", "state"), [("1 h", "good"), ("15 s", "tight"), ("13 s", "bad")])
def test_a_checkpoint_is_written_within_its_interval(interval: str, state: str) -> None:
    """14 bytes of each of the 8.03 billion parameters at 8 GB/s take 14.05 s."""
    plan = study_text(HALL % ("", interval, ""), SETTINGS).plan
    (found,) = (area for area in verdict_areas(plan, Bill(), None) if area.area == "storage")
    assert found.value == pytest.approx(8.03e9 * 14 / 8e9, rel=1e-3)
    assert found.state == state


def test_a_budget_inside_the_range_of_the_prices_is_tight_and_below_it_exceeded() -> None:
    """Eight nodes at 290,000 to 320,000 are 2,320,000 to 2,560,000."""
    states = {}
    for budget in (2_300_000, 2_400_000, 3_000_000):
        buying = f"procurement: {{currency: EUR, prices: {{node: [290000, 320000]}}, budget: {budget}}}"
        one = study_text(f"clusterspec: 1\ncluster: {{platform: dgx-h200, nodes: 8}}\n{buying}\n", SETTINGS)
        (found,) = (area for area in verdict_areas(one.plan, outputs.bill(one).bill, None) if area.area == "budget")
        states[budget] = found.state
    assert states == {2_300_000: "bad", 2_400_000: "tight", 3_000_000: "good"}


@pytest.mark.parametrize(
    ("quote", "amount", "state"),
    [
        ("quoted_total: 2800000", 2_800_000, "tight"),
        ("quote: [{part: node, quantity: 8, unit_price: 250000}, {part: support, price: 100000}]", 2_100_000, "good"),
        ("quote: [{part: node, quantity: 8, unit_price: 250000}, {part: support, price: 1100000}]", 3_100_000, "bad"),
    ],
)
def test_a_quote_counts_for_the_budget_with_lines_that_the_bill_does_not_have(
    quote: str, amount: int, state: str
) -> None:
    buying = f"procurement: {{currency: EUR, prices: {{node: 250000}}, {quote}, budget: 3000000}}"
    one = study_text(f"clusterspec: 1\ncluster: {{platform: dgx-h200, nodes: 8}}\n{buying}\n", SETTINGS)
    (found,) = (area for area in verdict_areas(one.plan, outputs.bill(one).bill, None) if area.area == "budget")
    assert (found.constraint, found.value, found.state) == ("quoted total", amount, state)


def test_a_cache_that_takes_what_is_left_is_no_shortage_of_memory() -> None:
    text = """\
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving:
    {input_tokens: 1000, output_tokens: 100, request_rate: 2, disaggregated: {prefill: {tp: 1}, decode: {tp: 1}}}
layout: {framework: sglang}
"""
    plan = study_text(text, SETTINGS).plan
    (found,) = (area for area in verdict_areas(plan, Bill(), None) if area.area == "memory")
    assert (found.state, found.note) == ("good", "the cache takes what is left") and found.constraint.startswith(
        "cache"
    )


def test_a_target_inside_the_range_of_a_latency_is_tight() -> None:
    states = {}
    high = 10.0
    for share in (1.0, 0.97, 1e-4):
        plan = study_text(SERVED % (share * high), SETTINGS).plan
        assert plan.serving and plan.design.workload and plan.design.workload.serving
        high = target_results(plan.serving, plan.design.workload.serving)[0].range[1]
        states[share] = next(area.state for area in verdict_areas(plan, Bill(), None) if area.area == "first token")
    assert states == {1.0: "good", 0.97: "tight", 1e-4: "bad"}


def test_the_memory_of_a_trainer_is_that_of_its_fullest_phase_in_the_verdict_and_its_area() -> None:
    """A reward model of 405,853,388,800 weights in 16 bits over 16 accelerators is 50.7 GB on each of them."""
    spec = described(placement="split", rollout={"nodes": 2}, reward={"model": "llama-3.1-405b"})
    plan = study_text(json.dumps(spec), SETTINGS).plan
    bare = study_text(json.dumps(described(placement="split", rollout={"nodes": 2})), SETTINGS).plan
    assert plan.memory_bytes == bare.memory_bytes and plan.memory_bytes is not None
    (found,) = (area for area in verdict_areas(plan, Bill(), None) if area.area == "memory")
    assert found.value == plan.fullest_bytes and found.constraint.startswith("models and engines of all roles")
    assert found.value is not None and found.value - plan.memory_bytes > 2 * 405_853_388_800 / 16
    text = fit_text(plan)
    assert display(found.value, "B") in text and display(plan.memory_bytes, "B") not in text
