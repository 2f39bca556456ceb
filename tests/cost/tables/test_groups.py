"""Laws of the groups of one axis: nothing sent costs nothing, and what no fabric connects cannot be timed."""

from __future__ import annotations

import pytest

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.cost.layer_tables import Group, NoPathError
from tests.cost.collectives.machines import H100, nodes_of

CLUSTER = nodes_of(H100, 2)


@pytest.mark.parametrize(("ranks", "size"), [(1, 0.0), (1, 1e6), (8, 0.0), (16, 0.0)])
def test_one_rank_or_no_bytes_cost_nothing_with_and_without_a_fabric(ranks: int, size: float) -> None:
    placement = contiguous_placement(CLUSTER, ranks)
    for paths in (group_paths(CLUSTER, placement), None):
        cost = Group(CLUSTER, placement, paths).cost("all-reduce", size)
        assert (cost.seconds, cost.ranks, cost.size, cost.bound_by) == (0.0, ranks, size, "nothing")


def test_the_time_of_a_group_is_that_of_its_collective() -> None:
    placement = contiguous_placement(CLUSTER, 16)
    group = Group(CLUSTER, placement, group_paths(CLUSTER, placement))
    assert (group.domains, group.placement.ranks) == (2, 16)
    for name, size in (("all-reduce", 1e6), ("all-reduce", 2e6), ("all-gather", 1e6), ("all-reduce", 1e6)):
        assert group.cost(name, size) == collective_cost(CLUSTER, name, placement, size)


def test_ranks_that_no_fabric_connects_have_no_time() -> None:
    group = Group(CLUSTER, contiguous_placement(CLUSTER, 16), None)
    with pytest.raises(NoPathError, match="2 nodes"):
        group.cost("all-reduce", 1.0)
    with pytest.raises(NoPathError, match="2 nodes"):
        group.timing("all-gather")
