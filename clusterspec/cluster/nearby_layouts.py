"""Layouts near a given one: other degrees of tp and pp for reports and for advice on memory, and fewer nodes that the
degrees divide evenly.
"""

from __future__ import annotations

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.spec.model import LayoutSpec

MOST_PP = 64
"""Pipeline stages beyond which the grid ends."""
MOST_TP = 64


def neighbor_degrees(cluster: Cluster, work: Workload, layout: Layout) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The values of tp and of pp around a layout: powers of two up to the ranks, the heads and the layers."""
    ranks = layout.nodes * cluster.ranks_per_node
    tps = _candidate_degrees(min(ranks, MOST_TP, work.model.heads or 1), layout.tp)
    pps = _candidate_degrees(min(ranks, MOST_PP, work.model.layers or 1), layout.pp)
    return tps, pps


def _candidate_degrees(most: int, present: int) -> tuple[int, ...]:
    """The candidate degrees: the powers of two up to ``most``, the ``present`` degree, and its doublings up to
    ``most``.

    >>> _candidate_degrees(9, 3), _candidate_degrees(4, 8)
    ((1, 2, 3, 4, 6, 8), (1, 2, 4, 8))
    """
    powers = {1 << power for power in range(most.bit_length()) if 1 << power <= most}
    doublings = {present * factor for factor in (2, 4, 8) if present * factor <= most}
    return tuple(sorted(powers | doublings | {present}))


LEAST_USED = 0.75
"""Share of the nodes that a job on fewer nodes uses at least."""


def fewer_nodes(section: LayoutSpec | None, cluster: Cluster) -> tuple[str, int] | None:
    """The layout key and value with which a job uses 2^n or 3 × 2^n nodes, counted in each domain or in the whole
    cluster.

    The degrees of a layout rarely divide the 72 ranks of an 18-node domain, but often divide the 64 ranks of 16 nodes.
    Likewise 48 nodes divide more often than 52. None if the spec states the nodes, they are such a number, or more
    than a quarter of them would be left over.
    """
    if section is not None and (section.nodes is not None or section.nodes_per_domain is not None):
        return None
    there = nodes_of_domain(cluster)
    if there > 1 and (cluster.nodes < there or cluster.scale_up.topology != "switched"):
        return None
    key, nodes = ("nodes_per_domain", there) if there > 1 else ("nodes", cluster.nodes)
    power = 1 << (max(1, nodes).bit_length() - 1)
    used = 3 * power // 2 if 3 * power // 2 <= nodes else power
    return (key, used) if LEAST_USED * nodes <= used < nodes else None
