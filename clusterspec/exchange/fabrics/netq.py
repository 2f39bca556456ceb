"""NetQ ``topologyGraph``: switches and the hosts found behind them over LLDP, as the JSON of its API.

Grammar (NVIDIA NetQ, topology view): a list of graphs with ``nodes`` (tiers, each with ``compounded_nodes`` of a
``device_type``) and ``links`` (bundles, whose ``compounded_links`` join two ``interfaces``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clusterspec.exchange.fabrics.graph import FabricGraph, describe
from clusterspec.exchange.files import InputFile
from clusterspec.exchange.reading import Notes, Reading, Refusal

KIND = "netq"


def suits(file: InputFile) -> bool:
    return '"compounded_links"' in file.text or '"compounded_nodes"' in file.text


def read(file: InputFile) -> Reading:
    """The fabric behind a graph. Raises `Refusal` where the JSON has another form."""
    notes = Notes(KIND, file.name)
    graphs = file.json if isinstance(file.json, list) else [file.json]
    if not all(isinstance(graph, dict) and "links" in graph and "nodes" in graph for graph in graphs):
        raise Refusal("is no topology graph of NetQ: it has no links or no nodes")
    try:
        fabric = _fabric(graphs)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise Refusal("a link or a node of the graph has not the form that NetQ writes") from None
    describe(fabric, notes, file.line_of_key("links"))
    notes.unknown("cluster.scale_out.nic_bandwidth", "the graph holds no rates", file.line_of_key("links"))
    return notes.reading()


def _fabric(graphs: list[dict[str, Any]]) -> FabricGraph:
    fabric, names, hosts = FabricGraph(), dict[str, str](), set[str]()
    for node in (node for graph in graphs for node in _nodes(graph["nodes"])):
        names[node["id"]] = str(node.get("name") or node["id"])
        if node.get("device_type") == "switch":
            fabric.switches[node["id"]] = None
        else:
            hosts.add(node["id"])
    for one, other in (ends for graph in graphs for link in graph["links"] for ends in _ends(link)):
        (first, port), (second, back) = one, other
        a = f"{first}/{port}" if first in hosts else first
        b = f"{second}/{back}" if second in hosts else second
        for end, device in ((a, first), (b, second)):
            if device in hosts:
                fabric.hosts[end] = names[device]
        fabric.join(a, b)
    return fabric


def _nodes(nodes: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for node in nodes:
        inner = node.get("compounded_nodes")
        if inner:
            yield from _nodes(inner)
        elif node.get("node_type", "device") == "device":
            yield node


def _ends(link: dict[str, Any]) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """The two ends of every link in a bundle, as node and interface."""
    for number, each in enumerate(link.get("compounded_links") or [link]):
        one, other = each["interfaces"]
        yield (
            (one["node"], str(one.get("interface", f"{link.get('id')}.{number}"))),
            (other["node"], str(other.get("interface", f"{link.get('id')}.{number}"))),
        )
