"""The hops of a path add up to the latency of its class, and its narrowest link is the bottleneck."""

from __future__ import annotations

import pytest

from clusterspec.analysis.paths import message_parts, pod_topology
from clusterspec.analysis.tiers import HOP
from clusterspec.cluster.model import Cluster
from clusterspec.results.machine import PathClass
from tests.analysis.test_machine_figures import ALONE, NDR, RAILS, TREE, cluster_of, fabric_of

GB = 1e9
PODS = cluster_of(
    platform="hgx-h100",
    nodes=600,
    scale_out={
        "technology": "roce-v2",
        "nics_per_node": 8,
        "nic_bandwidth": "400 Gb/s",
        "topology": "fat-tree",
        "levels": [
            {"name": "rack", "nodes": 2, "oversubscription": "1:1"},
            {"name": "pod", "nodes": 64, "oversubscription": "7:1"},
        ],
    },
)
SHARED = cluster_of(
    accelerator="l40s",
    accelerators_per_node=4,
    nodes=8,
    scale_out={"technology": "roce-v2", "nics_per_node": 2, "nic_bandwidth": "100 Gb/s", "topology": "fat-tree"},
)
TORUS = cluster_of(platform="tpu-v5p", nodes=64, scale_up={"shape": [4, 8, 8]})


def classes(cluster: Cluster) -> tuple[PathClass, ...]:
    return pod_topology(cluster, None, fabric_of(cluster) if cluster in (RAILS, TREE) else None).classes


@pytest.mark.parametrize("cluster", [RAILS, TREE, ALONE, PODS, SHARED, TORUS])
def test_hops_add_up_to_the_latency_and_the_narrowest_is_the_bottleneck(cluster: Cluster) -> None:
    assert classes(cluster)
    for one in classes(cluster):
        assert (one.hops[0].part, one.hops[-1].part, one.hops[0].rate) == ("accelerator", "accelerator", None)
        if one.latency is not None:
            assert sum(hop.seconds or 0.0 for hop in one.hops) == pytest.approx(one.latency, rel=1e-9)
        assert min(hop.shared for hop in one.hops if hop.shared) == pytest.approx(one.shared)
        assert min(hop.rate for hop in one.hops if hop.rate) == pytest.approx(one.bandwidth)
        assert sum("switch" in hop.part for hop in one.hops) == one.switches


def test_each_switch_after_the_first_adds_as_much() -> None:
    """NCCL over InfiniBand: 6 µs of launch and 6.6 µs of LL before the message leaves, 2.7 µs to the other NIC."""
    inside, leaf, whole = classes(RAILS)
    start, rest = message_parts(RAILS, 16) or (0.0, 0.0)
    assert (start, rest) == pytest.approx((12.6e-6, 2.7e-6), rel=1e-3)
    assert [hop.part for hop in whole.hops] == [
        *("accelerator", "NIC", "leaf switch", "spine switch", "leaf switch", "NIC", "accelerator")
    ]
    assert [hop.seconds for hop in whole.hops] == pytest.approx([start, 0, rest, HOP, HOP, 0, 0], rel=1e-3)
    assert [hop.seconds for hop in leaf.hops] == pytest.approx([start, 0, rest, 0, 0], rel=1e-3)
    assert [hop.seconds for hop in inside.hops] == pytest.approx([14.6e-6, 0.6e-6, 0], rel=1e-3)


def test_only_links_above_an_oversubscribed_level_are_narrower() -> None:
    """7:1 above the pods of 64 nodes: 50 / 7 GB/s between spines and cores, and up to there the whole NIC."""
    far = classes(PODS)[-1]
    slow = 50 * GB / 7
    assert [hop.shared for hop in far.hops[2:-1]] == pytest.approx(
        [50 * GB, 50 * GB, slow, slow, 50 * GB, 50 * GB], rel=1e-9
    )
    assert [hop.rate for hop in far.hops[2:-1]] == [50 * GB] * 6
    rails = classes(RAILS)[-1]
    assert [hop.shared for hop in rails.hops[2:-1]] == [50 * GB, 25 * GB, 25 * GB, 50 * GB]


def test_the_slot_of_a_nic_is_shared_by_its_accelerators() -> None:
    """Two slots of PCIe 4, 31.5 GB/s each, for four accelerators, whose share of two NICs of 12.5 GB/s is 6.25."""
    far = classes(SHARED)[-1]
    assert far.hops[2].shared == 6.25 * GB and far.hops[2].rate == 12.5 * GB
    assert far.hops[1].rate is None or far.hops[1].rate == pytest.approx(31.5 * GB / 2, rel=0.01)


@pytest.mark.parametrize(("nodes", "names"), [(1, []), (2, ["the whole fabric"]), (3, ["the whole fabric"])])
def test_pairs_on_two_nodes_meet_at_a_leaf(nodes: int, names: list[str]) -> None:
    """One leaf of 64 ports has the 8 NICs of each node, and there is no level above it."""
    cluster = cluster_of(platform="hgx-h100", nodes=nodes, scale_out=NDR | {"topology": "fat-tree"})
    inside, *outside = pod_topology(cluster, None, fabric_of(cluster) if nodes > 1 else None).classes
    assert (inside.name, inside.nodes) == ("the same scale-up domain", 1)
    assert [(one.name, one.nodes, one.switches) for one in outside] == [(name, nodes, 1) for name in names]
    assert all(one.latency is not None and one.bandwidth == 50 * GB for one in outside)


def test_no_message_inside_one_domain_crosses_the_fabric() -> None:
    """18 nodes of 4 GPUs are one domain of 72, whose messages stay on NVLink; two domains have pairs across."""
    one, two = (cluster_of(platform="gb200-nvl72", nodes=nodes) for nodes in (18, 36))
    assert (one.scale_up.domain, one.accelerators, two.accelerators) == (72, 72, 144)
    for cluster, crosses in ((one, False), (two, True)):
        outside = [each for each in classes(cluster) if "NIC" in each.parts]
        assert outside
        assert [each.latency is not None for each in outside] == [crosses] * len(outside)
        assert [each.predicted is not None for each in outside] == [crosses] * len(outside)
