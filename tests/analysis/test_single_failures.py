"""What a single failed switch costs the nodes below it, worked out by hand."""

from __future__ import annotations

import pytest

import clusterspec
from clusterspec.analysis.machine import machine
from clusterspec.cluster.fabric import Fabric, fabric_of_cluster
from clusterspec.rules.knowledge.failing_parts import FailingMachine
from clusterspec.studies import study_text
from tests.settings import SETTINGS

EIGHT_NICS = {"nics_per_node": 8, "nic_bandwidth": "400 Gb/s", "technology": "infiniband-ndr", "switch_ports": 64}


@pytest.mark.parametrize(
    ("nodes", "nics", "topology", "part", "lost"),
    [
        (8, 8, "rail-optimized", "one switch", 1.0),  # 64 ports carry all eight rails of 8 nodes
        (64, 8, "rail-optimized", "one leaf switch", 1 / 8),  # a leaf per rail for every 32 nodes
        (16, 8, "fat-tree", "one leaf switch", 1.0),  # 32 ports down: all NICs of four nodes
        (16, 2, "rail-only", "one leaf switch", 1 / 2),  # two leaves, which nothing joins
        (16, 2, "fat-tree", "one switch", 1.0),
    ],
)
def test_a_switch_takes_the_share_of_the_nics_on_it(
    nodes: int, nics: int, topology: str, part: str, lost: float
) -> None:
    scale_out = EIGHT_NICS | {"topology": topology, "nics_per_node": nics}
    cluster = clusterspec.load(
        {"clusterspec": 1, "cluster": {"platform": "hgx-h100", "nodes": nodes, "scale_out": scale_out}}
    ).cluster
    assert cluster is not None
    counted = fabric_of_cluster(cluster)
    assert isinstance(counted, Fabric)
    found = {failure.part: failure.lost for failure in machine(cluster, counted, None).failures}
    assert found[part] == pytest.approx(lost)


@pytest.mark.parametrize("nodes", [26, 32, 34, 35, 36])
def test_pages_agree_on_the_nodes_below_a_leaf(nodes: int) -> None:
    """24 NICs a node: a leaf of 128 ports down takes 5 whole nodes, and seven leaves 35.

    Where the leaves that the links need take fewer whole nodes, the links of some nodes go to two: 26 nodes on five
    leaves, 32 on six.
    """
    text = (
        f"clusterspec: 1\ncluster: {{platform: gaudi3-hls, nodes: {nodes},"
        " scale_out: {technology: roce-v2, topology: fat-tree}}\n"
    )
    failing = FailingMachine(study_text(text, SETTINGS).design, None, None)
    assert failing.fabric is not None
    failures = machine(failing.cluster, failing.fabric, None).failures
    told = next(failure.who for failure in failures if failure.part == "one leaf switch")
    (leaf,) = (part for part in failing.classes if part.name == "leaf switch")
    split = nodes in {26, 32, 36}
    assert "the 5 nodes below it" in told and ("two leaves" in told) is split
    assert leaf.nodes == (6 if split else 5)
    assert leaf.why.startswith(f"{leaf.nodes} nodes below it")
