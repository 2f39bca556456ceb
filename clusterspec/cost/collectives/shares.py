"""Replaces catalog shares on the links of a group by measured shares."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.model import MeasuredShare
from clusterspec.cluster.scaleup import NODE_SCALE
from clusterspec.cost.collectives.model import Paths
from clusterspec.cost.collectives.paths import MESHES
from clusterspec.quantity import Figure
from clusterspec.records import replace

RINGS = frozenset({"all-reduce", "all-gather", "reduce-scatter", "broadcast"})
"""Collectives that use the same rings: a measurement of one applies to the others."""


def with_measured(paths: Paths, name: str, measured: Sequence[MeasuredShare]) -> Paths:
    """The links of a group with the measured shares that apply to a collective on them.

    Among several, one of the same collective is preferred, then one of a collective with the same ring; then the
    nearest number of ranks. A share measured inside an island also applies to groups that leave it.
    """
    if not measured:
        return paths
    inside, between = paths.inside, paths.between
    ring = _inside(paths, name, measured, "ring")
    exchange = _inside(paths, name, measured, "exchange")
    reduction = _inside(paths, name, measured, "reduction") if inside.reduction else None
    inside = replace(
        inside,
        ring=ring or inside.ring,
        exchange=exchange or inside.exchange,
        reduction=reduction or inside.reduction,
    )
    network = _best(name, paths.ranks, [each for each in measured if each.part == "network"])
    if between is not None and network is not None:
        between = replace(between, share=network)
    return replace(paths, inside=inside, between=between)


def _inside(paths: Paths, name: str, measured: Sequence[MeasuredShare], part: str) -> Figure | None:
    """The measurement of the tier that the group crosses, else that of the tier inside its islands."""
    for tier in dict.fromkeys((paths.tier, paths.inside.tier)):
        fitting = [each for each in measured if each.part == part and each.tier == tier and _alike(paths, each)]
        if found := _best(name, paths.ranks, fitting):
            return found
    return None


def _alike(paths: Paths, share: MeasuredShare) -> bool:
    """Whether a measurement on one group applies to a group of another size: a pair in a mesh has one link, a rack has
    its own switches.
    """
    if paths.inside.topology in MESHES and (paths.ranks > 2) != (share.ranks > 2):
        return False
    return (paths.ranks > NODE_SCALE) == (share.ranks > NODE_SCALE) or paths.between is not None


def _best(name: str, ranks: int, shares: Sequence[MeasuredShare]) -> Figure | None:
    """The share measured with the most similar collective, then the most similar number of ranks; None where none
    applies.
    """

    def distance(share: MeasuredShare) -> tuple[bool, bool, float]:
        kin = name in RINGS and share.collective in RINGS
        return share.collective != name, not kin, max(ranks / share.ranks, share.ranks / ranks)

    best = min(shares, key=distance, default=None)
    return best.share if best else None
