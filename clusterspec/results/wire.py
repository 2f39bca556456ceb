"""Communication time of a step on the same ranks with other link rates."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.cluster.groups import Placement, place_runs, runs
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives.paths import paths_of
from clusterspec.cost.collectives.predict import timing_on
from clusterspec.cost.communication import Sent
from clusterspec.cost.plan import Plan
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class WireTime:
    """``calls`` collectives of ``size`` bytes each on the groups of one axis, whose placement is fixed.

    ``calls`` includes framework efficiency: a collective at 0.9 of the usual rate counts as 1 / 0.9 calls.
    """

    collective: str
    placement: Placement
    size: float
    calls: float

    def seconds(self, cluster: Cluster) -> float:
        """Seconds of all calls on a cluster with the same ranks."""
        paths = paths_of(cluster, self.placement)
        return self.calls * timing_on(cluster, self.collective, paths).cost(self.size).queued if paths else 0.0


def wire_times(plan: Plan, rows: Iterable[Sent]) -> tuple[WireTime, ...]:
    """The transfers of a plan, grouped by kind and size."""
    cluster, layout = plan.design.cluster, plan.design.layout
    if cluster is None or layout is None:
        return ()
    found: dict[tuple[str, str, float], WireTime] = {}
    for row, cost in rows:
        if row.seconds <= 0 or cost.queued <= 0 or row.ranks < 2:
            continue
        key = (row.axis, row.collective, cost.size)
        calls = row.seconds / cost.queued
        if key in found:
            calls += found[key].calls
            placement = found[key].placement
        else:
            inside, outside = runs(layout, row.axis)
            placement = place_runs(cluster, row.axis, inside, outside, layout.nodes_per_domain)
        found[key] = WireTime(row.collective, placement, cost.size, calls)
    return tuple(found.values())
