"""A collective over a group: the fastest way to do it, as the library would choose."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.algorithms import algorithms, names_of
from clusterspec.cost.collectives.ceilings import ceiling, factor
from clusterspec.cost.collectives.model import CollectiveCost, NoWay, Paths, Way
from clusterspec.cost.collectives.paths import paths_of
from clusterspec.cost.collectives.shares import with_measured
from clusterspec.cost.collectives.uncertainty import band
from clusterspec.cost.formulas.bus import algorithm_bandwidth, bus_bandwidth, seconds_at
from clusterspec.cost.formulas.elementwise import larger, smaller
from clusterspec.records import dataclass


def collective(
    cluster: Cluster, name: str, group: Placement, size: float, algorithm: str | None = None
) -> CollectiveCost:
    """What a collective over a group costs.

    ``name`` is one of `NAMES`, ``size`` in bytes as nccl-tests counts it. Without ``algorithm`` the
    fastest is taken, as the library's own cost model would. Raises `NoWay` where the cluster does
    not say how the ranks reach each other, and where the algorithm does not apply to the group.
    """
    if group.ranks <= 1 or size <= 0:
        return nothing(name, group.ranks, max(0.0, size))
    return timing_of(cluster, name, group, algorithm).cost(size)


def timing_of(cluster: Cluster, name: str, group: Placement, algorithm: str | None = None) -> CollectiveTiming:
    """How long a collective over a group of two or more ranks takes for any size. Raises `NoWay` as `collective`."""
    paths = paths_of(cluster, group)
    if paths is None:
        raise NoWay(f"{group.nodes} nodes, and nothing says how they reach each other")
    return timing_on(cluster, name, paths, algorithm)


def timing_on(cluster: Cluster, name: str, paths: Paths, algorithm: str | None = None) -> CollectiveTiming:
    """The same of a group with these paths."""
    paths = with_measured(paths, name, cluster.measured)
    ways = tuple(way for each in algorithms(name, algorithm) for way in each(paths))
    if not ways:
        offered = ", ".join(names_of(name))
        raise NoWay(f"{name} has no algorithm `{algorithm}` on these ranks; of {offered} some apply")
    highest = ceiling(name, paths, reduces=cluster.scale_up.in_network_reduction)
    return CollectiveTiming(name, paths, ways, highest, factor(name, paths.ranks))


def nothing(name: str, ranks: int, size: float) -> CollectiveCost:
    """One rank, or no bytes: nothing is sent."""
    return CollectiveCost(name, "none", "none", "none", ranks, size, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, "nothing")


@dataclass(frozen=True, slots=True)
class CollectiveTiming:
    """A collective over one group, of any size: the ways to do it, and the least that its links allow.

    ``ceiling`` is the bus bandwidth at line rate, B/s; ``bus_factor`` bus bandwidth over algorithm bandwidth.
    """

    name: str
    paths: Paths
    ways: Sequence[Way]
    ceiling: float
    bus_factor: float

    def queued(self, size: float) -> float:
        """Seconds on the device, launching left out; ``size`` above zero, or a column."""
        launch = self.ways[0].launch
        fastest = self.ways[0].queued(size)
        for way in self.ways[1:]:
            fastest = smaller(fastest, way.queued(size))
        return larger(fastest, seconds_at(size, self.ceiling, self.bus_factor) - launch)

    def cost(self, size: float) -> CollectiveCost:
        """Everything there is to say of one size above zero."""
        way = min(self.ways, key=lambda each: each.launch + each.queued(size))
        least = seconds_at(size, self.ceiling, self.bus_factor)
        total = max(way.launch + way.queued(size), least)
        sending = way.per_byte * size
        low, high = band(self.paths, way, sending, total, least)
        return CollectiveCost(
            name=self.name,
            algorithm=way.algorithm,
            protocol=way.protocol,
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
            bound_by=_bound_by(self.paths, way, sending, total),
            paths=self.paths,
            way=way,
        )


def _bound_by(paths: Paths, way: Way, sending: float, total: float) -> str:
    """What takes most of the time: starting, or the bandwidth of the tier that sends longest."""
    if sending < total / 2:
        return "latency"
    between = paths.between
    longest = between if between and way.between >= way.inside else paths.inside
    return f"{longest.tier} bandwidth"
