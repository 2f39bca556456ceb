"""What a design costs: parameters, memory, and the time of one optimizer step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clusterspec.catalog.entries import Stack
from clusterspec.cluster.model import Assumption, Cluster, Design, Layout, Workload
from clusterspec.cost import memory, parameters
from clusterspec.cost.band import band
from clusterspec.cost.compute.rates import Rates, rates
from clusterspec.cost.compute.software import Software
from clusterspec.cost.formulas.utilization import recomputation_factor, utilization
from clusterspec.cost.plan import Plan
from clusterspec.cost.schedule.clock import Clock
from clusterspec.cost.schedule.step import Step, step
from clusterspec.cost.schedule.told import told
from clusterspec.cost.traffic.wire import NoRoadError, Wire
from clusterspec.origin import Assumed


@dataclass(frozen=True, slots=True)
class Job:
    """The parts that a step's time needs, all of them there."""

    cluster: Cluster
    workload: Workload
    layout: Layout
    stack: Stack


def estimate(design: Design) -> Plan:
    """Everything that can be said of a design; what cannot be computed is None, and the rest is given.

    Takes milliseconds, whatever the size of the cluster.
    """
    plan = _with_memory(_with_parameters(Plan(design, assumptions=design.assumptions)))
    job = _job(design)
    return _with_time(plan, job) if job else plan


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


def _job(design: Design) -> Job | None:
    """None where a part is missing, the work is not training, or a stage holds nothing that could be timed."""
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or layout.stack is None:
        return None
    if workload.kind != "train" or layout.micro_batches is None or not layout.stage_layers:
        return None
    return Job(cluster, workload, layout, layout.stack)


def _with_time(plan: Plan, job: Job) -> Plan:
    software = Software.of(job.stack)
    reached = rates(job.cluster, job.workload, software, job.layout.software_year)
    if reached is None:
        return plan
    clock = _clock(plan.design, job, software, reached)
    try:
        timed = step(job.workload, job.layout, clock)
    except NoRoadError:
        return plan
    return _told(plan, job, timed, reached, clock)


def _clock(design: Design, job: Job, software: Software, reached: Rates) -> Clock:
    """What may hide is what the layout allows and the software can; what the author wrote counts as it stands."""
    said = design.spec.layout.overlap if design.spec.layout else None
    written = {axis: getattr(said, axis) for axis in job.layout.overlap} if said else {}
    able = {"dp": software.hides("dp"), "pp": software.hides("pp")}
    hides = {
        axis: allowed and (written.get(axis) is not None or able.get(axis, True))
        for axis, allowed in job.layout.overlap.items()
    }
    refused = frozenset(axis for axis, allowed in written.items() if allowed is False)
    pipelined = 0.0 if "tp" in refused else software.tensor_hidden
    return Clock(reached.speed, software, Wire(job.cluster, job.layout), job.layout, hides, refused, pipelined)


def _told(plan: Plan, job: Job, timed: Step, reached: Rates, clock: Clock) -> Plan:
    tokens = job.workload.global_batch * job.workload.sequence_length
    accelerators = job.layout.ranks / job.cluster.ranks_per_accelerator
    rate = tokens / timed.total / accelerators
    each = parameters.model_flops_per_token(job.workload.model, job.workload.sequence_length)
    assert job.workload.peak is not None  # there are rates
    mfu = float(utilization(rate * each, 1.0, 1, job.workload.peak.value))
    again = timed.work.flops_again / timed.work.flops
    low, high = band(timed, clock.software, clock.wire, bool(job.workload.model.experts))
    term = replace(told(timed, reached.figures, clock.software), low=low, high=high)
    return replace(
        plan,
        step_time=term,
        communication=timed.sent,
        tokens_per_second_per_accelerator=rate,
        model_flops_per_accelerator=rate * each,
        mfu=mfu,
        hfu=float(mfu * recomputation_factor(again)),
        time_to_train=job.workload.tokens / tokens * timed.total if job.workload.tokens else None,
        step_time_range=(low, high),
        assumptions=_together(plan.assumptions, (*reached.assumptions, *_software_assumptions(job))),
    )


def _software_assumptions(job: Job) -> tuple[Assumption, ...]:
    """The figures of the software that no source states, each with its reason."""
    return tuple(
        (f"{job.stack.id} {name}", figure.value, figure.origin.why)
        for name, figure in job.stack.achievable.items()
        if isinstance(figure.origin, Assumed)
    )


def _together(first: tuple[Assumption, ...], second: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """Both in order, each key once."""
    keys = {key for key, _, _ in first}
    return (*first, *(each for each in second if each[0] not in keys))
