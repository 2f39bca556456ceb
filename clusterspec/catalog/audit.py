"""Offline audit of a catalog: consistent sums, related facts, addresses, and due dates."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from urllib.parse import urlsplit

from clusterspec.catalog import Catalog
from clusterspec.catalog.measures import measure_faults
from clusterspec.catalog.reader import Fact, FactReader, RawEntry
from clusterspec.records import dataclass
from clusterspec.source import Cited

# Due dates of announcements, from the note of a status

_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_QUARTER = re.compile(r"(first|second|third|fourth) quarter(?: of (\d{4}))?")
_HALF = re.compile(r"(first|second) half of (\d{4})")
_YEAR = re.compile(r"(?:expected in|roadmap,?|for|in) (\d{4})")


def due_date(note: str, year: int | None) -> date | None:
    """The last day of the period (quarter, half, year) that a note names, else of ``year``; None without either."""
    if quarter := _QUARTER.search(note):
        named = int(quarter[2]) if quarter[2] else year
        return _last_day(named, 3 * _ORDINALS[quarter[1]]) if named else None
    if half := _HALF.search(note):
        return _last_day(int(half[2]), 6 * _ORDINALS[half[1]])
    if plain := _YEAR.search(note):
        return _last_day(int(plain[1]), 12)
    return _last_day(year, 12) if year else None


def _last_day(year: int, month: int) -> date:
    return date(year, month, 30 if month in {6, 9} else 31)


# Consistency checks of entries: lanes, links, meshes, domains, nodes, peaks, switches, breakout, slots

Sum = tuple[float | None, float | None]
SumCheck = Callable[[FactReader, Catalog], Iterator[Sum]]
TOLERANCE = 0.002
_WIDTHS = {"x1": 1, "x4": 4, "x8": 8, "x12": 12}
_SLOTS = {3: "pcie-3", 4: "pcie-4", 5: "pcie-5", 6: "pcie-6"}


def open_sums(facts: FactReader, check: str, catalog: Catalog) -> list[Sum]:
    """The pairs of a check that differ by more than `TOLERANCE`."""
    known = [
        (parts, whole) for parts, whole in SUM_CHECKS[check](facts, catalog) if parts is not None and whole is not None
    ]
    return [(parts, whole) for parts, whole in known if abs(parts / whole - 1) > TOLERANCE]


def _rate_per_direction(facts: FactReader, name: str) -> float | None:
    bandwidth = facts.bandwidth(name)
    return bandwidth.value if bandwidth else None


def _product_or_none(*factors: float | None) -> float | None:
    return None if None in factors else math.prod(factor for factor in factors if factor is not None)


def _lane_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    lane = _rate_per_direction(facts, "lane.bandwidth")
    yield _product_or_none(lane, facts.count("lane.per_link")), _rate_per_direction(facts, "link.bandwidth")
    for width, count in _WIDTHS.items():
        yield _product_or_none(lane, count), _rate_per_direction(facts, f"widths.{width}")


def _link_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    yield (
        _product_or_none(_rate_per_direction(facts, "link.bandwidth"), facts.count("link.count")),
        _device_bandwidth(facts),
    )
    yield (
        _product_or_none(_rate_per_direction(facts, "scale_up.link_bandwidth"), facts.count("scale_up.links")),
        _rate_per_direction(facts, "scale_up.bandwidth"),
    )
    for group in ("", "scale_up."):
        axes = [2 * axis.value for axis in facts.bandwidths(f"{group}axis_bandwidth")]
        yield sum(axes) or None, _rate_per_direction(facts, f"{group}bandwidth")


def _device_bandwidth(facts: FactReader) -> float | None:
    whole = facts.raw_entry.facts.get("bandwidth")
    return _rate_per_direction(facts, "bandwidth") if whole and whole.scope in {"device", "slot"} else None


def _mesh_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    if facts.text("scale_up.topology") == "full-mesh" and facts.counts("scale_up.domains"):
        peers = facts.counts("scale_up.domains")[0] - 1
        yield (
            _product_or_none(_rate_per_direction(facts, "scale_up.peer_bandwidth"), peers),
            _rate_per_direction(facts, "scale_up.bandwidth"),
        )


def _domain_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    yield _product_or_none(facts.count("accelerators_per_node"), facts.count("nodes_per_domain")), facts.count("domain")
    if facts.counts("shape"):
        yield math.prod(facts.counts("shape")), facts.count("domain")
    if shape := facts.counts("scale_up.shape"):
        yield math.prod(shape), facts.counts("scale_up.domains")[0]


def _node_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    yield (
        _product_or_none(facts.count("nics_per_node"), _rate_per_direction(facts, "nic_bandwidth")),
        _rate_per_direction(facts, "node_bandwidth"),
    )
    if facts.raw_entry.kind == "interconnect":
        yield (
            _product_or_none(facts.count("node_ports"), _rate_per_direction(facts, "bandwidth")),
            _rate_per_direction(facts, "node_bandwidth"),
        )


def _sparse_peak_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    dense, halved = facts.peaks("peak"), facts.peaks("sparse_peak")  # a sparse peak is read as its dense half
    for precision, peak in halved.items():
        yield peak.value, dense[precision].value if precision in dense else 0.5 * peak.value


def _switch_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    yield (
        _product_or_none(facts.count("ports"), _rate_per_direction(facts, "port_bandwidth")),
        _rate_per_direction(facts, "capacity"),
    )


def _breakout_sums(facts: FactReader, _: Catalog) -> Iterator[Sum]:
    """The nearest whole number of parts of each port times the ports, and the ports after breakout.

    They differ if a printed number also counts other ports, or if one of them is wrong.
    """
    ports, splits = facts.count("ports"), facts.count("splits")
    if ports and splits:
        yield ports * round(splits / ports), splits


def _interconnect_sums(facts: FactReader, catalog: Catalog) -> Iterator[Sum]:
    own, named = _rate_per_direction(facts, "scale_up.bandwidth"), facts.texts("scale_up.interconnects")
    if own and named and (whole := catalog.interconnect(named[0]).bandwidth):
        yield whole.value, own
    if facts.raw_entry.kind == "platform":
        inside = catalog.accelerator(facts.text("accelerator") or "").scale_up_bandwidth
        yield inside.value if inside else None, _rate_per_direction(facts, "scale_up_bandwidth")


def _slot_sums(facts: FactReader, catalog: Catalog) -> Iterator[Sum]:
    """The rate of a NIC limited by its slot, and the rate of the NIC. They differ if the slot is too slow."""
    kind = facts.raw_entry.kind
    generation = facts.count("pcie.nic" if kind == "platform" else "pcie")
    one = _rate_per_direction(facts, "nic_bandwidth" if kind == "platform" else "port_bandwidth")
    if kind not in {"platform", "nic"} or one is None or generation not in _SLOTS:
        return
    slot = catalog.interconnect(_SLOTS[generation]).bandwidth
    needed = one * ((facts.count("ports") or 1) if kind == "nic" else 1)
    yield min(needed, slot.value) if slot else None, needed


SUM_CHECKS: dict[str, SumCheck] = {
    "lanes": _lane_sums,
    "links": _link_sums,
    "mesh": _mesh_sums,
    "domain": _domain_sums,
    "node": _node_sums,
    "sparse": _sparse_peak_sums,
    "switch": _switch_sums,
    "breakout": _breakout_sums,
    "interconnect": _interconnect_sums,
    "slot": _slot_sums,
}


OLD = timedelta(days=365)
"""Smallest age at which a source is read again."""
_HOST = re.compile(r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", re.IGNORECASE)
_ALIKE = ("memory_bandwidth", "scale_out.nic_bandwidth", "nic_bandwidth", "node_bandwidth", "frontend.nic_bandwidth")
"""Facts that have the same scope and basis in all entries."""


@dataclass(frozen=True)
class Audit:
    """``faults`` by ``kind/id: what``; ``aged`` sources with the number of their figures; ``overdue`` entries.

    ``lost`` are the documents, with the number of their figures, that were read in copies without an address.
    """

    faults: tuple[str, ...]
    aged: tuple[tuple[str, int], ...]
    overdue: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "faults": list(self.faults),
            "aged": [{"source": source, "figures": count} for source, count in self.aged],
            "overdue": [{"entry": entry, "due": day} for entry, day in self.overdue],
            "lost": [{"source": source, "figures": count} for source, count in self.lost],
        }


def audit(catalog: Catalog, today: date) -> Audit:
    """The audit of all entries on a day: sums, related facts, measures, addresses, dates. Raises `BrokenEntry`."""
    raw = [catalog.raw_entry(kind, id_) for kind in catalog.kinds for id_ in catalog.ids(kind)]
    faults = [
        *_sum_faults(raw, catalog),
        *_related_fact_faults(raw),
        *measure_faults(raw),
        *(fault for each in raw for fault in _address_faults(each, today)),
    ]
    return Audit(
        tuple(faults), tuple(_aged_sources(raw, today)), tuple(_overdue_dates(raw, today)), tuple(_lost_copies(raw))
    )


def _sum_faults(raw: Sequence[RawEntry], catalog: Catalog) -> Iterator[str]:
    for each in raw:
        for check in SUM_CHECKS:
            mismatches = open_sums(FactReader(each), check, catalog)
            if mismatches and check not in each.exceptions:
                parts, whole = mismatches[0]
                yield f"{_entry_name(each)}: the sum of {check} is {parts:.6g}, but the entry gives {whole:.6g}"
            if check in each.exceptions and not mismatches:
                yield f"{_entry_name(each)}: the sum of {check} is consistent, so its exception is not needed"


def _related_fact_faults(raw: Sequence[RawEntry]) -> Iterator[str]:
    """Faults of related facts that differ in scope or basis."""
    groups: dict[str, list[tuple[str, Fact]]] = defaultdict(list)
    for each in raw:
        for group, fact in _compared_facts(each):
            groups[group].append((_entry_name(each), fact))
    for group, facts in groups.items():
        usual = Counter((fact.scope, fact.basis) for _, fact in facts).most_common(1)[0][0]
        for name, fact in facts:
            if (fact.scope, fact.basis) != usual:
                counted = f"{fact.scope}, {fact.basis}"
                yield f"{name}: {fact.name} counts ({counted}), and its siblings of {group} ({', '.join(usual)})"


def _compared_facts(entry: RawEntry) -> Iterator[tuple[str, Fact]]:
    for name in _ALIKE:
        if name in entry.facts:
            yield name, entry.facts[name]
    own = entry.facts.get("scale_up.bandwidth") or entry.facts.get("scale_up_bandwidth")
    named = entry.facts.get("scale_up.interconnects") or entry.facts.get("interconnect")
    if own and named:
        first = named.value[0] if isinstance(named.value, list) else named.value
        yield f"interconnect {first}", own
    whole = entry.facts.get("bandwidth")
    if entry.kind == "interconnect" and whole and whole.scope == "device":
        yield f"interconnect {entry.id}", whole


def _address_faults(entry: RawEntry, today: date) -> Iterator[str]:
    days = {"status": entry.status.as_of} | {key: source.read for key, source in entry.sources.items() if source.read}
    for key, day in days.items():
        if _parsed_day(day) is None or day > today.isoformat():
            yield f"{_entry_name(entry)}: {key} has the day {day!r}, which is not a date up to {today.isoformat()}"
    for fact in (*entry.facts.values(), *entry.achievable.values()):
        source = fact.reference
        if source and not (source.is_findable or source.recalled or "not recorded" in source.title):
            yield f"{_entry_name(entry)}: {fact.name} is cited from {source.title}, without the address of a document"
    for key, source in entry.sources.items():
        address = urlsplit(source.url)
        if source.url and not (address.scheme in {"http", "https"} and _HOST.match(address.hostname or "")):
            yield f"{_entry_name(entry)}: the address of {key} is malformed: {source.url}"
        if not source.url and not source.recalled and not source.quoted_in and "not recorded" not in source.title:
            yield f"{_entry_name(entry)}: {key} has no address and does not say why"


def _aged_sources(raw: Sequence[RawEntry], today: date) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for each in raw:
        for fact in (*each.facts.values(), *each.achievable.values()):
            origin = fact.origin
            day = _parsed_day(origin.read) if isinstance(origin, Cited) else None
            if isinstance(origin, Cited) and day is not None and today - day > OLD:
                counts[f"{origin.source}, read {origin.read}"] += 1
    yield from counts.most_common()


def _lost_copies(raw: Sequence[RawEntry]) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for each in raw:
        for fact in (*each.facts.values(), *each.achievable.values()):
            if fact.reference and fact.reference.is_unaddressed_copy:
                counts[", ".join(part for part in (fact.reference.title, fact.reference.url) if part)] += 1
    yield from counts.most_common()


def _overdue_dates(raw: Sequence[RawEntry], today: date) -> Iterator[tuple[str, str]]:
    for each in raw:
        if each.status.state != "announced":
            continue
        year = each.facts.get("year")
        last = due_date(each.status.note, year.value if year and isinstance(year.value, int) else None)
        if last is not None and last < today:
            yield _entry_name(each), last.isoformat()


def _parsed_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _entry_name(entry: RawEntry) -> str:
    return f"{entry.kind}/{entry.id}"


def audit_text(audit: Audit) -> str:
    """The audit as text: faults first, then entries to review."""
    parts = [f"faults ({len(audit.faults)})", *(f"  {fault}" for fault in audit.faults)]
    parts += ["", f"announced, and due before today ({len(audit.overdue)})"]
    parts += [f"  {entry}: {day}" for entry, day in audit.overdue]
    parts += ["", f"sources read more than a year ago ({len(audit.aged)})"]
    parts += [f"  {source}: {count} figures" for source, count in audit.aged]
    parts += ["", f"documents read in copies without an address ({len(audit.lost)})"]
    parts += [f"  {source}: {count} figures" for source, count in audit.lost]
    return "\n".join(parts) + "\n"
