"""What a design costs: parameters, memory, and the time of one optimizer step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from clusterspec.cluster.model import Assumption, Design
from clusterspec.cost import memory, parameters
from clusterspec.cost.band import band
from clusterspec.cost.formulas.utilization import recomputation_factor, utilization
from clusterspec.cost.plan import Plan
from clusterspec.cost.schedule.told import told
from clusterspec.cost.timing import Timed, timed
from clusterspec.origin import Assumed


def estimate(design: Design) -> Plan:
    """Everything that can be said of a design; what cannot be computed is None, and the rest is given.

    Takes milliseconds, whatever the size of the cluster.
    """
    plan = _with_memory(_with_parameters(Plan(design, assumptions=design.assumptions)))
    found = timed(design)
    return _with_time(plan, found) if found else plan


def _with_parameters(plan: Plan) -> Plan:
    if plan.design.workload is None:
        return plan
    whole = parameters.count(plan.design.workload.model)
    return replace(plan, parameters=whole.total, active_parameters=whole.active)


def _with_memory(plan: Plan) -> Plan:
    used, assumptions = memory.use(plan.design)
    if used is None:
        return plan
    total = used.total
    spread = (total.low, total.high) if total.low is not None and total.high is not None else None
    return replace(plan, memory=used, memory_range=spread, assumptions=_together(plan.assumptions, assumptions))


def _with_time(plan: Plan, found: Timed) -> Plan:
    workload, step, software = found.job.workload, found.step, found.clock.software
    tokens = workload.global_batch * workload.sequence_length
    rate = tokens / step.total / found.job.accelerators
    each = parameters.model_flops_per_token(workload.model, workload.sequence_length)
    assert workload.peak is not None  # there are rates
    mfu = float(utilization(rate * each, 1.0, 1, workload.peak.value))
    low, high = band(step, software, found.clock.wire, bool(workload.model.experts))
    return replace(
        plan,
        step_time=replace(told(step, found.rates.figures, software), low=low, high=high),
        communication=step.sent,
        tokens_per_second_per_accelerator=rate,
        model_flops_per_accelerator=rate * each,
        mfu=mfu,
        hfu=float(mfu * recomputation_factor(step.work.flops_again / step.work.flops)),
        time_to_train=workload.tokens / tokens * step.total if workload.tokens else None,
        step_time_range=(low, high),
        assumptions=_together(plan.assumptions, (*found.rates.assumptions, *_fitted(found))),
    )


def _fitted(found: Timed) -> Iterator[Assumption]:
    """The figures of the accelerator and of the software that no source states, each with its reason."""
    accelerator, stack = found.job.cluster.accelerator, found.job.stack
    known = {f"{accelerator.id} {name}": figure for name, figure in found.rates.figures.items()}
    known |= {f"{stack.id} {name}": figure for name, figure in stack.achievable.items()}
    for key, figure in known.items():
        if isinstance(figure.origin, Assumed):
            yield key, figure, figure.origin.why


def _together(first: tuple[Assumption, ...], second: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """Both in order, each key once."""
    keys = {key for key, _, _ in first}
    return (*first, *(each for each in second if each[0] not in keys))
