"""`ibstat`: the InfiniBand adapters of a node, and `ibstat -p` run on many hosts (host names and port GUIDs)."""

from __future__ import annotations

import re
from collections import Counter

from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.exchange.machines.links import set_rate
from clusterspec.records import dataclass, field

KIND = "ibstat"
_ADAPTER = re.compile(r"CA '([^']{1,64})'")
_FIELD = re.compile(r"\s*([A-Za-z][A-Za-z ]*):(.*)")
_HOST = re.compile(r"VM_hostname\s+(\S+)")
_GUID = re.compile(r"(?:0x)?[0-9a-fA-F]{16}")


@dataclass(slots=True)
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


def matches(file: InputFile) -> bool:
    return bool(_ADAPTER.search(file.head)) or bool(_HOST.search(file.head))


def read(file: InputFile) -> ImportResult:
    """The adapters of a node. Raises `FormatError` if there are none."""
    builder = ImportBuilder(KIND, file.name)
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
            raise FormatError(f"{line.strip()[:40]!r} is neither a host nor the GUID of a port", number)
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
    for number, line in enumerate(file.lines, 1):
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
