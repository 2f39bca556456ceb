"""Annual failures of single parts, and the mean time between failures of a job as stated or published."""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost.formulas.failures import job_time_between_failures
from clusterspec.quantity import YEAR, Figure, Quantity
from clusterspec.records import NamedTuple
from clusterspec.source import Assumed, Cited, Origin, Written
from clusterspec.spec.model import FailureRateSpec, FailuresSpec, OperationsSpec
from clusterspec.standard import cast, sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.failure_rates import PartFailures


# Annual failures of single parts, with ranges: as the spec states them, else from the catalog

KIND = "failure-rate"


class PartRate(NamedTuple):
    """How often one part fails.

    ``yearly`` is failures per year, most likely between ``low`` and ``high`` (5 and 95 %), which equal ``yearly`` where
    no range is known. ``repair`` is the seconds until the part works again, None if unknown for its kind.
    """

    part: str
    yearly: float
    low: float
    high: float
    origin: Origin
    repair: Figure | None = None

    def times(self, number: float) -> PartRate:
        """The rate of ``number`` such parts together."""
        return self._replace(yearly=number * self.yearly, low=number * self.low, high=number * self.high)


def part_rate(part: str, stated: FailuresSpec | None, catalog: Catalog) -> PartRate | None:
    """The rate of a kind of part: the spec's, else the catalog's; None if neither has one.

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
    """The rate of the catalog's entry of a kind of part; None if it has none."""
    entry: PartFailures | None = cast("PartFailures | None", catalog.find(KIND, part))
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
    entry: PartFailures | None = cast("PartFailures | None", catalog.find(KIND, part))
    return entry.repair if entry is not None else None


def source_text(rate: PartRate) -> str:
    """The source of a rate: its key, the document with its address, or the reason of the assumption."""
    origin = rate.origin
    if isinstance(origin, Cited):
        return f"{origin.source} ({origin.url})" if origin.url else origin.source
    if isinstance(origin, Assumed):
        return f"assumed in the catalog: {origin.why}"
    return f"`{origin.key}`" if isinstance(origin, Written) else "computed"


def catalog_of(design: Design) -> Catalog:
    """The catalog of a resolved design."""
    assert design.catalog is not None
    return design.catalog


def stated_time_between_failures(written: OperationsSpec, nodes: int | None) -> Figure | None:
    """Seconds between failures of a job on ``nodes`` nodes, as the spec states it for the job or for one node; else
    None.
    """
    stated = stated_figure(written.mean_time_between_failures, "operations.mean_time_between_failures")
    if stated is not None or written.node_mtbf is None or not nodes:
        return stated
    value = job_time_between_failures(written.node_mtbf.value, nodes)
    return Figure(value, "s", Written("operations.node_mtbf"))


def published_time_between_failures(cluster: Cluster, nodes: int, catalog: Catalog) -> tuple[float, float, float]:
    """Seconds between failures of a job on ``nodes`` nodes at published rates: the mean, the shortest and the
    longest.
    """
    rates = published_failures(cluster, nodes, catalog)
    mean, least, most = (YEAR / sum_of(getattr(rate, end) for rate in rates) for end in ("yearly", "high", "low"))
    return mean, least, most


def published_failures(cluster: Cluster, nodes: int, catalog: Catalog) -> tuple[PartRate, ...]:
    """The published failures per year of a job, by cause. Network failures are published per accelerator.

    A job inside one scale-up domain does not depend on the scale-out network.
    """
    own = nodes * cluster.accelerators_per_node
    counts = {"accelerator": own, "node": nodes, "software": own}
    if cluster.scale_out is not None and nodes > 1 and own > cluster.scale_up.domain:
        counts |= {"nic": nodes * cluster.scale_out.nics_per_node, "network": own}
    rates = ((published_rate(part, catalog), number) for part, number in counts.items())
    return tuple(rate.times(number) for rate, number in rates if rate is not None)


def stated_figure(quantity: Quantity | None, key: str) -> Figure | None:
    """A stated time in seconds with its key; None if it is not stated."""
    return Figure(quantity.value, "s", Written(key)) if quantity is not None else None
