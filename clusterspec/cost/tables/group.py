"""The process groups of one axis on a cluster, and the time of their collectives."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.model import CollectiveCost, Paths
from clusterspec.cost.collectives.predict import CollectiveTiming, nothing, timing_on


class NoPathError(Exception):
    """No fabric connects the ranks of a group."""


class Group:
    """Groups with the same ``paths`` (None where no fabric connects them); ``placement`` is that of one of them."""

    def __init__(self, cluster: Cluster, placement: Placement, paths: Paths | None) -> None:
        self.cluster, self.placement, self.paths = cluster, placement, paths
        self._timings: dict[str, CollectiveTiming] = {}
        self._costs: dict[tuple[str, float], CollectiveCost] = {}

    @property
    def domains(self) -> int:
        """Scale-up domains that one group spans."""
        return self.placement.domains

    def timing(self, name: str) -> CollectiveTiming:
        """The timing of a collective of any size on these groups, which have two or more ranks.

        Raises `NoPathError` where no fabric connects them.
        """
        found = self._timings.get(name)
        if found is None:
            if self.paths is None:
                raise NoPathError(f"{self.placement.nodes} nodes, and no fabric joins them")
            found = self._timings[name] = timing_on(self.cluster, name, self.paths)
        return found

    def cost(self, name: str, size: float) -> CollectiveCost:
        """One collective of ``size`` bytes as nccl-tests counts it. Raises `NoPathError` as `timing`."""
        found = self._costs.get((name, size))
        if found is None:
            sent = self.placement.ranks > 1 and size > 0
            found = self.timing(name).cost(size) if sent else nothing(name, self.placement.ranks, size)
            self._costs[name, size] = found
        return found
