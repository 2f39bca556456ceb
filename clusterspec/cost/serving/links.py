"""The links between the ranks of one engine."""

from __future__ import annotations

from clusterspec.cluster.groups import contiguous
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.ceilings import ceiling
from clusterspec.cost.collectives.model import CollectiveUnavailableError
from clusterspec.cost.collectives.paths import paths_of
from clusterspec.cost.collectives.predict import CollectiveTiming, timing_on
from clusterspec.records import NamedTuple

DIRECT = frozenset({"switched", "full-mesh", "partial-mesh", "bridge", "pcie"})
"""Topologies on which engines run small all-reduces with their own kernels."""


class RankLinks(NamedTuple):
    """The links of a group of adjacent ranks: B/s per rank and direction, bus bandwidth at line rate.

    ``inside`` the domain, ``between`` domains (infinite where the group is in one), over ``domains`` domains.
    ``direct`` is whether every rank reaches every other in one hop, ``library`` the time of its all-reduce.
    """

    inside: float
    between: float
    domains: int
    direct: bool
    library: CollectiveTiming

    def by_library(self, size: float) -> float:
        """Seconds of an all-reduce of ``size`` bytes by the collective library in a separate launch."""
        return self.library.candidates[0].launch + self.library.queued(size)


def links_of(cluster: Cluster, ranks: int) -> RankLinks | None:
    """The links of the first ``ranks`` ranks; None where no fabric connects their domains."""
    paths = paths_of(cluster, contiguous(cluster, ranks))
    if paths is None:
        return None
    try:
        library = timing_on(cluster, "all-reduce", paths)
    except CollectiveUnavailableError:
        return None
    inside = paths.inside.line.value if paths.inside.ranks > 1 else float("inf")
    if paths.between is None:
        return RankLinks(inside, float("inf"), 1, cluster.scale_up.topology in DIRECT, library)
    return RankLinks(inside, ceiling("all-to-all", paths, reduces=False), paths.between.islands, False, library)
