"""The process groups of one axis on a cluster, and the time of collectives on them."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import CollectiveCost, NoWay, nothing, timing_of
from clusterspec.cost.collectives.predict import CollectiveTiming


class NoPathError(Exception):
    """The cluster has no fabric that joins the ranks of a group."""


class Group:
    """Groups with one placement. Two groups of a layout with the same placement are one object."""

    def __init__(self, cluster: Cluster, placement: Placement) -> None:
        self.cluster, self.placement = cluster, placement
        self._timings: dict[str, CollectiveTiming] = {}
        self._costs: dict[tuple[str, float], CollectiveCost] = {}

    def timing(self, name: str) -> CollectiveTiming:
        """A collective of any size on these groups, which have two or more ranks.

        Raises `NoPathError` where the cluster has no fabric that joins them.
        """
        found = self._timings.get(name)
        if found is None:
            try:
                found = self._timings[name] = timing_of(self.cluster, name, self.placement)
            except NoWay as fault:
                raise NoPathError(str(fault)) from None
        return found

    def cost(self, name: str, size: float) -> CollectiveCost:
        """One collective of ``size`` bytes as nccl-tests counts it. Raises `NoPathError` as `timing`."""
        found = self._costs.get((name, size))
        if found is None:
            sent = self.placement.ranks > 1 and size > 0
            found = self.timing(name).cost(size) if sent else nothing(name, self.placement.ranks, size)
            self._costs[name, size] = found
        return found
