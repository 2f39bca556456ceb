"""Transceiver modules of the scale-out fabric, counted by cage.

A cage of a switch or node takes one module, and a module carries every port of its cage: a twin-port OSFP
cage of a Quantum-2 switch takes one module for two 400 Gb/s ports, and one of the four OSFP cages of a
DGX H100 serves two ConnectX-7. Cables with fixed ends (DAC, AEC, AOC) take no module.
"""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.cluster.clos import parts
from clusterspec.cluster.fabric_plane import SwitchCount
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.records import dataclass
from clusterspec.units import plural

FIXED_ENDS = frozenset({"dac", "aec", "aoc"})
"""Cable types whose ends are part of the cable."""
FIBER = "fiber"
"""The default cable type, with a module at each end, as in reference designs that state no cables."""


@dataclass(frozen=True, slots=True)
class ModuleCount:
    """Modules of all planes, by position.

    ``assumed`` names the ends whose cages no entry states; each port there has its own module, which is the upper
    limit. ``how`` derives the sum.
    """

    node: int
    leaf: int
    spine: int
    core: int
    assumed: tuple[str, ...]
    how: str

    @property
    def total(self) -> int:
        return self.node + self.leaf + self.spine + self.core


def count_modules(
    cluster: Cluster, count: SwitchCount, cable_types: Mapping[str, str], links_per_cable: Mapping[str, int]
) -> ModuleCount:
    """Modules of a counted plane times its planes; ``cable_types`` and ``links_per_cable`` by the names of
    `fabric.LEVELS`.

    Where the cages of the switch are not known, a module carries the links of one cable.
    """
    fabric = cluster.scale_out
    assert fabric is not None
    per_cage = ports_per_cage(fabric)

    def ends(level: str, links: int, switches: int) -> _Ends:
        optical = cable_types.get(level, FIBER) not in FIXED_ENDS
        return _Ends(links if optical else 0, switches, per_cage or float(links_per_cable.get(level, 1)))

    endpoints = cluster.all_nodes * fabric.nics_per_node + fabric.extra_endpoints
    leaf = _modules(ends("node_leaf", endpoints, count.leaves), ends("leaf_spine", count.leaf_spine, count.leaves))
    spine = _modules(
        ends("leaf_spine", count.leaf_spine, count.spines), ends("spine_core", count.spine_core, count.spines)
    )
    core = _modules(ends("spine_core", count.spine_core, count.cores))
    fixed = cable_types.get("node_leaf", FIBER) in FIXED_ENDS
    node, known, derived = (0, True, "fixed cable ends") if fixed else _of_nodes(cluster, fabric)
    leaf, spine, core = (number * fabric.planes for number in (leaf, spine, core))
    switches = (
        f"{per_cage:g} ports a cage" if per_cage else "one for each cable, since the cages of the switch are not known"
    )
    how = f"nodes {node:,} ({derived}) + leaf {leaf:,} + spine {spine:,} + core {core:,} ({switches})"
    assumed = (() if known else ("node",)) + (() if per_cage else ("switch",))
    return ModuleCount(node, leaf, spine, core, assumed, how)


@dataclass(frozen=True, slots=True)
class _Ends:
    """The ends of ``links`` at a number of ``switches``, with ``per_module`` links per module."""

    links: int
    switches: int
    per_module: float


def _modules(*ends: _Ends) -> int:
    """Modules of one tier of a plane, with its links spread over its switches as evenly as possible.

    Down and up links may share a cage where the cages of the switch are known.
    """
    switches = ends[0].switches
    if not switches:
        return 0
    if len({end.per_module for end in ends}) > 1:
        return sum(_modules(end) for end in ends)
    links, per_module = sum(end.links for end in ends), ends[0].per_module
    each, fuller = divmod(links, switches)
    return fuller * -int(-(each + 1) // per_module) + (switches - fuller) * -int(-each // per_module)


def ports_per_cage(fabric: ScaleOut) -> float | None:
    """Ports at the rate of a plane in one cage of the switch; None where the entry states no cages."""
    switch = fabric.switch
    if switch is None or not switch.cages or not fabric.switch_ports:
        return None
    return fabric.switch_ports / switch.cages


def _of_nodes(cluster: Cluster, fabric: ScaleOut) -> tuple[int, bool, str]:
    """Modules at the nodes, whether their cages are known, and the derivation of the count.

    A module of a node carries all planes of its NICs. Every extra endpoint has one.
    """
    nodes, extra = cluster.all_nodes, fabric.extra_endpoints
    more = f" + {plural(extra, 'extra endpoint')}" if extra else ""
    platform = cluster.platform
    if platform is not None and platform.cages and platform.nics_per_node:
        of_node = parts(platform.cages * fabric.nics_per_node, platform.nics_per_node)
        return nodes * of_node + extra, True, f"{nodes} × {plural(of_node, 'cage')}{more}"
    of_node = fabric.nics_per_node
    return nodes * of_node + extra, False, f"{nodes} × {plural(of_node, 'NIC')}, one each{more}"
