"""Complete views of catalog entries, comparisons of two or more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from textwrap import wrap

from clusterspec.catalog.reader import Fact, Plain, RawEntry, Status, quantity_of, si_value
from clusterspec.quantity import Quantity
from clusterspec.records import dataclass
from clusterspec.source import Cited
from clusterspec.units import bandwidth_readings, display, plain

_LINKS = {"scale_up.bandwidth": "scale_up.links", "bandwidth": "link.count"}
"""The fact with the number of links of each total bandwidth."""
_QUALIFIERS = ("scope", "basis", "of", "prints", "since", "until", "note", "doubt")
"""Keys of a fact in its JSON that qualify the value."""
_LABELS = ("year", "pcie", "pcie.host", "pcie.nic")
"""Numbers that serve as labels; their ratio has no meaning."""


@dataclass(frozen=True)
class FactView:
    """A fact: as written, in SI (``value`` in ``unit``; per direction, dense), and with its source.

    ``readings`` are the same figure in other conventions, by their names (``one way``, ``per link`` …).
    """

    name: str
    written: str
    value: float | None
    unit: str
    fact: Fact
    readings: Mapping[str, str]

    def decimal_text(self, digits: int) -> str:
        """The value in decimal SI units, per direction and dense; words and bare numbers as written."""
        if self.value is None or self.unit in {"", "1"}:
            return self.written
        return display(self.value, self.unit, digits)

    def to_json(self) -> dict[str, object]:
        """The fact as JSON values; fields that do not apply are null."""
        origin = self.fact.origin
        cited = origin if isinstance(origin, Cited) else None
        words = {
            key: getattr(self.fact, key) or None
            for key in ("scope", "basis", "of", "prints", "since", "until", "note", "doubt")
        }
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
            "not": [{"is": value_text(r.value), "source": r.source or None, "why": r.why} for r in self.fact.rejected],
        }


@dataclass(frozen=True)
class EntryView:
    """A complete entry."""

    kind: str
    id: str
    name: str
    vendor: str
    status: Status
    facts: tuple[FactView, ...]
    achievable: tuple[FactView, ...]
    exceptions: Mapping[str, str]
    notes: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    replaced_by: str = ""

    def to_json(self) -> dict[str, object]:
        """The fields as JSON values."""
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
            "aliases": list(self.aliases),
            "replaced_by": self.replaced_by or None,
        }


@dataclass(frozen=True)
class FactPair:
    """A fact of two entries; ``ratio`` is right over left if both are figures with the same unit."""

    name: str
    left: FactView | None
    right: FactView | None

    @property
    def ratio(self) -> float | None:
        if self.left is None or self.right is None or self.left.unit != self.right.unit:
            return None
        if not self.left.value or self.right.value is None:
            return None
        return self.right.value / self.left.value

    def to_json(self) -> dict[str, object]:
        """The pair as JSON values; null for an entry without the fact."""
        sides = {key: line.to_json() if line else None for key, line in (("left", self.left), ("right", self.right))}
        return {"name": self.name, **sides, "ratio": self.ratio}


@dataclass(frozen=True)
class Comparison:
    """Two entries side by side, with all facts of either."""

    left: EntryView
    right: EntryView
    pairs: tuple[FactPair, ...]

    def to_json(self) -> dict[str, object]:
        """The fields as JSON values."""
        names = {key: f"{one.kind}/{one.id}" for key, one in (("left", self.left), ("right", self.right))}
        return {**names, "facts": [pair.to_json() for pair in self.pairs]}


def entry_view(raw_entry: RawEntry) -> EntryView:
    """The complete view of a raw entry."""
    facts = tuple(_fact_view(raw_entry, fact) for fact in raw_entry.facts.values())
    seen = tuple(_fact_view(raw_entry, fact) for fact in raw_entry.achievable.values())
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
        raw_entry.aliases,
        raw_entry.replaced_by,
    )


def comparison(left: EntryView, right: EntryView) -> Comparison:
    """The comparison of two entries, with facts in the order of the first."""
    one, other = _facts_by_name(left), _facts_by_name(right)
    names = dict.fromkeys(chain(one, other))
    return Comparison(left, right, tuple(FactPair(name, one.get(name), other.get(name)) for name in names))


def _facts_by_name(view: EntryView) -> dict[str, FactView]:
    return {line.name: line for line in (*view.facts, *view.achievable)}


def _fact_view(raw_entry: RawEntry, fact: Fact) -> FactView:
    quantity = quantity_of(fact)
    name = f"achievable.{fact.name}" if fact.path[0] == "achievable" else fact.name
    if quantity is None:
        plain_number = isinstance(fact.value, int | float) and not isinstance(fact.value, bool) and name not in _LABELS
        plain = float(str(fact.value)) if plain_number else None
        return FactView(name, value_text(fact.value), plain, "1" if plain_number else "", fact, {})
    return FactView(
        name,
        value_text(fact.value),
        si_value(quantity),
        quantity.unit,
        fact,
        dict(_fact_readings(raw_entry, fact, quantity)),
    )


def _fact_readings(raw_entry: RawEntry, fact: Fact, quantity: Quantity) -> Iterator[tuple[str, str]]:
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
        yield "decimal", display(quantity.value, "B", 4)
        yield "binary", f"{quantity.value / 2**30:.4g} GiB"


# Several entries side by side in one convention: bandwidths per direction, peaks dense, decimal units

CONVENTION = "bandwidths per direction; peaks dense; bytes in decimal units; ratios against the first entry"
_DIGITS = 4
_LEFT_OUT = "sparse_peak."
"""The sparse peak is the figure of headlines; the dense peak next to it is the comparable one."""


@dataclass(frozen=True)
class SharedFact:
    """One fact of several entries, in the order of the entries.

    ``values`` are in SI (``unit``; "" for words), None if an entry lacks the fact.
    """

    name: str
    unit: str
    values: tuple[float | None, ...]
    texts: tuple[str, ...]

    @property
    def ratios(self) -> tuple[float | None, ...]:
        """Each figure divided by the first entry's figure; None if either is unknown."""
        first = self.values[0]
        return tuple(None if value is None or not first else value / first for value in self.values)

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "name": self.name,
            "unit": self.unit or None,
            "values": list(self.values),
            "texts": list(self.texts),
            "ratios": list(self.ratios),
        }


@dataclass(frozen=True)
class EntryComparison:
    """Entries with all facts of any of them, in the order of the first entries."""

    entries: tuple[EntryView, ...]
    facts: tuple[SharedFact, ...]

    def to_json(self) -> dict[str, object]:
        """The table as JSON values; ``convention`` states direction, sparsity and units."""
        names = [f"{entry.kind}/{entry.id}" for entry in self.entries]
        return {"convention": CONVENTION, "entries": names, "facts": [fact.to_json() for fact in self.facts]}


def side_by_side(entries: Sequence[EntryView]) -> EntryComparison:
    """Two or more entries, fact by fact."""
    lines = [{line.name: line for line in entry.facts if not line.name.startswith(_LEFT_OUT)} for entry in entries]
    names = dict.fromkeys(name for each in lines for name in each)
    return EntryComparison(
        tuple(entries), tuple(_shared_fact(name, [each.get(name) for each in lines]) for name in names)
    )


def _shared_fact(name: str, lines: Sequence[FactView | None]) -> SharedFact:
    units = {line.unit for line in lines if line is not None}
    unit = units.pop() if len(units) == 1 else ""
    values = tuple(line.value if line is not None and unit else None for line in lines)
    return SharedFact(name, unit, values, tuple(line.decimal_text(_DIGITS) if line else "" for line in lines))


def side_by_side_text(comparison: EntryComparison, width: int) -> str:
    """A text table with one column per entry, and each figure's ratio to the first entry's figure.

    Where the table is wider than ``width`` characters, if any is given, each figure has a line per entry.
    """
    header = ("", *(f"{entry.kind}/{entry.id}" for entry in comparison.entries))
    rows = [header, ("status", *(entry.status.state for entry in comparison.entries))]
    rows += [(fact.name, *_fact_cells(fact)) for fact in comparison.facts]
    if width and sum(max(map(len, column)) + 2 for column in zip(*rows, strict=True)) - 2 > width:
        return "\n".join([*wrap(CONVENTION, width), "", *_lines_by_entry(rows)]) + "\n"
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([CONVENTION, "", *lines]) + "\n"


def _lines_by_entry(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The rows of a table as lines: each name, and below it the value of each entry."""
    (_, *entries), *facts = rows
    longest = max(map(len, entries))
    for name, *cells in facts:
        yield name
        yield from (f"  {entry.ljust(longest)}  {cell}" for entry, cell in zip(entries, cells, strict=True))


def _fact_cells(fact: SharedFact) -> tuple[str, ...]:
    ratios = [None, *fact.ratios[1:]]
    return tuple(
        (text or "-") + (f" (× {plain(ratio)})" if ratio is not None and ratio != 1 else "")
        for text, ratio in zip(fact.texts, ratios, strict=True)
    )


# Texts of facts, for tables and documentation alike


def value_text(value: Plain) -> str:
    """The text of a value as written: words for true and false, commas between the items of a list."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value_text(each) for each in value) if isinstance(value, list) else str(value)


def figure_text(fact: Fact) -> str:
    """The value as written, with the measured quantity, its scope and basis, and the releases to which it applies."""
    releases = f"from {fact.since}" * bool(fact.since), f"until {fact.until}" * bool(fact.until)
    counts = ", ".join(word for word in (fact.scope, fact.basis, *releases) if word)
    of = f" of {fact.of}" if fact.of else ""
    return f"{value_text(fact.value)}{of}" + (f" ({counts})" if counts else "")


def fact_remarks(fact: Fact) -> Iterator[str]:
    """The note, the doubt, and the rejected figures of a fact, one text each."""
    if fact.note:
        yield f"note: {fact.note}"
    if fact.doubt:
        yield f"doubt: {fact.doubt}"
    for rejected in fact.rejected:
        source = f" ({rejected.source})" if rejected.source else ""
        yield f"not {rejected.value}{source}: {rejected.why}"
