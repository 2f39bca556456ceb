"""`ibnetdiscover`: switches, channel adapters and links of an InfiniBand fabric.

Grammar (rdma-core, infiniband-diags, ibnetdiscover(8)): a record starts with ``Switch``, ``Ca`` or ``Rt``, the number
of ports, the node's GUID in quotes, and its description in a comment; each line ``[port] "GUID"[port]`` that follows
is a link, its width and speed at the end of the comment.
"""

from __future__ import annotations

import re
import sys
from collections import Counter

from clusterspec.exchange.fabrics.graph import FabricGraph, describe_graph
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import INFINIBAND, rate_text
from clusterspec.records import dataclass, field

KIND = "ibnetdiscover"
_RECORD = re.compile(r'(Switch|Ca|Rt)\s+([0-9]{1,5})\s+"([^"]{1,64})"\s*(?:#\s*"([^"]*)")?')
_PORT = re.compile(r'\[([0-9]{1,5})\](?:\[ext [0-9]+\])?(?:\([0-9a-fA-F]+\))?\s+"([^"]{1,64})"\[([0-9]{1,5})\]')
_SPEED = re.compile(r"\b([0-9]{1,2})x([A-Z]{3}(?:10)?)\b")
_NAME = re.compile(r'#[^"#]*"([^"]*)"')
_MODEL = re.compile(r":([A-Z]{2,4}[0-9]{3,5}[A-Z0-9-]*)(?:/|$)")
MOST_LINKS = 200_000
"""Links of the largest fabric read."""
_AGGREGATION = "Aggregation Node"
"""The description of the SHARP unit inside a switch, which shows as an adapter on a port of its own."""
_UNNAMED = re.compile(r"MT[0-9]+ |^$|Mellanox Technologies|^localhost\b|^ubuntu\b")
SWITCHES = {"MQM8700": "quantum-qm8700", "MQM9700": "quantum-2-qm9700", "MQM9790": "quantum-2-qm9790"}


def matches(file: InputFile) -> bool:
    return bool(re.search(r'^(Switch|Ca)\s+[0-9]+\s+"', file.text, re.MULTILINE)) and "guid=" in file.head.lower()


@dataclass(slots=True)
class _Found:
    """The content of the records of a file; ``names`` are the descriptions next to ports, by GUID."""

    graph: FabricGraph = field(default_factory=FabricGraph)
    aggregation: set[str] = field(default_factory=set)
    models: Counter[str] = field(default_factory=Counter)
    speeds: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The two devices of each link, by the two ports in one order."""


def read(file: InputFile) -> ImportResult:
    """The discovered fabric. Raises `FormatError` if no adapter is connected to a switch, or the file is truncated."""
    builder = ImportBuilder(KIND, file.name)
    found = _Found()
    record, first = "", 0
    for number, line in enumerate(file.lines, 1):
        if match := _RECORD.match(line):
            record, first = sys.intern(match[3]), first or number
            _add_node(match, found)
        elif line.startswith("[") and record:
            _add_port(line, number, record, found)
    _add_missing_adapters(found, builder, first)
    for one, other in found.links.values():
        if found.aggregation.isdisjoint((one, other)):
            found.graph.join(one, other)
    describe_graph(found.graph, builder, first)
    if found.aggregation:
        builder.count("aggregation_nodes", len(found.aggregation), first)
    _record_ports(found, builder, first)
    _record_rate(found.speeds, builder, first)
    _record_models(found.models, builder, first)
    return builder.reading()


def _add_node(match: re.Match[str], found: _Found) -> None:
    kind, ports, guid, description = match[1], int(match[2]), match[3], match[4] or ""
    if kind == "Switch":
        found.graph.switches[guid] = ports
        if model := _MODEL.search(description):
            found.models[model[1]] += 1
    elif kind == "Ca":
        _add_adapter(guid, description, found)


def _add_adapter(guid: str, description: str, found: _Found) -> None:
    if _AGGREGATION in description:
        found.aggregation.add(guid)
    else:
        found.graph.hosts[guid] = None if _UNNAMED.search(description) else description.split(maxsplit=1)[0]


def _add_port(line: str, number: int, record: str, found: _Found) -> None:
    match = _PORT.match(line)
    if not match:
        raise FormatError(
            "a port without the device at its other end: the file is truncated or of another format", number
        )
    one, other = f"{record}[{match[1]}]", f"{match[2]}[{match[3]}]"
    ends = f"{one} {other}" if one < other else f"{other} {one}"
    if ends in found.links:
        return
    if len(found.links) >= MOST_LINKS:
        raise FormatError(f"more than {MOST_LINKS:,} links", number)
    guid = sys.intern(match[2])
    if guid.startswith("H-") and guid not in found.names and (name := _NAME.search(line, match.end())):
        found.names[guid] = name[1]
    if speed := _SPEED.search(line, match.end()):
        found.speeds[speed[0]] += 1
    found.links[ends] = (record, guid)


def _add_missing_adapters(found: _Found, builder: ImportBuilder, line: int) -> None:
    """Add adapters that appear only as the peer of a switch port. Raises `FormatError` if a switch has no record
    (truncated file).
    """
    known = {*found.graph.switches, *found.graph.hosts, *found.aggregation}
    lost = {other for _, other in found.links.values() if other not in known}
    switches = sorted(each for each in lost if each.startswith("S-"))
    if switches:
        raise FormatError(
            f"{len(switches)} switches that ports lead to have no record, such as {switches[0]}: the file is truncated"
        )
    adapters = [each for each in lost if each.startswith("H-")]
    for each in adapters:
        _add_adapter(each, found.names.get(each, ""), found)
    if adapters:
        builder.unknown(f"{len(adapters)} adapters", "only ports of switches name them: they have no record", line)


def _record_ports(found: _Found, builder: ImportBuilder, line: int) -> None:
    """Record the ports of a switch without the internal one of its SHARP unit."""
    units = found.aggregation
    internal = {end for ends in found.links.values() if units & {*ends} for end in ends if end not in units}
    ports = {(count or 0) - (switch in internal) for switch, count in found.graph.switches.items()}
    if len(ports) == 1:
        builder.set("cluster.scale_out.switch_ports", ports.pop(), line)


def _record_rate(speeds: Counter[str], builder: ImportBuilder, line: int) -> None:
    """Record the link rate if all links agree."""
    for speed, count in speeds.most_common():
        builder.count(f"links_at_{speed}", count, line)
    if len(speeds) != 1:
        if speeds:
            builder.unknown("cluster.scale_out.nic_bandwidth", f"links of different rates: {', '.join(speeds)}", line)
        return
    match = _SPEED.fullmatch(next(iter(speeds)))
    if match and match[2] in INFINIBAND:
        lane, technology = INFINIBAND[match[2]]
        builder.set("cluster.scale_out.technology", technology, line)
        builder.set("cluster.scale_out.nic_bandwidth", rate_text(int(match[1]) * lane), line)


def _record_models(models: Counter[str], builder: ImportBuilder, line: int) -> None:
    known = {SWITCHES.get(model) for model in models}
    if len(models) == 1 and (entry := known.pop()):
        builder.set("cluster.scale_out.switch", entry, line)
        return
    for model, count in models.most_common():
        builder.unknown(f"{count} switches {model}", "no catalog entry of this model, or several models", line)
