"""One plane of the scale-out fabric, counted from `levels`, where the levels differ."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cluster.clos import Ports, ceiling, even, parts
from clusterspec.cluster.model import Cluster, Level
from clusterspec.cluster.plane import Count
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES


@dataclass(frozen=True, slots=True)
class _Row:
    """The switches of one level. ``switches`` is None where the ports of one are not known.

    ``links_up`` leave the level, over all blocks, at ``rate`` B/s each way; ``up_of_switch`` are those
    of one switch.
    """

    switches: int | None
    least: int | None
    links_up: int
    rate: float
    up_of_switch: int
    how: str


def count_levels(cluster: Cluster, ports: int | None) -> Count | None:
    """Counts one plane level by level; ``ports`` are those of a switch whose level does not say.

    None where not even the leaves can be counted. A last level of several blocks has a row of switches
    above it that joins them.
    """
    fabric = cluster.scale_out
    assert fabric is not None
    nodes = cluster.nodes + cluster.spare_nodes
    endpoints = nodes * fabric.nics_per_node + fabric.extra_endpoints
    rails = fabric.rails if fabric.topology in RAIL_TOPOLOGIES else 1
    below = _Row(None, None, endpoints, fabric.nic_bandwidth.value / fabric.planes, 0, "")
    rows: list[_Row] = []
    for level in _closed(fabric.levels, nodes):
        below = _row(level, nodes, below, level.switch_ports or ports, 1 if rows else rails)
        rows.append(below)
    return None if rows[0].switches is None else _counted(rows, endpoints)


def _closed(levels: tuple[Level, ...], nodes: int) -> tuple[Level, ...]:
    """The levels with one above them where the last has several blocks."""
    last = levels[-1]
    if last.nodes is None or last.nodes >= nodes:
        return levels
    return (*levels, Level(f"above {last.name}", None, 1.0, last.switch_ports))


def _row(level: Level, nodes: int, below: _Row, ports: int | None, unit: int) -> _Row:
    """One level over what is below it; its switches come in multiples of ``unit`` a block."""
    size = max(1, min(level.nodes or nodes, nodes))
    blocks = parts(nodes, size)
    down = parts(below.links_up * size, nodes)
    rate = level.uplink_bandwidth.value if level.uplink_bandwidth else below.rate
    up = 0 if blocks == 1 else ceiling(down * below.rate / level.oversubscription / rate - 1e-9)
    if ports is None:
        return _Row(None, None, up * blocks, rate, 0, f"the ports of a {level.name} switch are not known")
    least = max(1, parts(down + up, ports))
    count = unit * parts(even(least, below.up_of_switch) if below.up_of_switch else least, unit)
    how = f"{blocks} blocks of {size} nodes × (({down} links down + {up} up) / {ports} ports, rounded up to {count})"
    return _Row(blocks * count, blocks * least, blocks * count * parts(up, count), rate, parts(up, count), how)


def _counted(rows: list[_Row], endpoints: int) -> Count:
    leaf, *above = rows
    spine = above[0] if above else None
    core = above[1:]
    first_up = leaf.links_up if above else 0
    second_up = spine.links_up if spine and core else 0
    assert leaf.switches is not None
    return Count(
        tiers=len(rows),
        ports=Ports(parts(endpoints, leaf.switches), parts(first_up, leaf.switches)),
        leaves=leaf.switches,
        spines=spine.switches if spine else 0,
        cores=_sum([row.switches for row in core]),
        leaf_spine=first_up,
        spine_core=second_up,
        fits=True,
        capacity=None,
        least_spines=spine.least if spine else 0,
        least_cores=_sum([row.least for row in core]),
        least_leaf_spine=first_up,
        how=_how(leaf, spine, core),
    )


def _how(leaf: _Row, spine: _Row | None, core: list[_Row]) -> dict[str, str]:
    return {
        "leaf_switches": leaf.how,
        "spine_switches": spine.how if spine else "one level has none",
        "core_switches": "; ".join(row.how for row in core) or "two levels have none",
        "leaf_spine": "what the levels' ratios leave of the links below",
        "spine_core": "what the levels' ratios leave of the links below",
    }


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
