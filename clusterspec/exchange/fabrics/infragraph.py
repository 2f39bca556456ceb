"""Graphs of devices and hosts: InfraGraph infrastructures and NetQ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clusterspec.exchange.documents import Yaml, read_yaml
from clusterspec.exchange.fabrics.graph import FabricGraph, describe_graph
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.links import accelerator_of_product, rate_text
from clusterspec.records import dataclass, replace

# InfraGraph infrastructures: devices with components, instances of them, and the edges between instances.
#
# Grammar (Keysight/infragraph 3.1.0, OpenAPI models): ``instances`` name a device and a count; ``edges`` connect
# ``ep1`` to ``ep2``, each an ``instance`` and a ``component`` with Python slices, by a ``scheme`` (one2one, many2many);
# ``links`` carry a bandwidth. A component of choice ``device`` is a device itself, whose parts follow a dot

INFRAGRAPH = "infragraph"
MOST_EDGES = 500_000
_SLICE = re.compile(r"([A-Za-z0-9_ -]+?)(?:\[(-?[0-9]{0,9})(?:(:)(-?[0-9]{0,9})(?::(-?[0-9]{0,9}))?)?\])?")
_NIC = re.compile(r"nic|cx[0-9]|connectx|hca|bluefield|efa", re.IGNORECASE)
_APART = re.compile(r"\b(lom|mgmt|management|bmc|frontend|storage|1 ?gbe|10 ?gbe)(?![a-z])|frontend", re.IGNORECASE)
"""Names of adapters that are not on the fabric of the accelerators."""
_SEVERAL = re.compile(r"[0-9][A-Za-z]?[A-Za-z]? ?(?:/|or )\s?[A-Z]{1,8}[0-9]")
"""A description that names several accelerators, such as "H100 / H200"."""
_PROCESSORS = 4
"""Maximum number of processors of one node; a device with more contains several nodes."""


@dataclass(frozen=True)
class DeviceShape:
    """The components of a device with their counts, and the numbers of accelerators and NICs among them."""

    name: str
    components: Mapping[str, int]
    accelerators: int
    nics: int
    product: str | None = None
    """The catalog id of the accelerators, if their description names one."""
    processors: int = 0


def matches_infragraph(file: InputFile) -> bool:
    text = file.text
    return all(re.search(rf"^[ \t]*\"?{key}\"?\s*:", text, re.MULTILINE) for key in ("instances", "devices")) or bool(
        re.search(r"^[ \t]*+-?[ \t]*\"?choice\"?\s*:\s*\"?(xpu|npu)", text, re.MULTILINE)
    )


def read_infragraph(file: InputFile) -> ImportResult:
    """The nodes, switches and links of an infrastructure. Raises `FormatError` if it has another structure."""
    builder, yaml = ImportBuilder(INFRAGRAPH, file.name), read_yaml(file)
    root = yaml.mapping.get("infrastructure", yaml.mapping)
    try:
        if "components" in root and "instances" not in root:
            _record_node(_device_shape(root), builder, yaml.line("components"))
            return builder.reading()
        _record_infrastructure(root, yaml, builder)
    except KeyError as lacking:
        why = f"is not an InfraGraph infrastructure: it lacks {excerpt(lacking.args[0])!r}, or an instance names it"
        raise FormatError(why) from None
    except (TypeError, AttributeError, ValueError):
        raise FormatError("is not an InfraGraph infrastructure") from None
    return builder.reading()


def _device_shape(device: dict[str, Any]) -> DeviceShape:
    counts = {str(each["name"]): int(each.get("count", 1)) for each in device["components"]}
    choice = {str(each["name"]): str(each.get("choice", "")) for each in device["components"]}
    text = {str(each["name"]): f"{each['name']} {each.get('description', '')}" for each in device["components"]}
    accelerators = sum(count for name, count in counts.items() if choice[name] in {"xpu", "npu"})
    nics = sum(
        count
        for name, count in counts.items()
        if (choice[name] == "nic" or (choice[name] == "device" and _NIC.search(text[name])))
        and not _APART.search(text[name].replace("_", " "))
    )
    named = next((text[name] for name in counts if choice[name] in {"xpu", "npu"}), "")
    product = None if _SEVERAL.search(named) else accelerator_of_product(named)
    processors = sum(count for name, count in counts.items() if choice[name] == "cpu")
    return DeviceShape(str(device["name"]), counts, accelerators, nics, product, processors)


def _record_node(shape: DeviceShape, builder: ImportBuilder, line: int) -> None:
    builder.count("accelerators", shape.accelerators, line)
    builder.count("nics", shape.nics, line)
    if shape.processors > _PROCESSORS:
        why = f"the device has {shape.processors} processors: a rack of several nodes, which it does not tell apart"
        builder.unknown("cluster.accelerators_per_node", why, line)
        return
    if shape.accelerators:
        builder.set("cluster.accelerators_per_node", shape.accelerators, line)
        _set_product([shape], builder, line)
    if shape.nics:
        builder.set("cluster.scale_out.nics_per_node", shape.nics, line)


def _set_product(shapes: list[DeviceShape], builder: ImportBuilder, line: int) -> None:
    """Set the accelerator of devices if all their descriptions name the same one; else record it as unknown."""
    products = {shape.product for shape in shapes}
    if len(products) == 1 and (product := products.pop()):
        builder.set("cluster.accelerator", product, line)
    else:
        builder.unknown("cluster.accelerator", "the descriptions of devices name no accelerator, or several", line)


def _record_infrastructure(root: dict[str, Any], yaml: Yaml, builder: ImportBuilder) -> None:
    shapes = {shape.name: shape for shape in map(_device_shape, root["devices"])}
    instances = {
        str(each["name"]): (shapes[str(each["device"])], _bounded_count(int(each.get("count", 1))))
        for each in root["instances"]
    }
    graph = FabricGraph()
    for name, (shape, count) in instances.items():
        if not shape.accelerators and not shape.nics:
            ports = shape.components.get("port", 0)
            graph.switches |= {f"{name}.{number}": ports or None for number in range(_bounded_count(count))}
    rates: dict[str, set[float | None]] = {"node": set(), "switch": set()}
    links = {str(each["name"]): _link_rate(each) for each in root.get("links") or []}
    for edge in root.get("edges") or []:
        for one, other in _edge_ends(edge, instances):
            _add_link(one, other, graph)
        kind = (
            "node"
            if any(_name_and_slice(edge[end]["instance"])[0] in _node_names(instances) for end in ("ep1", "ep2"))
            else "switch"
        )
        rates[kind].add(links.get(str(edge.get("link"))))
    line = yaml.line("instances")
    nodes = [(shape, count) for shape, count in instances.values() if shape.accelerators]
    _record_nodes(nodes, builder, line)
    bare = {name for name, (shape, _) in instances.items() if shape.nics and not shape.accelerators}
    graph.others = {end for end, device in graph.hosts.items() if device and device.rpartition(".")[0] in bare}
    if graph.links:
        describe_graph(graph, builder, yaml.line("edges"))
        _record_spares(graph, instances, builder)
        _switch_ports(graph, builder, line)
    known = {rate for rate in rates["node"] if rate}
    if len(known) == 1:
        builder.set("cluster.scale_out.nic_bandwidth", rate_text(known.pop()), yaml.line("links"))


def _node_names(instances: Mapping[str, tuple[DeviceShape, int]]) -> set[str]:
    return {name for name, (shape, _) in instances.items() if shape.accelerators or shape.nics}


def _record_nodes(nodes: list[tuple[DeviceShape, int]], builder: ImportBuilder, line: int) -> None:
    builder.count("nodes", sum(count for _, count in nodes), line)
    if len({shape.accelerators for shape, _ in nodes}) == 1:
        builder.count("accelerators", sum(shape.accelerators * count for shape, count in nodes), line)
        builder.set("cluster.accelerators_per_node", nodes[0][0].accelerators, line)
        _set_product([shape for shape, _ in nodes], builder, line)


def _record_spares(
    graph: FabricGraph, instances: Mapping[str, tuple[DeviceShape, int]], builder: ImportBuilder
) -> None:
    """Record the nodes of instances named spare as spare nodes. The nodes of the graph are those with edges."""
    joined = {device for device in graph.hosts.values() if device and device.rpartition(".")[0] == "spare"}
    spares = sum(count for name, (shape, count) in instances.items() if name == "spare" and shape.accelerators)
    for at, given in enumerate(builder.given):
        if spares and given.path == ("cluster", "nodes") and isinstance(given.value, int):
            builder.given[at] = replace(given, value=given.value - len(joined))
            builder.set("cluster.spare_nodes", spares, given.at.line)


def _switch_ports(graph: FabricGraph, builder: ImportBuilder, line: int) -> None:
    ports = set(graph.switches.values())
    if len(ports) == 1 and (count := ports.pop()):
        builder.set("cluster.scale_out.switch_ports", count, line)


def _add_link(one: tuple[str, str, bool], other: tuple[str, str, bool], graph: FabricGraph) -> None:
    ends = []
    for device, component, node in (one, other):
        end = f"{device}/{component}" if node else device
        if node:
            graph.hosts[end] = device
            graph.rails[end] = ".".join(component.split(".")[:2])
        ends.append(end)
    graph.join(ends[0], ends[1])


def _edge_ends(edge: dict[str, Any], instances: Mapping[str, tuple[DeviceShape, int]]) -> list[tuple[Any, Any]]:
    if edge.get("scheme") not in {None, "one2one", "many2many"}:
        raise FormatError(f"an edge has the scheme {excerpt(edge['scheme'])!r}, which InfraGraph does not expand")
    sides = [_end_ports(edge[end], instances) for end in ("ep1", "ep2")]
    every = edge.get("many2many") is True or edge.get("scheme") == "many2many"
    size = len(sides[0]) * len(sides[1]) if every else max(map(len, sides))
    if size > MOST_EDGES:
        raise FormatError(f"more than {MOST_EDGES:,} links in one edge")
    if every:
        return [(one, other) for one in sides[0] for other in sides[1]]
    return list(zip(*sides, strict=False))


def _end_ports(end: dict[str, Any], instances: Mapping[str, tuple[DeviceShape, int]]) -> list[tuple[str, str, bool]]:
    """The ports at one end of an edge: device, component, and whether the device is a node."""
    name, text = _name_and_slice(end["instance"])
    shape, count = instances[name]
    node = name in _node_names(instances)
    devices = _slice_range(text, count)
    pieces = [""]
    for part in str(end["component"]).split("."):
        component, text = _name_and_slice(part)
        numbers = _slice_range(text, shape.components.get(component))
        if len(devices) * len(pieces) * len(numbers) > MOST_EDGES:
            raise FormatError(f"more than {MOST_EDGES:,} ports in one end of an edge")
        pieces = [f"{piece}.{component}.{number}".lstrip(".") for piece in pieces for number in numbers]
    return [(f"{name}.{device}", piece, node) for device in devices for piece in pieces]


def _name_and_slice(text: Any) -> tuple[str, re.Match[str]]:
    match = _SLICE.fullmatch(str(text))
    if not match:
        raise FormatError(f"{excerpt(text)!r} is not a name with a slice")
    return match[1], match


def _slice_range(match: re.Match[str], count: int | None) -> range:
    """The numbers that a slice selects from ``count``, as in Python; all of them without a slice.

    Raises `FormatError` if the slice needs a count that the file does not state, or is out of range.
    """
    first, colon, last, step = (match[group] for group in (2, 3, 4, 5))
    numbers = [int(text) if text else None for text in (first, last, step)]
    if count is None:
        if numbers[0] is None or (colon and numbers[1] is None) or min(each or 0 for each in numbers) < 0:
            raise FormatError(
                f"{excerpt(match[0])!r} needs the count of {excerpt(match[1])}, which its device does not state"
            )
        count = max(number or 0 for number in numbers) + 1
    count = _bounded_count(count)
    if first and not colon:
        at = numbers[0] or 0
        if not -count <= at < count:
            raise FormatError(f"{excerpt(match[0])!r} is outside of the {count} there are")
        return range(at % count, at % count + 1)
    if step == "0":
        raise FormatError(f"{excerpt(match[0])!r} has a step of 0")
    return range(*slice(*numbers).indices(count))


def _bounded_count(count: int) -> int:
    if not 0 <= count <= MOST_EDGES:
        raise FormatError(f"a count of {count:,}, more than {MOST_EDGES:,}")
    return count


def _link_rate(link: dict[str, Any]) -> float | None:
    """Gb/s of a link; None if it has none."""
    found = (link.get("physical") or link).get("bandwidth")
    if not isinstance(found, dict):
        return None
    if (bits := found.get("gigabits_per_second")) is not None:
        return float(bits)
    value = found.get("gigabytes_per_second", found.get("giga_bytes_per_second"))
    return float(value) * 8 if value is not None else None


# NetQ ``topologyGraph``: switches and the hosts found behind them over LLDP, as the JSON of its API.
#
# Grammar (NVIDIA NetQ, topology view): a list of graphs with ``nodes`` (tiers, each with ``compounded_nodes`` of a
# ``device_type``) and ``links`` (bundles, whose ``compounded_links`` join two ``interfaces``)

NETQ = "netq"


def matches_netq(file: InputFile) -> bool:
    return '"compounded_links"' in file.text or '"compounded_nodes"' in file.text


def read_netq(file: InputFile) -> ImportResult:
    """The fabric of a graph. Raises `FormatError` if the JSON has another structure."""
    builder = ImportBuilder(NETQ, file.name)
    graphs = file.json if isinstance(file.json, list) else [file.json]
    if not all(isinstance(graph, dict) and "links" in graph and "nodes" in graph for graph in graphs):
        raise FormatError("is not a NetQ topology graph: it has no links or no nodes")
    try:
        fabric = _fabric_graph(graphs)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise FormatError("a link or a node of the graph is not as NetQ writes it") from None
    describe_graph(fabric, builder, file.line_of_key("links"))
    builder.unknown("cluster.scale_out.nic_bandwidth", "the graph has no rates", file.line_of_key("links"))
    return builder.reading()


def _fabric_graph(graphs: list[dict[str, Any]]) -> FabricGraph:
    fabric, names, hosts = FabricGraph(), dict[str, str](), set[str]()
    for node in (node for graph in graphs for node in _listed_nodes(graph["nodes"])):
        names[node["id"]] = str(node.get("name") or node["id"])
        if node.get("device_type") == "switch":
            fabric.switches[node["id"]] = None
        else:
            hosts.add(node["id"])
    for one, other in (ends for graph in graphs for link in graph["links"] for ends in _link_ends(link)):
        (first, port), (second, back) = one, other
        a = f"{first}/{port}" if first in hosts else first
        b = f"{second}/{back}" if second in hosts else second
        for end, device in ((a, first), (b, second)):
            if device in hosts:
                fabric.hosts[end] = names[device]
        fabric.join(a, b)
    return fabric


def _listed_nodes(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        inner = node.get("compounded_nodes")
        if inner:
            yield from _listed_nodes(inner)
        elif node.get("node_type", "device") == "device":
            yield node


def _link_ends(link: dict[str, Any]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """The two ends of every link in a bundle, as node and interface."""
    for number, each in enumerate(link.get("compounded_links") or [link]):
        one, other = each["interfaces"]
        yield (
            (one["node"], str(one.get("interface", f"{link.get('id')}.{number}"))),
            (other["node"], str(other.get("interface", f"{link.get('id')}.{number}"))),
        )
