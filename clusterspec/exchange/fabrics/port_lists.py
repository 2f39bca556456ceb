"""`iblinkinfo` and `ibnetdiscover --ports`: one line for each port of an InfiniBand fabric.

Devices are identified by their LIDs: a switch has one, an adapter one for each port. Grammar (linux-rdma/rdma-core
1d07d99b, infiniband-diags/iblinkinfo.c, ``print_port``, and ibnetdiscover.c, ``dump_ports_report``): ``iblinkinfo``
prints the rate of a lane after the width; without ``-l`` only lines of adapters begin with a GUID.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from clusterspec.exchange.fabrics.graph import FabricGraph, describe_graph
from clusterspec.exchange.fabrics.infiniband import AGGREGATION, MOST_LINKS, host_of, record_rate
from clusterspec.exchange.import_result import FormatError, ImportBuilder, ImportResult, InputFile
from clusterspec.records import NamedTuple, dataclass, field

IBLINKINFO = "iblinkinfo"
_LINK = re.compile(
    r"^[ \t]*(?:(0x[0-9a-fA-F]{6,16})\s+(?:\"([^\"]{0,64})\"\s+)?)?([0-9]{1,6})\s+([0-9]{1,4})\[[ 0-9]{0,4}\]\s*==\("
    r"([^)]{1,60}(?:\(FDR10\))?[^)]{0,30})\)(?:\s*\([^)]{0,60}\))?==>\s*(.*)$"
)
"""GUID and name of the port (``-l``), LID, port, state of the link, other end."""
_OTHER = re.compile(r"(?:0x[0-9a-fA-F]{6,16}\s+)?([0-9]{1,6})\s+([0-9]{1,4})\[[ 0-9]{0,4}\]\s*\"([^\"]{0,64})\"")
_RATE = re.compile(r"([0-9]{1,2})X\s+([0-9]{1,3}(?:\.[0-9]{1,5})?)\s*Gbps(\s*\(FDR10\))?\s+Active")
_LISTED = re.compile(
    r"^[ \t]*(SW|CA|RT)\s+([0-9]{1,6})\s+([0-9]{1,4})\s+0x[0-9a-fA-F]{6,16}\s+([0-9]{1,2})x\s+(\S{2,8})\s+-\s+"
    r"(SW|CA|RT)\s+([0-9]{1,6})\s+([0-9]{1,4})\s+0x[0-9a-fA-F]{6,16}\s+\(\s'([^']{0,64})'\s-\s'([^']{0,64})'\s\)"
)
_PORT_OF_ADAPTER = 4
"""Number of ports of the largest adapter; a device with a higher port number is a switch."""
_SWITCH_NAME = re.compile(r"^MF[0-9];|Quantum|Switch-?(?:X|IB)|Infiniscale|InfiniScale|\bM(?:QM|SB|SX)[0-9]{4}")
"""Descriptions of switches as their firmware sets them."""
_LANES = (
    (2.5, "SDR"),
    (5.0, "DDR"),
    (10.0, "QDR"),
    (14.0625, "FDR"),
    (25.78125, "EDR"),
    (53.125, "HDR"),
    (106.25, "NDR"),
    (212.5, "XDR"),
)
"""Gb/s of one lane as signaled. Source: linux-rdma/rdma-core, libibmad/dump.c, ``dump_linkspeedext``."""


class _End(NamedTuple):
    """One end of a link; ``switch`` is set if the line says that this end is a switch."""

    lid: str
    port: int
    name: str
    switch: bool


class _Link(NamedTuple):
    """A link by its two ends, and the speed such as ``4xHDR``."""

    here: _End
    there: _End
    speed: str


@dataclass
class _Ports:
    """The links of a listing, the ports of each LID, and the lines of ports without an active link."""

    links: list[_Link] = field(default_factory=list)
    ports: dict[str, set[int]] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    first: int = 0

    def add(self, lid: str, port: int, switch: bool, line: int) -> None:
        self.first = self.first or line
        self.ports.setdefault(lid, set()).add(port)
        if switch or port > _PORT_OF_ADAPTER:
            self.switches.add(lid)


def matches_iblinkinfo(file: InputFile) -> bool:
    return any(_LINK.match(line) or _LISTED.match(line) for line in file.head.split("\n") if len(line) < 400)


def read_iblinkinfo(file: InputFile) -> ImportResult:
    """The fabric of a listing. Raises `FormatError` if it has no active link or if the record of a switch is
    missing.
    """
    builder, found = ImportBuilder(IBLINKINFO, file.name), _Ports()
    for number, line in enumerate(file.lines, 1):
        if len(line) < 400:
            _read_port(line, number, found)
    if not found.links:
        raise FormatError("has no active link between two ports")
    # A LID with several ports of its own is a switch: ports of an adapter have one each
    switches = found.switches | {lid for lid, ports in found.ports.items() if len(ports) > 1}
    _refuse_missing_switches(found, switches)
    _record_fabric(found, switches, builder)
    return builder.reading()


def _read_port(line: str, number: int, found: _Ports) -> None:
    if match := _LISTED.match(line):
        switch, speed = match[1] == "SW", f"{match[4]}x{match[5]}"
        found.add(match[2], int(match[3]), switch, number)
        other = _End(match[7], int(match[8]), match[10], match[6] == "SW")
        found.links.append(_Link(_End(match[2], int(match[3]), match[9], switch), other, speed))
    elif match := _LINK.match(line):
        guid, name = match[1], match[2]
        here = _End(match[3], int(match[4]), (name or "").strip(), name is None and guid is None)
        found.add(here.lid, here.port, here.switch, number)
        far, rate = _OTHER.match(match[6]), _RATE.search(match[5])
        if far and rate:
            there = _End(far[1], int(far[2]), far[3].strip(), False)
            found.links.append(_Link(here, there, f"{rate[1]}x{_speed_by_lane_rate(rate[2], rate[3])}"))
    if len(found.links) > 2 * MOST_LINKS:
        raise FormatError(f"more than {MOST_LINKS:,} links", number)


def _speed_by_lane_rate(rate: str, ten: str | None) -> str:
    """The name of a speed by its printed lane rate in Gb/s; the rate itself if no speed is within 0.1 %."""
    if ten:
        return "FDR10"
    return next((name for lane, name in _LANES if abs(float(rate) / lane - 1) < 1e-3), rate)


def _refuse_missing_switches(found: _Ports, switches: set[str]) -> None:
    lost = {
        there.lid
        for _, there, _ in found.links
        if there.lid not in switches
        and (there.switch or there.port > _PORT_OF_ADAPTER or _SWITCH_NAME.search(there.name))
    }
    if lost:
        first = min(lost, key=int)
        raise FormatError(
            f"ports lead to {len(lost)} switches that are not listed, such as LID {first}: the listing is not complete"
        )


def _record_fabric(found: _Ports, switches: set[str], builder: ImportBuilder) -> None:
    graph, speeds, line = FabricGraph(), Counter[str](), found.first
    graph.switches |= dict.fromkeys(sorted(switches, key=int))
    ends = dict(_named_ports(found.links))
    units = {lid for lid, (name, _) in ends.items() if AGGREGATION in name}
    adapters = _adapters_by_lid({lid: end for lid, end in ends.items() if lid not in switches and lid not in units})
    joined = {frozenset((here[:2], there[:2])): (here.lid, there.lid, speed) for here, there, speed in found.links}
    for one, other, speed in joined.values():
        if units.isdisjoint((one, other)):
            graph.join(adapters.get(one, one), adapters.get(other, other))
            speeds[speed] += 1
    graph.hosts |= {adapter: host_of(ends[adapter][0]) for adapter in adapters.values()}
    describe_graph(graph, builder, line)
    if units:
        builder.count("aggregation_nodes", len(units), line)
    if unlisted := [lid for lid in adapters if lid not in found.ports]:
        builder.unknown(f"{len(unlisted)} ports of adapters", "only lines of switches name them", line)
    record_rate(speeds, builder, line)


def _named_ports(links: list[_Link]) -> Iterator[tuple[str, tuple[str, int]]]:
    """Every LID with its device name and port. Names that the other end of a link prints come last."""
    yield from ((here.lid, (here.name, here.port)) for here, _, _ in links)
    yield from ((there.lid, (there.name, there.port)) for _, there, _ in links)


def _adapters_by_lid(ports: dict[str, tuple[str, int]]) -> dict[str, str]:
    """The adapter of each LID, identified by the LID of its first port. Ports with the same name and different numbers
    belong to one adapter.
    """
    first: dict[str, tuple[str, set[int]]] = {}
    found: dict[str, str] = {}
    for lid, (name, port) in ports.items():
        adapter, numbers = first.get(name, ("", set()))
        if not adapter or port in numbers or host_of(name) is None:
            adapter, numbers = lid, set()
            first[name] = adapter, numbers
        numbers.add(port)
        found[lid] = adapter
    return found
