"""The links of a fabric port by port, as a cabling list in CSV and as an InfraGraph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import gcd

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, csv_table
from clusterspec.records import dataclass, replace
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
    one leaf.
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
    apart: bool = False
    """Whether each rail has spines of its own."""

    @property
    def nics_of_rail(self) -> int:
        return parts_needed(self.nics, self.rails)

    @property
    def nodes_per_leaf(self) -> int:
        """The number of nodes that fit one leaf. A leaf takes the NICs of one rail; without rails, all NICs."""
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
    """Each leaf spreads its uplinks evenly over the spines of its pod, or of its rail where rails are apart."""
    if not plane.spines:
        return
    used = [0] * plane.spines
    pods = plane.rails if plane.apart else plane.pods
    leaves_of_pod, spines_of_pod = parts_needed(plane.leaves, pods), plane.spines // pods
    for leaf in range(plane.leaves):
        pod, place = divmod(leaf, pods)[::-1] if plane.apart else divmod(leaf, leaves_of_pod)
        for uplink in range(plane.up):
            group = _switch_index(uplink, plane.up, place, spines_of_pod)
            spine = group * pods + pod
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
    below = parts_needed(parts_needed(plane.leaves, plane.pods) * plane.up, spines_of_pod)
    for spine in range(plane.spines):
        group, device = divmod(spine, spines_of_group)
        for uplink in range(up):
            core = group * cores_of_group + _switch_index(uplink, up, device, cores_of_group)
            used[core] += 1
            yield LinkEnd("spine", spine + 1, below + uplink + 1), LinkEnd("core", core + 1, used[core])


def _switch_index(uplink: int, uplinks: int, device: int, switches: int) -> int:
    """The index of the switch that an uplink of a device connects to: adjacent uplinks share a switch if the uplinks
    divide evenly, else all uplinks are assigned round robin.
    """
    if uplinks % switches == 0:
        return uplink * switches // uplinks
    return (device * uplinks + uplink) % switches


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
    per_rack = power.nodes_per_rack if power else None
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
        ends = (link.low.device, link.low.port_name, link.high.device, link.high.port_name)
        yield (number, link.level, *ends, rate, link.plane, rail, rack, _length_class(link, plane, per_rack))


def _length_class(link: Link, plane: FabricPlane, per_rack: int | None) -> str:
    """The length class of a link, from the number of racks that the nodes of a leaf occupy."""
    if not per_rack:
        return ""
    nodes = plane.nodes_per_leaf if link.level == "node_leaf" else plane.cluster.all_nodes
    racks = -(-min(nodes, plane.cluster.all_nodes) // per_rack)
    return "one-rack" if racks == 1 else "one-row" if racks <= ROW else "across-rows"


# InfraGraph: nodes, switches and links, with the fewest edges that slices allow.
#
# Grammar: Keysight/infragraph 3.1.0, infragraph.py: a device needs name, components, links and edges (line 1412), a
# component name, count and choice (line 1545), an edge its two ends and a link (lines 2463 and 2943)


def write_infragraph(source: ExportInput) -> ExportedFile:
    """One infrastructure. Only the first plane is written; the others are identical."""
    plane = fabric_plane(source)
    cluster, fabric = source.cluster, source.fabric
    scale_out = cluster.scale_out
    assert scale_out is not None
    ports = fabric.switch_ports or plane.down + plane.up
    omitted = [f"{fabric.planes - 1} further planes, each a copy of the first"] if fabric.planes > 1 else []
    out = [f"name: {source.name}", "devices:", *_server_lines(plane, scale_out, omitted)]
    out += ["- name: switch", "  components:", *_component_lines("cpu", "asic", 1, "switching chip")]
    out += [*_component_lines("port", "port", ports, "port"), "  links:", "  - name: internal", "  edges:"]
    out += _inner_edge("asic", "port", "internal")
    if plane.extra:
        out += ["- name: endpoint", "  components:", *_component_lines("cpu", "host", 1, "host of the endpoint")]
        out += [*_component_lines("nic", "nic", 1, "another endpoint of the fabric"), "  links:", "  - name: pcie"]
        out += ["  edges:", *_inner_edge("host", "nic", "pcie")]
    rate = scale_out.nic_bandwidth.value * 8 / 1e9 / scale_out.planes
    out += ["instances:", *_instance_lines(source), "links:", *_link_lines("fabric", "gigabits_per_second", rate)]
    out.append("edges:")
    for edge in _fabric_edges(link for link in fabric_links(source) if link.plane == 1):
        out += edge.lines()
    return ExportedFile("\n".join(out) + "\n", tuple(omitted))


def _server_lines(plane: FabricPlane, scale_out: ScaleOut, omitted: list[str]) -> Iterator[str]:
    """A node: its accelerators and NICs below one host, and the scale-up interconnect that lies within the node."""
    cluster, up = plane.cluster, plane.cluster.scale_up
    accelerators = cluster.accelerators_per_node
    switched, meshed = up.topology == "switched", up.topology == "full-mesh"
    inside = accelerators > 1 and up.domain > 1 and nodes_of_domain(cluster) == 1 and (switched or meshed)
    if up.domain > 1 and not inside:
        omitted.append(f"the scale-up domain: {up.topology} over {nodes_of_domain(cluster)} nodes")
    omitted.append("PCIe switches and the distance between NICs and accelerators: not stated")
    yield from ("- name: server", "  components:")
    yield from _component_lines("xpu", "xpu", accelerators, cluster.accelerator.name)
    yield from _component_lines("nic", "nic", plane.nics, scale_out.technology.name)
    yield from _component_lines("cpu", "host", 1, "processors and PCIe of the node")
    if inside and switched:
        yield from _component_lines("switch", "scaleup", 1, "switches of the scale-up domain")
    yield from ("  links:", "  - name: pcie")
    if inside:
        rate = up.bandwidth.value / (1 if switched else accelerators - 1)
        yield from (f"  {line}" for line in _link_lines("scale-up", "gigabytes_per_second", rate / 1e9))
    yield from ("  edges:", *_inner_edge("host", "xpu", "pcie"), *_inner_edge("host", "nic", "pcie"))
    if inside:
        yield from _inner_edge("xpu", "scaleup" if switched else "xpu", "scale-up")


def _link_lines(name: str, unit: str, rate: float) -> list[str]:
    """A link with its bandwidth per direction."""
    return [f"- name: {name}", "  physical:", f"    bandwidth: {{choice: {unit}, {unit}: {float(rate)!r}}}"]


def _inner_edge(one: str, other: str, link: str) -> list[str]:
    """An edge between every component of two kinds of one device."""
    return [
        f"  - ep1: {{component: {one}}}",
        f"    ep2: {{component: {other}}}",
        f"    scheme: many2many\n    link: {link}",
    ]


def _component_lines(choice: str, name: str, count: int, description: str) -> list[str]:
    plain = description.replace('"', "'")
    return [f"  - choice: {choice}", f"    name: {name}", f"    count: {count}", f'    description: "{plain}"']


def _instance_lines(source: ExportInput) -> Iterator[str]:
    plane, cluster = fabric_plane(source), source.cluster
    counts = (
        ("node", "server", cluster.nodes),
        ("spare", "server", cluster.spare_nodes),
        ("endpoint", "endpoint", plane.extra),
        ("leaf", "switch", plane.leaves),
        ("spine", "switch", plane.spines),
        ("core", "switch", plane.cores),
    )
    yield from (f"- {{name: {name}, device: {device}, count: {count}}}" for name, device, count in counts if count)


@dataclass(frozen=True)
class Edge:
    """Links from ``low_ports`` of each device of a range to consecutive ports of one switch."""

    low: str
    devices: range
    low_ports: range
    high: str
    high_device: int
    high_ports: range

    def lines(self) -> Iterator[str]:
        component = f"{_part_name(self.low)}{_slice_text(self.low_ports)}"
        low = f'{{instance: "{self.low}{_slice_text(self.devices)}", component: "{component}"}}'
        high = f'{{instance: "{self.high}[{self.high_device}]", component: "port{_slice_text(self.high_ports)}"}}'
        yield from (f"- ep1: {low}", f"  ep2: {high}", "  scheme: one2one", "  link: fabric")

    def merged_ports(self, other: Edge) -> Edge | None:
        """This edge merged with one between the same devices on the next ports; None if they are not adjacent."""
        if (
            self._link_place() != other._link_place()
            or self.devices != other.devices
            or self.low_ports.stop != other.low_ports.start
        ):
            return None
        return replace(
            self,
            low_ports=range(self.low_ports.start, other.low_ports.stop),
            high_ports=range(self.high_ports.start, other.high_ports.stop),
        )

    def merged_devices(self, other: Edge) -> Edge | None:
        """This edge merged with one of the next device on the same ports; None if they are not adjacent."""
        if (
            self._link_place() != other._link_place()
            or self.devices.stop != other.devices.start
            or self.low_ports != other.low_ports
        ):
            return None
        return replace(
            self,
            devices=range(self.devices.start, other.devices.stop),
            high_ports=range(self.high_ports.start, other.high_ports.stop),
        )

    def _link_place(self) -> tuple[str, str, int]:
        return self.low, self.high, self.high_device


def _slice_text(numbers: range) -> str:
    return f"[{numbers.start}:{numbers.stop}]"


def _part_name(kind: str) -> str:
    return "nic" if kind in {"node", "spare", "endpoint"} else "port"


def _fabric_edges(found: Iterator[Link]) -> list[Edge]:
    """The links as edges, merged over consecutive ports and devices."""
    ordered = sorted(found, key=lambda link: (link.level, link.high.number, link.high.port))
    edges = _merged_edges((_single_edge(link) for link in ordered), Edge.merged_ports)
    return _merged_edges(edges, Edge.merged_devices)


def _single_edge(link: Link) -> Edge:
    low, high = link.low, link.high
    first = low.port if _part_name(low.kind) == "nic" else low.port - 1
    return Edge(
        low.kind,
        range(low.number - 1, low.number),
        range(first, first + 1),
        high.kind,
        high.number - 1,
        range(high.port - 1, high.port),
    )


def _merged_edges(edges: Iterable[Edge], join: Callable[[Edge, Edge], Edge | None]) -> list[Edge]:
    out: list[Edge] = []
    for edge in edges:
        follows = bool(out) and out[-1].high_ports.stop == edge.high_ports.start
        whole = join(out[-1], edge) if follows else None
        if whole is None:
            out.append(edge)
        else:
            out[-1] = whole
    return out
