"""Annual failures of parts, mean time between failures, and goodput of a run."""

from __future__ import annotations

from itertools import takewhile
from math import prod

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster, Design, Layout
from clusterspec.cost.formulas.compute import larger
from clusterspec.cost.formulas.failures import best_interval, goodput, job_time_between_failures
from clusterspec.quantity import DAY, YEAR, Figure, Quantity
from clusterspec.records import NamedTuple, dataclass
from clusterspec.source import Assumed, Cited, Computed, Origin, Written
from clusterspec.spec.model import FailureRateSpec, FailuresSpec, NetworksSpec, OperationsSpec
from clusterspec.standard import cast, sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.catalog.entries import PartFailures
    from clusterspec.cost.plan import Plan


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
        """The rate of some such parts together."""
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


REPAIR = Figure(
    DAY,
    "s",
    Assumed("operations.repair_time", "a day until a failed part is replaced; no published figure holds for all parts"),
)
RESTART = Figure(
    600.0,
    "s",
    Assumed(
        "operations.restart_time",
        "10 minutes until training runs again on a spare node; the 466 interruptions in 54 days of the Llama 3 run,"
        " with more than 90 % effective training time, leave at most 17 minutes each (arXiv:2407.21783)",
    ),
)
HOT_RESTART = Figure(
    120.0,
    "s",
    Assumed(
        "operations.restart_time",
        "2 minutes with a hot spare: its software runs, so that only groups are joined again and states loaded; by"
        " judgment, no published figure holds for all jobs",
    ),
)
CHECKPOINT_TIME = Figure(
    60.0,
    "s",
    Assumed(
        "operations.checkpoint_time", "one minute; neither the spec nor the bandwidth of the storage system gives it"
    ),
)

ASYNCHRONOUS_PAUSE = Figure(
    10.0,
    "s",
    Assumed(
        "operations.checkpoint.pause",
        "training stops for the copy of the states to host memory: several seconds in MegaScale (arXiv:2402.15627,"
        " section 4.4)",
    ),
)


@dataclass(frozen=True)
class Interruptions:
    """The effect of failures and checkpoints on a job; each figure in seconds with its origin.

    ``share`` is the goodput, ``low`` and ``high`` its range over the ranges of the failure rates (equal to ``share``
    where the spec states the rate).
    """

    between: Figure
    interval: Figure
    checkpoint: Figure
    restart: Figure
    share: float
    low: float
    high: float

    @property
    def figures(self) -> tuple[tuple[str, Figure], ...]:
        """The inputs of the goodput by the names of its formula."""
        return (
            ("interval", self.interval),
            ("between", self.between),
            ("checkpoint", self.checkpoint),
            ("restart", self.restart),
        )


def plan_interruptions(plan: Plan) -> Interruptions | None:
    """The interruptions of the job of a training plan; None if its step has no time."""
    design, step = plan.design, plan.step
    if design.cluster is None or design.layout is None or step is None:
        return None
    networks = design.spec.cluster.networks if design.spec.cluster else None
    place = design.cluster, design.layout, design.spec.operations, networks
    return interruptions(*place, plan.parameters, step=step.seconds, catalog=catalog_of(design))


def catalog_of(design: Design) -> Catalog:
    """The catalog of a resolved design."""
    assert design.catalog is not None
    return design.catalog


def interruptions(
    cluster: Cluster,
    layout: Layout,
    operations: OperationsSpec | None,
    networks: NetworksSpec | None,
    parameters: float | None,
    *,
    step: float,
    catalog: Catalog,
) -> Interruptions:
    """The interruptions of a job, from figures of the spec and the failure rates of the catalog.

    ``parameters`` gives the checkpoint size where the spec states a storage system and no checkpoint time. ``step`` is
    the time of a step in seconds: training saves at most once per step, however little a checkpoint costs. The restart
    includes the time of detection.
    """
    written = operations or OperationsSpec()
    between, rates = time_between_failures(written, cluster, layout.nodes, catalog)
    checkpoint = _checkpoint_time(written, networks, parameters, layout)
    read = read_after_failure(written, networks, parameters, layout)
    restart = _with_detection(_restart_time(cluster, layout, written, read), written)
    interval = _stated_time(written.interval, written.interval_key) or Figure(
        larger(step, best_interval(between.value, checkpoint.value)),
        "s",
        Computed("max(step_time, sqrt(2 * between * checkpoint))"),
    )
    share, low, high = (
        goodput(interval.value, each, checkpoint.value, restart.value) for each in (between.value, *rates)
    )
    return Interruptions(between, interval, checkpoint, restart, share, low, high)


def stated_time_between_failures(written: OperationsSpec, nodes: int | None) -> Figure | None:
    """Seconds between failures of a job on some nodes, as the spec states it for the job or for one node; else None."""
    stated = _stated_time(written.mean_time_between_failures, "operations.mean_time_between_failures")
    if stated is not None or written.node_mtbf is None or not nodes:
        return stated
    value = job_time_between_failures(written.node_mtbf.value, nodes)
    return Figure(value, "s", Written("operations.node_mtbf"))


def published_time_between_failures(
    cluster: Cluster, nodes: int, catalog: Catalog
) -> tuple[Figure, tuple[float, float]]:
    """Seconds between failures of a job on some nodes at the rates of the catalog, and the range."""
    return time_between_failures(OperationsSpec(), cluster, nodes, catalog)


def time_between_failures(
    written: OperationsSpec, cluster: Cluster, nodes: int, catalog: Catalog
) -> tuple[Figure, tuple[float, float]]:
    """Seconds between failures of a job on some nodes, and the range.

    Stated failure rates of accelerators, nodes, NICs and software replace the rates of the catalog. Those of parts of
    the network count in `clusterspec faults`, which counts the parts; here the network counts by accelerators.
    """
    stated = stated_time_between_failures(written, nodes)
    if stated is not None:
        return stated, (stated.value, stated.value)
    rates = part_failure_rates(written.failures, cluster, nodes, catalog)
    own = [rate.part for rate in rates if isinstance(rate.origin, Written)]
    middle, low, high = (YEAR / sum_of(getattr(rate, end) for rate in rates) for end in ("yearly", "high", "low"))
    published = "the catalog's failure rates of accelerators, nodes, NICs, network and software (arXiv:2407.21783)"
    why = f"operations.failures of {', '.join(own)}; the other causes at {published}" if own else published
    return Figure(middle, "s", Assumed("operations.mean_time_between_failures", why)), (low, high)


def part_failure_rates(
    stated: FailuresSpec | None, cluster: Cluster, nodes: int, catalog: Catalog
) -> tuple[PartRate, ...]:
    """The failures in a year of all parts of a job, by kind of part; the network as a whole, by accelerators.

    A job inside one scale-up domain does not depend on the scale-out network.
    """
    own = nodes * cluster.accelerators_per_node
    counts = {"accelerator": own, "node": nodes, "software": own}
    if cluster.scale_out is not None and nodes > 1 and own > cluster.scale_up.domain:
        counts |= {"nic": nodes * cluster.scale_out.nics_per_node, "network": own}
    rates = ((part_rate(part, stated, catalog), number) for part, number in counts.items())
    return tuple(rate.times(number) for rate, number in rates if rate is not None)


def _checkpoint_time(
    written: OperationsSpec, networks: NetworksSpec | None, parameters: float | None, layout: Layout
) -> Figure:
    stated = _stated_time(written.pause, written.pause_key)
    if stated is not None:
        return stated
    if written.asynchronous:
        return ASYNCHRONOUS_PAUSE
    from clusterspec.cost.storage import write_seconds  # most specs state a pause, or no storage system

    value = write_seconds(networks, parameters, layout)
    if value is None:
        return CHECKPOINT_TIME
    why = "the checkpoint over the bandwidth of the storage system, training waiting for all of it"
    return Figure(value, "s", Assumed("operations.checkpoint_time", why))


def read_after_failure(
    written: OperationsSpec, networks: NetworksSpec | None, parameters: float | None, layout: Layout
) -> float:
    """Seconds in which all ranks read the last checkpoint; 0 if the stated restart time already includes them or
    if the spec states no storage bandwidth.
    """
    if written.restart_time is not None or networks is None or parameters is None:
        return 0.0
    from clusterspec.cost.storage import restore_seconds  # few specs state a storage system

    return restore_seconds(networks, parameters, layout) or 0.0


def standby_nodes(cluster: Cluster, layout: Layout) -> int:
    """Nodes that can replace failed ones: spares, and nodes without ranks of the layout."""
    return cluster.spare_nodes + max(0, cluster.nodes - layout.nodes)


def restart_on_spare(cluster: Cluster, layout: Layout, written: OperationsSpec, read: float = 0.0) -> Figure:
    """The time from a failure until training runs again where a spare node takes over, with the seconds of the read of
    the checkpoint; a stated time includes them.
    """
    stated = _stated_time(written.restart_time, "operations.restart_time")
    if stated is not None:
        return stated
    usual = HOT_RESTART if written.recovery == "hot-spare" and standby_nodes(cluster, layout) else RESTART
    if not read:
        return usual
    assert isinstance(usual.origin, Assumed)
    why = f"{usual.origin.why}; and the read of the checkpoint from the stated storage system"
    return Figure(usual.value + read, "s", Assumed(usual.origin.key, why))


def _restart_time(cluster: Cluster, layout: Layout, written: OperationsSpec, read: float) -> Figure:
    """The restart time as stated. Without a spare node the job waits for the repair, if the spec states its time, or
    runs without the replicas of the failed node until then, and loses their share of the repair time.
    """
    on_spare = restart_on_spare(cluster, layout, written, read)
    if standby_nodes(cluster, layout):
        return on_spare
    if written.shrinks and layout.nodes > 1:
        repair = written.repair_time.value if written.repair_time else REPAIR.value
        without = repair * share_of_replicas(layout, cluster.ranks_per_node, 1)
        return Figure(on_spare.value + without, "s", Computed("restart_time + repair_time * lost_replicas / dp"))
    if written.restart_time is None and written.repair_time is not None and written.repair_time.value > RESTART.value:
        return Figure(written.repair_time.value, "s", Written("operations.repair_time"))
    return on_spare


def share_of_replicas(layout: Layout, ranks_per_node: int, nodes: int) -> float:
    """The share of the replicas that a job loses with ``nodes`` neighboring nodes, at most 1.

    A replica stops with any of its nodes. Ranks of the axes before dp in the order are neighbors.
    """
    inner = takewhile(lambda axis: not axis.startswith("dp"), layout.order)
    neighbors = prod({"tp": layout.tp, "cp": layout.cp, "pp": layout.pp}.get(axis, 1) for axis in inner)
    return min(1.0, -(-nodes * ranks_per_node // neighbors) / layout.dp)


def detection_seconds(written: OperationsSpec) -> float:
    """Seconds from a failure until it is noticed, as stated; else 0, as restart times of publications include them."""
    return written.detection_time.value if written.detection_time else 0.0


def _with_detection(restart: Figure, written: OperationsSpec) -> Figure:
    noticed = detection_seconds(written)
    if not noticed:
        return restart
    return Figure(restart.value + noticed, "s", Computed("detection_time + restart_time"))


def _stated_time(quantity: Quantity | None, key: str) -> Figure | None:
    return Figure(quantity.value, "s", Written(key)) if quantity is not None else None
