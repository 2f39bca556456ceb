"""Measurements of `measured:` from logs and entries, and the calibration of link shares that reproduces them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isclose

from clusterspec.cluster.groups import Placement, contiguous_placement
from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cluster.model import Cluster, Design
from clusterspec.cost import assumed_figure
from clusterspec.cost.collectives import CollectiveCost, CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.finding import Problem
from clusterspec.logs.benchmarks.nccl_rows import RATE_TOLERANCE, NcclLog, NotALogError
from clusterspec.quantity import Bandwidth, Basis, Figure, bus_factor
from clusterspec.records import dataclass, replace
from clusterspec.source import Measured, Path, Written
from clusterspec.spec.model import AcceptanceSpec, MeasuredSpec
from clusterspec.standard import sum_of
from clusterspec.units import display

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

RULE = "unreadable-log"
_ADVICE = "give the raw output of nccl-tests or rccl-tests, as a file next to the spec"


@dataclass(frozen=True)
class MeasuredSize:
    """One size in bytes, as nccl-tests counts it, and its bus bandwidth in B/s."""

    size: float
    busbw: float


@dataclass(frozen=True)
class Measurement:
    """One entry of `measured:`; ``rows`` in ascending size. A value is ``None`` if neither the entry nor the log states
    it.

    ``at`` is the key that holds the figure; ``wrong`` the number of wrong results in the log.
    """

    index: int
    at: Path
    collective: str | None
    ranks: int | None
    nodes: int | None
    rows: tuple[MeasuredSize, ...]
    algorithm: str | None = None
    log: str | None = None
    wrong: int = 0

    @property
    def largest(self) -> MeasuredSize | None:
        """The largest size, where collectives come closest to their plateau."""
        return self.rows[-1] if self.rows else None

    def group(self, cluster: Cluster) -> Placement | None:
        """The placement of its ranks; None for a single rank or an unknown number of ranks."""
        if self.ranks is None or self.ranks < 2:
            return None
        return contiguous_placement(cluster, self.ranks, self.nodes)


def resolve_measurements(
    entries: Sequence[MeasuredSpec], cluster: Cluster | None, logs: Mapping[str, NcclLog | NotALogError]
) -> tuple[tuple[Measurement, ...], list[Problem]]:
    """The measurements of a spec, and a problem for each unusable log; ``logs`` has the logs of its entries by name."""
    measurements, problems = [], []
    for index, entry in enumerate(entries):
        try:
            log = _readable_log(logs[entry.log]) if entry.log is not None else None
            measurements.append(_resolved_measurement(index, entry, log, cluster))
        except NotALogError as fault:
            problems.append(
                Problem(RULE, ("measured", index, "log"), f"{_short_name(entry.log or '')}: {fault}", _ADVICE)
            )
    return tuple(measurements), problems


def _readable_log(log: NcclLog | NotALogError) -> NcclLog:
    """A log that could be read. Raises `NotALogError` for another."""
    if isinstance(log, NotALogError):
        raise log
    return log


def _chosen_table(entry: MeasuredSpec, log: NcclLog) -> NcclLog:
    """The table of a log that has the collective and ranks of an entry. If all tables repeat one run, the whole log.

    Raises `NotALogError` if several tables fit that are of different runs, or none does.
    """
    from clusterspec.logs.benchmarks.nccl import collective_of, ranks_of

    runs = [(table, collective_of(table)) for table in log.tables]
    found = {(name, table.ranks or ranks_of(table, name)): table for table, name in runs}
    if len(found) < 2:
        return log
    fitting = [
        table
        for (name, ranks), table in found.items()
        if (entry.collective is None or name in {None, entry.collective})
        and (entry.ranks is None or ranks in {None, entry.ranks})
    ]
    if len(fitting) == 1:
        return fitting[0]
    shown = ", ".join(
        f"{name or 'a collective'} on {ranks or 'unknown'} ranks from line {table.lines[0].number}"
        for (name, ranks), table in list(found.items())[:4]
    )
    why = f"holds {len(found)} tables of different runs ({shown}): state the collective and the ranks of one"
    raise NotALogError(why, log.lines[0].number)


def _run_of_entry(entry: MeasuredSpec, log: NcclLog | None) -> tuple[str | None, int | None]:
    """The collective and the ranks that an entry states or its log shows. Raises `NotALogError` where they differ."""
    if log is None:
        return entry.collective, entry.ranks
    from clusterspec.logs.benchmarks.nccl import collective_of, ranks_of  # most measurements are stated

    collective = _agreed_value(
        entry.collective, collective_of(log), "the log is of {log}, but the entry states {entry}"
    )
    counted = ranks_of(log, collective)
    return collective, _agreed_value(entry.ranks, counted, "the log is of {log} ranks, but the entry states {entry}")


def _resolved_measurement(index: int, entry: MeasuredSpec, log: NcclLog | None, cluster: Cluster | None) -> Measurement:
    log = _chosen_table(entry, log) if log is not None and log.tables else log
    collective, ranks = _run_of_entry(entry, log)
    per_node = cluster.ranks_per_node if cluster else None
    stated = entry.ranks or (entry.nodes * per_node if entry.nodes and per_node else None)
    ranks = ranks or stated
    nodes = entry.nodes or (log.nodes if log else None) or (-(-ranks // per_node) if ranks and per_node else None)
    if log is not None:
        _check_bandwidth_ratio(log, collective, ranks)
    rows = _log_rows(log) if log else _stated_rows(entry, collective, ranks)
    key = "log" if log else "busbw" if entry.busbw is not None else "algbw"
    path = ("measured", index, key)
    wrong = log.wrong if log else 0
    return Measurement(index, path, collective, ranks, nodes, rows, entry.algorithm, entry.log, wrong)


def _agreed_value(stated: T | None, logged: T | None, how: str) -> T | None:
    """The value that the entry states, else the log's value. Raises `NotALogError` if they differ."""
    if stated is not None and logged is not None and stated != logged:
        raise NotALogError(how.format(entry=stated, log=logged))
    return stated if stated is not None else logged


def _check_bandwidth_ratio(log: NcclLog, collective: str | None, ranks: int | None) -> None:
    """Raises `NotALogError` if bus and algorithm bandwidth do not have the ratio of this collective on these ranks."""
    line = max(log.lines, key=lambda each: each.algbw)
    if collective is None or ranks is None or line.algbw <= 0:
        return
    expected = bus_factor(collective, ranks)
    if not isclose(line.busbw / line.algbw, expected, rel_tol=RATE_TOLERANCE):
        ratio = f"busbw is {line.busbw / line.algbw:.4g} times algbw"
        raise NotALogError(f"{ratio}, and {collective} on {ranks} ranks has {expected:.4g}", line.number)


def _log_rows(log: NcclLog) -> tuple[MeasuredSize, ...]:
    """One row per size, with the mean time if a size was run several times."""
    seconds: defaultdict[float, list[float]] = defaultdict(list)
    ratio: dict[float, float] = {}
    for line in log.lines:
        if line.seconds > 0 and line.algbw > 0:
            seconds[line.size].append(line.seconds)
            ratio[line.size] = line.busbw / line.algbw
    return tuple(
        MeasuredSize(size, ratio[size] * size * len(times) / sum_of(times)) for size, times in sorted(seconds.items())
    )


def _stated_rows(entry: MeasuredSpec, collective: str | None, ranks: int | None) -> tuple[MeasuredSize, ...]:
    """The one row of an entry without a log; algbw becomes busbw by the factor of nccl-tests."""
    bandwidth = stated_bus_bandwidth(entry, collective, ranks)
    return () if entry.size is None or bandwidth is None else (MeasuredSize(entry.size.value, bandwidth.value),)


def stated_bus_bandwidth(
    entry: MeasuredSpec | AcceptanceSpec, collective: str | None, ranks: int | None
) -> Bandwidth | None:
    """The bus bandwidth that an entry states or that its algorithm bandwidth implies."""
    if entry.busbw is not None:
        return Bandwidth.of(entry.busbw, Written("busbw"), Basis.BUS)
    if entry.algbw is None or collective is None or ranks is None or ranks < 2:
        return None
    return Bandwidth.of(entry.algbw, Written("algbw"), Basis.ALGORITHM).on_bus(bus_factor(collective, ranks))


def _short_name(text: str) -> str:
    """A file name, shortened for one line."""
    shown = "".join(character if character.isprintable() else "?" for character in text)
    return f"`{shown}`" if len(shown) <= 80 else f"`{shown[:79]}…`"


# Calibration: the achieved shares of links from measurements of the machine

LEAST_SIZE = 256 * 1024**2
"""At this many bytes or more, bandwidth, not latency, dominates the time of a collective on every known fabric."""
CLOSE = 0.002
"""Relative tolerance of the search for a share; not a figure of a machine."""
BROKEN = assumed_figure(
    "calibration",
    "broken",
    0.9,
    "share of the expected bandwidth below which the network is assumed to limit a group across islands "
    "(cables, rails, settings); above it, the limit of the prediction is assumed",
)
MOST_PARTS = 6
"""The maximum number of algorithms that are slowed down one after another, until none is predicted to be faster than
the measurement.
"""
_BISECTIONS = 16
_LOWEST = 1e-4


def calibrated_design(design: Design, measurements: Sequence[Measurement]) -> Design:
    """The design with the shares that reproduce the measurements.

    Measurements that are too small, cannot be placed on the machine, or exceed the ceiling of its links change nothing;
    rules report them.
    """
    cluster = design.cluster
    if cluster is None or not measurements:
        return design
    for measurement in measurements:
        cluster = _with_measurement(cluster, measurement)
    return replace(design, cluster=cluster)


def expected_cost(cluster: Cluster, measurement: Measurement, size: float) -> CollectiveCost | None:
    """The prediction from catalog figures for a measurement; None if nothing can be predicted."""
    group = measurement.group(cluster)
    if group is None or measurement.collective is None:
        return None
    return applicable_cost(replace(cluster, measured=()), measurement.collective, group, size, measurement.algorithm)


def applicable_cost(
    cluster: Cluster, name: str, group: Placement, size: float, algorithm: str | None
) -> CollectiveCost | None:
    """The cost of the collective with the stated algorithm, or with the fastest one where the stated one does not
    apply.
    """
    for choice in dict.fromkeys((algorithm, None)):
        try:
            return collective_cost(cluster, name, group, size, choice)
        except CollectiveUnavailableError:
            continue
    return None


BEYOND_LINKS = assumed_figure(
    "collective",
    "beyond_links",
    1.1,
    "highest plausible ratio of measured to largest possible bandwidth; a higher figure is from other links. Logs "
    "round, and rates are stated with or without line coding",
)


def largest_possible_busbw(cluster: Cluster, name: str, group: Placement) -> float | None:
    """The bus bandwidth in B/s that no run of a collective over these links exceeds; None where nothing is predicted.

    It is the ceiling of the links with reduction in all of their switches, whether the spec states it or not, and a
    margin.
    """
    out = cluster.scale_out
    if out is not None:
        technology = replace(out.technology, in_network_reduction=True)
        out = replace(out, technology=technology, in_network_reduction=True)
    up = replace(cluster.scale_up, in_network_reduction=True)
    reducing = replace(cluster, scale_up=up, scale_out=out, measured=())
    costs = (applicable_cost(each, name, group, PLATEAU, None) for each in (cluster, reducing))
    highest = [found.ceiling_busbw for found in costs if found is not None]
    return BEYOND_LINKS.value * max(highest) if highest else None


PLATEAU = float(2**33)
"""Bytes of a collective whose links decide its time."""


def above_links_text(measured: float, possible: float) -> str:
    """A message about a measured bandwidth above what the links can carry, both in B/s."""
    carried = display(possible / BEYOND_LINKS.value, "B/s")
    return (
        f"{display(measured, 'B/s')} is impossible: the links carry at most {carried}. "
        "The rank count is wrong, algorithm and bus bandwidth are swapped, or the log is of another machine"
    )


def leaves_nics_idle(cluster: Cluster, measurement: Measurement) -> bool:
    """Whether a run across several domains uses fewer NICs per node than there are, so that the measurement does not
    cover all NICs.
    """
    group, fabric = measurement.group(cluster), cluster.scale_out
    if group is None or fabric is None or group.domains == 1:
        return False
    return group.ranks_per_node < min(fabric.nics_per_node, cluster.ranks_per_node)


def _with_measurement(cluster: Cluster, measurement: Measurement) -> Cluster:
    row, group = measurement.largest, measurement.group(cluster)
    if row is None or group is None or measurement.collective is None or row.size < LEAST_SIZE:
        return cluster
    cost = expected_cost(cluster, measurement, row.size)
    if cost is None or not 0 < row.busbw <= cost.ceiling_busbw or group.nodes > cluster.all_nodes:
        return cluster
    if leaves_nics_idle(cluster, measurement):
        return cluster
    return _ShareSearch(cluster, measurement, group, row.size, row.busbw).solved_cluster()


class _ShareSearch:
    """The search for the shares that reproduce one measurement."""

    def __init__(self, cluster: Cluster, measurement: Measurement, group: Placement, size: float, busbw: float) -> None:
        self.cluster, self.measurement, self.group, self.size, self.busbw = cluster, measurement, group, size, busbw
        self.name = measurement.collective or ""

    def solved_cluster(self) -> Cluster:
        """The cluster on which the best algorithm reproduces the measurement as closely as shares allow.

        A measurement that equals the prediction also yields a measured share, because its range is narrower.
        """
        cluster = self.cluster
        for adjusted in range(MOST_PARTS):
            cost = self._predicted_cost(cluster, self.measurement.algorithm)
            if cost is None or cost.bound_by == "latency":
                break
            if adjusted and abs(cost.busbw / self.busbw - 1) < CLOSE:
                break
            cluster = self._adjusted_cluster(cluster, cost)
        return cluster

    def _adjusted_cluster(self, cluster: Cluster, cost: CollectiveCost) -> Cluster:
        """The cluster with the share at which this algorithm reproduces the measurement, at most the full line rate."""
        part = self._calibrated_part(cost)
        low, high = _LOWEST, 1.0
        for _ in range(_BISECTIONS):
            middle = (low * high) ** 0.5
            tried = self._predicted_cost(self._with_share(cluster, part, cost.tier, middle), cost.algorithm)
            low, high = (middle, high) if tried is not None and tried.busbw < self.busbw else (low, middle)
        return self._with_share(cluster, part, cost.tier, high)

    def _calibrated_part(self, cost: CollectiveCost) -> str:
        """The share to calibrate: the share of the bottleneck, or of the network if the result is so low that a fault
        is assumed.
        """
        if cost.tier == "scale-out" and (cost.bound_by.startswith(cost.tier) or self.busbw < BROKEN.value * cost.busbw):
            return "network"
        if cost.algorithm.startswith("nvls"):
            return "reduction"
        return "exchange" if self.name == "all-to-all" else "ring"

    def _with_share(self, cluster: Cluster, part: str, tier: str, share: float) -> Cluster:
        """The cluster with one measured share in place of an earlier one of the same kind."""
        found = MeasuredShare(
            self.name, tier, part, self.group.ranks, Figure(share, "1", Measured(self._derivation_text()))
        )
        same = (found.collective, found.tier, found.part, found.ranks)
        others = (each for each in cluster.measured if (each.collective, each.tier, each.part, each.ranks) != same)
        return replace(cluster, measured=(*others, found))

    def _derivation_text(self) -> str:
        where = f"measured[{self.measurement.index}]"
        size = _size_text(self.size)
        return f"{display(self.busbw, 'B/s')} of {self.name} on {self.group.ranks} ranks, {size} ({where})"

    def _predicted_cost(self, cluster: Cluster, algorithm: str | None) -> CollectiveCost | None:
        return applicable_cost(cluster, self.name, self.group, self.size, algorithm)


def _size_text(size: float) -> str:
    """A size as nccl-tests counts it, in powers of two.

    >>> _size_text(8 * 2.0**30), _size_text(2.0**29)
    ('8 GiB', '512 MiB')
    """
    return f"{size / 2**30:.4g} GiB" if size >= 2**30 else f"{size / 2**20:.4g} MiB"
