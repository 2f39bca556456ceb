"""The uplinks that end at one switch of the level above, counted by hand."""

from __future__ import annotations

from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cost.switch_shares import SwitchShare, core_share, pod_count, spine_share
from clusterspec.records import replace
from clusterspec.spec.model import LevelSpec
from tests.designs import changed, machine_of
from tests.effort import each

RAILS = "cluster: {{platform: dgx-h100, nodes: {}, scale_out: {{switch: quantum-2-qm9700, topology: {}}}}}"


def fabric(nodes: int, **counts: object) -> Fabric:
    """Rails of switches of 64 ports: 64 nodes take 16 leaves with 32 uplinks each and 8 spines."""
    found = fabric_of_cluster(machine_of(RAILS.format(nodes, "rail-optimized")), None)
    assert isinstance(found, Fabric)
    links = dict(found.links) | {name: counts.pop(name) for name in ("leaf_spine", "spine_core") if name in counts}
    return changed(found, {"links": links, **counts})


@each(
    ("counts", "share"),
    [
        ({}, (32, 4, 4)),
        ({"leaf_spine": 16 * 30}, (30, 4, 3)),  # 30 uplinks over 8 spines: 6 with 4, 2 with 3
        ({"leaf_spine": 16 * 4}, (4, 1, 0)),  # to half of the spines
        ({"planes": 2, "spine_switches": 16}, (64, 4, 4)),  # 8 spines and 32 uplinks in each plane
        ({"pods": 2}, (32, 8, 8)),  # 4 spines of each pod
        ({"spine_switches": 0, "leaf_spine": 0}, (1, 1, 1)),  # of at least one link and switch
    ],
)
def test_uplinks_of_a_leaf_spread_over_the_spines_of_its_pod(
    counts: dict[str, object], share: tuple[float, float, float]
) -> None:
    cluster = machine_of(RAILS.format(64, "rail-optimized"))
    assert spine_share(cluster, fabric(64, **counts)) == share


@each(
    ("counts", "share"),
    [
        # 600 nodes: 19 pods of 8 spines with 32 uplinks each, and 76 cores. Spines reach gcd(8, 76) = 4 groups of 19
        # cores: 256 / 4 = 64 uplinks over 19 are 3 or 4
        ({}, (256, 4, 3)),
        # leaves of 4 uplinks have 4 of the 8 spines in common: half of the pod's 256 uplinks, over 2 of the 4 groups
        ({"leaf_spine": 152 * 4}, (128, 4, 3)),
        # 64 cores: 8 groups of 8, and 256 / 8 = 32 uplinks over 8 cores
        ({"core_switches": 64}, (256, 4, 4)),
        ({"core_switches": 64, "leaf_spine": 152 * 4}, (128, 4, 4)),
        ({"core_switches": 64, "spine_core": 19 * 200}, (200, 4, 3)),  # 25 uplinks over 8 cores
        # two planes of 4 spines and 38 cores each: 128 uplinks over gcd(4, 38) = 2 groups of 19
        ({"planes": 2}, (256, 4, 3)),
        ({"spine_core": 19 * 40}, (40, 1, 0)),
    ],
)
def test_uplinks_of_a_pod_spread_over_the_cores_that_its_spines_reach(
    counts: dict[str, object], share: tuple[float, float, float]
) -> None:
    cluster = machine_of(RAILS.format(600, "rail-optimized"))
    assert core_share(cluster, fabric(600, **counts)) == share


def test_pods_are_those_of_the_fabric_and_one_for_each_rail_that_is_alone() -> None:
    """19 pods of 600 nodes; with 8 rails of their own 152; with levels 600 / 128 nodes, rounded up."""
    cluster = machine_of(RAILS.format(600, "rail-optimized"))
    assert pod_count(cluster, fabric(600)) == 19
    assert cluster.scale_out is not None and cluster.scale_out.rails == 8
    assert pod_count(changed(cluster, {"scale_out.topology": "rail-only"}), fabric(600)) == 152
    levels = (LevelSpec(name="leaf", nodes=32), LevelSpec(name="pod", nodes=128))
    assert pod_count(changed(cluster, {"scale_out.levels": levels}), fabric(600)) == 5
    assert pod_count(changed(cluster, {"scale_out.levels": levels[:1]}), fabric(600)) == 19
    whole = (levels[0], replace(levels[1], nodes=None))
    assert pod_count(changed(cluster, {"scale_out.levels": whole}), fabric(600)) == 1


@each(
    ("share", "text"),
    [
        ((32, 4, 4), "4 of 32 uplinks of a leaf"),
        ((30, 4, 3), "4 of 30 uplinks of the leaves with the most links to it, 3 of the others"),
        ((4, 1, 0), "1 of 4 uplinks of the leaves that it connects"),
    ],
)
def test_a_share_is_told_with_the_others_where_links_do_not_spread_evenly(
    share: tuple[float, float, float], text: str
) -> None:
    assert SwitchShare(*share).text("a leaf", "leaves") == text
