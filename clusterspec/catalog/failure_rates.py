"""Entries of failure rates: how often one part of a kind fails, and how long its repair takes."""

from __future__ import annotations

from clusterspec.catalog.reader import Entry, FactReader
from clusterspec.quantity import Figure
from clusterspec.records import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class PartFailures(Entry):
    """How often one part of a kind fails; `id` is its key in `operations.failures`.

    ``afr`` are the failures of one part in a year; where it is absent, ``failures`` were counted on ``parts`` in
    ``observed`` seconds. ``low`` and ``high`` are the ends of the range over fleets, in failures of a year. ``repair``
    are seconds until the part works again.
    """

    afr: Figure | None = None
    failures: Figure | None = None
    parts: int | None = None
    observed: Figure | None = None
    low: Figure | None = None
    high: Figure | None = None
    repair: Figure | None = None

    @property
    def kind(self) -> str:
        return "failure-rate"


def part_failures_fields(facts: FactReader) -> dict[str, Any]:
    """The fields of a failure rate other than those that all entries have."""
    return {
        "afr": facts.figure("afr", "number"),
        "failures": facts.figure("failures", "number"),
        "parts": facts.count("parts"),
        "observed": facts.figure("observed", "time"),
        "low": facts.figure("range.low", "number"),
        "high": facts.figure("range.high", "number"),
        "repair": facts.figure("repair", "time"),
    }
