"""What was measured and replaces the catalog, as rows that every writer of estimates shows."""

from __future__ import annotations

from typing import Any

from clusterspec.cluster.model import Cluster, MeasuredShare
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.records import replace
from clusterspec.units import percent

HEADS = ("collective", "of", "reached", "measured")
PARTS = {
    "ring": "the links that its rings run on",
    "exchange": "the links that it exchanges on",
    "reduction": "the links into the switches that reduce",
    "network": "the network between domains",
}


def shares(cluster: Cluster | None) -> tuple[MeasuredShare, ...]:
    """Every measured share of a cluster, by collective; empty if nothing was measured."""
    return tuple(sorted(cluster.measured, key=lambda each: (each.collective, each.part))) if cluster else ()


def row(share: MeasuredShare) -> tuple[str, str, str, str]:
    """A share for `HEADS`: of what it is the share, how much of it is reached, and what was seen."""
    seen = str(share.share.origin).removeprefix("measured: ")
    return share.collective, PARTS.get(share.part, share.part), percent(share.share.value), seen


def measured_json(cluster: Cluster | None) -> list[dict[str, Any]]:
    """The same for programs; ``share`` is a fraction of the line rate."""
    return [
        {
            "collective": each.collective,
            "tier": each.tier,
            "part": each.part,
            "ranks": each.ranks,
            "share": each.share.value,
            "why": str(each.share.origin),
        }
        for each in shares(cluster)
    ]


def unmeasured_step_time(plan: Plan) -> float | None:
    """The step time in seconds that the catalog's efficiencies give; None if nothing was measured or timed."""
    cluster = plan.design.cluster
    if plan.step is None or cluster is None or not cluster.measured:
        return None
    other = estimate(replace(plan.design, cluster=replace(cluster, measured=())), plan.tables)
    return other.step.seconds if other.step else None
