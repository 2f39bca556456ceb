"""Several entries side by side in one convention: bandwidths per direction, peaks dense, decimal units."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.catalog.entry_view import EntryView, FactView
from clusterspec.records import dataclass
from clusterspec.units import plain

CONVENTION = "bandwidths per direction; peaks dense; bytes in decimal units; ratios against the first entry"
_DIGITS = 4
_LEFT_OUT = "sparse_peak."
"""A sparse peak says what a headline counts; the dense peak beside it is the comparable figure."""


@dataclass(frozen=True, slots=True)
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
        """The ratio of each figure to that of the first entry; None if either is not a known figure."""
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


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Entries with all facts of any of them, in the order of the first entries."""

    entries: tuple[EntryView, ...]
    facts: tuple[SharedFact, ...]

    def to_json(self) -> dict[str, object]:
        """The table as JSON values; ``convention`` states direction, sparsity and units."""
        names = [f"{entry.kind}/{entry.id}" for entry in self.entries]
        return {"convention": CONVENTION, "entries": names, "facts": [fact.to_json() for fact in self.facts]}


def side_by_side(entries: Sequence[EntryView]) -> SideBySide:
    """Two or more entries, fact by fact."""
    lines = [{line.name: line for line in entry.facts if not line.name.startswith(_LEFT_OUT)} for entry in entries]
    names = dict.fromkeys(name for each in lines for name in each)
    return SideBySide(tuple(entries), tuple(_shared(name, [each.get(name) for each in lines]) for name in names))


def _shared(name: str, lines: Sequence[FactView | None]) -> SharedFact:
    units = {line.unit for line in lines if line is not None}
    unit = units.pop() if len(units) == 1 else ""
    values = tuple(line.value if line is not None and unit else None for line in lines)
    return SharedFact(name, unit, values, tuple(line.decimal_text(_DIGITS) if line else "" for line in lines))


def side_by_side_text(comparison: SideBySide) -> str:
    """A text table with one column per entry, and the ratio of each figure to that of the first entry."""
    header = ("", *(f"{entry.kind}/{entry.id}" for entry in comparison.entries))
    rows = [header, ("status", *(entry.status.state for entry in comparison.entries))]
    rows += [(fact.name, *_cells(fact)) for fact in comparison.facts]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = ["  ".join(cell.ljust(size) for cell, size in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([CONVENTION, "", *lines]) + "\n"


def _cells(fact: SharedFact) -> tuple[str, ...]:
    ratios = [None, *fact.ratios[1:]]
    return tuple(
        (text or "-") + (f" (x {plain(ratio)})" if ratio is not None and ratio != 1 else "")
        for text, ratio in zip(fact.texts, ratios, strict=True)
    )
