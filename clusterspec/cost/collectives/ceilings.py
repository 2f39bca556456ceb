"""Upper bounds of bus bandwidth: that of links at line rate, without protocol overhead or latency."""

from __future__ import annotations

from clusterspec.cost.collectives.model import Inside, Paths
from clusterspec.cost.formulas import all_to_all, hierarchical, in_network
from clusterspec.cost.formulas.bus import all_reduce_factor, gather_factor


def factor(name: str, ranks: int) -> float:
    """Bus bandwidth over algorithm bandwidth, as nccl-tests defines it."""
    if name == "all-reduce":
        return float(all_reduce_factor(ranks))
    return float(gather_factor(ranks)) if name in {"all-gather", "reduce-scatter", "all-to-all"} else 1.0


IN_DOMAIN = frozenset({"nvls", "nvls-tree"})
"""Algorithms that reduce in the switches of a scale-up domain."""
IN_FABRIC = frozenset({"collnet"})
"""Algorithms that reduce in the switches of the scale-out network."""


def ceiling(name: str, paths: Paths, algorithm: str | None = None, *, reduces: bool) -> float:
    """The bus bandwidth in B/s that the links of the group allow; for two or more ranks.

    ``reduces`` is whether the switches of the domain can reduce, with or without a gain. With an ``algorithm`` the
    reduction of switches counts only where that algorithm uses it.
    """
    if name == "send-recv":
        return _send(paths)
    inside = _inside(name, paths, reduces=reduces and (algorithm is None or algorithm in IN_DOMAIN))
    if paths.between is None:
        return inside
    return min(inside, _between(name, paths, reduces=algorithm is None or algorithm in IN_FABRIC))


def _send(paths: Paths) -> float:
    inside = paths.inside.peer.value if paths.inside.ranks > 1 else float("inf")
    return min(inside, paths.between.sender.value) if paths.between else inside


def _inside(name: str, paths: Paths, *, reduces: bool) -> float:
    inside: Inside = paths.inside
    if inside.ranks == 1:
        return float("inf")
    if name == "all-to-all":
        return inside.line.value * (paths.ranks - 1) / (inside.ranks - 1)
    gain = 1.0
    if reduces and name == "all-reduce":
        gain = max(1.0, in_network.bus_bandwidth_ceiling(inside.ranks, 1.0))
    return inside.line.value * gain


def _between(name: str, paths: Paths, *, reduces: bool) -> float:
    between, ranks, m = paths.between, paths.ranks, paths.inside.ranks
    assert between is not None
    line = between.line.value
    if name == "all-to-all":
        exchange = between.exchange.value / m
        return float(all_to_all.bus_bandwidth_ceiling(ranks, m, exchange)) if ranks > m else float("inf")
    if name == "broadcast":
        return line
    if name == "all-reduce" and reduces and between.reduces:
        return line * factor(name, ranks)
    return float(hierarchical.bus_bandwidth_ceiling(ranks, between.islands, line * between.islands / ranks))
