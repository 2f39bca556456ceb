"""The cost of a design: parameters, memory, and the time of one optimizer step."""

from __future__ import annotations

from clusterspec.cluster.model import Design
from clusterspec.cost import memory, parameters
from clusterspec.cost.communication import communication
from clusterspec.cost.formulas.utilization import recomputation_factor, utilization
from clusterspec.cost.plan import Plan
from clusterspec.cost.record import StepRecord
from clusterspec.cost.tables import Tables
from clusterspec.cost.timing import tables_of, timed
from clusterspec.recent import Recent
from clusterspec.records import replace


def estimate(design: Design, tables: Tables | None = None) -> Plan:
    """All results that can be computed for a design; the others are None.

    ``tables`` of an earlier estimate are reused where they apply to the design. Takes about a millisecond for any
    cluster size.
    """
    plan = _with_memory(_with_parameters(Plan(design)))
    if design.workload is not None and design.workload.serving is not None:
        return _with_serving(plan)
    if tables is None or not tables.hold_for(design):
        tables = _known(design)
    found = timed(design, tables) if tables else None
    return _with_time(replace(plan, tables=tables), found) if found else plan


_RECENT: Recent[Tables] = Recent(4)
"""The tables of recent jobs: a job is usually estimated several times, with other layouts."""


def _known(design: Design) -> Tables | None:
    """The tables of a design; created where no recent ones apply to it."""
    known = _RECENT.find(lambda tables: tables.hold_for(design))
    if known is not None:
        return known
    made = tables_of(design)
    return None if made is None else _RECENT.keep(made)


def _with_serving(plan: Plan) -> Plan:
    """The plan with the times of serving."""
    from clusterspec.cost.serving import serving  # a training plan needs none of its modules

    found = serving(plan.design)
    return plan if found is None else replace(plan, serving=found)


def _with_parameters(plan: Plan) -> Plan:
    if plan.design.workload is None:
        return plan
    whole = parameters.count(plan.design.workload.model)
    return replace(plan, parameters=whole.total, active_parameters=whole.active)


def _with_memory(plan: Plan) -> Plan:
    found = memory.memory(plan.design)
    return plan if found is None else replace(plan, stored=found)


def _with_time(plan: Plan, record: StepRecord) -> Plan:
    design, seconds = plan.design, record.seconds
    cluster, workload, layout = design.cluster, design.workload, design.layout
    assert cluster and workload and layout
    assert workload.peak is not None  # there are rates
    tokens = workload.global_batch * workload.sequence_length
    rate = tokens / seconds / (layout.ranks / cluster.ranks_per_accelerator)
    each = parameters.model_flops_per_token(workload.model, workload.sequence_length)
    mfu = utilization(rate * each, 1.0, 1, workload.peak.value)
    return replace(
        plan,
        step=record,
        communication=communication(record),
        tokens_per_second_per_accelerator=rate,
        model_flops_per_accelerator=rate * each,
        mfu=mfu,
        hfu=mfu * recomputation_factor(record.recomputed_flops / record.flops),
        time_to_train=workload.tokens / tokens * seconds if workload.tokens else None,
    )
