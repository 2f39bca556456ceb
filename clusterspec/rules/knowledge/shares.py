"""Parts of a predicted step: what computes, what waits, and which traffic nothing hides."""

from __future__ import annotations

from collections.abc import Collection

from clusterspec.cost.plan import Plan

COMPUTE = ("forward", "backward", "recomputation")
REPLICA_AXES = ("dp_cp", "expert_dp", "replicate")
"""Axes over which gradients are summed."""
SHARD_AXES = ("dp_cp", "expert_dp", "shard")
"""Axes over which fsdp and hsdp gather weights."""
REDUCTIONS = ("all-reduce", "reduce-scatter")


def exposed(plan: Plan, axes: Collection[str], collectives: Collection[str] = ()) -> float:
    """Seconds of a step that traffic on some axes adds, of some collectives or all."""
    rows = (
        row for row in plan.communication if row.axis in axes and (not collectives or row.collective in collectives)
    )
    return sum(row.exposed for row in rows)


def sent(plan: Plan, axes: Collection[str]) -> float:
    """Seconds that traffic on some axes is on the wire in a step."""
    return sum(row.seconds for row in plan.communication if row.axis in axes)


def term(plan: Plan, *names: str) -> float:
    """Seconds of the parts of a step with these names; 0 where the step is not known."""
    parts = plan.step_time.parts if plan.step_time else ()
    return sum(part.value for part in parts if part.name in names)


def computing(plan: Plan) -> float:
    """Seconds of a step that compute."""
    return term(plan, *COMPUTE)


def share(seconds: float, plan: Plan) -> float:
    """Seconds as a share of the step; 0 where that is not known."""
    return seconds / plan.step_time.value if plan.step_time and plan.step_time.value > 0 else 0.0
