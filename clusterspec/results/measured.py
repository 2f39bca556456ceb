"""Measurements that replace catalog efficiencies, as rows for writers of estimates."""

from __future__ import annotations

from typing import Any

from clusterspec.cluster.model import Cluster, MeasuredShare
from clusterspec.cluster.variation import without_measured
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.units import percent

HEADS = ("collective", "of", "reached", "measured")
PARTS = {
    "ring": "the links used by its rings",
    "exchange": "the links used by its exchanges",
    "reduction": "the links to the reducing switches",
    "network": "the network between domains",
}


def shares(cluster: Cluster | None) -> tuple[MeasuredShare, ...]:
    """The measured efficiencies of a cluster by collective; empty without measurements."""
    return tuple(sorted(cluster.measured, key=lambda each: (each.collective, each.part))) if cluster else ()


def row(share: MeasuredShare) -> tuple[str, str, str, str]:
    """The row of an efficiency for `HEADS`: the collective, the links, the fraction reached, and the measurement."""
    seen = str(share.share.origin).removeprefix("measured: ")
    return share.collective, PARTS.get(share.part, share.part), percent(share.share.value), seen


def measured_json(cluster: Cluster | None) -> list[dict[str, Any]]:
    """The measured efficiencies as JSON; ``share`` is a fraction of the line rate."""
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
    """The step time in seconds with catalog efficiencies; None without measurements or a step time."""
    cluster = plan.design.cluster
    if plan.step is None or cluster is None or not cluster.measured:
        return None
    other = estimate(without_measured(plan.design), plan.tables)
    return other.step.seconds if other.step else None
