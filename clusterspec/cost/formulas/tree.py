"""Tree algorithms. Floats or arrays; bytes, seconds, bytes per second and direction.

Source of all: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast,
reduction and scan", Parallel Computing 35(12), 2009; as NCCL builds them: S. Jeaugey,
"Massively scale your deep learning training with NCCL 2.4", NVIDIA, 2019.
"""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import Number, smaller


def all_reduce_hops(islands_deep: Number, ranks_in_island: Number) -> Number:
    """Hops of an all-reduce up a tree and down again: 2 (d + m − 1).

    ``islands_deep`` (d) is the depth of the tree over islands, log₂ of their number;
    ``ranks_in_island`` (m) hang together as a chain.

    >>> all_reduce_hops(0, 8), all_reduce_hops(3, 8)
    (14, 20)
    """
    return 2 * (islands_deep + ranks_in_island - 1)


def island_traffic(size: Number, islands: Number) -> Number:
    """Bytes that an island sends, and receives, in an all-reduce over two complementary trees.

    Half of the data goes up each tree. With two islands each is root of one tree and leaf of
    the other and sends S; with more, an island is an inner node of one tree, with two children
    and a parent, and sends 2 S: min(k − 1, 2) S.

    >>> island_traffic(1e9, 1), island_traffic(1e9, 2), island_traffic(1e9, 16)
    (0.0, 1000000000.0, 2000000000.0)
    """
    return smaller(islands - 1.0, 2.0) * size


def chain_traffic(size: Number) -> Number:
    """Bytes that a rank inside the chain of an island sends, up and down: 2 S.

    >>> chain_traffic(1e9)
    2000000000.0
    """
    return 2 * size


def broadcast_time(size: Number, hops: Number, bandwidth: Number, latency: Number = 0.0) -> Number:
    """Seconds of a pipelined broadcast down a chain or ring: t = h α + S / B.

    >>> broadcast_time(1e9, 7, 50e9)
    0.02
    """
    return hops * latency + size / bandwidth
