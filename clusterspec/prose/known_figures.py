"""Figures of the catalog by subject, each with its channel, its scope and whether it counts per direction."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile
from posixpath import commonprefix

from clusterspec.catalog import BrokenEntry, Catalog
from clusterspec.catalog.entries import Accelerator, Interconnect, Nic, Platform
from clusterspec.catalog.reader import Entry
from clusterspec.prose.lexicon import Channel, FigureScope
from clusterspec.prose.subjects import Subject
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, replace
from clusterspec.units.display import agrees_within

SPARSE = 2.0
"""2:4 structured sparsity doubles a peak."""


SIZE_TOLERANCE = 0.075
"""Relative tolerance of a printed memory size: the `80 GB` of a part may be 80 GiB."""


@dataclass(frozen=True)
class KnownFigure:
    """A catalog figure in SI units: a bandwidth per direction, a dense peak.

    ``directed`` marks a bandwidth that may also be given as the sum of both directions.
    """

    value: float
    unit: str
    channel: Channel
    scope: FigureScope
    owner: str
    directed: bool = False
    precision: str = ""
    what: str = ""
    reduced_rate: bool = False
    """A lower port rate of the same technology, usually part of the name (`NDR200`)."""
    misprint: bool = False
    """A published sum that is wrong for this channel."""
    printed: str = ""
    """The figure as the vendor prints it, where the device reports another."""


_LINE_RATES = frozenset(("scale-out",))
_CHANNELS = {"scale-up": Channel.SCALE_UP, "host-bus": Channel.HOST, "scale-out": Channel.NETWORK}


class KnownFigures:
    """The figures of a catalog; an entry is read when a text first names it."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._facts: dict[tuple[str, str], tuple[KnownFigure, ...]] = {}
        self._interconnects: list[str] | None = None

    def figures_of(self, subject: Subject) -> tuple[KnownFigure, ...]:
        """The figures of every entry that the name of a subject may mean."""
        variants = (id_ for each in subject.ids for id_ in self._variant_ids(subject.kind, each))
        facts = tuple(fact for id_ in (*subject.ids, *variants) for fact in self.figures_of_id(subject.kind, id_))
        if subject.lanes and subject.lanes != 16:
            return tuple(replace(fact, value=fact.value * _lane_share(fact, subject.lanes)) for fact in facts)
        return facts

    def figures_of_id(self, kind: str, id_: str) -> tuple[KnownFigure, ...]:
        """The figures of one entry; empty if it does not exist or cannot be read."""
        if (kind, id_) not in self._facts:
            entry = self._read_entry(kind, id_)
            self._facts[kind, id_] = tuple(self._figures_of_entry(entry)) if entry else ()
        return self._facts[kind, id_]

    def with_memory(self, subject: Subject, sizes: Sequence[float]) -> Subject:
        """An ambiguous accelerator, narrowed to the variants whose memory has one of ``sizes`` bytes; unchanged if
        there are none.
        """
        if subject.kind != "accelerator" or len(subject.ids) < 2 or not sizes:
            return subject
        ids = tuple(
            id_
            for id_ in subject.ids
            for fact in self.figures_of_id("accelerator", id_)
            if fact.channel is Channel.CAPACITY
            and any(agrees_within(size, fact.value, SIZE_TOLERANCE) for size in sizes)
        )
        return replace(subject, ids=ids) if ids else subject

    def siblings(self, subject: Subject) -> Iterator[tuple[str, tuple[KnownFigure, ...]]]:
        """The other generations of an interconnect, each with its figures."""
        for id_ in self._catalog.ids(subject.kind) if subject.kind == "interconnect" else ():
            if id_ not in subject.ids and re.fullmatch(rf"{subject.family}-(v?\d|[a-z]dr)", id_):
                yield id_, self.figures_of_id(subject.kind, id_)

    def figures_of_vendor(self, subject: Subject) -> Iterator[tuple[str, tuple[KnownFigure, ...]]]:
        """The other accelerators of the same vendor with their figures, starting with those whose ids are most similar."""
        own = self._read_entry(subject.kind, subject.ids[0]) if subject.kind == "accelerator" and subject.ids else None
        others = [id_ for id_ in self._catalog.ids("accelerator") if id_ not in subject.ids] if own else []
        for id_ in sorted(others, key=lambda id_: -len(commonprefix((id_, subject.ids[0])))):
            other = self._read_entry("accelerator", id_)
            if other is not None and own is not None and other.vendor == own.vendor:
                yield id_, self.figures_of_id("accelerator", id_)

    def machine(self, subject: Subject) -> Platform | None:
        """The entry of a platform that a subject names."""
        entry = self._read_entry(subject.kind, subject.ids[0]) if subject.kind == "platform" and subject.ids else None
        return entry if isinstance(entry, Platform) else None

    def ranks_per_accelerator(self, machine: Platform) -> int:
        """The devices that software sees in one accelerator of a machine: two in an MI250X."""
        part = self._read_entry("accelerator", machine.accelerator)
        return part.ranks_per_accelerator if isinstance(part, Accelerator) else 1

    def link_counts(self, subject: Subject) -> tuple[int, int] | None:
        """The accelerators per node of a platform and the links per accelerator."""
        entry = self.machine(subject)
        if entry is None or not entry.accelerators_per_node:
            return None
        part = self._read_entry("accelerator", entry.accelerator)
        links = part.links if isinstance(part, Accelerator) else None
        return (entry.accelerators_per_node, links) if links else None

    def neighbors(self, subject: Subject) -> frozenset[int]:
        """The numbers of direct neighbors of an accelerator, over its form factors; empty for switched fabrics."""
        found: set[int] = set()
        for id_ in subject.ids if subject.kind == "accelerator" else ():
            part = self._read_entry("accelerator", id_)
            if isinstance(part, Accelerator) and part.topology == "torus" and part.links:
                found.add(part.links)
            elif isinstance(part, Accelerator) and part.topology == "full-mesh" and part.domains:
                found.add(part.domains[0] - 1)
        return frozenset(found)

    def _variant_ids(self, kind: str, id_: str) -> tuple[str, ...]:
        """The ids of variants of an interconnect: `neuronlink-v3-ultra`, but no bridges."""
        if kind != "interconnect":
            return ()
        if self._interconnects is None:
            self._interconnects = sorted(self._catalog.ids("interconnect"))
        start = bisect_left(self._interconnects, f"{id_}-")
        following = takewhile(lambda other: other.startswith(f"{id_}-"), islice(self._interconnects, start, None))
        return tuple(other for other in following if not other.endswith("-bridge"))

    def interconnects(self, subject: Subject) -> tuple[str, ...]:
        """The scale-up interconnects of an accelerator or a platform, most common first."""
        found: list[str] = []
        for id_ in subject.ids:
            entry = self._read_entry(subject.kind, id_)
            if isinstance(entry, Platform):
                entry = self._read_entry("accelerator", entry.accelerator)
            if isinstance(entry, Accelerator):
                found += entry.interconnects[:1]
        return tuple(dict.fromkeys(found))

    def _read_entry(self, kind: str, id_: str) -> Entry | None:
        try:
            return self._catalog.find(kind, id_)
        except BrokenEntry:
            return None

    def _figures_of_entry(self, entry: Entry) -> Iterator[KnownFigure]:
        if isinstance(entry, Interconnect):
            yield from _figures_of_interconnect(entry)
        elif isinstance(entry, Nic):
            yield from _figures_of_nic(entry)
        elif isinstance(entry, Accelerator):
            yield from self._figures_of_accelerator(entry)
        elif isinstance(entry, Platform):
            yield from self._figures_of_platform(entry)

    def _figures_of_accelerator(self, entry: Accelerator) -> Iterator[KnownFigure]:
        owner = entry.id
        yield from _bandwidth_figures(
            entry.scale_up_bandwidth, Channel.SCALE_UP, FigureScope.DEVICE, owner, "all its links"
        )
        yield from _bandwidth_figures(entry.peer_bandwidth, Channel.SCALE_UP, FigureScope.PAIR, owner, "one pair")
        yield from _bandwidth_figures(entry.nic_bandwidth, Channel.NETWORK, FigureScope.PORT, owner, "one NIC")
        yield from _plain_figures(entry.memory_bandwidth, Channel.MEMORY, FigureScope.DEVICE, owner)
        for fact in _plain_figures(entry.memory, Channel.CAPACITY, FigureScope.DEVICE, owner):
            yield replace(fact, printed=entry.memory_printed)
        yield from _plain_figures(entry.power, Channel.POWER, FigureScope.DEVICE, owner)
        for precision, peak in entry.peaks.items():
            yield KnownFigure(peak.value, "FLOP/s", Channel.PEAK, FigureScope.DEVICE, owner, precision=precision)
        for id_ in entry.interconnects[:1]:
            links = self.figures_of_id("interconnect", id_)
            yield from (fact for fact in links if fact.scope in (FigureScope.LINK, FigureScope.LANE))
        yield from _misprinted_sums(entry)

    def _figures_of_platform(self, entry: Platform) -> Iterator[KnownFigure]:
        """The figures of a node, of its accelerators, and of all its accelerators together."""
        yield from _bandwidth_figures(entry.nic_bandwidth, Channel.NETWORK, FigureScope.PORT, entry.id, "one NIC")
        if entry.nic_bandwidth and entry.nics_per_node:
            value = entry.nic_bandwidth.value * entry.nics_per_node
            yield KnownFigure(
                value, "B/s", Channel.NETWORK, FigureScope.NODE, entry.id, True, what=f"its {entry.nics_per_node} NICs"
            )
        if entry.frontend_bandwidth is not None:
            yield from _bandwidth_figures(
                entry.frontend_bandwidth, Channel.NETWORK, FigureScope.PORT, entry.id, "one frontend NIC"
            )
        yield from _plain_figures(entry.power, Channel.POWER, FigureScope.NODE, entry.id)
        of_one = self.figures_of_id("accelerator", entry.accelerator)
        yield from of_one
        for count in sorted({entry.accelerators_per_node or 0, entry.domain or 0} - {0, 1}):
            yield from _figures_of_all(of_one, count, entry.id)


def _figures_of_all(facts: tuple[KnownFigure, ...], count: int, owner: str) -> Iterator[KnownFigure]:
    """The sum over all accelerators of a node or domain, and half of that as its bisection."""
    for fact in facts:
        if fact.scope is FigureScope.DEVICE and fact.channel is not Channel.POWER:
            everything = f"its {count} accelerators together"
            yield replace(
                fact, value=fact.value * count, scope=FigureScope.NODE, owner=owner, what=everything, printed=""
            )
            if fact.channel is Channel.SCALE_UP:
                yield replace(
                    fact, value=fact.value * count / 2, scope=FigureScope.SUM, owner=owner, what="its bisection"
                )


def _misprinted_sums(entry: Accelerator) -> Iterator[KnownFigure]:
    """Published sums that are wrong as scale-up bandwidth: they include ports that leave the node, or omit one mesh
    link.
    """
    nic, nics, all_links, links = entry.nic_bandwidth, entry.nics_per_accelerator, entry.scale_up_bandwidth, entry.links
    if all_links is None or not links or entry.topology not in ("full-mesh", "partial-mesh"):
        return
    link = all_links.value / links
    if nic and nics and abs(link / nic.value - 1) < 0.01:
        what = f"all its {links + nics:.0f} ports, of which {nics:.0f} leave the node"
        yield KnownFigure(
            link * (links + nics), "B/s", Channel.SCALE_UP, FigureScope.DEVICE, entry.id, True, what=what, misprint=True
        )
    if entry.topology == "partial-mesh":
        what = f"{links - 1} of its {links} links, as if it had one link per peer of a full mesh"
        yield KnownFigure(
            link * (links - 1), "B/s", Channel.SCALE_UP, FigureScope.DEVICE, entry.id, True, what=what, misprint=True
        )


def _figures_of_interconnect(entry: Interconnect) -> Iterator[KnownFigure]:
    channel = _CHANNELS.get(entry.scope, Channel.NETWORK)
    device = FigureScope.PORT if entry.scope in _LINE_RATES else FigureScope.DEVICE
    yield from _bandwidth_figures(
        entry.bandwidth, channel, device, entry.id, "one port" if device is FigureScope.PORT else "all links"
    )
    for rate in entry.port_rates:
        reduced_rate = entry.bandwidth is not None and rate < entry.bandwidth
        yield from (
            replace(fact, reduced_rate=reduced_rate)
            for fact in _bandwidth_figures(rate, channel, device, entry.id, "one port")
        )
    if entry.links and entry.links > 1:
        yield from _bandwidth_figures(entry.link_bandwidth, channel, FigureScope.LINK, entry.id, "one link")
    yield from _bandwidth_figures(entry.lane_rate, channel, FigureScope.LANE, entry.id, "one lane")
    yield from _bandwidth_figures(entry.peer_bandwidth, channel, FigureScope.PAIR, entry.id, "one pair")


def _figures_of_nic(entry: Nic) -> Iterator[KnownFigure]:
    """The figures of one port, and of the card if it has several."""
    for ports in {1, entry.ports or 1}:
        for fact in _bandwidth_figures(entry.port_bandwidth, Channel.NETWORK, FigureScope.PORT, entry.id, "one port"):
            yield replace(fact, value=fact.value * ports)


def _bandwidth_figures(
    figure: Figure | None, channel: Channel, scope: FigureScope, owner: str, name: str
) -> Iterator[KnownFigure]:
    if figure is not None:
        yield KnownFigure(figure.value, "B/s", channel, scope, owner, directed=True, what=name)


def _plain_figures(figure: Figure | None, channel: Channel, scope: FigureScope, owner: str) -> Iterator[KnownFigure]:
    if figure is not None:
        yield KnownFigure(figure.value, figure.unit, channel, scope, owner)


def _lane_share(fact: KnownFigure, lanes: int) -> float:
    return 1.0 if fact.scope is FigureScope.LANE else lanes / 16
