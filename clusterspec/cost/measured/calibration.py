"""Calibration: the achieved shares of links from measurements of the machine.

The cost model is inverted: the share of a link is found for which the predicted bus bandwidth equals the measured one.
Latency and pipeline fill are unchanged, so that a measurement below the plateau is interpreted correctly.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Design, MeasuredShare
from clusterspec.cost.collectives import CollectiveCost, CollectiveUnavailableError, collective
from clusterspec.cost.constants import assumed
from clusterspec.cost.measured.measurements import Measurement
from clusterspec.origin import Measured
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.units import display

LEAST_SIZE = 256 * 1024**2
"""Bytes from which bandwidth, not latency, dominates the time of a collective on every known fabric."""
CLOSE = 0.002
"""Relative tolerance of the search for a share; not a figure of a machine."""
BROKEN = assumed(
    "calibration",
    "broken",
    0.9,
    "of the expected bandwidth: a group that leaves its islands and shows less is taken to be slowed by the network,"
    " whose cables, rails and settings go wrong; one that shows more, by whatever bounds it",
)
MOST_PARTS = 6
"""The highest number of algorithms slowed down until none is predicted faster than the measurement."""
_BISECTIONS = 16
_LOWEST = 1e-4


def calibrated(design: Design, measurements: Sequence[Measurement]) -> Design:
    """The design with the shares that reproduce the measurements.

    Measurements that are too small, not placed on the machine, or above the ceiling of its links change nothing; rules
    report them.
    """
    cluster = design.cluster
    if cluster is None or not measurements:
        return design
    for measurement in measurements:
        cluster = _with(cluster, measurement)
    return replace(design, cluster=cluster)


def expected(cluster: Cluster, measurement: Measurement, size: float) -> CollectiveCost | None:
    """The prediction from catalog figures for a measurement; None where nothing can be predicted."""
    group = measurement.group(cluster)
    if group is None or measurement.collective is None:
        return None
    return _timed(replace(cluster, measured=()), measurement.collective, group, size, measurement.algorithm)


def _timed(cluster: Cluster, name: str, group: Placement, size: float, algorithm: str | None) -> CollectiveCost | None:
    """The collective by the algorithm that is stated; by the fastest one where that does not apply."""
    for choice in dict.fromkeys((algorithm, None)):
        try:
            return collective(cluster, name, group, size, choice)
        except CollectiveUnavailableError:
            continue
    return None


def idle_nics(cluster: Cluster, measurement: Measurement) -> bool:
    """Whether ranks in several domains leave NICs of their nodes idle, so that the measurement does not cover
    all NICs.
    """
    group, fabric = measurement.group(cluster), cluster.scale_out
    if group is None or fabric is None or group.domains == 1:
        return False
    return group.ranks_per_node < min(fabric.nics_per_node, cluster.ranks_per_node)


def _with(cluster: Cluster, measurement: Measurement) -> Cluster:
    row, group = measurement.largest, measurement.group(cluster)
    if row is None or group is None or measurement.collective is None or row.size < LEAST_SIZE:
        return cluster
    cost = expected(cluster, measurement, row.size)
    if cost is None or not 0 < row.busbw <= cost.ceiling_busbw or group.nodes > cluster.all_nodes:
        return cluster
    if idle_nics(cluster, measurement):
        return cluster
    return _ShareSearch(cluster, measurement, group, row.size, row.busbw).solved()


class _ShareSearch:
    """The search for the shares that reproduce one measurement."""

    def __init__(self, cluster: Cluster, measurement: Measurement, group: Placement, size: float, busbw: float) -> None:
        self.cluster, self.measurement, self.group, self.size, self.busbw = cluster, measurement, group, size, busbw
        self.name = measurement.collective or ""

    def solved(self) -> Cluster:
        """The cluster on which the best algorithm reproduces the measurement, as closely as shares allow."""
        cluster = self.cluster
        for _ in range(MOST_PARTS):
            cost = self._cost(cluster, self.measurement.algorithm)
            if cost is None or abs(cost.busbw / self.busbw - 1) < CLOSE or cost.bound_by == "latency":
                break
            cluster = self._adjusted(cluster, cost)
        return cluster

    def _adjusted(self, cluster: Cluster, cost: CollectiveCost) -> Cluster:
        """The cluster on which this algorithm reproduces the measurement, or whose share is the full line rate."""
        part = self._part(cost)
        low, high = _LOWEST, 1.0
        for _ in range(_BISECTIONS):
            middle = (low * high) ** 0.5
            tried = self._cost(self._with_share(cluster, part, cost.tier, middle), cost.algorithm)
            low, high = (middle, high) if tried is not None and tried.busbw < self.busbw else (low, middle)
        return self._with_share(cluster, part, cost.tier, high)

    def _part(self, cost: CollectiveCost) -> str:
        """The bottleneck, or the network where it is assumed to be faulty."""
        if cost.tier == "scale-out" and (cost.bound_by.startswith(cost.tier) or self.busbw < BROKEN.value * cost.busbw):
            return "network"
        if cost.algorithm.startswith("nvls"):
            return "reduction"
        return "exchange" if self.name == "all-to-all" else "ring"

    def _with_share(self, cluster: Cluster, part: str, tier: str, share: float) -> Cluster:
        """The cluster with one share, which replaces an earlier one of the same kind."""
        found = MeasuredShare(self.name, tier, part, self.group.ranks, Figure(share, "1", Measured(self._what())))
        same = (found.collective, found.tier, found.part, found.ranks)
        others = (each for each in cluster.measured if (each.collective, each.tier, each.part, each.ranks) != same)
        return replace(cluster, measured=(*others, found))

    def _what(self) -> str:
        where = f"measured[{self.measurement.index}]"
        return f"{display(self.busbw, 'B/s')} of {self.name} on {self.group.ranks} ranks, {_size(self.size)} ({where})"

    def _cost(self, cluster: Cluster, algorithm: str | None) -> CollectiveCost | None:
        return _timed(cluster, self.name, self.group, self.size, algorithm)


def _size(size: float) -> str:
    """A size as nccl-tests counts it, in powers of two.

    >>> _size(8 * 2.0**30), _size(2.0**29)
    ('8 GiB', '512 MiB')
    """
    return f"{size / 2**30:.4g} GiB" if size >= 2**30 else f"{size / 2**20:.4g} MiB"
