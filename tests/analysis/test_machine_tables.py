"""Rows, failures and room of machines with planes, rails, pods, levels and spares, counted by hand for 64 ports."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.analysis.machine import machine
from clusterspec.cluster.fabric import fabric_of_cluster
from clusterspec.results.machine import MoreNodes
from tests.analysis.jobs import study_of
from tests.analysis.test_machine_figures import GB, NDR, cluster_of, fabric_of

NIC = 1 / 8
POD = ", and less for nodes with links to two leaves"
LEVELS = [
    {"name": "leaf", "nodes": 8, "switch_ports": 64},
    {"name": "pod", "nodes": 128, "switch_ports": 128, "oversubscription": "2:1"},
]
Row = tuple[str, int, int, float | None, int | None, int | None, int | None]

MACHINES: list[tuple[int, int, dict[str, Any], list[float], list[Row], int, float | None, int]] = [
    # nodes, spares, fabric; lost by a leaf, a spine and a core; switches; free ports, TB/s of two halves, more nodes
    # each plane has 128 ends on four leaves of 32, one of each for four nodes; both planes carry half
    (
        *(16, 0, {"topology": "fat-tree", "planes": 2}, [1 / 2, 1 / 4]),
        [("leaf", 8, 256, 1.0, 4, 512, 512), ("spine", 4, 0, None, None, 256, 256)],
        *(0, 3.2, 240),
    ),
    # one of eight NICs of 32 nodes in one of two planes
    (
        *(64, 0, {"topology": "rail-optimized", "planes": 2}, [1 / 16, 1 / 16]),
        [("leaf", 32, 1024, 1.0, 32, 2048, 2048), ("spine", 16, 0, None, None, 1024, 1024)],
        *(0, 12.8, 192),
    ),
    (8, 0, {"topology": "fat-tree"}, [1.0], [("leaf", 1, 0, None, None, 64, 64)], 0, 1.6, 0),
    (32, 0, {"topology": "rail-only"}, [1 / 8], [("leaf", 8, 0, None, None, 512, 256)], 256, None, 32),
    # half of the 32 ports down of each rail are free
    (
        *(16, 0, {"topology": "rail-optimized"}, [1 / 8, 1 / 4]),
        [("leaf", 8, 256, 1.0, 32, 512, 384), ("spine", 4, 0, None, None, 256, 256)],
        *(128, 3.2, 240),
    ),
    # 115 leaves of 42 ports down in 29 pods of four, with three spines each: 64 × 42 × 32 ends at most
    (
        *(600, 0, {"topology": "fat-tree", "oversubscription": "2:1"}, [1.0, 1 / 3, 1 / 39]),
        [
            ("leaf", 115, 2415, 2.0, 5, 7360, 7215),
            ("spine", 87, 2436, None, None, 5568, 4851),
            ("core", 39, 0, None, None, 2496, 2436),
        ],
        *(30, 60.0, 10_152),
    ),
    # the spare node has ports, and no accelerators that work
    (
        *(9, 1, {"topology": "fat-tree"}, [1.0, 1 / 2]),
        [("leaf", 3, 96, 1.0, 4, 192, 176), ("spine", 2, 0, None, None, 128, 96)],
        *(16, 1.8, 246),
    ),
    # two leaves of 64 ports for eight nodes, without a taper inside the pod of 128
    (
        *(64, 0, {"topology": "fat-tree", "levels": LEVELS}, [1.0, 1 / 4]),
        [("leaf", 16, 512, 1.0, 8, 1024, 1024), ("spine", 4, 0, None, 128, 512, 512)],
        *(0, 12.8, 64),
    ),
]


@pytest.mark.parametrize(("nodes", "spares", "fabric", "lost", "rows", "free", "halves", "more"), MACHINES)
def test_a_machine_has_the_rows_the_failures_and_the_room_of_its_switches(
    nodes: int,
    spares: int,
    fabric: dict[str, Any],
    lost: list[float],
    rows: list[Row],
    free: int,
    halves: float | None,
    more: int,
) -> None:
    network = {key: value for key, value in NDR.items() if key != "switch_ports" or "levels" not in fabric} | fabric
    cluster = cluster_of(platform="hgx-h100", nodes=nodes, spare_nodes=spares, scale_out=network)
    found = machine(cluster, fabric_of(cluster), None)
    assert [each.lost for each in found.failures] == pytest.approx([NIC, *lost])
    names = [each.part for each in found.failures][1:]
    assert names == (
        ["one switch"] if nodes == 8 else ["one leaf switch", "one spine switch", "one core switch"][: len(lost)]
    )
    told = [(row.name, row.count, row.links, row.ratio, row.nodes, row.ports, row.used) for row in found.rows]
    ends = 8 * (nodes + spares) * fabric.get("planes", 1)
    assert told == [
        ("nodes", nodes + spares, ends, None, 1, None, None),
        *((f"{row[0]} switches", *row[1:]) for row in rows),
    ]
    assert (found.free_leaf_ports, found.bisection) == (
        free,
        None if halves is None else pytest.approx(halves * 1000 * GB),
    )
    assert found.more_nodes == MoreNodes(more, None, None)
    assert (found.nodes, found.spare_nodes, found.accelerators, found.domains) == (nodes, spares, 8 * nodes, nodes)


def test_a_failure_says_whose_bandwidth_is_lost() -> None:
    pods = cluster_of(
        platform="hgx-h100", nodes=600, scale_out=NDR | {"topology": "fat-tree", "oversubscription": "2:1"}
    )
    assert [each.who for each in machine(pods, fabric_of(pods), None).failures] == [
        "one node's bandwidth to the fabric",
        "the bandwidth of the 5 nodes below it" + POD,
        "the bandwidth between leaves of its pod",
        # 28 pods of 4 leaves with 21 uplinks each: 84 over 37 cores, 3 to ten of them
        "the bandwidth between pods; the pods with the most links to it lose 3.6 %",
    ]
    tree = cluster_of(platform="hgx-h100", nodes=16, scale_out=NDR | {"topology": "fat-tree"})
    assert [each.who for each in machine(tree, fabric_of(tree), None).failures][1:] == [
        "the bandwidth of the 4 nodes below it",
        "the bandwidth between leaves",
    ]
    pair = cluster_of(platform="hgx-h100", nodes=2, scale_out=NDR | {"topology": "fat-tree"})
    assert len(machine(pair, fabric_of(pair), None).failures) == 2 and machine(pair, None, None).bisection is None
    one = cluster_of(platform="hgx-h100", nodes=1, spare_nodes=1, scale_out=NDR | {"topology": "fat-tree"})
    counted = fabric_of_cluster(one)
    assert machine(one, fabric_of(one), None).failures == () and counted is not None


def test_a_rack_has_the_power_of_its_nodes_and_of_its_other_equipment() -> None:
    """Four nodes of 10 kW and 2 kW in addition; three nodes are less, and the rest of a rack holds one more."""
    text = (
        "cluster: {{platform: hgx-h100, nodes: {}, scale_out: {{technology: infiniband-ndr, nics_per_node: 8, "
        "nic_bandwidth: 400 Gb/s, switch_ports: 64}}, power: {{node: 10 kW, rack_overhead: 2 kW, rack_limit: 44 kW, "
        "nodes_per_rack: 4, switch: 0 kW}}}}\n"
    )
    for nodes, watts, racks, room in ((7, 42e3, 2, 1), (3, 32e3, 1, 1), (8, 42e3, 2, 0)):
        design = study_of(text.format(nodes)).design
        assert design.cluster is not None and design.spec.cluster is not None
        found = machine(design.cluster, fabric_of(design.cluster), design.spec.cluster.power)
        assert found.rack is not None and found.more_nodes is not None
        assert (found.rack.nodes, found.rack.racks, found.rack.watts) == (4, racks, watts)
        assert (found.rack.limit, found.rack.node_watts, found.more_nodes.racks) == (44e3, 10e3, room)


@pytest.mark.parametrize(("budget", "room"), [(150, 0), (179, 0), (188.9, 0), (189, 1), (209, 3), (219.9, 3), (220, 4)])
def test_a_budget_of_power_feeds_whole_nodes_with_their_switches_and_never_fewer_than_none(
    budget: float, room: int
) -> None:
    """17 nodes of 10 kW, five leaves and four spines of 1 kW draw 179 kW; of 21 nodes the 168 endpoints need six
    leaves of 32."""
    text = (
        "cluster: {platform: hgx-h100, nodes: 17, scale_out: {technology: infiniband-ndr, nics_per_node: 8, "
        "nic_bandwidth: 400 Gb/s, switch_ports: 64}, "
        f"power: {{node: 10 kW, switch: 1 kW, budget: {budget} kW, nodes_per_rack: 4}}}}\n"
    )
    design, peak = study_of(text).design, 179e3
    assert design.cluster is not None and design.spec.cluster is not None
    found = machine(design.cluster, fabric_of(design.cluster), design.spec.cluster.power, peak)
    assert found.more_nodes is not None and found.more_nodes.power == room
    unknown = machine(design.cluster, fabric_of(design.cluster), design.spec.cluster.power)
    assert unknown.more_nodes is not None and unknown.more_nodes.power is None


@pytest.mark.parametrize(("budget", "room"), [(239, 0), (240.1, 18), (359, 18), (360.1, 36)])
def test_a_budget_of_power_feeds_whole_racks_of_a_rack_scale_machine(budget: float, room: int) -> None:
    """A rack of GB200 NVL72 is rated at 120 kW, its 18 nodes and its scale-up switches; leaves count for nothing."""
    text = (
        "cluster: {platform: gb200-nvl72, nodes: 18, scale_out: {technology: infiniband-ndr, nics_per_node: 4, "
        f"nic_bandwidth: 400 Gb/s, switch_ports: 64}}, power: {{switch: 1 W, budget: {budget} kW}}}}\n"
    )
    design = study_of(text).design
    assert design.cluster is not None and design.spec.cluster is not None
    found = machine(design.cluster, fabric_of(design.cluster), design.spec.cluster.power, 120e3)
    assert found.more_nodes is not None and found.more_nodes.power == room
