"""`ibstat`: the InfiniBand adapters of a node, and `ibstat -p` run on many hosts (host names and port GUIDs)."""

from __future__ import annotations

import re
from collections import Counter

from clusterspec.exchange.files import InputFile
from clusterspec.exchange.machines.rates import give_rate
from clusterspec.exchange.reading import Notes, Reading, Refusal
from clusterspec.records import dataclass, field

KIND = "ibstat"
_ADAPTER = re.compile(r"CA '([^']{1,64})'")
_FIELD = re.compile(r"\s*([A-Za-z][A-Za-z ]*):\s*(.*?)\s*$")
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


def suits(file: InputFile) -> bool:
    return bool(_ADAPTER.search(file.head)) or bool(_HOST.search(file.head))


def read(file: InputFile) -> Reading:
    """The adapters behind an output. Raises `Refusal` where it has none."""
    notes = Notes(KIND, file.name)
    if _HOST.search(file.text):
        _by_host(file, notes)
    else:
        _adapters(file, notes)
    return notes.reading()


def _by_host(file: InputFile, notes: Notes) -> None:
    host, first = "", 0
    ports: Counter[str] = Counter()
    for number, line in enumerate(file.lines, 1):
        if match := _HOST.match(line.strip()):
            host, first = match[1], first or number
            ports[host] += 0
        elif _GUID.fullmatch(line.strip()) and host:
            ports[host] += 1
        elif line.strip():
            raise Refusal(f"{line.strip()[:40]!r} is neither a host nor the GUID of a port", number)
    notes.count("hosts", len(ports), first)
    notes.count("nics", sum(ports.values()), first)
    sizes = set(ports.values())
    if len(sizes) == 1 and 0 not in sizes:
        notes.give("cluster.nodes", len(ports), first)
        notes.give("cluster.scale_out.nics_per_node", sizes.pop(), first)
    else:
        notes.unknown("cluster.scale_out.nics_per_node", f"hosts with {sorted(sizes)} ports", first)


def _adapters(file: InputFile, notes: Notes) -> None:
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
                ports[-1].fields[match[1]] = match[2]
            elif match[1] == "CA type":
                adapters[current] = match[2]
    if not ports:
        raise Refusal("names no port of an adapter: it is cut off")
    _describe(adapters, ports, notes)


def _describe(adapters: dict[str, str], ports: list[Port], notes: Notes) -> None:
    line = ports[0].line
    notes.count("nics", len(adapters), line)
    notes.count("ports", len(ports), line)
    for port in ports:
        if not port.active:
            state = port.fields.get("State", "of no stated state")
            notes.unknown(f"port of {port.adapter}", f"it is {state}: not counted", port.line)
    active = [port for port in ports if port.active]
    notes.count("active_ports", len(active), line)
    layers = {port.fields.get("Link layer", "") for port in active}
    rates = {port.rate for port in active}
    fabric = [port for port in active if port.fields.get("Link layer") == "InfiniBand"]
    if fabric and len(layers) > 1:
        notes.unknown(f"{len(active) - len(fabric)} Ethernet ports", "the fabric is taken to be InfiniBand", line)
    used = fabric or active
    rates = {port.rate for port in used}
    if not used or len(rates) > 1:
        notes.unknown("cluster.scale_out", f"ports of different rates: {sorted(map(str, rates))} Gb/s", line)
        return
    notes.give("cluster.scale_out.nics_per_node", len({port.adapter for port in used}), line)
    give_rate(rates.pop(), "infiniband" if fabric else "", notes, line)
    for kind in sorted(set(adapters.values()) - {""}):
        entry = {"MT4123": "connectx-6", "MT4129": "connectx-7", "MT4131": "connectx-8", "MT4119": "connectx-5"}.get(
            kind
        )
        if entry and len(set(adapters.values())) == 1:
            notes.give("cluster.scale_out.nic", entry, line)
        else:
            notes.unknown(f"adapter {kind}", "no catalog entry of this type, or several types", line)
