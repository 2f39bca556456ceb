"""The links of a fabric port by port, as a cabling list in CSV and as an InfraGraph."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.cluster.cable_runs import racks_of_leaf
from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import rack_nodes
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, csv_table
from clusterspec.records import dataclass
from clusterspec.units import display_bits

# The links of a fabric port by port, as many as the bill of materials counts

MAX_LINKS = 500_000


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Link:
    """A link: its level (a key of `cluster.scale_out.links`), its plane from 1, and its two ends."""

    level: str
    plane: int
    low: LinkEnd
    high: LinkEnd


@dataclass(frozen=True)
class FabricPlane:
    """The switches of one fabric plane, and how nodes share leaves.

    ``rails`` is 1 if the NICs of a node use adjacent ports, as on a single leaf; ``nodes_per_leaf`` nodes have a NIC on
    one leaf. ``leaf_spine`` is the number of links between leaves and spines, which may be fewer than the leaves have
    ports ``up`` for.
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
    leaf_spine: int
    spine_core: int
    apart: bool = False
    """Whether each rail has separate spines."""

    @property
    def nics_of_rail(self) -> int:
        return parts_needed(self.nics, self.rails)

    @property
    def nodes_per_leaf(self) -> int:
        """The number of nodes per leaf. A leaf connects the NICs of one rail, or all NICs if there are no rails."""
        return max(1, self.down // self.nics_of_rail)

    def uplinks_of(self, leaf: int) -> int:
        """The number of links of a leaf (from 0) to spines; some leaves have one more than others."""
        trees = self.rails if self.apart else 1
        each, more = divmod(self.leaf_spine // trees, self.leaves // trees)
        return each + (leaf // trees < more)


def fabric_plane(source: ExportInput) -> FabricPlane:
    """The first plane of a fabric. Raises `NotExportable` if only the number of switches per level is known, or if it
    is too large.
    """
    cluster, fabric = source.cluster, source.fabric
    scale_out = cluster.scale_out
    assert scale_out is not None
    if scale_out.levels:
        raise NotExportable("its levels state the nodes below a switch, not how switches are connected")
    if sum(fabric.links.values()) > MAX_LINKS:
        raise NotExportable(f"more than {MAX_LINKS:,} links")
    leaves = _count_of_plane(fabric.leaf_switches, fabric)
    rails = _rail_count(scale_out) if leaves > 1 else 1
    apart = scale_out.topology == "rail-only" and fabric.tiers > 1
    if apart and fabric.core_switches:
        raise NotExportable("the three tiers of each rail are counted, not wired")
    return FabricPlane(
        cluster=cluster,
        leaves=leaves,
        spines=_count_of_plane(fabric.spine_switches, fabric),
        cores=_count_of_plane(fabric.core_switches, fabric),
        pods=fabric.pods,
        down=fabric.down_ports,
        up=fabric.up_ports,
        rails=rails,
        nics=scale_out.nics_per_node,
        extra=scale_out.extra_endpoints,
        leaf_spine=_count_of_plane(fabric.links["leaf_spine"], fabric),
        spine_core=_count_of_plane(fabric.links["spine_core"], fabric),
        apart=apart,
    )


def _rail_count(scale_out: ScaleOut) -> int:
    """The rails of a rail fabric; 1 for other topologies."""
    return max(1, scale_out.rails) if scale_out.topology in RAIL_TOPOLOGIES else 1


def _count_of_plane(count: int, fabric: Fabric) -> int:
    return count // max(1, fabric.planes)


def fabric_links(source: ExportInput) -> Iterator[Link]:
    """Every link, plane by plane, from the nodes upward."""
    plane = fabric_plane(source)
    for number in range(1, source.fabric.planes + 1):
        for level, ends in (("node_leaf", _downlinks), ("leaf_spine", _uplinks), ("spine_core", _corelinks)):
            yield from (Link(level, number, low, high) for low, high in ends(plane))


def leaf_of(plane: FabricPlane, node: int, nic: int) -> int:
    """The leaf, from 0, to which a NIC of a node is connected; node and NIC count from 0.

    Where there are fewer leaves than rails, adjacent rails share one.
    """
    if plane.rails > 1:
        rail, leaves = nic % plane.rails, min(plane.leaves, plane.rails)
        return (node // plane.nodes_per_leaf) * plane.rails + rail * leaves // plane.rails
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
    """The uplinks of each leaf, spread evenly over the spines of its pod, or of its rail if rails are separate."""
    if not plane.spines:
        return
    used = [0] * plane.spines
    pods = plane.rails if plane.apart else plane.pods
    leaves_of_pod, spines_of_pod = parts_needed(plane.leaves, pods), plane.spines // pods
    before = [0] * pods  # uplinks of the leaves of a pod so far
    for leaf in range(plane.leaves):
        pod = leaf % pods if plane.apart else leaf // leaves_of_pod
        uplinks, first = plane.uplinks_of(leaf), before[pod]
        before[pod] += uplinks
        for uplink in range(uplinks):
            group = _switch_index(uplink, uplinks, first, spines_of_pod)
            spine = group * pods + pod
            used[spine] += 1
            yield LinkEnd("leaf", leaf + 1, plane.down + uplink + 1), LinkEnd("spine", spine + 1, used[spine])


def _corelinks(plane: FabricPlane) -> Iterator[tuple[LinkEnd, LinkEnd]]:
    """Each spine spreads its uplinks over the cores of its group.

    The number of groups is the greatest common divisor of the spines of a pod and the cores. Spines of one pod are
    numbered consecutively within a group, so that every core of the group carries equally many links of the pod.
    """
    if not plane.cores:
        return
    used = [0] * plane.cores
    spines_of_pod = plane.spines // plane.pods
    groups = gcd(spines_of_pod, plane.cores)
    up, cores_of_group, spines_of_group = (
        plane.spine_core // plane.spines,
        plane.cores // groups,
        spines_of_pod // groups,
    )
    below = parts_needed(parts_needed(plane.leaves, plane.pods) * plane.up, spines_of_pod)
    for spine in range(plane.spines):
        place, pod = divmod(spine, plane.pods)
        group, place_in_group = divmod(place, spines_of_group)
        device = pod * spines_of_group + place_in_group
        for uplink in range(up):
            core = group * cores_of_group + _switch_index(uplink, up, device * up, cores_of_group)
            used[core] += 1
            yield LinkEnd("spine", spine + 1, below + uplink + 1), LinkEnd("core", core + 1, used[core])


def _switch_index(uplink: int, uplinks: int, first: int, switches: int) -> int:
    """The index of the switch to which an uplink of a device connects. Adjacent uplinks share a switch if the uplinks
    divide evenly. Otherwise uplinks are assigned round robin; ``first`` is the number of uplinks of the devices before.
    """
    if uplinks % switches == 0:
        return uplink * switches // uplinks
    return (first + uplink) % switches


# Cabling list as CSV: from port, to port, rate, rail, plane, and the length class if racks are known

HEADS = (
    "link",
    "level",
    "from_device",
    "from_port",
    "to_device",
    "to_port",
    "rate",
    "plane",
    "rail",
    "from_rack",
    "length_class",
)
ROW = 16
"""Maximum racks of the length class `one-row`."""


def write_cabling(source: ExportInput) -> ExportedFile:
    """One row per link, as many as the bill of materials counts."""
    plane = fabric_plane(source)
    power = source.design.spec.cluster.power if source.design.spec.cluster else None
    per_rack = rack_nodes(source.cluster, power.nodes_per_rack if power else None)
    omitted = () if per_rack else ("length classes: cluster.power.nodes_per_rack is not stated",)
    return ExportedFile(csv_table(HEADS, _cable_rows(source, plane, per_rack)), omitted)


def _cable_rows(source: ExportInput, plane: FabricPlane, per_rack: int | None) -> Iterator[tuple[object, ...]]:
    scale_out = source.cluster.scale_out
    assert scale_out is not None
    rate, rails = display_bits(scale_out.nic_bandwidth.value / scale_out.planes), _rail_count(scale_out)
    for number, link in enumerate(fabric_links(source), 1):
        node = link.low.kind in {"node", "spare"}
        rail = link.low.port % rails + 1 if node and rails > 1 else ""
        place = link.low.number - 1 + (source.cluster.nodes if link.low.kind == "spare" else 0)
        rack = f"rack{place // per_rack + 1:03d}" if node and per_rack else ""
        ends = (*end_names(link.low, link.plane, scale_out.planes), *end_names(link.high, link.plane, scale_out.planes))
        yield (number, link.level, *ends, rate, link.plane, rail, rack, _length_class(link, plane, per_rack))


def end_names(end: LinkEnd, plane: int, planes: int) -> tuple[str, str]:
    """The names of the device and the port at an end. With several ``planes``, each has its own switches, and a NIC has
    a port in each.

    >>> end_names(LinkEnd("leaf", 1, 3), 2, 4), end_names(LinkEnd("node", 1, 3), 2, 4)
    (('leaf0001-plane2', '3'), ('node0001', 'nic3-plane2'))
    >>> end_names(LinkEnd("leaf", 1, 3), 1, 1)
    ('leaf0001', '3')
    """
    suffix = f"-plane{plane}" if planes > 1 else ""
    own = end.kind in {"leaf", "spine", "core"}
    return end.device + suffix * own, end.port_name + suffix * (not own)


def _length_class(link: Link, plane: FabricPlane, per_rack: int | None) -> str:
    """The length class of a link, from the number of racks of the nodes of a leaf."""
    if not per_rack:
        return ""
    whole = parts_needed(plane.cluster.all_nodes, per_rack)
    racks = racks_of_leaf(plane.cluster, per_rack, plane.down) if link.level == "node_leaf" else whole
    return "one-rack" if racks == 1 else "one-row" if racks <= ROW else "across-rows"
