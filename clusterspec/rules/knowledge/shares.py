"""Lost shares of a predicted step time or rate, and the severity of a finding by its lost share."""

from __future__ import annotations

from collections.abc import Collection

from clusterspec.cluster.model import Layout
from clusterspec.cost.estimate import measured_step
from clusterspec.cost.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.reinforcement.times import RlTimes

REPLICA_AXES = ("dp_cp", "expert_dp", "replicate")
"""Axes over which gradients are reduced."""
SHARD_AXES = ("dp_cp", "expert_dp", "shard")
"""Axes over which fsdp and hsdp gather weights."""
REDUCTIONS = ("all-reduce", "reduce-scatter")
USUAL_TAIL = 0.6
"""Largest share of a reinforcement-learning step that published runs lose to their longest samples.

Of 19 published colocated steps of NeMo RL and verl (docs/accuracy.md), 18 are predicted to lose at most 0.39, and one
0.54; slime's example of GLM-4.5 loses 0.55.
"""
SURELY_FITS = 0.8
"""Share of the memory up to which a plan certainly fits, despite the uncertainty of its activations."""


def exposed_seconds(plan: Plan, axes: Collection[str], collectives: Collection[str] = ()) -> float:
    """Seconds of exposed communication of some axes per step, for some collectives or all."""
    rows = (
        row for row in plan.communication if row.axis in axes and (not collectives or row.collective in collectives)
    )
    return sum(row.exposed for row in rows)


def sent_seconds(plan: Plan, axes: Collection[str]) -> float:
    """Seconds of communication of some axes per step, exposed or not."""
    return sum(row.seconds for row in plan.communication if row.axis in axes)


def bubble_seconds(plan: Plan) -> float:
    """Idle seconds of the pipeline per step; 0 if the step is not known."""
    return plan.step.times.bubble if plan.step else 0.0


def computing_seconds(plan: Plan) -> float:
    """Seconds of computation per step; 0 if the step is not known."""
    return plan.step.computing_seconds if plan.step else 0.0


def share_of_step(seconds: float, plan: Plan) -> float:
    """Seconds as a share of the step; 0 if the step is not known."""
    whole = plan.step_seconds
    return seconds / whole if whole else 0.0


# The severity of a predicted loss

A_QUARTER = 0.25
"""Smallest share of the machine's time at which a flaw is an error, by the definition of severity."""
EXACT = (1.0, 1.0)
"""The range of a share that follows from stated figures by arithmetic: it has no uncertainty."""
Bounds = tuple[float, float]
"""The low and the high end of a prediction's range, relative to the prediction."""


def cost_severity(loss: float | None, bounds: Bounds, unknown: str = "error", most: str = "error") -> str:
    """The severity of a flaw that costs a share of the machine's predicted time or throughput.

    A note below the half-width of the range of the prediction and a warning above it; an error from a quarter on, if
    the low end of the range is a quarter, too. For an uneven range, the lower half counts: a loss is certain if the low
    end has it. ``unknown`` where the model cannot tell. ``most`` caps the severity of a loss that other layouts of the
    job may not avoid.

    >>> [cost_severity(loss, (0.8, 1.25)) for loss in (0.19, 0.21, 0.3, 0.32)]
    ['note', 'warning', 'warning', 'error']
    """
    if loss is None:
        return unknown
    low, high = bounds
    if loss < min(1 - low, (high - low) / 2):
        return "note"
    return most if loss * min(low, 1.0) >= A_QUARTER else "warning"


def step_severity(loss: float | None, plan: Plan | None, unknown: str = "error", most: str = "error") -> str:
    """The severity of a flaw that costs a share of the predicted step, by the range of a difference of two layouts.

    In reinforcement learning the plan is one update of the trainer, but the share relates to the whole step.
    """
    if plan is None or plan.difference_bounds is None:
        return cost_severity(loss, EXACT, unknown, most)
    if loss is not None and plan.rl is not None:
        low, high = plan.rl.band
        return cost_severity(
            _share_of_whole_step(loss, plan.rl), (low / plan.rl.step, high / plan.rl.step), unknown, most
        )
    return cost_severity(loss, plan.difference_bounds, unknown, most)


def _share_of_whole_step(loss: float, times: RlTimes) -> float:
    """The share of a whole reinforcement-learning step that is lost if a share of its update is lost; 0 while the
    trainer waits for rollout.
    """
    waits = sum(part.idle_share for part in times.parts if part.role == "update")
    return max(0.0, loss * times.update / times.step - waits)


def target_severity(
    target: float | None, seconds: float, bounds: Bounds, most: str = "error", *, measured: bool = False
) -> str:
    """The severity of a predicted time above its target.

    It is a warning if the low end of the time's range also misses the target. It is an error if the low end exceeds the
    target by a third; where the time follows from a measurement of the same job, any excess is an error.

    >>> [target_severity(1.0, seconds, (0.8, 1.25)) for seconds in (1.2, 1.3, 1.6, 1.7)]
    ['note', 'warning', 'warning', 'error']
    >>> [target_severity(1.0, seconds, (0.8, 1.25), measured=True) for seconds in (1.2, 1.3)]
    ['note', 'error']
    """
    if not target or not seconds:
        return "note"
    if measured and seconds * bounds[0] > target:
        return most
    if most == "error" and cost_severity(1 - target / (seconds * min(bounds[0], 1.0)), EXACT) == "error":
        return "error"
    return cost_severity(1 - target / seconds, bounds, most="warning")


def run_severity(target: float, seconds: float, timed: Plan) -> str:
    """The severity of a training time of ``seconds`` above its ``target``, by the range of the plan's step time."""
    step, ends = timed.step_seconds, timed.step_time_range
    if not step or ends is None:
        return target_severity(target, seconds, EXACT)
    found = measured_step(timed.design)
    same_job = found is not None and found.matches_measured_time(step)
    return target_severity(target, seconds, (ends[0] / step, ends[1] / step), measured=same_job)


# Sums of gradients in bf16

MANY = 256
"""Smallest number of terms at which a sum of equal bf16 numbers stops growing: 2 to the power of its 8 significant bits."""
MANY_STEPS = 64
"""Smallest number of micro-batches at which the last of equal terms in a bf16 sum keep at most two of their eight significant
bits.
"""


def loses_terms_in_bf16(layout: Layout) -> bool:
    """Whether gradients that a layout sums in bf16, over micro-batches or replicas, lose terms."""
    micro_batches, replicas = layout.micro_batches or 1, layout.dp * layout.cp
    return micro_batches >= MANY_STEPS or replicas >= MANY
