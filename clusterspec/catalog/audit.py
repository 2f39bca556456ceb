"""Offline audit of a catalog.

Faults: inconsistent sums, related facts with different scope or basis, malformed addresses and
dates. For review: figures read more than a year ago, and entries whose announced date has passed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from urllib.parse import urlsplit

from clusterspec.catalog.due import due
from clusterspec.catalog.library import Catalog
from clusterspec.catalog.raw_entry import Fact, RawEntry
from clusterspec.catalog.reader import FactReader
from clusterspec.catalog.sums import SUM_CHECKS, open_sums
from clusterspec.origin import Cited
from clusterspec.records import dataclass

YEAR = timedelta(days=365)
_HOST = re.compile(r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", re.IGNORECASE)
_ALIKE = ("memory_bandwidth", "scale_out.nic_bandwidth", "nic_bandwidth", "node_bandwidth", "frontend.nic_bandwidth")
"""Facts with the same scope and basis in all entries."""


@dataclass(frozen=True, slots=True)
class Audit:
    """``faults`` by ``kind/id: what``; ``aged`` sources with the number of their figures; ``overdue`` entries."""

    faults: tuple[str, ...]
    aged: tuple[tuple[str, int], ...]
    overdue: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "faults": list(self.faults),
            "aged": [{"source": source, "figures": count} for source, count in self.aged],
            "overdue": [{"entry": entry, "due": day} for entry, day in self.overdue],
        }


def audit(catalog: Catalog, today: date) -> Audit:
    """The audit of all entries on a day: sums, related facts, addresses and dates. Raises `BrokenEntry`."""
    raw = [catalog.raw_entry(kind, id_) for kind in catalog.kinds for id_ in catalog.ids(kind)]
    faults = [*_sums(raw, catalog), *_siblings(raw), *(fault for each in raw for fault in _addresses(each, today))]
    return Audit(tuple(faults), tuple(_aged(raw, today)), tuple(_overdue(raw, today)))


def _sums(raw: Sequence[RawEntry], catalog: Catalog) -> Iterator[str]:
    for each in raw:
        for check in SUM_CHECKS:
            mismatches = open_sums(FactReader(each), check, catalog)
            if mismatches and check not in each.exceptions:
                parts, whole = mismatches[0]
                yield f"{_named(each)}: the sum of {check} is {parts:.6g}, but the entry gives {whole:.6g}"
            if check in each.exceptions and not mismatches:
                yield f"{_named(each)}: the sum of {check} is consistent, so its exception is not needed"


def _siblings(raw: Sequence[RawEntry]) -> Iterator[str]:
    """Faults of related facts that differ in scope or basis."""
    groups: dict[str, list[tuple[str, Fact]]] = defaultdict(list)
    for each in raw:
        for group, fact in _compared(each):
            groups[group].append((_named(each), fact))
    for group, facts in groups.items():
        usual = Counter((fact.scope, fact.basis) for _, fact in facts).most_common(1)[0][0]
        for name, fact in facts:
            if (fact.scope, fact.basis) != usual:
                counted = f"{fact.scope}, {fact.basis}"
                yield f"{name}: {fact.name} counts ({counted}), and its siblings of {group} ({', '.join(usual)})"


def _compared(entry: RawEntry) -> Iterator[tuple[str, Fact]]:
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


def _addresses(entry: RawEntry, today: date) -> Iterator[str]:
    days = {"status": entry.status.as_of} | {key: source.read for key, source in entry.sources.items() if source.read}
    for key, day in days.items():
        if _day(day) is None or day > today.isoformat():
            yield f"{_named(entry)}: {key} has the day {day!r}, which is not a date up to {today.isoformat()}"
    for key, source in entry.sources.items():
        address = urlsplit(source.url)
        if source.url and not (address.scheme in {"http", "https"} and _HOST.match(address.hostname or "")):
            yield f"{_named(entry)}: the address of {key} is malformed: {source.url}"
        if not source.url and not source.recalled and not source.quoted_in and "not recorded" not in source.title:
            yield f"{_named(entry)}: {key} has no address and does not say why"


def _aged(raw: Sequence[RawEntry], today: date) -> Iterator[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for each in raw:
        for fact in (*each.facts.values(), *each.achievable.values()):
            origin = fact.origin
            day = _day(origin.read) if isinstance(origin, Cited) else None
            if isinstance(origin, Cited) and day is not None and today - day > YEAR:
                counts[f"{origin.source}, read {origin.read}"] += 1
    yield from counts.most_common()


def _overdue(raw: Sequence[RawEntry], today: date) -> Iterator[tuple[str, str]]:
    for each in raw:
        if each.status.state != "announced":
            continue
        year = each.facts.get("year")
        last = due(each.status.note, year.value if year and isinstance(year.value, int) else None)
        if last is not None and last < today:
            yield _named(each), last.isoformat()


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _named(entry: RawEntry) -> str:
    return f"{entry.kind}/{entry.id}"


def audit_text(audit: Audit) -> str:
    """The audit as text: faults first, then entries to review."""
    parts = [f"faults ({len(audit.faults)})", *(f"  {fault}" for fault in audit.faults)]
    parts += ["", f"announced, and due before today ({len(audit.overdue)})"]
    parts += [f"  {entry}: {day}" for entry, day in audit.overdue]
    parts += ["", f"sources read more than a year ago ({len(audit.aged)})"]
    parts += [f"  {source}: {count} figures" for source, count in audit.aged]
    return "\n".join(parts) + "\n"
