"""Laws of the groups of one axis: nothing sent costs nothing, and what no fabric connects cannot be timed."""

from __future__ import annotations

import pytest

from clusterspec.cluster.groups import Placement, contiguous_placement
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import MeasuredLinks, collective_cost
from clusterspec.cost.layer_tables import Group, NoPathError
from clusterspec.cost.timing import design_tables
from tests.cost.collectives.machines import H100, nodes_of
from tests.cost.plans import design, spec

CLUSTER = nodes_of(H100, 2)


def links_of(placement: Placement) -> MeasuredLinks:
    paths = group_paths(CLUSTER, placement)
    assert paths is not None
    return MeasuredLinks.of(CLUSTER, paths)


@pytest.mark.parametrize(("ranks", "size"), [(1, 0.0), (1, 1e6), (8, 0.0), (16, 0.0)])
def test_one_rank_or_no_bytes_cost_nothing_with_and_without_a_fabric(ranks: int, size: float) -> None:
    placement = contiguous_placement(CLUSTER, ranks)
    for links in (links_of(placement), None):
        cost = Group(placement, links).cost("all-reduce", size)
        assert (cost.seconds, cost.ranks, cost.size, cost.bound_by) == (0.0, ranks, size, "nothing")


def test_the_time_of_a_group_is_that_of_its_collective() -> None:
    placement = contiguous_placement(CLUSTER, 16)
    group = Group(placement, links_of(placement))
    assert (group.domains, group.placement.ranks) == (2, 16)
    for name, size in (("all-reduce", 1e6), ("all-reduce", 2e6), ("all-gather", 1e6), ("all-reduce", 1e6)):
        assert group.cost(name, size) == collective_cost(CLUSTER, name, placement, size)


def test_ranks_that_no_fabric_connects_have_no_time() -> None:
    group = Group(contiguous_placement(CLUSTER, 16), None)
    with pytest.raises(NoPathError, match="2 nodes"):
        group.cost("all-reduce", 1.0)
    with pytest.raises(NoPathError, match="2 nodes"):
        group.timing("all-gather")


def test_groups_with_the_same_links_on_another_machine_are_one_object() -> None:
    one, other = design(spec()), design(spec({"scale_out": {"nics_per_node": 4}}))
    near = design_tables(one)
    fewer = design_tables(other, near)
    assert near is not None and fewer is not None and one.layout is not None
    inside, between = ([each.group(one.layout, axis) for each in (near, fewer)] for axis in ("tp", "dp_cp"))
    assert inside[0] is inside[1], "the links of a domain are the same"
    assert between[0] is not between[1], "half the NICs"
    assert between[0].cost("all-reduce", 1e9).seconds < between[1].cost("all-reduce", 1e9).seconds
