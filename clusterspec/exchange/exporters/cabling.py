"""Cabling list as CSV: from port, to port, rate, rail, plane, and the length class if racks are known."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput, table
from clusterspec.exchange.exporters.wiring import FabricPlane, Link, fabric_plane, links
from clusterspec.units import display_bits

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


def write(source: ExportInput) -> ExportedFile:
    """One row per link, as many as the bill of materials counts."""
    plane = fabric_plane(source)
    power = source.design.spec.cluster.power if source.design.spec.cluster else None
    per_rack = power.nodes_per_rack if power else None
    omitted = () if per_rack else ("length classes: cluster.power.nodes_per_rack is not stated",)
    return ExportedFile(table(HEADS, _rows(source, plane, per_rack)), omitted)


def _rows(source: ExportInput, plane: FabricPlane, per_rack: int | None) -> Iterator[tuple[object, ...]]:
    scale_out = source.cluster.scale_out
    assert scale_out is not None
    rate = display_bits(scale_out.nic_bandwidth.value / scale_out.planes)
    for number, link in enumerate(links(source), 1):
        node = link.low.kind in {"node", "spare"}
        rail = link.low.port % plane.rails + 1 if node and plane.rails > 1 else ""
        place = link.low.number - 1 + (source.cluster.nodes if link.low.kind == "spare" else 0)
        rack = f"rack{place // per_rack + 1:03d}" if node and per_rack else ""
        ends = (link.low.device, link.low.port_name, link.high.device, link.high.port_name)
        yield (number, link.level, *ends, rate, link.plane, rail, rack, _length(link, plane, per_rack))


def _length(link: Link, plane: FabricPlane, per_rack: int | None) -> str:
    """The length class of a link, from the number of racks that the nodes of a leaf occupy."""
    if not per_rack:
        return ""
    nodes = plane.nodes_per_leaf if link.level == "node_leaf" else plane.cluster.all_nodes
    racks = -(-min(nodes, plane.cluster.all_nodes) // per_rack)
    return "one-rack" if racks == 1 else "one-row" if racks <= ROW else "across-rows"
