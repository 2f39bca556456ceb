"""Cable runs between racks, and the optics at both ends of each level of the fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.catalog.entries import Optics
from clusterspec.cluster.levels import FIBER
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.planes import parts_needed
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import dataclass
from clusterspec.spec.model import ClusterSpec, FloorSpec, PowerSpec, ScaleOutSpec

# Lengths of cable runs: as stated, else from the room and the racks

RISE = 1.5
"""Meters from a port to the tray over its rack, at each end: half the height of a rack, and slack. An assumption."""
RACK_PITCH = 0.6
"""Meters between the centers of adjacent racks of the usual width, where the spec states none."""
ROW_PITCH = 3.0
"""Meters between the centers of rows: racks of 1.2 m and an aisle of 1.8 m, where the spec states none."""


@dataclass(frozen=True, slots=True)
class Run:
    """The longest run of one level in meters, and how it is known; ``stated`` if the spec states it."""

    meters: float
    how: str
    stated: bool


def longest_runs(cluster: Cluster, written: ClusterSpec, nodes_of_leaf: int | None) -> dict[str, Run]:
    """The longest runs by level; a level that cannot be known is absent.

    ``nodes_of_leaf`` are the nodes that one leaf serves. A stated distance holds; others follow from the racks.
    """
    section = written.scale_out or ScaleOutSpec()
    runs = {level: Run(length.value, f"`distance.{level}`", True) for level, length in (section.distance or {}).items()}
    power = written.power or PowerSpec()
    if power.nodes_per_rack:
        racks = parts_needed(cluster.all_nodes, power.nodes_per_rack)
        served = parts_needed(min(nodes_of_leaf or 1, cluster.all_nodes), power.nodes_per_rack)
        runs = dict(_derived_runs(racks, served, written.floor)) | runs
    return runs


def _derived_runs(racks: int, served: int, floor: FloorSpec | None) -> Iterator[tuple[str, Run]]:
    """The runs of nodes to a leaf that serves ``served`` racks, and, in a described room, of leaves to spines."""
    room = floor or FloorSpec()
    pitch = room.rack_pitch.value if room.rack_pitch else RACK_PITCH
    row = room.racks_per_row or racks
    across = room.row_pitch.value if room.row_pitch else ROW_PITCH
    place = room.network_racks or "middle-of-row"
    if served > 1 or room.racks_per_row:
        meters = run_length(served, row, pitch, across, place)
        yield "node_leaf", Run(meters, f"{served} racks share a leaf, {pitch:g} m apart", False)
    if floor is not None and room.racks_per_row:
        meters = run_length(racks, row, pitch, across, place)
        yield "leaf_spine", Run(meters, f"{racks} racks in rows of {row}", False)


def run_length(racks: int, per_row: int, rack_pitch: float, row_pitch: float, place: str) -> float:
    """The longest run in meters from a rack to the switches of ``racks`` racks in rows of ``per_row``.

    Cables follow the row and cross rows at the switches; `RISE` is added at both ends. The switches are in the middle
    of the middle row, at the end of it, in one of the racks, or in a row of their own beside the others.

    >>> run_length(8, 8, 0.6, 3.0, "middle-of-row"), run_length(8, 8, 0.6, 3.0, "end-of-row")
    (5.4, 7.8)
    >>> run_length(1, 16, 0.6, 3.0, "top-of-rack"), run_length(32, 16, 0.6, 3.0, "middle-of-row")
    (3.0, 10.8)
    """
    in_row, rows = min(racks, per_row), parts_needed(racks, per_row)
    along = in_row if place == "end-of-row" else in_row // 2
    crossed = rows if place == "separate-row" else rows // 2
    return round(2 * RISE + along * rack_pitch + crossed * row_pitch, 3)


def nodes_of_leaf(scale_out: ScaleOut, down_ports: int) -> int:
    """Nodes that one leaf serves: one port of each in a rail fabric, else one for each NIC."""
    rails = scale_out.rails if scale_out.topology in RAIL_TOPOLOGIES else 1
    return max(1, down_ports // max(1, -(-scale_out.nics_per_node // rails)))


# Optics by level, from the lower to the upper end


@dataclass(frozen=True, slots=True)
class LevelOptics:
    """The optics of one level; ``ends`` is one cable, or the modules of the lower and the upper end."""

    level: str
    ends: tuple[Optics, ...]
    listed: bool
    """The spec names both ends."""

    @property
    def lower(self) -> Optics:
        return self.ends[0]

    @property
    def upper(self) -> Optics:
        return self.ends[-1]

    @property
    def cable_type(self) -> str:
        """The type of the cable: that of a cable with fixed ends, fiber between modules."""
        return FIBER if self.lower.type == "module" else self.lower.type


def cable_types(scale_out: ScaleOut, written: Mapping[str, str] | None) -> dict[str, str]:
    """The cable type of each level that states one, or names its optics."""
    return {one.level: one.cable_type for one in level_optics(scale_out)} | dict(written or {})


def level_optics(scale_out: ScaleOut) -> tuple[LevelOptics, ...]:
    """The optics of each level whose names are in the catalog."""
    return tuple(LevelOptics(level, ends, len(ends) > 1) for level, ends in scale_out.optics)
