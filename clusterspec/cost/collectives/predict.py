"""The cost of a collective over a group by its fastest algorithm, as the library would choose it."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.algorithms import algorithms, names_of
from clusterspec.cost.collectives.ceilings import ceiling, factor
from clusterspec.cost.collectives.model import Candidate, CollectiveCost, CollectiveUnavailableError, Paths
from clusterspec.cost.collectives.paths import paths_of
from clusterspec.cost.collectives.shares import with_measured
from clusterspec.cost.collectives.uncertainty import band
from clusterspec.cost.formulas.bus import algorithm_bandwidth, bus_bandwidth, seconds_at
from clusterspec.cost.formulas.elementwise import larger, smaller
from clusterspec.records import dataclass


def collective(
    cluster: Cluster, name: str, group: Placement, size: float, algorithm: str | None = None
) -> CollectiveCost:
    """The cost of a collective over a group.

    ``name`` is one of `NAMES`, ``size`` in bytes as nccl-tests counts it. Without ``algorithm`` the fastest is used, as
    the library's own cost model would choose. Raises `CollectiveUnavailableError` where the cluster does not state how
    the ranks are connected, and where the algorithm does not apply to the group.
    """
    if group.ranks <= 1 or size <= 0:
        return nothing(name, group.ranks, max(0.0, size))
    return timing_of(cluster, name, group, algorithm).cost(size)


def timing_of(cluster: Cluster, name: str, group: Placement, algorithm: str | None = None) -> CollectiveTiming:
    """The timing of a collective over a group of two or more ranks, for any size.

    Raises `CollectiveUnavailableError` as `collective` does.
    """
    paths = paths_of(cluster, group)
    if paths is None:
        raise CollectiveUnavailableError(f"{group.nodes} nodes, and no network between them is described")
    return timing_on(cluster, name, paths, algorithm)


def timing_on(cluster: Cluster, name: str, paths: Paths, algorithm: str | None = None) -> CollectiveTiming:
    """The timing of a collective over a group with these links."""
    paths = with_measured(paths, name, cluster.measured)
    candidates = tuple(candidate for each in algorithms(name, algorithm) for candidate in each(paths))
    if not candidates:
        offered = ", ".join(names_of(name))
        raise CollectiveUnavailableError(
            f"{name} has no algorithm `{algorithm}` on these ranks; of {offered} some apply"
        )
    candidates = candidates if algorithm else _allowed(paths, name, candidates)
    highest = ceiling(name, paths, algorithm, reduces=cluster.scale_up.in_network_reduction)
    return CollectiveTiming(name, paths, candidates, highest, factor(name, paths.ranks))


def _allowed(paths: Paths, name: str, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """The candidates of an all-reduce that the settings of the network leave to the library."""
    algorithms = paths.between.algorithms if paths.between and name == "all-reduce" else frozenset()
    return tuple(one for one in candidates if one.algorithm in algorithms) or candidates


def nothing(name: str, ranks: int, size: float) -> CollectiveCost:
    """The cost of a collective that sends nothing: one rank, or no bytes."""
    return CollectiveCost(name, "none", "none", "none", ranks, size, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "nothing")


@dataclass(frozen=True, slots=True)
class CollectiveTiming:
    """A collective over one group, for any size: its candidates, and the ceiling of its links.

    ``ceiling`` is the bus bandwidth at line rate, B/s; ``bus_factor`` is bus bandwidth over algorithm bandwidth.
    """

    name: str
    paths: Paths
    candidates: Sequence[Candidate]
    ceiling: float
    bus_factor: float

    def queued(self, size: float) -> float:
        """Seconds on the device, without launch time; ``size`` is above zero, or a column."""
        launch = self.candidates[0].launch
        fastest = self.candidates[0].queued(size)
        for candidate in self.candidates[1:]:
            fastest = smaller(fastest, candidate.queued(size))
        return larger(fastest, seconds_at(size, self.ceiling, self.bus_factor) - launch)

    def cost(self, size: float) -> CollectiveCost:
        """The cost of one size above zero."""
        candidate = min(self.candidates, key=lambda each: each.launch + each.queued(size))
        least = seconds_at(size, self.ceiling, self.bus_factor)
        total = max(candidate.launch + candidate.queued(size), candidate.posting, least)
        sending = candidate.per_byte * size
        low, high = band(self.paths, candidate, sending, total, least)
        return CollectiveCost(
            name=self.name,
            algorithm=candidate.algorithm,
            protocol=candidate.protocol,
            tier=self.paths.tier,
            ranks=self.paths.ranks,
            size=size,
            seconds=total,
            sending=sending,
            low=low,
            high=high,
            algbw=algorithm_bandwidth(size, total),
            busbw=bus_bandwidth(size, total, self.bus_factor),
            ceiling_busbw=self.ceiling,
            bound_by=_bound_by(self.paths, candidate, sending, total),
            paths=self.paths,
            candidate=candidate,
        )


def _bound_by(paths: Paths, candidate: Candidate, sending: float, total: float) -> str:
    """The bottleneck: latency, or the bandwidth of the tier that sends longest."""
    if sending < total / 2:
        return "latency"
    between = paths.between
    longest = between if between and candidate.between >= candidate.inside else paths.inside
    return f"{longest.tier} bandwidth"
