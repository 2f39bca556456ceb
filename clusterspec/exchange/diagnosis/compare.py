"""Places the series of a log on a cluster and predicts every size of it."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement, contiguous
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import NAMES, CollectiveCost, CollectiveUnavailableError, collective
from clusterspec.logs.benchmark import Benchmark, Series
from clusterspec.records import dataclass, replace
from clusterspec.results.diagnosis import ComparedRow


class NotComparable(Exception):
    """Why a series cannot be held against a cluster, in a few words."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What the caller states beside a log, for where it does not tell."""

    collective: str | None = None
    ranks: int | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One series placed on a cluster: which collective, on which ranks and nodes, and the log that it is from.

    ``cluster`` is the machine as the catalog describes it, without what was measured.
    """

    cluster: Cluster
    name: str
    group: Placement
    series: Series
    benchmark: Benchmark
    log: str
    rows: tuple[ComparedRow, ...]

    @property
    def largest(self) -> ComparedRow:
        return max(self.rows, key=lambda row: row.size)

    def predicted(self, cluster: Cluster, size: float, algorithm: str | None = None) -> float | None:
        """Bus bandwidth in B/s that the cost model gives for this run on another machine; None where it gives none."""
        cost = cost_of(cluster, self.name, self.group, size, algorithm or self.series.algorithm)
        return cost.busbw if cost else None


def cost_of(cluster: Cluster, name: str, group: Placement, size: float, algorithm: str | None) -> CollectiveCost | None:
    """A collective by the algorithm that is stated to have run, else by the fastest."""
    for choice in dict.fromkeys((algorithm, None)):
        try:
            return collective(cluster, name, group, size, choice)
        except CollectiveUnavailableError:
            continue
    return None


def place(cluster: Cluster, benchmark: Benchmark, series: Series, log: str, stated: Stated) -> Run:
    """A series on a cluster.

    Raises `NotComparable` where collective or ranks are not known, or do not fit the machine.
    """
    bare = replace(cluster, measured=())
    known = series.collective or stated.collective
    if known is None or known not in NAMES:
        raise NotComparable("the log does not tell its collective: state it with --collective")
    count = series.ranks or stated.ranks
    if count is None:
        raise NotComparable("the log does not tell its ranks: state them with --ranks")
    most = cluster.all_nodes * cluster.ranks_per_node
    if not 2 <= count <= most:
        raise NotComparable(f"{count} ranks, and the cluster of the spec has {most}")
    nodes = series.nodes or -(-count // cluster.ranks_per_node)
    if nodes > cluster.all_nodes:
        raise NotComparable(f"{nodes} nodes, and the cluster of the spec has {cluster.all_nodes}")
    group = contiguous(bare, count, nodes)
    rows = _rows(bare, known, group, series)
    if not rows:
        raise NotComparable(f"no way to run {known} on {count} ranks is known")
    return Run(bare, known, group, series, benchmark, log, rows)


def _rows(cluster: Cluster, name: str, group: Placement, series: Series) -> tuple[ComparedRow, ...]:
    """One row for each size; of sizes that were run several times their mean by time."""
    measured: dict[float, list[float]] = {}
    for point in series.points:
        if point.size > 0 and point.busbw > 0:
            measured.setdefault(point.size, []).append(point.busbw)
    rows = []
    for size, rates in sorted(measured.items()):
        cost = cost_of(cluster, name, group, size, series.algorithm)
        if cost is not None and cost.seconds > 0 and cost.low > 0 and cost.high > 0:
            mean = len(rates) / sum(1 / rate for rate in rates)
            low, high = cost.busbw * cost.seconds / cost.high, cost.busbw * cost.seconds / cost.low
            rows.append(ComparedRow(size, mean, cost.busbw, low, high))
    return tuple(rows)
