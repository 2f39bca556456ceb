"""One plane counted from the levels that a spec lists; other specs do not load this module."""

from __future__ import annotations

from clusterspec.cluster.clos import Ports, ceiling, even_switch_count, parts_needed
from clusterspec.cluster.model import Cluster, Level
from clusterspec.cluster.planes import SwitchCount
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import dataclass
from clusterspec.units import plural


@dataclass(frozen=True)
class _Row:
    """The switches of one level, and the minimum that its links need.

    ``links_up`` is the number of links that leave the level, over all blocks, at ``rate`` B/s per direction;
    ``up_of_switch`` the number per switch.
    """

    switches: int
    least: int
    links_up: int
    rate: float
    up_of_switch: int
    how: str


def counted_levels(cluster: Cluster, ports: int | None) -> SwitchCount | None:
    """Counts one plane level by level; ``ports`` belong to a switch whose level states none.

    None if the ports of a level, or the nodes of a block below the last level, are unknown. A last level of several
    blocks has a row of switches above it.
    """
    fabric = cluster.scale_out
    assert fabric is not None
    if any(level.nodes is None for level in fabric.levels[:-1]):
        return None
    nodes = cluster.all_nodes
    endpoints = nodes * fabric.nics_per_node + fabric.extra_endpoints
    rails = fabric.rails if fabric.topology in RAIL_TOPOLOGIES else 1
    below = _Row(0, 0, endpoints, fabric.nic_bandwidth.value / fabric.planes, 0, "")
    rows: list[_Row] = []
    for level in _levels_to_one_block(fabric.levels, nodes):
        radix = level.switch_ports or ports
        if radix is None:
            return None
        below = _level_row(level, nodes, below, radix, 1 if rows else rails)
        rows.append(below)
    return _switches_of_rows(rows, endpoints)


def _levels_to_one_block(levels: tuple[Level, ...], nodes: int) -> tuple[Level, ...]:
    """The levels up to the first whose block holds all nodes; if no block does, with one more level above the last."""
    whole = next((index for index, level in enumerate(levels) if level.nodes and level.nodes >= nodes), len(levels))
    levels = levels[: whole + 1]
    last = levels[-1]
    if last.nodes is None or last.nodes >= nodes:
        return levels
    return (*levels, Level(f"above {last.name}", None, 1.0, last.switch_ports))


def _level_row(level: Level, nodes: int, below: _Row, ports: int, unit: int) -> _Row:
    """The level above ``below``. The number of switches in each block is a multiple of ``unit``."""
    size = min(level.nodes or nodes, nodes)
    blocks = parts_needed(nodes, size)
    down = parts_needed(below.links_up * size, nodes)
    rate = level.uplink_bandwidth.value if level.uplink_bandwidth else below.rate
    up = 0 if blocks == 1 else ceiling(down * below.rate / level.oversubscription / rate - 1e-9)
    least = parts_needed(down + up, ports)
    count = unit * parts_needed(even_switch_count(least, below.up_of_switch) if below.up_of_switch else least, unit)
    of_switch = parts_needed(up, count)
    links = max(up, min(count * of_switch, count * ports - down))  # an even spread, as far as ports are left
    ends = f"({down} links down + {up} up) / {ports} ports, rounded up to {count}"
    how = f"{plural(blocks, 'block')} of {size} nodes × ({ends})"
    return _Row(blocks * count, blocks * least, blocks * links, rate, of_switch, how)


def _switches_of_rows(rows: list[_Row], endpoints: int) -> SwitchCount:
    leaf, above, core = rows[0], rows[1:2], rows[2:]
    return SwitchCount(
        tiers=len(rows),
        ports=Ports(parts_needed(endpoints, leaf.switches), leaf.up_of_switch),
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
        how=_level_derivations(rows),
    )


def _level_derivations(rows: list[_Row]) -> dict[str, str]:
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
