"""Tree algorithms. Floats or arrays; bytes, seconds, bytes per second and direction.

Source of all: Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast,
reduction and scan", Parallel Computing 35(12), 2009; as NCCL builds them: S. Jeaugey,
"Massively scale your deep learning training with NCCL 2.4", NVIDIA, 2019.
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula
from clusterspec.cost.formulas.elementwise import smaller


@formula("min(islands - 1, 2) * size")
def island_traffic(size: float, islands: float) -> float:
    """Bytes that an island sends, and receives, in an all-reduce over two complementary trees.

    Half of the data goes up each tree. With two islands each is root of one tree and leaf of
    the other and sends S; with more, an island is an inner node of one tree, with two children
    and a parent, and sends 2 S: min(k − 1, 2) S.

    >>> island_traffic(1e9, 1), island_traffic(1e9, 2), island_traffic(1e9, 16)
    (0.0, 1000000000.0, 2000000000.0)
    """
    return smaller(islands - 1.0, 2.0) * size


@formula("2 * (ranks_in_island - 1 + levels)")
def depth(ranks_in_island: float, levels: float) -> float:
    """Hops up a tree and down again, ``levels`` of islands and a chain of ranks in each: 2 (m − 1 + l).

    >>> depth(8, 1), depth(8, 0)
    (16, 14)
    """
    return 2 * (ranks_in_island - 1 + levels)


@formula("2 * size")
def chain_traffic(size: float) -> float:
    """Bytes that a rank inside the chain of an island sends, up and down: 2 S.

    >>> chain_traffic(1e9)
    2000000000.0
    """
    return 2 * size
