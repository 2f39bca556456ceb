"""Every link of a counted fabric: from which port to which, as many as the bill of materials counts.

Nodes, leaves, spines and cores are numbered from 1. In a rail fabric the NICs of one rail share a leaf; elsewhere the
NICs of a node take neighboring ports. Spines are numbered by the cores that they reach, pod after pod.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import parts
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.exchange.exporters.source import NotExportable, Source
from clusterspec.records import dataclass

MOST_LINKS = 500_000


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link: the kind of device (node, spare, endpoint, leaf, spine, core), its number and its port."""

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
    """A link between two ends, its level (a key of `cluster.scale_out.links`), and its plane from 1."""

    level: str
    plane: int
    low: End
    high: End


@dataclass(frozen=True, slots=True)
class Plane:
    """The switches of one plane, and how nodes share leaves.

    ``rails`` is 1 where NICs take neighboring ports; ``nodes_per_leaf`` nodes have a NIC on one leaf.
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
        """Nodes whose NICs of one rail (of all NICs without rails) fit one leaf."""
        return max(1, self.down // self.nics_of_rail)


def plane_of(source: Source) -> Plane:
    """One plane of a fabric. Raises `NotExportable` where the fabric is described level by level, or is too large."""
    cluster, fabric = source.cluster, source.fabric
    scale_out = cluster.scale_out
    assert scale_out is not None
    if scale_out.levels:
        raise NotExportable("its levels state how many nodes lie below each, not which switch joins which")
    if sum(fabric.links.values()) > MOST_LINKS:
        raise NotExportable(f"more than {MOST_LINKS:,} links")
    rails = scale_out.rails if scale_out.topology in RAIL_TOPOLOGIES else 1
    return Plane(
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


def links(source: Source) -> Iterator[Link]:
    """Every link, plane by plane, from the nodes upward."""
    plane = plane_of(source)
    for number in range(1, source.fabric.planes + 1):
        for level, ends in (("node_leaf", _downlinks), ("leaf_spine", _uplinks), ("spine_core", _corelinks)):
            yield from (Link(level, number, low, high) for low, high in ends(plane))


def leaf_of(plane: Plane, node: int, nic: int) -> int:
    """The leaf, from 0, that a NIC of a node is joined to; both count from 0."""
    if plane.rails > 1:
        return (node // plane.nodes_per_leaf) * plane.rails + nic % plane.rails
    return (node * plane.nics + nic) // plane.down


def _downlinks(plane: Plane) -> Iterator[tuple[End, End]]:
    used = [0] * plane.leaves
    nodes, working = plane.cluster.all_nodes, plane.cluster.nodes
    for node in range(nodes):
        name, number = ("node", node + 1) if node < working else ("spare", node - working + 1)
        for nic in range(plane.nics):
            leaf = leaf_of(plane, node, nic)
            used[leaf] += 1
            yield End(name, number, nic), End("leaf", leaf + 1, used[leaf])
    for number in range(plane.extra):
        leaf = min(range(plane.leaves), key=lambda each: used[each])
        used[leaf] += 1
        yield End("endpoint", number + 1, 0), End("leaf", leaf + 1, used[leaf])


def _uplinks(plane: Plane) -> Iterator[tuple[End, End]]:
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
            yield End("leaf", leaf + 1, plane.down + uplink + 1), End("spine", spine + 1, used[spine])


def _corelinks(plane: Plane) -> Iterator[tuple[End, End]]:
    """Each spine spreads its uplinks over the cores of its group."""
    if not plane.cores:
        return
    used = [0] * plane.cores
    spines_of_pod = plane.spines // plane.pods
    up, cores_of_group = plane.spine_core // plane.spines, plane.cores // spines_of_pod
    below = parts(plane.leaves, plane.pods) * plane.up // spines_of_pod
    for spine in range(plane.spines):
        group = spine // plane.pods
        for uplink in range(up):
            core = group * cores_of_group + _spread(uplink, up, spine % plane.pods, cores_of_group)
            used[core] += 1
            yield End("spine", spine + 1, below + uplink + 1), End("core", core + 1, used[core])


def _spread(uplink: int, uplinks: int, device: int, switches: int) -> int:
    """Which of the switches above an uplink of a device reaches: neighbors share one where the uplinks divide, else
    all uplinks of all devices take the switches in turn.
    """
    if uplinks % switches == 0:
        return uplink * switches // uplinks
    return (device * uplinks + uplink) % switches
