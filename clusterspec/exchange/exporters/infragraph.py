"""InfraGraph: nodes, switches and links, with the fewest edges that slices allow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput
from clusterspec.exchange.exporters.wiring import Link, fabric_plane, links
from clusterspec.records import dataclass, replace


def write(source: ExportInput) -> ExportedFile:
    """One infrastructure. Only the first plane is written; the others are identical."""
    plane = fabric_plane(source)
    cluster, fabric = source.cluster, source.fabric
    scale_out = cluster.scale_out
    assert scale_out is not None
    ports = fabric.switch_ports or plane.down + plane.up
    rate = scale_out.nic_bandwidth.value * 8 / 1e9 / scale_out.planes
    out = [f"name: {source.name}", "devices:", "- name: server", "  components:"]
    out += _component("xpu", "xpu", cluster.accelerators_per_node, cluster.accelerator.name)
    out += _component("nic", "nic", plane.nics, scale_out.technology.name)
    out += ["- name: switch", "  components:", *_component("cpu", "asic", 1, "switching chip")]
    out += _component("port", "port", ports, "port")
    if plane.extra:
        out += ["- name: endpoint", "  components:", *_component("nic", "nic", 1, "another endpoint of the fabric")]
    out += ["instances:", *_instances(source)]
    out += ["links:", "- name: fabric", "  physical:", "    bandwidth:", "      choice: gigabits_per_second"]
    out += [f"      gigabits_per_second: {rate:g}", "edges:"]
    first = (link for link in links(source) if link.plane == 1)
    for edge in _edges(first):
        out += edge.lines()
    omitted = (f"{fabric.planes - 1} further planes, each a copy of the first",) if fabric.planes > 1 else ()
    return ExportedFile("\n".join(out) + "\n", omitted)


def _component(choice: str, name: str, count: int, description: str) -> list[str]:
    plain = description.replace('"', "'")
    return [f"  - choice: {choice}", f"    name: {name}", f"    count: {count}", f'    description: "{plain}"']


def _instances(source: ExportInput) -> Iterator[str]:
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


@dataclass(frozen=True, slots=True)
class Edge:
    """Links from ``low_ports`` of each device of a range to consecutive ports of one switch."""

    low: str
    devices: range
    low_ports: range
    high: str
    high_device: int
    high_ports: range

    def lines(self) -> Iterator[str]:
        low = (
            f'{{instance: "{self.low}{_slice(self.devices)}", component: "{_part(self.low)}{_slice(self.low_ports)}"}}'
        )
        high = f'{{instance: "{self.high}[{self.high_device}]", component: "port{_slice(self.high_ports)}"}}'
        yield from (f"- ep1: {low}", f"  ep2: {high}", "  scheme: one2one", "  link: fabric")

    def with_ports(self, other: Edge) -> Edge | None:
        """This edge merged with one between the same devices on the next ports; None if they are not adjacent."""
        if (
            self._place() != other._place()
            or self.devices != other.devices
            or self.low_ports.stop != other.low_ports.start
        ):
            return None
        return replace(
            self,
            low_ports=range(self.low_ports.start, other.low_ports.stop),
            high_ports=range(self.high_ports.start, other.high_ports.stop),
        )

    def with_devices(self, other: Edge) -> Edge | None:
        """This edge merged with one of the next device on the same ports; None if they are not adjacent."""
        if (
            self._place() != other._place()
            or self.devices.stop != other.devices.start
            or self.low_ports != other.low_ports
        ):
            return None
        return replace(
            self,
            devices=range(self.devices.start, other.devices.stop),
            high_ports=range(self.high_ports.start, other.high_ports.stop),
        )

    def _place(self) -> tuple[str, str, int]:
        return self.low, self.high, self.high_device


def _slice(numbers: range) -> str:
    return f"[{numbers.start}:{numbers.stop}]"


def _part(kind: str) -> str:
    return "nic" if kind in {"node", "spare", "endpoint"} else "port"


def _edges(found: Iterator[Link]) -> list[Edge]:
    """The links as edges, merged over consecutive ports and devices."""
    ordered = sorted(found, key=lambda link: (link.level, link.high.number, link.high.port))
    edges = _merged((_one(link) for link in ordered), Edge.with_ports)
    return _merged(edges, Edge.with_devices)


def _one(link: Link) -> Edge:
    low, high = link.low, link.high
    first = low.port if _part(low.kind) == "nic" else low.port - 1
    return Edge(
        low.kind,
        range(low.number - 1, low.number),
        range(first, first + 1),
        high.kind,
        high.number - 1,
        range(high.port - 1, high.port),
    )


def _merged(edges: Iterable[Edge], join: Callable[[Edge, Edge], Edge | None]) -> list[Edge]:
    out: list[Edge] = []
    for edge in edges:
        follows = bool(out) and out[-1].high_ports.stop == edge.high_ports.start
        whole = join(out[-1], edge) if follows else None
        if whole is None:
            out.append(edge)
        else:
            out[-1] = whole
    return out
