"""Shares of a predicted step: computation, communication, exposed communication, and the pipeline bubble."""

from __future__ import annotations

from collections.abc import Collection

from clusterspec.cost.plan import Plan

REPLICA_AXES = ("dp_cp", "expert_dp", "replicate")
"""Axes over which gradients are reduced."""
SHARD_AXES = ("dp_cp", "expert_dp", "shard")
"""Axes over which fsdp and hsdp gather weights."""
REDUCTIONS = ("all-reduce", "reduce-scatter")


def exposed(plan: Plan, axes: Collection[str], collectives: Collection[str] = ()) -> float:
    """Seconds of exposed communication per step of some axes, of some collectives or all."""
    rows = (
        row for row in plan.communication if row.axis in axes and (not collectives or row.collective in collectives)
    )
    return sum(row.exposed for row in rows)


def sent(plan: Plan, axes: Collection[str]) -> float:
    """Seconds of communication per step of some axes, exposed or not."""
    return sum(row.seconds for row in plan.communication if row.axis in axes)


def bubble(plan: Plan) -> float:
    """Idle seconds of the pipeline per step; 0 where the step is not known."""
    return plan.step.times.bubble if plan.step else 0.0


def computing(plan: Plan) -> float:
    """Seconds of computation per step; 0 where the step is not known."""
    return plan.step.computing if plan.step else 0.0


def share(seconds: float, plan: Plan) -> float:
    """Seconds as a share of the step; 0 where the step is not known."""
    whole = plan.step_seconds
    return seconds / whole if whole else 0.0
