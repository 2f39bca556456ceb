"""Racks and electrical power of nodes, spare nodes and switches."""

from __future__ import annotations

from clusterspec.cluster.clos import parts
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster
from clusterspec.origin import Written
from clusterspec.quantity import Figure
from clusterspec.records import dataclass
from clusterspec.spec.model import PowerSpec


@dataclass(frozen=True, slots=True)
class PowerDraw:
    """The power of each part of the machine at full load in watts; None if unknown.

    ``nodes`` and ``switches`` are the installed numbers, including spares. ``racks`` is None if
    `cluster.power.nodes_per_rack` is missing; racks with only switches are not counted.
    """

    node: Figure | None
    nodes: int
    switch: Figure | None
    switches: int
    rack_overhead: Figure
    racks: int | None

    @property
    def missing(self) -> tuple[str, ...]:
        """The figures missing from the sum."""
        lacking = []
        if self.node is None:
            lacking.append("power of a node (`cluster.power.node`)")
        if self.switch is None and self.switches:
            lacking.append("power of a switch (`cluster.power.switch`)")
        return tuple(lacking)


def power_draw(cluster: Cluster, fabric: Fabric | None, written: PowerSpec | None) -> PowerDraw:
    """The power of the machine from the spec, else from the catalog entries of platform and switch."""
    per_rack = written.nodes_per_rack if written else None
    switches = fabric.leaf_switches + fabric.spine_switches + fabric.core_switches if fabric else 0
    overhead = written.rack_overhead.value if written and written.rack_overhead else 0.0
    return PowerDraw(
        node=cluster.node_power,
        nodes=cluster.all_nodes,
        switch=_switch_power(cluster, written),
        switches=switches,
        rack_overhead=Figure(overhead, "W", Written("cluster.power.rack_overhead")),
        racks=parts(cluster.all_nodes, per_rack) if per_rack else None,
    )


def _switch_power(cluster: Cluster, written: PowerSpec | None) -> Figure | None:
    if written is not None and written.switch is not None:
        return Figure(written.switch.value, "W", Written("cluster.power.switch"))
    switch = cluster.scale_out.switch if cluster.scale_out else None
    return switch.power if switch else None
