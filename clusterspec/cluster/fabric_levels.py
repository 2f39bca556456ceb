"""One plane of the scale-out fabric, counted from `levels`, where levels differ."""

from __future__ import annotations

from clusterspec.cluster.clos import Ports, ceiling, even, parts
from clusterspec.cluster.fabric_plane import SwitchCount
from clusterspec.cluster.model import Cluster, Level
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import dataclass
from clusterspec.units import plural


@dataclass(frozen=True, slots=True)
class _Row:
    """The switches of one level, and the fewest that its links need.

    ``links_up`` leave the level, over all blocks, at ``rate`` B/s per direction; ``up_of_switch`` are those of one
    switch.
    """

    switches: int
    least: int
    links_up: int
    rate: float
    up_of_switch: int
    how: str


def count_levels(cluster: Cluster, ports: int | None) -> SwitchCount | None:
    """Counts one plane level by level; ``ports`` are those of a switch whose level states none.

    None where the ports of some level are not known. A last level of several blocks has a row of switches above it.
    """
    fabric = cluster.scale_out
    assert fabric is not None
    nodes = cluster.all_nodes
    endpoints = nodes * fabric.nics_per_node + fabric.extra_endpoints
    rails = fabric.rails if fabric.topology in RAIL_TOPOLOGIES else 1
    below = _Row(0, 0, endpoints, fabric.nic_bandwidth.value / fabric.planes, 0, "")
    rows: list[_Row] = []
    for level in _closed(fabric.levels, nodes):
        radix = level.switch_ports or ports
        if radix is None:
            return None
        below = _row(level, nodes, below, radix, 1 if rows else rails)
        rows.append(below)
    return _counted(rows, endpoints)


def _closed(levels: tuple[Level, ...], nodes: int) -> tuple[Level, ...]:
    """The levels, with one more above the last where that has several blocks."""
    last = levels[-1]
    if last.nodes is None or last.nodes >= nodes:
        return levels
    return (*levels, Level(f"above {last.name}", None, 1.0, last.switch_ports))


def _row(level: Level, nodes: int, below: _Row, ports: int, unit: int) -> _Row:
    """One level above ``below``; its number of switches is a multiple of ``unit`` per block."""
    size = max(1, min(level.nodes or nodes, nodes))
    blocks = parts(nodes, size)
    down = parts(below.links_up * size, nodes)
    rate = level.uplink_bandwidth.value if level.uplink_bandwidth else below.rate
    up = 0 if blocks == 1 else ceiling(down * below.rate / level.oversubscription / rate - 1e-9)
    least = max(1, parts(down + up, ports))
    count = unit * parts(even(least, below.up_of_switch) if below.up_of_switch else least, unit)
    of_switch = parts(up, count)
    ends = f"({down} links down + {up} up) / {ports} ports, rounded up to {count}"
    how = f"{plural(blocks, 'block')} of {size} nodes × ({ends})"
    return _Row(blocks * count, blocks * least, blocks * count * of_switch, rate, of_switch, how)


def _counted(rows: list[_Row], endpoints: int) -> SwitchCount:
    leaf, above, core = rows[0], rows[1:2], rows[2:]
    return SwitchCount(
        tiers=len(rows),
        ports=Ports(parts(endpoints, leaf.switches), leaf.up_of_switch),
        leaves=leaf.switches,
        spines=sum(row.switches for row in above),
        cores=sum(row.switches for row in core),
        leaf_spine=leaf.links_up if above else 0,
        spine_core=above[0].links_up if core else 0,
        fits=True,
        capacity=None,
        least_spines=sum(row.least for row in above),
        least_cores=sum(row.least for row in core),
        least_leaf_spine=leaf.links_up if above else 0,
        how=_how(rows),
    )


def _how(rows: list[_Row]) -> dict[str, str]:
    spine = rows[1].how if len(rows) > 1 else "one level has none"
    core = "; ".join(row.how for row in rows[2:]) or "these levels have none"
    up = "the links below divided by the ratios of the levels, equal for every switch"
    return {
        "leaf_switches": rows[0].how,
        "spine_switches": spine,
        "core_switches": core,
        "leaf_spine": up,
        "spine_core": up,
    }
