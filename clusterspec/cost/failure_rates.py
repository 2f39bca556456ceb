"""Annual failures of single parts, with ranges: as the spec states them, else from the catalog."""

from __future__ import annotations

from typing import cast

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import PartFailures
from clusterspec.origin import Assumed, Cited, Origin, Written
from clusterspec.quantity import YEAR, Figure
from clusterspec.records import NamedTuple
from clusterspec.spec.model import FailureRateSpec, FailuresSpec

KIND = "failure-rate"


class PartRate(NamedTuple):
    """How often one part fails.

    ``yearly`` is failures per year, most likely between ``low`` and ``high`` (5 and 95 %), which equal ``yearly`` where
    no range is known. ``repair`` is the seconds until the part works again, None where unknown for its kind.
    """

    part: str
    yearly: float
    low: float
    high: float
    origin: Origin
    repair: Figure | None = None

    def times(self, number: float) -> PartRate:
        """The rate of some such parts together."""
        return self._replace(yearly=number * self.yearly, low=number * self.low, high=number * self.high)


def part_rate(part: str, stated: FailuresSpec | None, catalog: Catalog) -> PartRate | None:
    """The rate of a kind of part: the spec's, else the catalog's; None where neither has one.

    The spec states a switch by its level, or all levels together as `switch`.
    """
    named = ("leaf", "spine", "core")
    keys = (part, "switch") if part in named else (part,)
    for key in keys:
        written = getattr(stated, key, None)
        found = stated_rate(key, written)
        if found is not None:
            return found._replace(repair=_known_repair(keys[-1], catalog))
    return published_rate(keys[-1], catalog)


def stated_rate(part: str, stated: FailureRateSpec | None) -> PartRate | None:
    """The rate that a spec states of a kind of part, by time or by year, with its range; else None."""
    if stated is None:
        return None
    between = stated.mtbf.value if stated.mtbf is not None else None
    rate = stated.afr if between is None else YEAR / between if between else None
    if rate is None:
        return None
    low, high = sorted(stated.range) if stated.range is not None else (rate, rate)
    return PartRate(part, rate, low, high, Written(f"operations.failures.{part}"))


def published_rate(part: str, catalog: Catalog) -> PartRate | None:
    """The rate of the catalog's entry of a kind of part; None where it has none."""
    entry = cast("PartFailures | None", catalog.find(KIND, part))
    if entry is None:
        return None
    counted = entry.afr or entry.failures
    if counted is None:
        return None
    rate = counted.value
    if entry.afr is None:
        if not entry.parts or entry.observed is None or not entry.observed.value:
            return None
        rate = counted.value / (entry.parts * entry.observed.value / YEAR)
    low, high = (end.value if end is not None else rate for end in (entry.low, entry.high))
    return PartRate(part, rate, low, high, counted.origin, entry.repair)


def _known_repair(part: str, catalog: Catalog) -> Figure | None:
    entry = cast("PartFailures | None", catalog.find(KIND, part))
    return entry.repair if entry is not None else None


def source_text(rate: PartRate) -> str:
    """The source of a rate: its key, the document with its address, or the reason of the assumption."""
    origin = rate.origin
    if isinstance(origin, Cited):
        return f"{origin.source} ({origin.url})" if origin.url else origin.source
    if isinstance(origin, Assumed):
        return f"assumed in the catalog: {origin.why}"
    return f"`{origin.key}`" if isinstance(origin, Written) else "computed"
