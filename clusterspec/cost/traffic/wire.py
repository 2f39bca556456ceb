"""Times collectives on the groups of a layout, each size once."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement, place
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.collectives import CollectiveCost, NoWay, collective
from clusterspec.cost.formulas.links import PCIE_3_TRANSFERS, PCIE_128B130B, slot_bandwidth

LANES = 16
USUAL_SLOT = 4
"""Generation of PCI Express where the spec and the catalog say none."""


class NoRoadError(Exception):
    """The cluster does not say how the ranks of a group reach each other."""


class Wire:
    """The groups of every axis on one cluster, and what a collective on them costs."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        self.cluster, self.layout = cluster, layout
        self._groups: dict[str, Placement] = {}
        self._costs: dict[tuple[str, str, float], CollectiveCost] = {}

    def group(self, axis: str) -> Placement:
        """Where the groups of an axis lie (`clusterspec.cluster.groups.AXES`)."""
        if axis not in self._groups:
            self._groups[axis] = place(self.cluster, self.layout, axis)
        return self._groups[axis]

    def cost(self, axis: str, name: str, size: float) -> CollectiveCost:
        """One collective of ``size`` bytes (as nccl-tests counts it) on the groups of an axis.

        Raises `NoRoadError` where the cluster has no fabric that joins them.
        """
        key = (axis, name, size)
        if key not in self._costs:
            try:
                self._costs[key] = collective(self.cluster, name, self.group(axis), size)
            except NoWay as fault:
                raise NoRoadError(str(fault)) from None
        return self._costs[key]

    @property
    def host_bandwidth(self) -> float:
        """B/s per direction between one rank and its host's memory: a slot of 16 lanes."""
        generation = self.cluster.pcie_host or USUAL_SLOT
        transfers = PCIE_3_TRANSFERS * 2.0 ** (generation - 3)
        return float(slot_bandwidth(transfers, LANES, PCIE_128B130B)) / self.cluster.ranks_per_accelerator

    def doubt(self, axis: str) -> float:
        """The largest relative uncertainty among the collectives of an axis that were asked for."""
        costs = [cost for (name, _, _), cost in self._costs.items() if name == axis and cost.seconds]
        return max(((cost.high - cost.low) / (2 * cost.seconds) for cost in costs), default=0.0)
