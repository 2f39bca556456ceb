"""InfraGraph: nodes, switches and links, with the fewest edges that slices allow.

Grammar: Keysight/infragraph 3.1.0, infragraph.py: a device needs name, components, links and edges (line 1412), a
component name, count and choice (line 1545), an edge its two ends and a link (lines 2463 and 2943).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import ScaleOut
from clusterspec.exchange.exporters.fabric import FabricPlane, Link, fabric_links, fabric_plane
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput
from clusterspec.records import dataclass, replace


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
    """A node: its accelerators and NICs below one host, and the scale-up interconnect inside the node."""
    cluster, up = plane.cluster, plane.cluster.scale_up
    accelerators = cluster.accelerators_per_node
    switched, meshed = up.topology == "switched", up.topology == "full-mesh"
    inside = accelerators > 1 and up.domain > 1 and nodes_of_domain(cluster) == 1 and (switched or meshed)
    if up.domain > 1 and not inside:
        omitted.append(f"the scale-up domain: {up.topology} over {nodes_of_domain(cluster)} nodes")
    omitted.append("PCIe switches and the distance between NICs and accelerators: not stated")
    yield from ("- name: server", "  components:")
    yield from _component_lines("xpu", "xpu", accelerators, cluster.accelerator.name)
    yield from _component_lines("nic", "nic", plane.nics, (scale_out.nic or scale_out.technology).name)
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
