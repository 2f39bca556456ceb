"""Everything that an entry says, laid open, and two entries side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from clusterspec.catalog.raw_entry import Fact, Plain, RawEntry
from clusterspec.catalog.status import Status
from clusterspec.origin import Cited
from clusterspec.quantity import Quantity
from clusterspec.records import dataclass
from clusterspec.units import UnitFault, bandwidth_readings, read, say

_LINKS = {"scale_up.bandwidth": "scale_up.links", "bandwidth": "link.count"}
"""Which fact counts the links that a bandwidth is the sum of."""
_LABELS = ("year", "pcie", "pcie.host", "pcie.nic")
"""Numbers that name something: one is not twice the other."""
_COUNTS = ("parameters", "active_parameters")
_KINDS = ("rate", "bytes", "power", "time")


@dataclass(frozen=True, slots=True)
class Line:
    """One fact: as written, in SI (``value`` in ``unit``: per direction, dense), and why.

    ``readings`` are further ways to say it, by what they count (``one way``, ``per link`` …).
    """

    name: str
    written: str
    value: float | None
    unit: str
    fact: Fact
    readings: Mapping[str, str]

    def to_json(self) -> dict[str, object]:
        """Plain values; what does not apply is null."""
        origin = self.fact.origin
        cited = origin if isinstance(origin, Cited) else None
        words = {key: getattr(self.fact, key) or None for key in ("scope", "basis", "of", "prints", "note", "doubt")}
        return {
            "name": self.name,
            "written": self.written,
            "value": self.value,
            "unit": self.unit or None,
            "readings": dict(self.readings),
            **words,
            "source": {"title": cited.source, "url": cited.url or None, "read": cited.read or None} if cited else None,
            "also": [{"title": one.named, "url": one.url or None} for one in self.fact.also],
            "assumed": origin.why if origin and not isinstance(origin, Cited) else None,
            "not": [{"is": _text(r.value), "source": r.source or None, "why": r.why} for r in self.fact.rejected],
        }


@dataclass(frozen=True, slots=True)
class EntryView:
    """One entry in full."""

    kind: str
    id: str
    name: str
    vendor: str
    status: Status
    facts: tuple[Line, ...]
    achievable: tuple[Line, ...]
    exceptions: Mapping[str, str]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "kind": self.kind,
            "id": self.id,
            "name": self.name,
            "vendor": self.vendor or None,
            "status": {"is": self.status.state, "as_of": self.status.as_of, "note": self.status.note or None},
            "facts": [line.to_json() for line in self.facts],
            "achievable": [line.to_json() for line in self.achievable],
            "exceptions": dict(self.exceptions),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """One fact of two entries; ``ratio`` is right over left where both are figures of one unit."""

    name: str
    left: Line | None
    right: Line | None

    @property
    def ratio(self) -> float | None:
        if self.left is None or self.right is None or self.left.unit != self.right.unit:
            return None
        if not self.left.value or self.right.value is None:
            return None
        return self.right.value / self.left.value

    def to_json(self) -> dict[str, object]:
        """Plain values; a side that lacks the fact is null."""
        sides = {key: line.to_json() if line else None for key, line in (("left", self.left), ("right", self.right))}
        return {"name": self.name, **sides, "ratio": self.ratio}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two entries side by side, every fact that either has."""

    left: EntryView
    right: EntryView
    pairs: tuple[Pair, ...]

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        names = {key: f"{view.kind}/{view.id}" for key, view in (("left", self.left), ("right", self.right))}
        return {**names, "facts": [pair.to_json() for pair in self.pairs]}


def view(raw_entry: RawEntry) -> EntryView:
    """A raw_entry laid open."""
    facts = tuple(_line(raw_entry, fact) for fact in raw_entry.facts.values())
    seen = tuple(_line(raw_entry, fact) for fact in raw_entry.achievable.values())
    return EntryView(
        raw_entry.kind,
        raw_entry.id,
        raw_entry.name,
        raw_entry.vendor,
        raw_entry.status,
        facts,
        seen,
        raw_entry.exceptions,
        raw_entry.notes,
    )


def comparison(left: EntryView, right: EntryView) -> Comparison:
    """Two sheets side by side, facts in the order of the first."""
    one, other = _lines(left), _lines(right)
    names = dict.fromkeys(chain(one, other))
    return Comparison(left, right, tuple(Pair(name, one.get(name), other.get(name)) for name in names))


def _lines(whole: EntryView) -> dict[str, Line]:
    return {line.name: line for line in (*whole.facts, *whole.achievable)}


def _line(raw_entry: RawEntry, fact: Fact) -> Line:
    quantity = _quantity(fact)
    name = f"achievable.{fact.name}" if fact.path[0] == "achievable" else fact.name
    if quantity is None:
        counted = isinstance(fact.value, int | float) and not isinstance(fact.value, bool) and name not in _LABELS
        plain = float(str(fact.value)) if counted else None
        return Line(name, _text(fact.value), plain, "1" if counted else "", fact, {})
    return Line(
        name, _text(fact.value), _settled(quantity), quantity.unit, fact, dict(_readings(raw_entry, fact, quantity))
    )


def _quantity(fact: Fact) -> Quantity | None:
    """What a fact measures, where it is a figure with a unit."""
    if not isinstance(fact.value, str):
        return None
    peak = fact.name.startswith(("peak.", "sparse_peak."))
    for kind in ("peak",) if peak else ("count",) if fact.name in _COUNTS else _KINDS:
        try:
            return read(fact.value, kind)
        except UnitFault:
            continue
    return None


def _settled(quantity: Quantity) -> float:
    return quantity.dense if quantity.unit == "FLOP/s" else quantity.per_direction


def _readings(raw_entry: RawEntry, fact: Fact, quantity: Quantity) -> Iterator[tuple[str, str]]:
    if quantity.direction:
        one_way = quantity.per_direction
        ways = bandwidth_readings(one_way)
        yield "one way", f"{ways.one_way} = {ways.one_way_bits}"
        yield "both ways", f"{ways.duplex} = {ways.duplex_bits}"
        links = raw_entry.facts.get(_LINKS.get(fact.name, ""))
        if links and isinstance(links.value, int) and fact.scope == "device":
            each = bandwidth_readings(one_way / links.value)
            yield "per link", f"{each.one_way} one way, {each.duplex} both ways"
    elif quantity.unit == "B":
        yield "bytes", f"{quantity.value:,.0f}"
        yield "decimal", say(quantity.value, "B", 4)
        yield "binary", f"{quantity.value / 2**30:.4g} GiB"


def _text(value: Plain) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(_text(each) for each in value) if isinstance(value, list) else str(value)
