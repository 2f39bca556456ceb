"""One collective over one group: the fastest way to do it, as the library would choose."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.algorithms import algorithms, names_of
from clusterspec.cost.collectives.ceilings import ceiling, factor
from clusterspec.cost.collectives.model import Candidate, CollectiveCost, NoWay, Paths
from clusterspec.cost.collectives.parts import parts_of, seconds, term_of
from clusterspec.cost.collectives.paths import paths_of
from clusterspec.cost.collectives.shares import with_measured
from clusterspec.cost.collectives.uncertainty import band
from clusterspec.cost.formulas.bus import algorithm_bandwidth, bus_bandwidth, seconds_at
from clusterspec.cost.term import Term


def collective(
    cluster: Cluster, name: str, group: Placement, size: float, algorithm: str | None = None
) -> CollectiveCost:
    """What a collective over a group costs.

    ``name`` is one of `NAMES`, ``size`` in bytes as nccl-tests counts it. Without ``algorithm`` the
    fastest is taken, as the library's own cost model would. Raises `NoWay` where the cluster does
    not say how the ranks reach each other, and where the algorithm does not apply to the group.
    """
    if group.ranks <= 1 or size <= 0:
        return _nothing(name, group.ranks, max(0.0, size))
    paths = paths_of(cluster, group)
    if paths is None:
        raise NoWay(f"{group.nodes} nodes, and nothing says how they reach each other")
    paths = with_measured(paths, name, cluster.measured)
    ways = [way for each in algorithms(name, algorithm) for way in each(paths, size)]
    if not ways:
        offered = ", ".join(names_of(name))
        raise NoWay(f"{name} has no algorithm `{algorithm}` on these ranks; of {offered} some apply")
    return _Choice(name, paths, size, min(ways, key=seconds), cluster.scale_up.in_network_reduction).cost()


def _nothing(name: str, ranks: int, size: float) -> CollectiveCost:
    """One rank, or no bytes: nothing is sent."""
    term = Term(name, 0.0, "s", "nothing is sent")
    return CollectiveCost(name, "none", "none", "none", ranks, size, term, 0.0, 0.0, 0.0, 0.0, 0.0, "nothing")


@dataclass(frozen=True, slots=True)
class _Choice:
    """The way that was chosen, and what it is measured against."""

    name: str
    paths: Paths
    size: float
    way: Candidate
    reduces: bool

    def cost(self) -> CollectiveCost:
        highest = ceiling(self.name, self.paths, reduces=self.reduces)
        bus_factor = factor(self.name, self.paths.ranks)
        least = float(seconds_at(self.size, highest, bus_factor))
        parts = parts_of(self.paths, self.way, least)
        total = sum(part.value for part in parts)
        low, high = band(self.paths, self.way, total, least)
        return CollectiveCost(
            name=self.name,
            algorithm=self.way.algorithm,
            protocol=self.way.protocol,
            tier=self.paths.tier,
            ranks=self.paths.ranks,
            size=self.size,
            seconds=term_of(f"{self.name} by {self.way.algorithm}", self.paths, self.size, parts, (low, high)),
            low=low,
            high=high,
            algbw=float(algorithm_bandwidth(self.size, total)),
            busbw=float(bus_bandwidth(self.size, total, bus_factor)),
            ceiling_busbw=highest,
            bound_by=self.bound_by(total),
        )

    def bound_by(self, total: float) -> str:
        """What takes most of the time: starting, or the bandwidth of the tier that sends longest."""
        if self.way.sending < total / 2:
            return "latency"
        between = self.paths.between
        longest = between if between and self.way.between >= self.way.inside else self.paths.inside
        return f"{longest.tier} bandwidth"
