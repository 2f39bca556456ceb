"""Placement of a log's series on a cluster, with a prediction for each size."""

from __future__ import annotations

from clusterspec.catalog.releases import ReleaseFault
from clusterspec.cluster.groups import Placement, contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.variation import with_values
from clusterspec.cost.collectives import NAMES, CollectiveCost
from clusterspec.cost.measured import applicable_cost
from clusterspec.logs.benchmarks.benchmark import Benchmark, Evidence, Series, adapter_count, interface_count
from clusterspec.records import dataclass
from clusterspec.results.diagnosis import ComparedRow
from clusterspec.standard import cached_property, sum_of

UNFINISHED = "all-reduce"
"""The collective that is assumed for a run without a result if the log does not name one."""
NO_RESULT = (float(1 << 30), 0.0)
"""The size in bytes and the bandwidth in B/s in the row of a run without a result."""


BUILT_WITH_MPI = "make clean, build nccl-tests with MPI=1, and start it with mpirun of that MPI"
"""The remedy for copies of the benchmark that were not joined to one job."""


class NotComparable(Exception):
    """Raised, with the reason, if a series cannot be compared with a cluster."""


@dataclass(frozen=True)
class LogOverrides:
    """Properties of a run given by the caller, used if the log does not state them."""

    collective: str | None = None
    ranks: int | None = None


@dataclass(frozen=True)
class PlacedRun:
    """One series placed on a cluster: the collective, its ranks and nodes, and its log.

    ``cluster`` is the machine as described by the catalog, without measurements. A run of one rank has no rows.
    """

    cluster: Cluster
    name: str
    group: Placement
    series: Series
    benchmark: Benchmark
    log: str
    rows: tuple[ComparedRow, ...]
    published: tuple[ReleaseFault, ...] = ()
    """Published faults of this machine's collective library, for all releases."""
    work: str = ""
    """The kind of work of the design, such as `train` or `serve`; empty if it has none."""
    assumed_ranks: bool = False
    """Whether neither the log nor the caller states the ranks; the run then counts with all ranks of the design."""
    other_devices: str = ""
    """The evidence that the devices in the log are not the spec's; else empty."""
    other_links: bool = False
    """Whether these devices have a different link bandwidth than the spec's."""

    @property
    def has_result(self) -> bool:
        """Whether the log has a result. Without one, the run has a single row without a bandwidth."""
        return bool(self.series.points)

    @property
    def largest(self) -> ComparedRow:
        return max(self.rows, key=lambda row: row.size)

    @property
    def uses_network(self) -> bool:
        """Whether the ranks are on several nodes that no scale-up domain joins."""
        return self.group.nodes > 1 and self.group.domains > 1

    @cached_property
    def _evidence_names(self) -> frozenset[str]:
        """The names of all evidence in the log."""
        return frozenset(each.name for each in self.benchmark.evidence)

    def log_lines(self, *names: str) -> list[tuple[str, int]]:
        """Text and line of the evidence in the log with any of these names."""
        if self._evidence_names.isdisjoint(names):
            return []
        return [(each.text, each.line) for each in self.benchmark.evidence if each.name in names]

    def evidence(self, name: str) -> list[Evidence]:
        """The evidence in the log with a name."""
        return [each for each in self.benchmark.evidence if each.name == name]

    @property
    def nics_used(self) -> int | None:
        """The number of NICs per node that the log lists, or of network interfaces on a TCP fabric; None if it lists
        none.
        """
        fabric = self.cluster.scale_out
        sockets = fabric is not None and fabric.technology.family == "tcp" and not fabric.technology.proprietary
        return (interface_count if sockets else adapter_count)(self.benchmark.evidence)

    def predicted_bandwidth(self, cluster: Cluster, size: float, algorithm: str | None = None) -> float | None:
        """The predicted bus bandwidth of this run on another machine in B/s; None if it cannot run there."""
        cost = self.predicted_cost(cluster, size, algorithm)
        return cost.busbw if cost else None

    def predicted_cost(self, cluster: Cluster, size: float, algorithm: str | None = None) -> CollectiveCost | None:
        """The predicted cost of this run on another machine with ``algorithm``, or with the fastest one if that does
        not apply. None if the run is impossible there.
        """
        group = contiguous_placement(
            cluster, self.group.ranks, self.group.nodes
        )  # a fault can change the levels of the fabric
        sent = size * self.series.in_flight
        return applicable_cost(cluster, self.name, group, sent, algorithm or self.series.algorithm)


def placed_run(cluster: Cluster, benchmark: Benchmark, series: Series, log: str, overrides: LogOverrides) -> PlacedRun:
    """A series placed on a cluster.

    Raises `NotComparable` if the collective or ranks are unknown, or do not fit the machine.
    """
    bare = with_values(cluster, {("measured",): ()}) if cluster.measured else cluster
    told = not series.points and bool(benchmark.evidence)  # what a program of one accelerator states
    if series.ranks == 1 and not told:
        raise NotComparable(_single_rank_reason(series))
    known = series.collective or overrides.collective or (UNFINISHED if not series.points else None)
    if known is None or known not in NAMES:
        raise NotComparable("the log does not state its collective: use --collective")
    most = cluster.all_nodes * cluster.ranks_per_node
    count = series.ranks or overrides.ranks or (None if series.points else most)  # lines alone need no placement
    if count is None:
        raise NotComparable("the log does not state its ranks: use --ranks")
    if count == 1 and not told:
        raise NotComparable(_single_rank_reason(series))
    if not 1 <= count <= most:
        raise NotComparable(f"{count} ranks, but the cluster of the spec has {most}")
    apart = _are_on_two_nodes(cluster, benchmark, series, count)
    nodes = series.nodes or max(cluster.nodes_of_ranks(count), _host_count(cluster, series, count), 2 if apart else 1)
    if nodes > cluster.all_nodes and are_containers_of_one_node(cluster, series):
        nodes = cluster.nodes_of_ranks(count)
    if nodes > cluster.all_nodes:
        raise NotComparable(f"{nodes} nodes, but the cluster of the spec has {cluster.all_nodes}")
    group = contiguous_placement(bare, count, nodes)
    rows = _compared_rows(bare, known, group, series)
    if not rows and count > 1:
        raise NotComparable(f"no algorithm runs {known} on {count} ranks")
    return PlacedRun(
        bare, known, group, series, benchmark, log, rows, assumed_ranks=not (series.ranks or overrides.ranks)
    )


def are_containers_of_one_node(cluster: Cluster, series: Series) -> bool:
    """Whether the hosts that a log lists are containers of one node: every rank has a bus address of its own, and one
    node has accelerators for all of them. Nodes of one model have the same addresses (NVIDIA/nccl-tests issue 93).
    """
    several = series.nodes is not None and series.nodes > 1 and series.ranks is not None
    return several and len(series.buses) == series.ranks and (series.ranks or 0) <= cluster.accelerators_per_node


def _host_count(cluster: Cluster, series: Series, ranks: int) -> int:
    """The number of hosts that print lines of a run, if these can be the nodes of its ranks; else 1, since containers
    of one node may have different host names.
    """
    return series.hosts if 1 < series.hosts <= min(ranks, cluster.all_nodes) and ranks % series.hosts == 0 else 1


def _are_on_two_nodes(cluster: Cluster, benchmark: Benchmark, series: Series, ranks: int) -> bool:
    """Whether two ranks without host names in the log are on two nodes, because all their channels use the network."""
    said = {
        each.name for each in benchmark.evidence if each.text.startswith(("/GDRDMA", "NET/")) or each.text.isdecimal()
    }
    inside = any(each.name in ("p2p-direct", "p2p-host") for each in benchmark.evidence)
    told = bool(said & {"gdr", "no-gdr", "socket"}) and not inside
    return told and ranks == 2 and series.hosts == 0 and len(benchmark.series) == 1 and cluster.all_nodes > 1


def _single_rank_reason(series: Series) -> str:
    """Why a run of one rank is not compared. Published: NVIDIA/nccl-tests issues 107 and 249."""
    if series.jobs > 1:
        return f"{series.jobs} copies of the benchmark ran at the same time, each with one rank: {BUILT_WITH_MPI}"
    return "it has one rank, which sends nothing: its bus bandwidth is 0 by definition; run it with two ranks or more"


def _compared_rows(cluster: Cluster, name: str, group: Placement, series: Series) -> tuple[ComparedRow, ...]:
    """One row per size; sizes that were run several times are averaged by time."""
    measured: dict[float, list[float]] = {}
    for point in series.points:
        if point.size > 0 and point.busbw > 0:
            measured.setdefault(point.size, []).append(point.busbw)
    means = [(size, len(rates) / sum_of(1 / rate for rate in rates)) for size, rates in sorted(measured.items())]
    rows = []
    for size, mean in means if series.points else [NO_RESULT]:
        cost = applicable_cost(cluster, name, group, size * series.in_flight, series.algorithm)
        if cost is not None and cost.seconds > 0 and cost.low > 0 and cost.high > 0:
            low, high = cost.busbw * cost.seconds / cost.high, cost.busbw * cost.seconds / cost.low
            rows.append(ComparedRow(size, mean, cost.busbw, low, high))
    return tuple(rows)
