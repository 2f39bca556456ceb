"""All-to-all: every rank has a part for every other. Floats or arrays.

S is the whole buffer of one rank, as nccl-tests counts it; n ranks in islands of m.
Source: Bruck et al., "Efficient algorithms for all-to-all communications in multiport
message-passing systems", IEEE TPDS 8(11), 1997 (direct exchange: n − 1 messages of S / n).
"""

from __future__ import annotations

from clusterspec.cost.expressions import formula


@formula("ranks - 1")
def messages(ranks: float) -> float:
    """Messages of each rank in a direct exchange: n − 1.

    >>> messages(8)
    7
    """
    return ranks - 1


@formula("2 * ranks * (ranks - 1)")
def calls(ranks: float) -> float:
    """Sends and receives that all ranks post together: 2 n (n − 1).

    >>> calls(8)
    112
    """
    return 2 * ranks * (ranks - 1)


@formula("size * (ranks_in_island - 1) / ranks")
def traffic_inside(size: float, ranks: float, ranks_in_island: float) -> float:
    """Bytes that a rank sends to others of its island: (m − 1) / n · S.

    >>> traffic_inside(16e9, 16, 8), traffic_inside(8e9, 8, 8)
    (7000000000.0, 7000000000.0)
    """
    return size * (ranks_in_island - 1) / ranks


@formula("size * (ranks - ranks_in_island) / ranks")
def traffic_between(size: float, ranks: float, ranks_in_island: float) -> float:
    """Bytes that a rank sends to other islands: (n − m) / n · S.

    >>> traffic_between(16e9, 16, 8), traffic_between(8e9, 8, 8)
    (8000000000.0, 0.0)
    """
    return size * (ranks - ranks_in_island) / ranks


@formula("size * (ranks_in_island - 1) / ranks_in_island")
def staged_traffic_inside(size: float, ranks: float, ranks_in_island: float) -> float:
    """Bytes that a rank sends inside where data for other islands first moves to its destination rail.

    Every byte that leaves passes the scale-up tier once, but for the m-th part that already
    starts on its rail: (m − 1) / m · S.

    >>> staged_traffic_inside(16e9, 16, 8)
    14000000000.0
    """
    return size * (ranks_in_island - 1) / ranks_in_island


@formula("ranks_in_island - 1 + islands - 1")
def staged_messages(ranks_in_island: float, islands: float) -> float:
    """Messages of a rank in two stages: m − 1 inside, then k − 1 along its rail.

    >>> staged_messages(8, 16)
    22
    """
    return ranks_in_island - 1 + islands - 1


@formula("rank_bandwidth * (ranks - 1) / (ranks - ranks_in_island)")
def bus_bandwidth_ceiling(ranks: float, ranks_in_island: float, rank_bandwidth: float) -> float:
    """The highest bus bandwidth between islands: B (n − 1) / (n − m), with B the share of one rank; m < n.

    >>> round(bus_bandwidth_ceiling(16, 8, 50e9) / 1e9, 2)
    93.75
    """
    return rank_bandwidth * (ranks - 1) / (ranks - ranks_in_island)
