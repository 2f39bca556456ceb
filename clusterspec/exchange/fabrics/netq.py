"""NetQ ``topologyGraph``: switches and the hosts found behind them over LLDP, as the JSON of its API.

Grammar (NVIDIA NetQ, topology view): a list of graphs with ``nodes`` (tiers, each with ``compounded_nodes`` of a
``device_type``) and ``links`` (bundles, whose ``compounded_links`` join two ``interfaces``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.exchange.fabrics.graph import FabricGraph, describe_graph
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile

KIND = "netq"


def matches(file: InputFile) -> bool:
    return '"compounded_links"' in file.text or '"compounded_nodes"' in file.text


def read(file: InputFile) -> ImportResult:
    """The fabric of a graph. Raises `FormatError` if the JSON has another structure."""
    builder = ImportBuilder(KIND, file.name)
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
