"""What holds of every collective on every machine."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import NAMES, CollectiveUnavailableError
from clusterspec.cost.collectives.algorithms import ON_REQUEST, algorithm_names
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import MeasuredLinks, collective_cost, collective_table, paths_timing
from clusterspec.cost.collectives.stack import copy_seconds_per_byte
from clusterspec.cost.formulas.collectives import time_at_busbw
from clusterspec.quantity import bus_factor
from tests.cost.collectives.machines import A100, H100, cluster, nodes_of
from tests.effort import each, examples, telling

TPU = "accelerator: tpu-v5p\naccelerators_per_node: 4\nnodes: 16\nscale_up: {shape: [4, 4, 4]}"
PCIE = "accelerator: l40s\naccelerators_per_node: 8\nnodes: 1\npcie: 4"
BRIDGED = "accelerator: h100-pcie-80gb\naccelerators_per_node: 8\nnodes: 1\npcie: 5\nscale_up: {domain: 2}"
RACK = """
accelerator: gb200
accelerators_per_node: 4
nodes: 36
scale_up: {domain: 72}
scale_out: {technology: infiniband-ndr, nics_per_node: 4, nic_bandwidth: 400 Gb/s}
"""
MACHINES: dict[str, Cluster] = {
    "h100": nodes_of(H100, 16),
    "a100 on efa": nodes_of(A100, 4, "efa-v1", 4, 100),
    "h100 on tcpx": nodes_of(H100, 4, "gpudirect-tcpx", 4, 200),
    "h100 with sharp": nodes_of(H100, 8, more="in_network_reduction: true"),
    "mi300x": nodes_of("mi300x", 4, "roce-v2", more="flow_control: {pfc: true, ecn: true}"),
    "gaudi3": nodes_of("gaudi3", 2, "gaudi3-scale-out", 24, 200),
    "gb200": cluster(RACK),
    "tpu-v5p": cluster(TPU),
    "l40s": cluster(PCIE),
    "h100-pcie pairs": cluster(BRIDGED),
}
machines = st.sampled_from(sorted(MACHINES))
names = st.sampled_from(NAMES)
sizes = st.floats(1.0, 2.0**36)
shares = st.floats(0.0, 1.0)


def ranks_of(machine: Cluster, share: float) -> int:
    whole = machine.nodes * machine.ranks_per_node
    return max(2, round(share * whole))


@given(machines, names, sizes, shares)
@settings(max_examples=examples(75))
def test_never_faster_than_the_wire(machine: str, name: str, size: float, share: float) -> None:
    spec = MACHINES[machine]
    cost = collective_cost(spec, name, contiguous_placement(spec, ranks_of(spec, share)), size)
    wire = time_at_busbw(size, cost.ceiling_busbw, bus_factor(name, cost.ranks))
    assert cost.seconds >= wire * (1 - 1e-9)
    assert cost.low >= wire * (1 - 1e-9)
    assert cost.busbw <= cost.ceiling_busbw * (1 + 1e-9)


@given(machines, names, sizes, shares, st.floats(1.0, 64.0))
@settings(max_examples=examples(75))
def test_more_bytes_are_never_cheaper(machine: str, name: str, size: float, share: float, more: float) -> None:
    spec = MACHINES[machine]
    group = contiguous_placement(spec, ranks_of(spec, share))
    small, large = collective_cost(spec, name, group, size), collective_cost(spec, name, group, size * more)
    assert large.seconds >= small.seconds * (1 - 1e-9)


@given(machines, names, sizes, shares)
@settings(max_examples=examples(50))
def test_the_range_contains_the_time_and_the_time_its_parts(machine: str, name: str, size: float, share: float) -> None:
    spec = MACHINES[machine]
    cost = collective_cost(spec, name, contiguous_placement(spec, ranks_of(spec, share)), size)
    assert cost.low <= cost.seconds <= cost.high
    assert 0 <= cost.device_seconds <= cost.seconds
    assert cost.candidate is None or cost.seconds >= cost.candidate.launch + cost.sending


@each("machine", MACHINES)
@each("name", NAMES)
def test_one_rank_costs_nothing(machine: str, name: str) -> None:
    spec = MACHINES[machine]
    cost = collective_cost(spec, name, contiguous_placement(spec, 1), 1e9)
    assert cost.seconds == cost.low == cost.high == cost.device_seconds == 0
    assert (cost.size, cost.ranks) == (1e9, 1)


@pytest.mark.parametrize("name", NAMES)
def test_no_bytes_cost_nothing(name: str) -> None:
    spec = MACHINES["h100"]
    for size in (0.0, -1.0):
        cost = collective_cost(spec, name, contiguous_placement(spec, 8), size)
        assert (cost.seconds, cost.size, cost.ranks) == (0, 0, 8)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [2.0**15, 2.0**24, 2.0**33])
def test_a_faster_nic_never_hurts(name: str, size: float) -> None:
    specs = [nodes_of(H100, 4, rate=rate) for rate in (100, 200, 400, 800)]
    costs = [collective_cost(spec, name, contiguous_placement(spec, 32), size) for spec in specs]
    assert all(slow.seconds >= fast.seconds * (1 - 1e-9) for slow, fast in pairwise(costs))


@each("name", NAMES)
@each("ranks", [2, 4, 8, 16])
@each("size", [2.0**15, 2.0**24, 2.0**33])
def test_faster_links_never_hurt(name: str, ranks: int, size: float) -> None:
    rates = (300, 450, 900, 1800)
    specs = [nodes_of(H100, 2, up=f"bandwidth: {rate} GB/s unidirectional") for rate in rates]
    costs = [collective_cost(spec, name, contiguous_placement(spec, ranks), size) for spec in specs]
    assert all(slow.seconds >= fast.seconds * (1 - 1e-9) for slow, fast in pairwise(costs))


@given(machines, names, sizes, st.floats(1.0, 100.0))
@settings(max_examples=examples(37))
def test_a_lower_latency_of_the_network_never_hurts(machine: str, name: str, size: float, factor: float) -> None:
    spec = MACHINES[machine]
    links = group_paths(spec, contiguous_placement(spec, ranks_of(spec, 1.0)))
    if links is None or links.between is None:
        return
    near = links.between
    latency, chunks = (
        replace(figure, value=figure.value * factor + 1e-9) for figure in (near.latency, near.chunk_latency)
    )
    far = replace(links, between=replace(near, latency=latency, chunk_latency=chunks))
    late, early = (paths_timing(MeasuredLinks.of(spec, each), name).cost(size).seconds for each in (far, links))
    assert late >= early * (1 - 1e-9)


@telling(2)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "send-recv"])
@pytest.mark.parametrize("size", [2.0**10, 2.0**20, 2.0**24, 2.0**28, 2.0**33])
def test_fewer_ranks_never_hurt(name: str, size: float) -> None:
    """Inside a node whose switches do not reduce, and over whole nodes."""
    node = nodes_of(H100, 1, up="in_network_reduction: false")
    inside = [collective_cost(node, name, contiguous_placement(node, ranks), size) for ranks in range(2, 9)]
    assert all(few.seconds <= more.seconds * (1 + 1e-9) for few, more in pairwise(inside))
    for machine in ("h100", "a100 on efa", "h100 on tcpx", "mi300x", "gb200"):
        spec = MACHINES[machine]
        domain = 72 if machine == "gb200" else 8
        groups = range(2 * domain, spec.nodes * spec.ranks_per_node + 1, domain)
        whole = [collective_cost(spec, name, contiguous_placement(spec, ranks), size) for ranks in groups]
        assert all(few.seconds <= more.seconds * (1 + 1e-9) for few, more in pairwise(whole)), machine


@pytest.mark.parametrize("machine", MACHINES)
def test_an_all_gather_and_a_reduce_scatter_cost_alike(machine: str) -> None:
    spec = MACHINES[machine]
    group = contiguous_placement(spec, ranks_of(spec, 1.0))
    gather, scatter = (collective_cost(spec, name, group, 1e8) for name in ("all-gather", "reduce-scatter"))
    assert gather.seconds == scatter.seconds


@pytest.mark.parametrize("ranks", [2, 4, 8, 16, 32])
def test_a_ring_all_reduce_sends_what_a_reduce_scatter_and_an_all_gather_send(ranks: int) -> None:
    spec = MACHINES["h100"]
    group = contiguous_placement(spec, ranks)
    whole, half = (collective_cost(spec, name, group, 2.0**34, "ring") for name in ("all-reduce", "all-gather"))
    assert half.paths is not None
    copied = copy_seconds_per_byte(
        half.paths, 2.0**34 / ranks
    )  # a gather and a scatter copy the own part from buffer to buffer
    assert whole.sending == pytest.approx(2 * (half.sending - copied))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", NAMES)
def test_the_choice_is_never_slower_than_any_algorithm_it_chose_among(machine: str, name: str) -> None:
    spec = MACHINES[machine]
    group = contiguous_placement(spec, ranks_of(spec, 1.0))
    chosen = collective_cost(spec, name, group, 1e8).seconds
    for algorithm in algorithm_names(name):
        if algorithm in ON_REQUEST.get(name, {}) or (machine, algorithm) == ("h100 on tcpx", "tree"):
            continue  # NCCL's settings on TCPX leave the ring alone
        try:
            asked = collective_cost(spec, name, group, 1e8, algorithm).seconds
        except CollectiveUnavailableError:
            continue
        assert chosen <= asked * (1 + 1e-9)


def test_an_algorithm_that_does_not_apply_says_so() -> None:
    spec = MACHINES["mi300x"]
    with pytest.raises(CollectiveUnavailableError, match="nvls"):
        collective_cost(spec, "all-reduce", contiguous_placement(spec, 8), 1e9, "nvls")
    with pytest.raises(CollectiveUnavailableError, match="ring"):
        collective_cost(spec, "all-gather", contiguous_placement(spec, 8), 1e9, "quicksort")


def test_a_group_without_a_fabric_says_so() -> None:
    spec = replace(MACHINES["h100"], scale_out=None)
    assert collective_cost(spec, "all-reduce", contiguous_placement(spec, 8), 1e9).tier == "scale-up"
    with pytest.raises(CollectiveUnavailableError, match="no network between them"):
        collective_cost(spec, "all-reduce", contiguous_placement(spec, 16), 1e9)


def test_a_table_has_a_row_for_each_size_in_order() -> None:
    rows = collective_table(MACHINES["h100"], "all-reduce", 16, [2.0**15, 2.0**20, 2.0**33])
    assert [row.size for row in rows] == [2.0**15, 2.0**20, 2.0**33]
    assert all(row.collective == "all-reduce" and row.ranks == 16 for row in rows)
    assert rows[0].bound_by == "latency"
    assert rows[-1].bound_by.endswith("bandwidth")
