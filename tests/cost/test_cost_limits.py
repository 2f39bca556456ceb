"""Figures of cost at their limits, each from a few inputs: cooling, tariffs, measured groups, steps and caches."""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import Any

import pytest

from clusterspec.cost.energy import mean_price, supply
from clusterspec.cost.measured import MeasuredSize, Measurement, leaves_nics_idle
from clusterspec.cost.nameplates import node_cooling
from clusterspec.cost.reinforcement.rollout import RATIO, _EngineRun, _StepLine
from clusterspec.cost.serving.loads import steady_load
from clusterspec.cost.serving.plan_engines import bare_pools, cache_capacity
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.storage import _has_read_rate
from clusterspec.quantity import Direction, Figure, Quantity
from clusterspec.records import replace
from clusterspec.source import Written
from clusterspec.spec.model import NetworkSpec, NetworksSpec, PowerSpec, ProcurementSpec
from tests.cluster.resolving import clean, cluster_of
from tests.cost.expressions import evaluate


def test_nodes_are_cooled_as_stated_as_sold_or_by_their_power() -> None:
    machine = cluster_of("cluster: {accelerator: h100-sxm-80gb, nodes: 1}")
    bare = replace(machine, accelerator=replace(machine.accelerator, cooling=()))
    for watts, kind in ((1000.0, "air"), (1000.1, "liquid")):
        part = replace(bare.accelerator, power=Figure(watts, "W", Written("test")))
        assert node_cooling(replace(bare, accelerator=part), None)[0] == kind
    assert node_cooling(replace(bare, accelerator=replace(bare.accelerator, power=None)), None)[0] == "air"
    assert node_cooling(bare, PowerSpec(cooling="immersion")) == ("immersion", "")
    one = replace(bare, accelerator=replace(bare.accelerator, cooling=("liquid",)))
    assert node_cooling(one, None) == ("liquid", "as h100-sxm-80gb is sold")
    assert node_cooling(one, PowerSpec()) == ("liquid", "as h100-sxm-80gb is sold")
    either = replace(bare, accelerator=replace(bare.accelerator, cooling=("air", "liquid")))
    assert node_cooling(either, None)[0] == "air" and "sold" not in node_cooling(either, None)[1]


HALF_DAY = (
    'electricity: 0.2, tariff: [{from: "22:00", to: "06:00", price: 0.08}, {from: "05:00", to: "09:00", price: 0.1}]'
)


def test_a_mean_price_weighs_the_hours_of_a_day() -> None:
    """8 hours at 0.08, the 3 that are left of four at 0.1, and 13 at 0.2: 3.54 / 24."""
    text = f"cluster: {{platform: dgx-h100, nodes: 1}}\nprocurement: {{currency: EUR, {HALF_DAY}}}\n"
    buying = clean(text).spec.procurement
    assert buying is not None
    term = mean_price(buying, "EUR")
    assert term is not None and term.value == pytest.approx((8 * 0.08 + 3 * 0.1 + 13 * 0.2) / 24)
    names = {name: figure.value for name, figure in term.inputs}
    assert evaluate(term.formula, names) == pytest.approx(term.value)
    assert [names[f"hours_{number}"] for number in (1, 2, 3)] == pytest.approx([8, 3, 13])
    assert mean_price(replace(buying, electricity=None), "EUR") is None
    flat = mean_price(ProcurementSpec(electricity=0.2), "EUR")
    assert flat is not None and (flat.value, flat.formula) == (0.2, "price_1")


def measurement(ranks: int | None, nodes: int | None = None) -> Measurement:
    rows = (MeasuredSize(1e6, 1e9), MeasuredSize(1e9, 2e9))
    return Measurement(0, ("measured", 0), "all-reduce", ranks, nodes, rows)


def test_a_measured_group_has_two_ranks_or_more_and_covers_all_nics_or_not() -> None:
    machine = cluster_of("cluster: {platform: dgx-h100, nodes: 4}")
    assert measurement(None).group(machine) is None and measurement(1).group(machine) is None
    pair = measurement(2).group(machine)
    assert pair is not None and (pair.ranks, pair.nodes) == (2, 1)
    assert measurement(2).largest == MeasuredSize(1e9, 2e9) and replace(measurement(2), rows=()).largest is None
    assert [
        leaves_nics_idle(machine, measurement(ranks, nodes)) for ranks, nodes in ((8, 1), (16, 2), (14, 2), (2, 2))
    ] == [
        *(False, False, True, True),
    ]
    assert not leaves_nics_idle(machine, measurement(None))
    assert not leaves_nics_idle(replace(machine, scale_out=None), measurement(14, 2))
    few = cluster_of("cluster: {platform: dgx-h100, nodes: 4, scale_out: {nics_per_node: 4}}")
    assert not leaves_nics_idle(few, measurement(8, 2)) and leaves_nics_idle(few, measurement(6, 2))


@pytest.mark.parametrize(("read", "written", "known"), [(None, None, False), (0.0, None, False), (5.0, None, True)])
def test_a_store_is_read_at_its_own_rate_else_at_that_of_writing(
    read: float | None, written: float | None, known: bool
) -> None:
    def rate(value: float | None) -> Quantity | None:
        return None if value is None else Quantity(value, "B/s", f"{value} B/s", direction=Direction.ONE_WAY)

    store = NetworkSpec(read=rate(read), bandwidth=rate(written))
    assert _has_read_rate(NetworksSpec(storage=store)) == known
    assert _has_read_rate(NetworksSpec(storage=replace(store, bandwidth=rate(1.0)))) == (known or read is None)
    assert not _has_read_rate(NetworksSpec()) and not _has_read_rate(None)


SERVED = """
cluster: {{platform: dgx-h100, nodes: 2}}
workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 2000, output_tokens: 100, {load}}}}}
layout: {{framework: {framework}, tp: 4, pp: 2}}
"""
SAMPLING = 36 * 1024 * 128_256 + 0.7e9
"""Bytes that vLLM keeps free for the logits of 1,024 sequences, and its context."""


def served(load: str, framework: str = "vllm") -> Pools:
    found = bare_pools(clean(SERVED.format(load=load, framework=framework)))
    assert found is not None and found.decode.layout.pp == 2
    return found


def test_a_cache_holds_requests_with_half_of_their_outputs_unless_they_end_together() -> None:
    """Of 80 GB, 0.9 hold the weights of a rank of two stages, what the engine reserves, and the caches."""
    for load, held in (
        ("concurrency: 8, memory_fraction: 0.9", 2050),
        ("load: static, concurrency: 8, memory_fraction: 0.9", 2100),
    ):
        pools = served(load)
        engine = pools.decode
        memory = engine.cluster.accelerator.memory
        assert memory is not None
        free = 0.9 * memory.value - engine.weight_bytes / 2 - SAMPLING
        tokens, requests = cache_capacity(engine, pools.load)
        assert requests == pytest.approx(free / (engine.reserved_bytes(held) / 2)), load
        assert tokens == pytest.approx(requests * held)


def test_software_raises_its_share_of_memory_for_the_requests_in_flight_up_to_its_most() -> None:
    """1,000 requests on two engines are 500 each."""
    few, many, most = (served(f"concurrency: {number}") for number in (8, 1000, 100_000))
    assert few.load.raised and many.load.raised
    engine = few.decode
    memory = engine.cluster.accelerator.memory
    assert memory is not None
    each = engine.reserved_bytes(2050) / 2
    spare = [share * memory.value - engine.weight_bytes / 2 - SAMPLING for share in (0.9, 0.95)]
    ranks = engine.attention_ranks
    for pools, number in ((few, 8), (many, 1000), (most, 100_000)):
        wanted = each * ceil(number / ranks)
        assert cache_capacity(engine, pools.load)[1] == pytest.approx(max(spare[0], min(wanted, spare[1])) / each)


NARROW = """
cluster: {{platform: dgx-h100, nodes: 1}}
workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 500, output_tokens: 500, {load}}}}}
layout: {{framework: sglang, tp: 2}}
"""


def test_the_share_rises_for_the_requests_that_a_rate_keeps_in_flight() -> None:
    """With room above their mean for three standard deviations, up to 0.95; more load never has a shorter wait."""
    lowest = bare_pools(clean(NARROW.format(load="request_rate: 9, memory_fraction: 0.88")))
    assert lowest is not None and not lowest.load.raised and lowest.load.kept == 0
    rates = (1, 4, 5, 6, 7, 10, 12, 64)
    found = [bare_pools(clean(NARROW.format(load=f"request_rate: {rate}"))) for rate in rates]
    states = [steady_load(pools)[1] for pools in found if pools is not None]
    raised = [pools for pools in found if pools is not None and pools.load.raised]
    places = [pools.limit for pools in raised]
    assert len(states) == len(places) == 8 and places == sorted(places)
    waits = [state.wait for state in states]
    assert waits == sorted(waits)
    assert places[0] == places[1] < places[2] < places[3] < places[4] < places[5] == places[-1]
    memory = lowest.decode.cluster.accelerator.memory
    assert memory is not None
    at_88 = cache_capacity(lowest.decode, lowest.load)[1]
    each = lowest.decode.reserved_bytes(750)  # 500 tokens, and half of 500
    for at in (2, 3, 4):  # four engines; a share of the memory is in whole percent
        mean = states[at].sequences
        needed = ceil(ceil((mean + 3 * sqrt(mean)) * 4) / 4)
        share = raised[at].load.memory_fraction
        tokens = 750 * (at_88 + (share - 0.88) * memory.value / each)
        # its own 1,000 tokens, then 500 + 250 of each, and 0.14 x 0.7 of the 250 that each still lacks
        assert places[at] == floor(1 + (tokens - 1000) / (750 + 0.098 * 250)) >= needed > lowest.limit
        assert share - 0.88 < 0.01 + 1.05 * (needed - at_88) * each / memory.value
    assert states[5].sequences < places[5] and states[-1].sequences == pytest.approx(places[-1], rel=2e-4)


def test_steps_of_rollout_are_linear_between_the_numbers_of_sequences_that_are_timed() -> None:
    run = _EngineRun(served("load: offline"), 512, 64.0)
    for low, part in ((0, 0.0), (4, 0.0), (4, 0.25), (9, 0.5)):
        near, far = (run._step_line(place) for place in (low, low + 1))
        sequences = RATIO**low + part * (RATIO ** (low + 1) - RATIO**low)
        found = run._interpolated_step_line(sequences * (1 + 1e-12))
        for at, (one, other) in enumerate(zip(near, far, strict=True)):
            assert found[at] == pytest.approx(one + part * (other - one), rel=1e-6), (low, part)
    assert run._interpolated_step_line(0.5) == run._interpolated_step_line(1.0)
    assert run._interpolated_step_line(64.0).returned == pytest.approx(64 * 78e-6)  # for each token of the step
    line = _StepLine(0.01, 0.02, 1e-6)
    assert line.seconds(10_000.0) == pytest.approx(0.01 + 0.03)


def test_a_stated_rack_holds_no_more_nodes_than_there_are() -> None:
    text = "cluster: {{platform: dgx-h100, nodes: {}, power: {{nodes_per_rack: 4, node: 10 kW, rack_overhead: 1 kW}}}}"

    def rack(nodes: int) -> tuple[float, int | None, Any]:
        design = clean(text.format(nodes))
        assert design.cluster is not None
        found = supply(design.cluster, design.spec.cluster)
        assert found.rack is not None
        return found.rack.value, found.racks, found.rack.inputs[0][1].origin

    assert rack(9)[:2] == (41e3, 3) and rack(3)[:2] == (31e3, 1)
    assert rack(9)[2] == Written("cluster.power.nodes_per_rack")
    design = clean("cluster: {platform: gb200-nvl72, nodes: 18}")
    assert design.cluster is not None
    sold = supply(design.cluster, design.spec.cluster)
    assert sold.rack is not None and not isinstance(sold.rack.inputs[0][1].origin, Written)
