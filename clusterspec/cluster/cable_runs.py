"""Lengths of cable runs: as stated, else from the floor plan and the racks."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import dataclass
from clusterspec.spec.model import ClusterSpec, FloorSpec, PowerSpec, ScaleOutSpec
from clusterspec.units.display import plural

RISE = 1.5
"""Meters of cable from a port to the cable tray above its rack, at each end: half the height of a rack, and slack.
Assumed."""
RACK_PITCH = 0.6
"""Meters between the centers of adjacent racks, 600 mm wide. Assumed where the spec states no `rack_pitch`."""
ROW_PITCH = 3.0
"""Meters between the centers of rows: racks 1.2 m deep and an aisle of 1.8 m. Assumed where the spec states no
`row_pitch`."""

OF_ROWS = frozenset({"middle-of-row", "end-of-row"})
"""Places of network racks that serve the whole row, wherever in it the nodes of a leaf stand."""


@dataclass(frozen=True)
class Run:
    """The longest cable run of one level in meters, and its derivation; ``stated`` if the spec states it."""

    meters: float
    how: str
    stated: bool


def longest_runs(cluster: Cluster, written: ClusterSpec, down_ports: int | None) -> dict[str, Run]:
    """The longest cable runs by level, without the levels whose length cannot be derived.

    ``down_ports`` are the ports of a leaf to nodes, where the fabric is counted. Stated distances have precedence over
    those derived from the racks.
    """
    section = written.scale_out or ScaleOutSpec()
    runs = {level: Run(length.value, f"`distance.{level}`", True) for level, length in (section.distance or {}).items()}
    power = written.power or PowerSpec()
    if power.nodes_per_rack:
        racks = parts_needed(cluster.all_nodes, power.nodes_per_rack)
        served = racks_of_leaf(cluster, power.nodes_per_rack, down_ports or 1)
        runs = dict(_derived_runs(racks, served, written.floor)) | runs
    return runs


def _derived_runs(racks: int, served: int, floor: FloorSpec | None) -> Iterator[tuple[str, Run]]:
    """The runs from nodes to a leaf that serves ``served`` racks and, with a floor plan, from leaves to spines."""
    plan = floor or FloorSpec()
    pitch = plan.rack_pitch.value if plan.rack_pitch else RACK_PITCH
    row = plan.racks_per_row or racks
    across = plan.row_pitch.value if plan.row_pitch else ROW_PITCH
    place = plan.network_racks or "middle-of-row"
    if plan.network_racks in OF_ROWS and plan.racks_per_row and served < (of_row := min(racks, row)):
        meters = run_length(of_row, row, pitch, across, place)
        yield (
            "node_leaf",
            Run(meters, f"{of_row} racks in a row, {pitch:g} m apart, the leaves in its network racks", False),
        )
    elif served > 1 or plan.racks_per_row:
        meters = run_length(served, row, pitch, across, place, hall=racks)
        yield "node_leaf", Run(meters, f"{served} racks share a leaf, {pitch:g} m apart", False)
    if floor is not None and plan.racks_per_row:
        meters = run_length(racks, row, pitch, across, place)
        yield "leaf_spine", Run(meters, f"{racks} racks in rows of {row}", False)


def horizontal_run(cluster: Cluster, written: ClusterSpec, nodes_of_leaf: int) -> Run | None:
    """The horizontal cable length from the farthest rack to its leaf, without the vertical runs. Racks are arranged as
    in the floor plan, or else in the number of rows that gives the shortest run. None if the spec states no nodes per
    rack.
    """
    power, plan = written.power or PowerSpec(), written.floor or FloorSpec()
    if not power.nodes_per_rack:
        return None
    racks = parts_needed(min(nodes_of_leaf, cluster.all_nodes), power.nodes_per_rack)
    pitch = plan.rack_pitch.value if plan.rack_pitch else RACK_PITCH
    across = plan.row_pitch.value if plan.row_pitch else ROW_PITCH
    place = plan.network_racks or "middle-of-row"
    rows = [plan.racks_per_row or parts_needed(racks, number) for number in range(1, min(racks, 8) + 1)]
    hall = parts_needed(cluster.all_nodes, power.nodes_per_rack) if plan.racks_per_row else racks
    ways = {run_length(racks, each, pitch, across, place, hall=hall) - 2 * RISE: each for each in rows}
    way = min(ways)
    return Run(round(way, 3), f"{plural(racks, 'rack')} in rows of {ways[way]}, {pitch:g} m apart", False)


def run_length(racks: int, per_row: int, rack_pitch: float, row_pitch: float, place: str, *, hall: int = 0) -> float:
    """The longest run in meters from a rack to the switches of ``racks`` racks in rows of ``per_row``.

    Cables follow the row and cross rows at the switches; `RISE` is added at both ends. The switches are in the middle
    of the middle row, at its end, in one of the racks, or in a separate row next to the others. A separate row serves
    all ``hall`` racks of the hall. It stands in the middle of their rows if this place is nearer than a place next to
    them.

    >>> run_length(8, 8, 0.6, 3.0, "middle-of-row"), run_length(8, 8, 0.6, 3.0, "end-of-row")
    (5.4, 7.8)
    >>> run_length(1, 16, 0.6, 3.0, "top-of-rack"), run_length(32, 16, 0.6, 3.0, "middle-of-row")
    (3.0, 10.8)
    >>> run_length(16, 16, 0.6, 3.0, "separate-row"), run_length(16, 16, 0.6, 3.0, "separate-row", hall=128)
    (10.8, 19.8)
    """
    in_row, rows = min(racks, per_row), parts_needed(racks, per_row)
    along = in_row if place == "end-of-row" else in_row // 2
    farthest = max(rows, parts_needed(parts_needed(hall, per_row), 2))
    crossed = farthest if place == "separate-row" else rows // 2
    return round(2 * RISE + along * rack_pitch + crossed * row_pitch, 3)


def racks_of_leaf(cluster: Cluster, nodes_per_rack: int, down_ports: int) -> int:
    """The most racks that share a leaf, as the cabling list connects their nodes.

    The nodes fill the leaves one after another. A rail fabric assigns whole nodes; other fabrics assign ports, so the
    links of a node may end on two leaves. Racks and leaves end at different nodes.
    """
    out = cluster.scale_out
    ports = 1 if out is None or out.topology in RAIL_TOPOLOGIES else out.nics_per_node
    of_leaf = down_ports if ports > 1 or out is None else nodes_of_leaf(out, down_ports)
    of_rack, total = nodes_per_rack * ports, cluster.all_nodes * ports
    firsts = range(0, total, of_leaf)[: of_rack // gcd(of_rack, of_leaf)]  # then the racks of leaves repeat
    return max((min(total, first + of_leaf) - 1) // of_rack - first // of_rack + 1 for first in firsts)


def nodes_of_leaf(scale_out: ScaleOut, down_ports: int) -> int:
    """Nodes that one leaf serves: each node takes one port in a rail fabric, else one port per NIC."""
    rails = scale_out.rails if scale_out.topology in RAIL_TOPOLOGIES else 1
    return max(1, down_ports // parts_needed(scale_out.nics_per_node, rails))
