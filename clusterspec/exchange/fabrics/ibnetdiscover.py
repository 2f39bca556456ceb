"""`ibnetdiscover`: switches, channel adapters and links of an InfiniBand fabric.

Grammar (rdma-core, infiniband-diags, ibnetdiscover(8)): a record starts with ``Switch``, ``Ca`` or ``Rt``, the number
of ports, the node's GUID in quotes, and its description in a comment; each line ``[port] "GUID"[port]`` that follows
is a link, its width and speed at the end of the comment.
"""

from __future__ import annotations

import re
import sys
from collections import Counter

from clusterspec.exchange.fabrics.graph import FabricGraph, describe
from clusterspec.exchange.files import InputFile
from clusterspec.exchange.machines.rates import INFINIBAND, rate_text
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.records import dataclass, field

KIND = "ibnetdiscover"
_RECORD = re.compile(r'(Switch|Ca|Rt)\s+([0-9]{1,5})\s+"([^"]{1,64})"\s*(?:#\s*"([^"]*)")?')
_PORT = re.compile(r'\[([0-9]{1,5})\](?:\[ext [0-9]+\])?(?:\([0-9a-fA-F]+\))?\s+"([^"]{1,64})"\[([0-9]{1,5})\]')
_SPEED = re.compile(r"\b([0-9]{1,2})x([A-Z]{3}(?:10)?)\b")
_NAME = re.compile(r'#[^"]*"([^"]*)"')
_MODEL = re.compile(r":([A-Z]{2,4}[0-9]{3,5}[A-Z0-9-]*)(?:/|$)")
MOST_LINKS = 200_000
"""Links of the largest fabric read."""
_AGGREGATION = "Aggregation Node"
"""The description of the SHARP unit inside a switch, which shows as an adapter on a port of its own."""
_UNNAMED = re.compile(r"MT[0-9]+ |^$|Mellanox Technologies|^localhost\b|^ubuntu\b")
SWITCHES = {"MQM8700": "quantum-qm8700", "MQM9700": "quantum-2-qm9700", "MQM9790": "quantum-2-qm9790"}


def suits(file: InputFile) -> bool:
    return bool(re.search(r'^(Switch|Ca)\s+[0-9]+\s+"', file.text, re.MULTILINE)) and "guid=" in file.head.lower()


@dataclass(slots=True)
class _Found:
    """What the records of a file hold; ``names`` are the descriptions that stand beside ports, by GUID."""

    graph: FabricGraph = field(default_factory=FabricGraph)
    aggregation: set[str] = field(default_factory=set)
    models: Counter[str] = field(default_factory=Counter)
    speeds: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The two devices of each link, by the two ports in one order."""


def read(file: InputFile) -> Reading:
    """The fabric behind a discovery. Raises `Refusal` where it joins no adapter to a switch, or is cut off."""
    notes = Notes(KIND, file.name)
    found = _Found()
    record, first = "", 0
    for number, line in enumerate(file.lines, 1):
        if match := _RECORD.match(line):
            record, first = sys.intern(match[3]), first or number
            _node(match, found)
        elif line.startswith("[") and record:
            _port(line, number, record, found)
    _complete(found, notes, first)
    for one, other in found.links.values():
        if found.aggregation.isdisjoint((one, other)):
            found.graph.join(one, other)
    describe(found.graph, notes, first)
    if found.aggregation:
        notes.count("aggregation_nodes", len(found.aggregation), first)
    _ports(found, notes, first)
    _rate(found.speeds, notes, first)
    _models(found.models, notes, first)
    return notes.reading()


def _node(match: re.Match[str], found: _Found) -> None:
    kind, ports, guid, said = match[1], int(match[2]), match[3], match[4] or ""
    if kind == "Switch":
        found.graph.switches[guid] = ports
        if model := _MODEL.search(said):
            found.models[model[1]] += 1
    elif kind == "Ca":
        _adapter(guid, said, found)


def _adapter(guid: str, said: str, found: _Found) -> None:
    if _AGGREGATION in said:
        found.aggregation.add(guid)
    else:
        found.graph.hosts[guid] = None if _UNNAMED.search(said) else said.split(maxsplit=1)[0]


def _port(line: str, number: int, record: str, found: _Found) -> None:
    match = _PORT.match(line)
    if not match:
        raise Refusal("a port without the device at its other end: the file is cut off or not of this kind", number)
    one, other = f"{record}[{match[1]}]", f"{match[2]}[{match[3]}]"
    ends = f"{one} {other}" if one < other else f"{other} {one}"
    if ends in found.links:
        return
    if len(found.links) >= MOST_LINKS:
        raise Refusal(f"more than {MOST_LINKS:,} links", number)
    guid = sys.intern(match[2])
    if guid.startswith("H-") and guid not in found.names and (name := _NAME.search(line, match.end())):
        found.names[guid] = name[1]
    if speed := _SPEED.search(line, match.end()):
        found.speeds[speed[0]] += 1
    found.links[ends] = (record, guid)


def _complete(found: _Found, notes: Notes, line: int) -> None:
    """Adapters that only a switch's port names count all the same; a switch without a record means a cut."""
    known = {*found.graph.switches, *found.graph.hosts, *found.aggregation}
    lost = {other for _, other in found.links.values() if other not in known}
    switches = sorted(each for each in lost if each.startswith("S-"))
    if switches:
        raise Refusal(
            f"{len(switches)} switches that ports lead to have no record, such as {switches[0]}: it is cut off"
        )
    adapters = [each for each in lost if each.startswith("H-")]
    for each in adapters:
        _adapter(each, found.names.get(each, ""), found)
    if adapters:
        notes.unknown(f"{len(adapters)} adapters", "only ports of switches name them: they have no record", line)


def _ports(found: _Found, notes: Notes, line: int) -> None:
    """Ports of a switch, less the internal one that joins its SHARP unit."""
    units = found.aggregation
    internal = {end for ends in found.links.values() if units & {*ends} for end in ends if end not in units}
    ports = {(count or 0) - (switch in internal) for switch, count in found.graph.switches.items()}
    if len(ports) == 1:
        notes.give("cluster.scale_out.switch_ports", ports.pop(), line)


def _rate(speeds: Counter[str], notes: Notes, line: int) -> None:
    """The rate of a link, where all have one."""
    for speed, count in speeds.most_common():
        notes.count(f"links_at_{speed}", count, line)
    if len(speeds) != 1:
        if speeds:
            notes.unknown("cluster.scale_out.nic_bandwidth", f"links of different rates: {', '.join(speeds)}", line)
        return
    match = _SPEED.fullmatch(next(iter(speeds)))
    if match and match[2] in INFINIBAND:
        lane, technology = INFINIBAND[match[2]]
        notes.give("cluster.scale_out.technology", technology, line)
        notes.give("cluster.scale_out.nic_bandwidth", rate_text(int(match[1]) * lane), line)


def _models(models: Counter[str], notes: Notes, line: int) -> None:
    known = {SWITCHES.get(model) for model in models}
    if len(models) == 1 and (entry := known.pop()):
        notes.give("cluster.scale_out.switch", entry, line)
        return
    for model, count in models.most_common():
        notes.unknown(f"{count} switches {model}", "no catalog entry of this model, or several models", line)
