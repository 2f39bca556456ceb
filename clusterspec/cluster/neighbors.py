"""The neighbors of a training layout over tp and pp, which reports compare and advice on memory tries."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster, Layout, Workload

MOST_PP = 64
"""Pipeline stages beyond which the grid ends."""
MOST_TP = 64


def neighbor_degrees(cluster: Cluster, work: Workload, layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The values of tp and of pp around a layout: powers of two up to the ranks, the heads and the layers."""
    ranks = layout.nodes * cluster.ranks_per_node
    tps = _degrees_up_to(min(ranks, MOST_TP, work.model.heads or 1), layout.tp)
    pps = _degrees_up_to(min(ranks, MOST_PP, work.model.layers or 1), layout.pp)
    return tps, pps


def _degrees_up_to(most: int, present: int) -> tuple[int, ...]:
    """The powers of two and the doublings of the present degree up to a limit, and the present degree.

    >>> _degrees_up_to(9, 3), _degrees_up_to(4, 8)
    ((1, 2, 3, 4, 6, 8), (1, 2, 4, 8))
    """
    powers = {1 << power for power in range(most.bit_length()) if 1 << power <= most}
    doublings = {present * factor for factor in (2, 4, 8) if present * factor <= most}
    return tuple(sorted(powers | doublings | {present}))
