"""The links of a fabric port by port, as many as the bill of materials counts.

Nodes, leaves, spines and cores are numbered from 1. In a rail fabric the NICs of one rail share a leaf; otherwise the
NICs of a node use adjacent ports. Spines are numbered pod by pod, and within a pod by the cores they connect to.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.cluster.clos import parts
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.exchange.exporters.export_input import ExportInput, NotExportable
from clusterspec.records import dataclass

MAX_LINKS = 500_000


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """One end of a link: device kind (node, spare, endpoint, leaf, spine, core), device number and port."""

    kind: str
    number: int
    port: int

    @property
    def device(self) -> str:
        return f"{self.kind}{self.number:04d}"

    @property
    def port_name(self) -> str:
        return f"nic{self.port}" if self.kind in {"node", "spare"} else f"{self.port}"


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its level (a key of `cluster.scale_out.links`), its plane from 1, and its two ends."""

    level: str
    plane: int
    low: LinkEnd
    high: LinkEnd


@dataclass(frozen=True, slots=True)
class FabricPlane:
    """The switches of one fabric plane, and how nodes share leaves.

    ``rails`` is 1 if the NICs of a node use adjacent ports; ``nodes_per_leaf`` nodes have a NIC on one leaf.
    """

    cluster: Cluster
    leaves: int
    spines: int
    cores: int
    pods: int
    down: int
    up: int
    rails: int
    nics: int
    extra: int
    spine_core: int

    @property
    def nics_of_rail(self) -> int:
        return parts(self.nics, self.rails)

    @property
    def nodes_per_leaf(self) -> int:
        """The number of nodes whose NICs of one rail (all NICs without rails) fit one leaf."""
        return max(1, self.down // self.nics_of_rail)


def fabric_plane(source: ExportInput) -> FabricPlane:
    """The first plane of a fabric. Raises `NotExportable` if its levels are only counted, or it is too large."""
    cluster, fabric = source.cluster, source.fabric
    scale_out = cluster.scale_out
    assert scale_out is not None
    if scale_out.levels:
        raise NotExportable("its levels state the nodes below a switch, not how switches are connected")
    if sum(fabric.links.values()) > MAX_LINKS:
        raise NotExportable(f"more than {MAX_LINKS:,} links")
    rails = scale_out.rails if scale_out.topology in RAIL_TOPOLOGIES else 1
    return FabricPlane(
        cluster=cluster,
        leaves=_of_plane(fabric.leaf_switches, fabric),
        spines=_of_plane(fabric.spine_switches, fabric),
        cores=_of_plane(fabric.core_switches, fabric),
        pods=fabric.pods,
        down=fabric.down_ports,
        up=fabric.up_ports,
        rails=max(1, rails),
        nics=scale_out.nics_per_node,
        extra=scale_out.extra_endpoints,
        spine_core=_of_plane(fabric.links["spine_core"], fabric),
    )


def _of_plane(count: int, fabric: Fabric) -> int:
    return count // max(1, fabric.planes)


def links(source: ExportInput) -> Iterator[Link]:
    """Every link, plane by plane, from the nodes upward."""
    plane = fabric_plane(source)
    for number in range(1, source.fabric.planes + 1):
        for level, ends in (("node_leaf", _downlinks), ("leaf_spine", _uplinks), ("spine_core", _corelinks)):
            yield from (Link(level, number, low, high) for low, high in ends(plane))


def leaf_of(plane: FabricPlane, node: int, nic: int) -> int:
    """The leaf, from 0, to which a NIC of a node is connected; node and NIC count from 0."""
    if plane.rails > 1:
        return (node // plane.nodes_per_leaf) * plane.rails + nic % plane.rails
    return (node * plane.nics + nic) // plane.down


def _downlinks(plane: FabricPlane) -> Iterator[tuple[LinkEnd, LinkEnd]]:
    used = [0] * plane.leaves
    nodes, working = plane.cluster.all_nodes, plane.cluster.nodes
    for node in range(nodes):
        name, number = ("node", node + 1) if node < working else ("spare", node - working + 1)
        for nic in range(plane.nics):
            leaf = leaf_of(plane, node, nic)
            used[leaf] += 1
            yield LinkEnd(name, number, nic), LinkEnd("leaf", leaf + 1, used[leaf])
    for number in range(plane.extra):
        leaf = min(range(plane.leaves), key=lambda each: used[each])
        used[leaf] += 1
        yield LinkEnd("endpoint", number + 1, 0), LinkEnd("leaf", leaf + 1, used[leaf])


def _uplinks(plane: FabricPlane) -> Iterator[tuple[LinkEnd, LinkEnd]]:
    """Each leaf spreads its uplinks evenly over the spines of its pod."""
    if not plane.spines:
        return
    used = [0] * plane.spines
    leaves_of_pod, spines_of_pod = parts(plane.leaves, plane.pods), plane.spines // plane.pods
    for leaf in range(plane.leaves):
        pod = leaf // leaves_of_pod
        for uplink in range(plane.up):
            group = _spread(uplink, plane.up, leaf % leaves_of_pod, spines_of_pod)
            spine = group * plane.pods + pod
            used[spine] += 1
            yield LinkEnd("leaf", leaf + 1, plane.down + uplink + 1), LinkEnd("spine", spine + 1, used[spine])


def _corelinks(plane: FabricPlane) -> Iterator[tuple[LinkEnd, LinkEnd]]:
    """Each spine spreads its uplinks over the cores of its group: as many groups as divide both rows."""
    if not plane.cores:
        return
    used = [0] * plane.cores
    spines_of_pod = plane.spines // plane.pods
    groups = gcd(spines_of_pod, plane.cores)
    up, cores_of_group, spines_of_group = (
        plane.spine_core // plane.spines,
        plane.cores // groups,
        plane.spines // groups,
    )
    below = parts(parts(plane.leaves, plane.pods) * plane.up, spines_of_pod)
    for spine in range(plane.spines):
        group, device = divmod(spine, spines_of_group)
        for uplink in range(up):
            core = group * cores_of_group + _spread(uplink, up, device, cores_of_group)
            used[core] += 1
            yield LinkEnd("spine", spine + 1, below + uplink + 1), LinkEnd("core", core + 1, used[core])


def _spread(uplink: int, uplinks: int, device: int, switches: int) -> int:
    """The index of the switch that an uplink of a device connects to: adjacent uplinks share a switch if the uplinks
    divide evenly, else all uplinks are assigned round robin.
    """
    if uplinks % switches == 0:
        return uplink * switches // uplinks
    return (device * uplinks + uplink) % switches
