"""The factor by which oversubscribed switch levels slow the collectives of a group.

A level with ratio t (down over up) gives the uplinks of a block 1 / t of the bandwidth of the NICs below it. They slow
a collective only where the share s of the traffic of these NICs that leaves the block exceeds 1 / t: by max(1, t s).
Above several levels the ratios multiply. The shares hold for ranks in order: a block has consecutive ranks, rings and
trees join the islands of a group by rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from clusterspec.cluster.groups import Crossing, Placement
from clusterspec.cluster.model import Cluster, Level
from clusterspec.cost.collectives import Delays
from clusterspec.cost.formulas import collectives


def crossing_delays(cluster: Cluster, levels: Sequence[Level], group: Placement, islands: int) -> Delays:
    """The slowdown factors of a group of two or more ``islands`` from the ``levels`` of the fabric."""
    ratio, ring, tree, exchange = 1.0, 1.0, 1.0, 1.0
    for crossing in group.crossings:
        ratio *= max(1.0, levels[crossing.level].oversubscription)
        share = _ring_share(cluster, crossing, group, islands)
        ring = max(ring, ratio * share)
        tree = max(tree, ratio * min(1.0, share * _tree_edges(crossing, group, islands)))
        exchange = max(exchange, ratio * _exchange_share(cluster, crossing, group, islands))
    return Delays(ring, tree, exchange, ratio)


def _ring_share(cluster: Cluster, crossing: Crossing, group: Placement, islands: int) -> float:
    """The share of a block's NIC traffic that leaves the block in rings. A ring leaves each island once and each block
    once.
    """
    if crossing.groups is None:
        return 1.0
    return min(1.0, crossing.groups / crossing.block / _groups_of_rank(cluster, group, islands))


def _groups_of_rank(cluster: Cluster, group: Placement, islands: int) -> float:
    """The number of groups that share an island's NICs, divided by the ranks of the island."""
    nodes = max(1.0, group.nodes / islands)
    return max(1, group.groups_per_node) / (cluster.ranks_per_node * nodes)


def _tree_edges(crossing: Crossing, group: Placement, islands: int) -> float:
    """The traffic of trees that leaves a block, divided by that of a ring. Both are relative to the most traffic of an
    island.

    NCCL joins k islands by two binary trees in order, each of whose edges carries half of the bytes up and down. At
    most 2 (k − 1) edges leave a block, and at most 4 (log2 j + 1) edges leave j neighbors. Edges of one length do not
    overlap, so each end of the block cuts at most one edge of each length up to j; longer edges have one end in the
    block.

    Source: NVIDIA/nccl, src/graph/trees.cc (ncclGetBtree, ncclGetDtree).
    """
    of_block = max(1.0, crossing.members / _maximum_in_island(group, islands))
    edges = min(2 * (islands - 1), 4 * (log2(of_block) + 1))
    return edges / 2 / float(collectives.island_traffic(1.0, islands))


def _maximum_in_island(group: Placement, islands: int) -> int:
    return group.ranks_per_node if islands == group.nodes else group.ranks_per_domain


def _exchange_share(cluster: Cluster, crossing: Crossing, group: Placement, islands: int) -> float:
    """The share of a block's NIC traffic that leaves the block in an all-to-all.

    Of n ranks in a group, r on the block send r (n − r) parts to others, m in an island m (n − m). With equal groups
    that fill the block, the share is (n − r) / (n − m).
    """
    if crossing.groups is None:
        return 1.0
    ranks, of_block = group.ranks, crossing.members
    of_island = _maximum_in_island(group, islands)
    block = crossing.groups * of_block * (ranks - of_block) / crossing.block
    island = of_island * (ranks - of_island) * _groups_of_rank(cluster, group, islands)
    return min(1.0, block / island)
