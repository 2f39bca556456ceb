"""Cable runs by hand: racks of 0.6 m in rows 3 m apart, with 1.5 m up to the tray and down again."""

from __future__ import annotations

import pytest

from clusterspec.cluster.cable_runs import Run, horizontal_run, longest_runs, nodes_of_leaf, racks_of_leaf
from clusterspec.cluster.planes import fabric_levels
from tests.cluster.resolving import clean

POD = "{platform: dgx-h100, nodes: 16, power: {nodes_per_rack: %d}, scale_out: {technology: infiniband-ndr%s}%s}"
ROWS = ", floor: {racks_per_row: 2}"


def runs(per_rack: int, of_leaf: int | None, more: str = "", floor: str = "") -> dict[str, float]:
    """The longest runs in meters of 16 nodes by level, with the eight ports of each of so many nodes on a leaf."""
    ports = None if of_leaf is None else 8 * of_leaf
    design = clean(f"cluster: {POD % (per_rack, more, floor)}")
    assert design.cluster is not None and design.spec.cluster is not None
    return {level: run.meters for level, run in longest_runs(design.cluster, design.spec.cluster, ports).items()}


def test_runs_follow_from_racks_rows_and_the_nodes_of_a_leaf() -> None:
    assert runs(4, 8) == {"node_leaf": pytest.approx(3 + 1 * 0.6)}, "two racks share a leaf: one rack away"
    assert runs(4, 16) == {"node_leaf": pytest.approx(3 + 2 * 0.6)}, "four racks in one row: two racks away"
    assert runs(4, 4) == {}, "each rack has its leaf: nothing says how long its cables are"
    assert runs(4, None) == {}
    four = {"node_leaf": pytest.approx(3.0), "leaf_spine": pytest.approx(3 + 0.6 + 3)}
    assert runs(4, 4, floor=ROWS) == four, "four racks in two rows: one rack and one row to the spines"
    middle = runs(1, 2, floor=", floor: {racks_per_row: 8, network_racks: middle-of-row}")
    assert middle["node_leaf"] == pytest.approx(3 + 4 * 0.6), "from the end of the row to the racks in its middle"
    assert runs(4, 8, ", distance: {node_leaf: 7 m}")["node_leaf"] == 7, "what is stated holds"


@pytest.mark.parametrize(
    ("topology", "nodes", "per_rack", "down", "racks"),
    [
        ("fat-tree", 103, 2, 85, 7),  # 16 links of a rack; the fourth leaf has links 255 to 339: racks 15 to 21
        ("fat-tree", 103, 2, 80, 5),  # ten whole nodes
        ("fat-tree", 3, 2, 85, 2),
        ("rail-optimized", 64, 4, 32, 8),
        ("rail-optimized", 64, 5, 32, 7),  # nodes 0 to 31 in racks 0 to 6, 32 to 63 in racks 6 to 12
        ("rail-optimized", 96, 3, 32, 12),  # the second leaf has nodes 32 to 63: racks 10 to 21
        ("rail-optimized", 8, 1, 4, 4),
    ],
)
def test_the_racks_of_a_leaf_are_those_of_the_nodes_that_it_connects(
    topology: str, nodes: int, per_rack: int, down: int, racks: int
) -> None:
    cluster = clean(f"cluster: {{platform: dgx-h100, nodes: {nodes}, scale_out: {{topology: {topology}}}}}").cluster
    assert cluster is not None
    assert racks_of_leaf(cluster, per_rack, down) == racks


@pytest.mark.parametrize(("topology", "nodes"), [("rail-optimized", 32), ("fat-tree", 4)])
def test_a_leaf_serves_one_port_of_a_node_in_a_rail_and_every_nic_elsewhere(topology: str, nodes: int) -> None:
    cluster = clean(f"cluster: {POD % (4, f', topology: {topology}', '')}").cluster
    assert cluster is not None and cluster.scale_out is not None
    assert nodes_of_leaf(cluster.scale_out, 32) == nodes, "eight NICs on eight rails, or on one leaf"


def test_a_level_of_unknown_size_is_crossed_by_what_crosses_the_level_below() -> None:
    levels = "{name: leaf, oversubscription: '2:1'}, {name: spine, nodes: 8}, {name: core}"
    cluster = clean(f"cluster: {POD % (4, f', levels: [{levels}]', '')}").cluster
    assert cluster is not None
    assert [level.nodes for level in fabric_levels(cluster)] == [1, 8, 8]


@pytest.mark.parametrize(
    ("per_rack", "floor", "of_leaf", "meters", "how"),
    [
        (4, "", 16, 1.2, "4 racks in rows of 4, 0.6 m apart"),  # the switches in the middle: two racks away
        (4, "", 8, 0.6, "2 racks in rows of 2, 0.6 m apart"),
        (4, "", 100, 1.2, "4 racks in rows of 4, 0.6 m apart"),  # no more than there are
        # 16 racks 1.2 m apart: 9.6 m in one row, 4.8 + 3 in two, 3.6 + 3 in three, 2.4 + 6 in four
        (1, "rack_pitch: 1.2 m", 16, 6.6, "16 racks in rows of 6, 1.2 m apart"),
        (1, "rack_pitch: 1.2 m, row_pitch: 2 m", 16, 5.6, "16 racks in rows of 6, 1.2 m apart"),
        (4, "racks_per_row: 2", 16, 3.6, "4 racks in rows of 2, 0.6 m apart"),  # the plan decides
        (4, "racks_per_row: 4, network_racks: end-of-row", 16, 2.4, "4 racks in rows of 4, 0.6 m apart"),
        # of the eight rows of the hall, the row of switches stands in the middle
        (1, "racks_per_row: 2, network_racks: separate-row", 1, 12.0, "1 rack in rows of 2, 0.6 m apart"),
        (1, "network_racks: separate-row", 1, 3.0, "1 rack in rows of 1, 0.6 m apart"),
    ],
)
def test_the_shortest_way_to_a_leaf_is_that_of_the_best_rows_or_of_the_plan(
    per_rack: int, floor: str, of_leaf: int, meters: float, how: str
) -> None:
    design = clean(f"cluster: {POD % (per_rack, '', f', floor: {{{floor}}}' if floor else '')}")
    assert design.cluster is not None and design.spec.cluster is not None
    assert horizontal_run(design.cluster, design.spec.cluster, of_leaf) == Run(meters, how, False)


def test_the_way_to_a_leaf_is_not_known_without_the_nodes_of_a_rack() -> None:
    design = clean("cluster: {platform: dgx-h100, nodes: 16}")
    assert design.cluster is not None and design.spec.cluster is not None
    assert horizontal_run(design.cluster, design.spec.cluster, 16) is None
    assert longest_runs(design.cluster, design.spec.cluster, 16) == {}
