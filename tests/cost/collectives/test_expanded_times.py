"""The printed time of a collective: its expression gives its value, over the links and the share that limit it."""

from __future__ import annotations

import pytest

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cost.collectives import NAMES, Candidate, CollectiveCost
from clusterspec.cost.collectives.explain import _slowest_line, expanded_seconds
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.quantity import Figure
from clusterspec.records import replace
from tests.cost.collectives.machines import H100, nodes_of
from tests.cost.collectives.test_laws import MACHINES
from tests.cost.expressions import evaluate
from tests.effort import each, telling

SIZES = (4096.0, 2.0**20, 2.0**33)


def cost_of(machine: str, name: str, ranks: int, size: float) -> CollectiveCost:
    cluster = MACHINES[machine]
    return collective_cost(cluster, name, contiguous_placement(cluster, ranks), size)


@telling(2)
@each("machine", sorted(MACHINES))
def test_the_expression_of_a_time_gives_it_from_its_inputs(machine: str) -> None:
    cluster = MACHINES[machine]
    for ranks in (2, cluster.ranks_per_node, cluster.nodes * cluster.ranks_per_node):
        for name in NAMES:
            for size in SIZES:
                cost = cost_of(machine, name, ranks, size)
                found = expanded_seconds(cost, "x_")
                assert found.value == pytest.approx(cost.device_seconds), (name, ranks, size)
                names = {key: figure.value for key, figure in found.inputs}
                assert all(key.startswith("x_") for key in names)
                assert evaluate(found.expression, names) == pytest.approx(found.value), (name, ranks, size)


def test_the_traffic_of_a_ring_is_that_of_its_ranks() -> None:
    """A ring of 8 ranks sends 2 × 7 / 8 of the bytes of an all-reduce, and 7 / 8 of those of an all-gather."""
    for name, factor in (("all-reduce", 2 * 7 / 8), ("all-gather", 7 / 8)):
        cost = cost_of("gaudi3", name, 8, 2.0**33)
        assert cost.candidate is not None
        ring = replace(cost, candidate=replace(cost.candidate, algorithm="ring"))
        inputs = dict(expanded_seconds(ring).inputs)
        assert inputs["traffic"].value == pytest.approx(
            cost.candidate.per_byte * inputs["line"].value * inputs["share"].value
        )
        if cost.candidate.algorithm == "ring":
            assert inputs["traffic"].value == pytest.approx(factor)


def test_nothing_that_is_sent_takes_no_time() -> None:
    cost = cost_of("h100", "all-reduce", 16, 2.0**20)
    for bare in (replace(cost, candidate=None), replace(cost, paths=None)):
        found = expanded_seconds(bare)
        assert (found.value, found.expression, found.inputs) == (0.0, "0", ())


def test_a_prediction_above_the_line_rate_is_the_time_at_line_rate() -> None:
    """10^9 bytes with a bus factor of 1.5 at 3 × 10^10 B/s are 50 ms, of which the launch of 10 ms was queued."""
    cost = cost_of("h100", "all-reduce", 8, 2.0**30)
    assert cost.candidate is not None
    quick = Candidate("ring", "Simple", 1e-6, 1e-12, 0.0, 0.0, 0.01)
    fast = replace(cost, size=1e9, busbw=3.0, algbw=2.0, ceiling_busbw=3e10, candidate=quick)
    assert fast.device_seconds == pytest.approx(0.04)
    found = expanded_seconds(fast, "a_")
    names = {key: figure.value for key, figure in found.inputs}
    assert names == pytest.approx({"a_size": 1e9, "a_bus_factor": 1.5, "a_ceiling": 3e10, "a_launch": 0.01})
    assert found.value == pytest.approx(0.04) and evaluate(found.expression, names) == pytest.approx(0.04)
    slow = replace(fast, candidate=replace(quick, inside=1e-10))
    assert slow.device_seconds == pytest.approx(0.1, rel=1e-3) and "ceiling" not in expanded_seconds(slow).expression


def test_a_held_pipeline_has_its_stages_and_an_overlapped_one_has_none() -> None:
    cost = cost_of("h100", "all-reduce", 16, 2.0**30)
    assert cost.candidate is not None
    stages = replace(cost, candidate=replace(cost.candidate, overlapped=False, held=0.001, stages=3.0))
    inputs = dict(expanded_seconds(stages).inputs)
    assert (inputs["held"].value, inputs["stages"].value) == (0.001, 3.0)
    overlapped = replace(cost, candidate=replace(cost.candidate, overlapped=True))
    assert {*dict(expanded_seconds(overlapped).inputs)} == {"latency", "size", "traffic", "line", "share"}


@each(
    ("algorithm", "protocol", "inside", "between", "line", "share"),
    [
        # where both tiers take as long, the one between islands counts
        ("ring", "Simple", 1.0, 1.0, "between.line", "between.share"),
        ("ring", "Simple", 1.0, 2.0, "between.line", "between.share"),
        ("direct", "Simple", 1.0, 2.0, "between.exchange", "between.share"),
        ("staged", "LL", 1.0, 2.0, "between.exchange", "between.share"),
        ("send", "Simple", 1.0, 2.0, "between.sender", "between.share"),
        ("ring", "Simple", 2.0, 1.0, "inside.line", "inside.ring"),
        ("tree", "LL", 2.0, 1.0, "inside.line", "inside.ring"),
        ("nvls", "Simple", 2.0, 1.0, "inside.line", "inside.reduction"),
        ("nvls-tree", "Simple", 2.0, 1.0, "inside.line", "inside.reduction"),
        ("direct", "Simple", 2.0, 1.0, "inside.line", "inside.exchange"),
        ("staged", "Simple", 2.0, 1.0, "inside.line", "inside.exchange"),
        ("direct", "LL", 2.0, 1.0, "inside.line", "inside.ring"),
        ("send", "Simple", 2.0, 1.0, "inside.peer", "inside.ring"),
    ],
)
def test_the_limit_of_a_collective_is_the_line_and_the_share_of_its_slower_tier(
    algorithm: str, protocol: str, inside: float, between: float, line: str, share: str
) -> None:
    machine = nodes_of(H100, 2)
    paths = group_paths(machine, contiguous_placement(machine, 16))
    assert paths is not None and paths.between is not None
    candidate = Candidate(algorithm, protocol, 0.0, inside, between, 0.0, 0.0)

    def named(name: str) -> Figure:
        tier, _, field = name.partition(".")
        found: Figure = getattr(getattr(paths, tier), field)
        return found

    assert _slowest_line(paths, candidate) == (named(line), named(share))
    alone = replace(paths, between=None)
    if line.startswith("inside"):
        assert _slowest_line(alone, candidate) == (named(line), named(share))
    bare = replace(paths, inside=replace(paths.inside, reduction=None))
    if algorithm.startswith("nvls"):
        assert _slowest_line(bare, candidate)[1] == paths.inside.ring
