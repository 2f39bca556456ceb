"""The levels, tiers and paths of two machines, worked out by hand."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import clusterspec
from clusterspec.analysis.machine import machine
from clusterspec.analysis.paths import pod_topology
from clusterspec.analysis.tiers import message_rows, tiers
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.cluster.model import Cluster
from clusterspec.quantity import Quantity
from clusterspec.results.machine import MoreNodes
from clusterspec.spec.model import PowerSpec
from tests.settings import SETTINGS

GB = 1e9
NDR = {"nics_per_node": 8, "nic_bandwidth": "400 Gb/s", "technology": "infiniband-ndr", "switch_ports": 64}


def cluster_of(**section: Any) -> Cluster:
    found = clusterspec.load({"clusterspec": 1, "cluster": section}).cluster
    assert found is not None
    return found


RAILS = cluster_of(
    platform="hgx-h100", nodes=64, scale_out=NDR | {"topology": "rail-optimized", "oversubscription": "2:1"}
)
"""64 ports at 2:1 are 42 down and 21 up: a leaf per rail for 42 nodes, so 2 blocks of 8 leaves."""
TREE = cluster_of(platform="hgx-h100", nodes=16, scale_out=NDR | {"topology": "fat-tree"})
"""32 ports down are 8 NICs of 4 nodes: 4 leaves with 32 uplinks each."""
ALONE = cluster_of(accelerator="mi300x", accelerators_per_node=8, nodes=1)
"""Eight accelerators in a full mesh with seven links of 64 GB/s per direction each; 448 GB/s to all of them."""

H100 = [("on-chip", 1, 31000), ("memory", 1, 3350), ("scale-up", 8, 450), ("host", 8, 63.015)]
"""The tiers of an HGX H100: kind, accelerators reached, GB/s."""


def fabric_of(cluster: Cluster) -> Fabric:
    found = fabric_of_cluster(cluster)
    assert isinstance(found, Fabric)
    return found


def test_a_machine_of_rails_has_a_leaf_for_each_rail_of_a_block() -> None:
    found = machine(RAILS, fabric_of(RAILS), None)
    assert (found.accelerators, found.domains, found.nics_per_node, found.rails, found.planes) == (512, 64, 8, 8, 1)
    assert (found.nodes_per_leaf, found.topology, found.rack) == (42, "rail-optimized", None)
    nodes, leaves, *_ = found.rows
    assert (nodes.name, nodes.count, nodes.links, nodes.ratio, nodes.nodes) == ("nodes", 64, 512, None, 1)
    assert (leaves.name, leaves.count, leaves.ratio, leaves.nodes) == ("leaf switches", 16, 2.0, 42)
    assert found.free_leaf_ports == 16 * 42 - 512
    assert (leaves.ports, leaves.used) == (16 * 64, 512 + leaves.links)
    assert found.bisection == 256 * 50 * GB / 2, "half of the accelerators, over leaves that taper 2:1"


def test_a_fat_tree_has_no_rails_and_a_machine_without_a_network_has_none_of_its_figures() -> None:
    tree, alone = machine(TREE, fabric_of(TREE), None), machine(ALONE, None, None)
    assert (tree.rails, tree.nodes_per_leaf, tree.rows[1].count, tree.rows[1].links) == (1, 4, 4, 128)
    assert (tree.free_leaf_ports, tree.bisection) == (0, 64 * 50 * GB)
    assert (alone.free_leaf_ports, alone.bisection) == (None, None)
    assert [(row.ports, row.used) for row in tree.rows] == [(None, None), (4 * 64, 128 + 128), (2 * 64, 128)]

    assert (alone.rails, alone.nics_per_node, alone.planes, alone.topology, alone.nodes_per_leaf) == (
        1,
        0,
        0,
        "none",
        1,
    )
    assert alone.failures == () and [row.name for row in alone.rows] == ["nodes"]


def test_the_room_for_nodes_ends_at_switches_racks_and_power() -> None:
    """Two tiers of 64 ports connect 64 × 32 = 2,048 endpoints; 5 racks hold 20 nodes; 40 kW feed 4 more of 10 kW."""
    other = cluster_of(platform="hgx-h100", nodes=17, scale_out=NDR | {"topology": "fat-tree", "extra_endpoints": 4})
    assert machine(other, fabric_of(other), None).free_leaf_ports == 5 * 32 - 17 * 8 - 4
    stated = {"node": "10 kW", "switch": "0 kW", "nodes_per_rack": 4, "budget": "210 kW"}
    fed = cluster_of(platform="hgx-h100", nodes=17, scale_out=NDR | {"topology": "fat-tree"}, power=stated)
    power = PowerSpec(switch=Quantity(0.0, "W", "0 kW"), nodes_per_rack=4, budget=Quantity(210e3, "W", "210 kW"))
    assert machine(fed, fabric_of(fed), power, 170e3).more_nodes == MoreNodes(2048 // 8 - 17, 3, 4)
    assert machine(fed, fabric_of(fed), None).more_nodes == MoreNodes(2048 // 8 - 17, None, None)


def test_a_failed_switch_takes_its_share() -> None:
    lost = {failure.part: failure.lost for failure in machine(TREE, fabric_of(TREE), None).failures}
    spines = fabric_of(TREE).spine_switches
    assert lost == {"one NIC or its link": 1 / 8, "one leaf switch": 1.0, "one spine switch": 1 / spines}
    assert machine(RAILS, None, None).failures[1:] == ()


def test_the_classes_of_pairs_go_from_the_domain_to_the_whole_fabric() -> None:
    found = pod_topology(RAILS, PowerSpec(nodes_per_rack=4))
    assert (found.nodes, found.block, found.rails, found.racks, found.domain_nodes, found.shape) == (
        64,
        42,
        8,
        4,
        1,
        (),
    )
    inside, leaf, whole = found.classes
    assert (inside.nodes, inside.switches, inside.bandwidth, inside.shared) == (1, 1, 450 * GB, 450 * GB)
    assert inside.parts[1:-1] == ("NVLink 4 link", "NVLink 4 switch", "NVLink 4 link")
    assert (leaf.nodes, leaf.switches, leaf.bandwidth, leaf.shared) == (42, 1, 50 * GB, 50 * GB)
    assert leaf.bottleneck == "one NIC"
    assert (whole.nodes, whole.switches, whole.bandwidth, whole.shared) == (64, 3, 50 * GB, 25 * GB)
    assert whole.bottleneck == "one NIC; 2:1 where all send" and whole.name == "the whole fabric"
    assert whole.parts == ("accelerator", "NIC", "leaf switch", "spine switch", "leaf switch", "NIC", "accelerator")


def test_two_accelerators_of_a_mesh_have_one_link_and_no_switch() -> None:
    found = pod_topology(ALONE, None)
    (pair,) = found.classes
    assert (pair.switches, pair.bandwidth, pair.shared, len(pair.parts)) == (0, 64 * GB, 64 * GB, 3)
    assert (found.block, found.rails, found.racks, found.nics_per_node) == (1, 1, 0, 0)


@pytest.mark.parametrize(
    ("cluster", "expected"),
    [
        (RAILS, [*H100, ("scale-out", 336, 50), ("level", 512, 25)]),
        (TREE, [*H100, ("scale-out", 128, 50)]),
        (
            ALONE,
            [("on-chip", 1, 17000), ("memory", 1, 5300), ("scale-up", 8, 448), ("peer", 2, 64), ("host", 8, 63.015)],
        ),
    ],
)
def test_a_tier_has_its_reach_its_rate_and_the_fall_to_the_next(
    cluster: Cluster, expected: list[tuple[str, int, float]]
) -> None:
    found = tiers(cluster)
    assert [(tier.kind, tier.accelerators, round(tier.line_rate / GB, 3)) for tier in found] == expected
    for tier, after in itertools.pairwise([tier for tier in found if tier.kind != "host"]):
        assert tier.fall == pytest.approx(tier.line_rate / after.line_rate)
        assert tier.bits == 8 * tier.line_rate
    assert found[-1].fall is None
    assert all(tier.duplex is None for tier in found if tier.accelerators == 1)
    for tier in (tier for tier in found if tier.accelerators > 1):
        assert tier.duplex == 2 * tier.line_rate
        if tier.kind != "host":
            assert tier.latency and tier.predicted and tier.predicted < tier.line_rate
    up = next(tier for tier in found if tier.kind == "scale-up")
    short, long = message_rows(cluster, 2)
    assert up.latency == short.seconds
    assert up.crossover == pytest.approx(short.seconds * long.busbw)


def test_accelerators_that_share_nics_share_the_predicted_bandwidth_too() -> None:
    shared = cluster_of(platform="hgx-h100", nodes=64, scale_out=NDR | {"nics_per_node": 4, "oversubscription": "2:1"})
    alone, level = (tier for tier in tiers(shared) if tier.kind in {"scale-out", "level"})
    assert (alone.line_rate, level.line_rate) == (25 * GB, 12.5 * GB)
    for tier in (alone, level):
        assert tier.predicted and 0.9 * tier.line_rate < tier.predicted <= tier.line_rate
    whole = pod_topology(shared, None).classes[-1]
    assert (whole.bandwidth, whole.shared, whole.predicted) == (50 * GB, 12.5 * GB, level.predicted)


def test_no_tier_of_a_platform_is_predicted_above_its_line_rate() -> None:
    for name in sorted(SETTINGS.catalog.ids("platform"))[::4]:
        found = clusterspec.load({"clusterspec": 1, "cluster": {"platform": name, "nodes": 16}}).cluster
        for tier in tiers(found) if found else ():
            assert tier.predicted is None or tier.predicted <= 1.001 * tier.line_rate, (name, tier.name)


def test_a_message_over_more_switches_takes_longer() -> None:
    classes = pod_topology(RAILS, PowerSpec(nodes_per_rack=4)).classes
    leaf, whole = classes[-2:]
    assert whole.latency == pytest.approx((leaf.latency or 0) + 2 * 0.3e-6, rel=1e-4)


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        # 64 ports at 2:1 are 42 down: 5 nodes. 600 nodes take 115 leaves, more than 64 ports of a spine: 29 pods of 4.
        (600, [("the same leaf", 5, 1), ("the same pod", 21, 3), ("the whole fabric", 600, 5)]),
        (40, [("the same leaf", 5, 1), ("the whole fabric", 40, 3)]),
    ],
)
def test_two_pods_meet_in_a_core_switch_and_no_tier_contradicts_the_path(
    nodes: int, expected: list[tuple[str, int, int]]
) -> None:
    cluster = cluster_of(
        platform="hgx-h100", nodes=nodes, scale_out=NDR | {"topology": "fat-tree", "oversubscription": "2:1"}
    )
    fabric = fabric_of(cluster)
    classes = [one for one in pod_topology(cluster, None, fabric).classes if "NIC" in one.parts]
    assert [(one.name, one.nodes, one.switches) for one in classes] == expected
    above = [tier.latency for tier in tiers(cluster, None, fabric) if tier.kind in {"scale-out", "level"}]
    assert above == [one.latency for one in classes]


def test_a_network_that_is_no_known_tree_names_no_switch_and_a_pair_without_a_domain_uses_the_host() -> None:
    fly = {"technology": "slingshot-11", "nics_per_node": 8, "topology": "dragonfly"}
    for keys, network in (
        ({"platform": "aws-p5-48xlarge"}, "network of the cloud"),
        ({"accelerator": "tpu-v5p", "accelerators_per_node": 4}, "network of the cloud"),
        ({"accelerator": "mi250x", "accelerators_per_node": 8, "scale_out": fly}, "dragonfly network"),
    ):
        beyond = [one for one in pod_topology(cluster_of(**keys, nodes=16), None).classes if "NIC" in one.parts]
        assert [(one.parts[2], one.switches) for one in beyond] == [(network, 0)], keys
    cards = pod_topology(cluster_of(accelerator="l40s", accelerators_per_node=8, nodes=1), None).classes
    assert [(one.name, one.nodes, round(one.bandwidth / GB, 1)) for one in cards] == [("the same node", 1, 31.5)]
    assert cards[0].parts[1:-1] == ("PCIe 4 slot", "host", "PCIe 4 slot") and cards[0].predicted
    bridged = pod_topology(cluster_of(accelerator="h100-nvl-94gb", accelerators_per_node=8, nodes=1), None).classes
    assert [one.name for one in bridged] == ["the same scale-up domain", "the same node"]


def test_a_measured_share_is_printed_with_the_line_rate_of_its_tier() -> None:
    measured = clusterspec.load(
        {
            "clusterspec": 1,
            "cluster": {"platform": "hgx-h100", "nodes": 16, "scale_out": NDR},
            "measured": [{"collective": "all-reduce", "nodes": 16, "size": "8 GiB", "busbw": "200 GB/s"}],
        }
    ).cluster
    assert measured is not None
    (share,) = (each.share.value for each in measured.measured if each.part == "network")
    for tier in tiers(measured):
        assert tier.measured == (pytest.approx(share * 50 * GB) if tier.kind == "scale-out" else None)


def test_a_group_of_one_rank_sends_nothing() -> None:
    assert message_rows(ALONE, 1) == ()
    short, long = message_rows(ALONE, 2)
    assert (short.size, long.size) == (8.0, 2.0**30)
