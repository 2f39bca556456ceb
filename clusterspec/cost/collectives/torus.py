"""The axes of a torus along which a process group runs, and the bandwidth and hops of a rank along them."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, ScaleUp
from clusterspec.cost.formulas.topologies import (
    all_to_all_time,
    axis_bandwidth,
    farthest_hops,
    gather_time,
)
from clusterspec.quantity import Bandwidth
from clusterspec.records import dataclass
from clusterspec.source import Computed
from clusterspec.standard import sum_of

WRAPS_FROM = {2: 16, 3: 4}
"""The number of chips from which an axis of a TPU slice forms a ring, by the dimensions of its torus.

Whole 4×4×4 cubes are joined by optical switches, and a 2D slice closes at its full side of 16
(Google Cloud, TPU system architecture).
"""
ALWAYS_WRAPS = 3
"""On other tori an axis of three or more forms a ring; on an axis of two, one link connects both ranks."""


@dataclass(frozen=True)
class Axis:
    """``side`` ranks of the group along one axis, ``step`` chips apart; ``wraps`` is 1 if they form a ring."""

    side: int
    step: int
    wraps: int
    link: float


def torus_axes(cluster: Cluster, group: Placement) -> tuple[Axis, ...]:
    """The axes along which a group runs, from the fastest-varying axis of the torus."""
    up = cluster.scale_up
    left, stride = max(1, group.accelerators), max(1, group.stride // cluster.ranks_per_accelerator)
    axes = []
    for index, side in enumerate(up.shape):
        if stride >= side:
            stride = -(-stride // side)
            continue
        along = max(1, min(left, side // stride))
        if along > 1:
            closes = along * stride == side and _axis_closes(up, side)
            axes.append(Axis(along, stride, int(closes), link_bandwidth(up, index) / stride))
        left, stride = -(-left // along), 1
    return tuple(axes)


def link_bandwidth(up: ScaleUp, axis: int) -> float:
    """B/s of one link along an axis, one direction."""
    if axis < len(up.axis_bandwidth):
        return up.axis_bandwidth[axis].value
    return up.bandwidth.value / (2 * len(up.shape))


def torus_bandwidth(cluster: Cluster, group: Placement) -> Bandwidth:
    """The bandwidth in B/s of a rank of the group along all its axes at once."""
    axes = torus_axes(cluster, group)
    if not axes:
        return Bandwidth.one_way(cluster.scale_up.bandwidth.value, cluster.scale_up.bandwidth.origin)
    derivation = " + ".join(f"{1 + axis.wraps} × {axis.link:.4g} B/s" for axis in axes)
    return Bandwidth.one_way(sum_of(axis_bandwidth(axis.link, axis.wraps) for axis in axes), Computed(derivation))


def torus_hops(cluster: Cluster, group: Placement) -> float:
    """Hops to the farthest rank over all axes; 0 without a torus."""
    if cluster.scale_up.topology != "torus" or not cluster.scale_up.shape:
        return 0.0
    return float(sum_of(farthest_hops(axis.side, axis.wraps) * axis.step for axis in torus_axes(cluster, group)))


def torus_exchange_share(cluster: Cluster, group: Placement) -> float:
    """The share of line rate that an all-to-all can use on a torus, where bytes cross several links and the ranks of a
    chip share its links; 1 without a torus.
    """
    axes = torus_axes(cluster, group) if cluster.scale_up.topology == "torus" else ()
    if not axes:
        return 1.0
    line = sum_of(axis_bandwidth(axis.link, axis.wraps) for axis in axes)
    of_chip = group.ranks_per_domain / max(1, group.accelerators)
    slowest = max(all_to_all_time(of_chip, axis.side, axis_bandwidth(axis.link, axis.wraps)) for axis in axes)
    return float(gather_time(1.0, max(2, group.ranks_per_domain), line) / slowest)


def _axis_closes(up: ScaleUp, side: int) -> bool:
    if up.interconnect is not None and up.interconnect.family == "ici":
        least = WRAPS_FROM.get(len(up.shape), 4)
        return side % least == 0
    return side >= ALWAYS_WRAPS
