"""`ibnetdiscover` and `ibstat`: switches, adapters and links of an InfiniBand fabric."""

from __future__ import annotations

import re
import sys
from collections import Counter

from clusterspec.exchange.fabrics.graph import FabricGraph, describe_graph
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile, excerpt
from clusterspec.exchange.machines.links import INFINIBAND, rate_text, set_rate
from clusterspec.records import dataclass, field

# `ibnetdiscover`: switches, channel adapters and links of an InfiniBand fabric.
#
# Grammar (rdma-core, infiniband-diags, ibnetdiscover(8)): a record starts with ``Switch``, ``Ca`` or ``Rt``, the number
# of ports, the node's GUID in quotes, and its description in a comment; each line ``[port] "GUID"[port]`` that follows
# is a link, its width and speed at the end of the comment

IBNETDISCOVER = "ibnetdiscover"
_RECORD = re.compile(r'(Switch|Ca|Rt)\s+([0-9]{1,5})\s+"([^"]{1,64})"\s*(?:#\s*"([^"]*)")?')
_PORT = re.compile(r'\[([0-9]{1,5})\](?:\[ext [0-9]+\])?(?:\([0-9a-fA-F]+\))?\s+"([^"]{1,64})"\[([0-9]{1,5})\]')
_SPEED = re.compile(r"\b([0-9]{1,2})x([A-Z]{3}(?:10)?)\b")
_NAME = re.compile(r'#[^"#]*"([^"]*)"')
_MODEL = re.compile(r":([A-Z]{2,4}[0-9]{3,5}[A-Z0-9-]*)(?:/|$)")
MOST_LINKS = 200_000
"""Maximum number of links in a fabric."""
AGGREGATION = "Aggregation Node"
"""Description of the SHARP unit inside a switch. It appears as an adapter on its own port."""
_UNNAMED = re.compile(r"MT[0-9]+ |^$|Mellanox Technologies|^localhost\b|^ubuntu\b")
SWITCHES = {"MQM8700": "quantum-qm8700", "MQM9700": "quantum-2-qm9700", "MQM9790": "quantum-2-qm9790"}


def matches_ibnetdiscover(file: InputFile) -> bool:
    return bool(re.search(r'^(Switch|Ca)\s+[0-9]+\s+"', file.text, re.MULTILINE)) and "guid=" in file.head.lower()


@dataclass
class _FabricRecords:
    """The data from the records of a file; ``names`` are the descriptions printed next to ports, by GUID."""

    graph: FabricGraph = field(default_factory=FabricGraph)
    aggregation: set[str] = field(default_factory=set)
    models: Counter[str] = field(default_factory=Counter)
    speeds: Counter[str] = field(default_factory=Counter)
    names: dict[str, str] = field(default_factory=dict)
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The two devices of each link, by the sorted pair of its ports."""


def read_ibnetdiscover(file: InputFile) -> ImportResult:
    """The discovered fabric. Raises `FormatError` if no adapter is connected to a switch, or the file is truncated."""
    builder = ImportBuilder(IBNETDISCOVER, file.name)
    found = _FabricRecords()
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
    record_rate(found.speeds, builder, first)
    _record_models(found.models, builder, first)
    return builder.reading()


def _add_node(match: re.Match[str], found: _FabricRecords) -> None:
    kind, ports, guid, description = match[1], int(match[2]), match[3], match[4] or ""
    if kind == "Switch":
        found.graph.switches[guid] = ports
        if model := _MODEL.search(description):
            found.models[model[1]] += 1
    elif kind == "Ca":
        _add_adapter(guid, description, found)


def _add_adapter(guid: str, description: str, found: _FabricRecords) -> None:
    if AGGREGATION in description:
        found.aggregation.add(guid)
    else:
        found.graph.hosts[guid] = host_of(description)


def host_of(description: str) -> str | None:
    """The host in the description of an adapter; None if the description is a default of the firmware or the system.

    >>> host_of("node17 mlx5_0"), host_of("MT4123 ConnectX6   Mellanox Technologies")
    ('node17', None)
    """
    return None if _UNNAMED.search(description) else description.split(maxsplit=1)[0]


def _add_port(line: str, number: int, record: str, found: _FabricRecords) -> None:
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


def _add_missing_adapters(found: _FabricRecords, builder: ImportBuilder, line: int) -> None:
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


def _record_ports(found: _FabricRecords, builder: ImportBuilder, line: int) -> None:
    """Record the ports of a switch without the internal port of its SHARP unit."""
    units = found.aggregation
    internal = {end for ends in found.links.values() if units & {*ends} for end in ends if end not in units}
    ports = {(count or 0) - (switch in internal) for switch, count in found.graph.switches.items()}
    if len(ports) == 1:
        builder.set("cluster.scale_out.switch_ports", ports.pop(), line)


def record_rate(speeds: Counter[str], builder: ImportBuilder, line: int) -> None:
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


# `ibstat`: the InfiniBand adapters of a node, and `ibstat -p` run on many hosts (host names and port GUIDs)

IBSTAT = "ibstat"
_ADAPTER = re.compile(r"CA '([^']{1,64})'")
_FIELD = re.compile(r"\s*([A-Za-z][A-Za-z ]*):(.*)")
_QUOTED = re.compile(r"^(?:>[ \t]?){1,20}")
"""The marks of quoted lines in an email."""
_HOST = re.compile(r"VM_hostname\s+(\S+)")
_GUID = re.compile(r"(?:0x)?[0-9a-fA-F]{16}")


@dataclass
class Port:
    """One port of an adapter; ``rate`` in Gb/s."""

    adapter: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)

    @property
    def active(self) -> bool:
        return self.fields.get("State", "") == "Active"

    @property
    def rate(self) -> float | None:
        text = self.fields.get("Rate", "").split(" ")[0]
        return float(text) if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text) else None


def matches_ibstat(file: InputFile) -> bool:
    return bool(_ADAPTER.search(file.head)) or bool(_HOST.search(file.head))


def read_ibstat(file: InputFile) -> ImportResult:
    """The adapters of a node. Raises `FormatError` if there are none."""
    builder = ImportBuilder(IBSTAT, file.name)
    if _HOST.search(file.text):
        _record_hosts(file, builder)
    else:
        _record_adapters(file, builder)
    return builder.reading()


def _record_hosts(file: InputFile, builder: ImportBuilder) -> None:
    host, first = "", 0
    ports: Counter[str] = Counter()
    for number, line in enumerate(file.lines, 1):
        if match := _HOST.match(line.strip()):
            host, first = match[1], first or number
            ports[host] += 0
        elif _GUID.fullmatch(line.strip()) and host:
            ports[host] += 1
        elif line.strip():
            raise FormatError(f"{excerpt(line.strip())!r} is neither a host nor the GUID of a port", number)
    builder.count("hosts", len(ports), first)
    builder.count("nics", sum(ports.values()), first)
    sizes = set(ports.values())
    if len(sizes) == 1 and 0 not in sizes:
        builder.set("cluster.nodes", len(ports), first)
        builder.set("cluster.scale_out.nics_per_node", sizes.pop(), first)
    else:
        builder.unknown("cluster.scale_out.nics_per_node", f"hosts with {sorted(sizes)} ports", first)


def _record_adapters(file: InputFile, builder: ImportBuilder) -> None:
    adapters: dict[str, str] = {}
    ports: list[Port] = []
    current = ""
    for number, quoted in enumerate(file.lines, 1):
        line = _QUOTED.sub("", quoted)
        if match := _ADAPTER.search(line):
            current = match[1]
            adapters[current] = ""
        elif re.match(r"\s*Port [0-9]+:", line) and current:
            ports.append(Port(current, number))
        elif current and (match := _FIELD.match(line)):
            if ports and ports[-1].adapter == current:
                ports[-1].fields[match[1]] = match[2].strip()
            elif match[1] == "CA type":
                adapters[current] = match[2].strip()
    if not ports:
        raise FormatError("names no port of an adapter: the file is truncated")
    _record_description(adapters, ports, builder)


def _record_description(adapters: dict[str, str], ports: list[Port], builder: ImportBuilder) -> None:
    line = ports[0].line
    builder.count("nics", len(adapters), line)
    builder.count("ports", len(ports), line)
    for port in ports:
        if not port.active:
            state = port.fields.get("State", "in an unknown state")
            builder.unknown(f"port of {port.adapter}", f"it is {state}: not counted", port.line)
    active = [port for port in ports if port.active]
    builder.count("active_ports", len(active), line)
    layers = {port.fields.get("Link layer", "") for port in active}
    rates = {port.rate for port in active}
    fabric = [port for port in active if port.fields.get("Link layer") == "InfiniBand"]
    if fabric and len(layers) > 1:
        builder.unknown(f"{len(active) - len(fabric)} Ethernet ports", "the fabric is assumed to be InfiniBand", line)
    used = fabric or active
    rates = {port.rate for port in used}
    if not used or len(rates) > 1:
        builder.unknown("cluster.scale_out", f"ports of different rates: {sorted(map(str, rates))} Gb/s", line)
        return
    builder.set("cluster.scale_out.nics_per_node", len({port.adapter for port in used}), line)
    set_rate(rates.pop(), "infiniband" if fabric else "", builder, line)
    for kind in sorted(set(adapters.values()) - {""}):
        entry = {"MT4123": "connectx-6", "MT4129": "connectx-7", "MT4131": "connectx-8", "MT4119": "connectx-5"}.get(
            kind
        )
        if entry and len(set(adapters.values())) == 1:
            builder.set("cluster.scale_out.nic", entry, line)
        else:
            builder.unknown(f"adapter {kind}", "no catalog entry of this type, or several types", line)
