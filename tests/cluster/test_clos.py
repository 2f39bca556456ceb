from __future__ import annotations

from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cluster.clos import FoldedClos, Ports, even_switch_count, parts_needed, three_tier_clos, two_tier_clos

PORTS = st.sampled_from([32, 36, 40, 48, 64, 128, 144])
RATIOS = st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0, 7.0])


@given(ports=st.integers(2, 600), ratio=RATIOS)
def test_a_leaf_never_has_more_ports_than_it_has(ports: int, ratio: float) -> None:
    split = Ports.from_ratio(ports, ratio)
    assert split.down >= 1 and split.up >= 1 and split.down + split.up <= max(ports, 2)
    assert split.down <= split.up * ratio + 1e-6 or split.down == 1


@given(ports=st.integers(2, 600))
def test_at_one_to_one_uplinks_equal_downlinks(ports: int) -> None:
    split = Ports.from_ratio(ports, 1.0)
    assert split.up >= split.down == ports // 2


@given(least=st.integers(1, 400), links=st.integers(1, 400))
def test_uplinks_spread_evenly_where_that_takes_at_most_half_as_many_switches_again(least: int, links: int) -> None:
    divisors = [count for count in range(least, links + 1) if links % count == 0]
    affordable = [count for count in divisors if 2 * count <= 3 * least]
    assert even_switch_count(least, links) == (affordable[0] if affordable else least)


def ports_used(tree: FoldedClos, leaf: Ports, ports: int) -> bool:
    """Whether every switch has the ports that its links need: those of all leaves together, spread over the spines."""
    if tree.tiers == 2:
        return parts_needed(tree.leaves * leaf.up, tree.spines) <= ports and leaf.up >= tree.spines
    of_pod = parts_needed(tree.leaves, tree.pods)
    up = tree.spine_core // tree.spines
    groups = gcd(tree.cores, tree.spines_of_pod)
    core_ports = parts_needed(tree.spines // groups * up, tree.cores // groups)
    spine_ports = parts_needed(of_pod * leaf.up, tree.spines_of_pod) + up
    return spine_ports <= ports and core_ports <= ports


@given(leaves=st.integers(1, 2000), ports=PORTS, leaf_ratio=RATIOS, ratio=RATIOS, rails=st.sampled_from([1, 2, 4, 8]))
def test_no_switch_runs_out_of_ports(leaves: int, ports: int, leaf_ratio: float, ratio: float, rails: int) -> None:
    leaf = Ports.from_ratio(ports, leaf_ratio)
    leaves = rails * parts_needed(leaves, rails)
    for tree in (
        two_tier_clos(leaves, leaf, ports, leaves * leaf.up),
        three_tier_clos(leaves, leaf, ports, ratio, rails),
    ):
        if tree.fits:
            assert ports_used(tree, leaf, ports)


@given(leaves=st.integers(1, 300), ports=PORTS, leaf_ratio=RATIOS, ratio=RATIOS, rails=st.sampled_from([1, 4, 8]))
def test_more_leaves_never_need_fewer_switches_above(
    leaves: int, ports: int, leaf_ratio: float, ratio: float, rails: int
) -> None:
    leaf = Ports.from_ratio(ports, leaf_ratio)
    sizes = (leaves * rails, (leaves + 1) * rails)
    two = tuple(two_tier_clos(size, leaf, ports, size * leaf.up) for size in sizes)
    three = tuple(three_tier_clos(size, leaf, ports, ratio, rails) for size in sizes)
    for fewer, more in (two, three):
        assert fewer.fits or not more.fits
        if more.fits:
            assert fewer.spines + fewer.cores <= more.spines + more.cores


@given(leaves=st.integers(1, 1500), ports=PORTS)
def test_at_one_to_one_every_level_has_full_bandwidth(leaves: int, ports: int) -> None:
    leaf = Ports.from_ratio(ports, 1.0)
    tree = three_tier_clos(leaves, leaf, ports, 1.0, 1)
    assert tree.spine_core >= tree.leaf_spine == leaves * leaf.up


def test_the_classical_fat_tree_is_full() -> None:
    for ports in (8, 64, 128):
        leaf = Ports.from_ratio(ports, 1.0)
        assert two_tier_clos(ports, leaf, ports, ports * leaf.up) == FoldedClos(
            2, ports, ports // 2, leaf_spine=ports * ports // 2, spines_of_pod=ports // 2
        )
        full = three_tier_clos(ports * ports // 2, leaf, ports, 1.0, 1)
        assert (full.fits, full.spines, full.cores) == (True, ports * ports // 2, ports * ports // 4)
        assert not three_tier_clos(ports * ports // 2 + 1, leaf, ports, 1.0, 1).fits


@pytest.mark.parametrize("ports", [8, 24, 40, 48])
def test_a_fat_tree_of_full_pods_connects_a_quarter_of_the_cube_of_its_ports(ports: int) -> None:
    """40-port switches connect 40³ / 4 = 16,000 endpoints: 800 leaves with 20 each, in 40 pods of 20 leaves."""
    full = three_tier_clos(ports * ports // 2, Ports.from_ratio(ports, 1.0), ports, 1.0, 1)
    assert (full.fits, full.pods, full.cores) == (True, ports, ports * ports // 4)
