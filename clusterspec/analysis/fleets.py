"""The results of a fleet: each job as a design of its own, and what its pools are used for and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clusterspec.analysis.comparison import Names, diff
from clusterspec.analysis.outputs import bill, cost, estimate
from clusterspec.cluster.fleet import Fleet, Job, NodeSet, Pool, free_groups
from clusterspec.procurement.bill import bill as counted
from clusterspec.procurement.cost import cost as worked_out
from clusterspec.procurement.growth import growth
from clusterspec.results import Input
from clusterspec.results.fleet import FleetDiffReport, FleetReport, JobUse, PoolUse
from clusterspec.studies.study import Study
from clusterspec.summation import sum_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from clusterspec.procurement.cost import Cost
    from clusterspec.results import BillReport, EstimateReport
    from clusterspec.results.decision import CostReport
    from clusterspec.studies.fleet import FleetStudy

    Compute = Callable[[Study], EstimateReport | BillReport | CostReport]

VERBS: dict[str, Compute] = {"estimate": estimate, "bom": bill, "cost": cost}
"""The commands with a result for a whole fleet."""


def fleet_report(study: Study, verb: str) -> FleetReport:
    """The result of a command of `VERBS` for a fleet. Raises `ValueError` for a study of one cluster."""
    parts = study.fleet
    if parts is None:
        raise ValueError("not a fleet")
    costs = {name: _pool_cost(one) for name, one in parts.pools.items()}
    jobs = {name: one for name, one in parts.jobs.items() if name in parts.fleet.jobs}
    return FleetReport(
        tool=study.settings.tool,
        input=study.input,
        name=study.spec.name or study.source.name,
        jobs={name: _job_use(parts, job, costs) for name, job in parts.fleet.jobs.items()},
        pools={name: _pool_use(parts, pool, costs[name]) for name, pool in parts.fleet.pools.items()},
        reports={name: VERBS[verb](one) for name, one in jobs.items()},
        pool_bills={name: bill(one) for name, one in parts.pools.items()} if verb == "bom" else {},
        estimates={name: estimate(one) for name, one in jobs.items()},
        costs={name: _job_cost(one) for name, one in jobs.items()},
        findings=study.checked.findings,
        sources=study.sources,
        today=study.settings.today,
        spec=study.spec,
    )


def fleet_diff(old: Study, new: Study, names: tuple[Names, Names] = ({}, {})) -> FleetDiffReport:
    """The difference of two fleets, job by job. Raises `ValueError` for a study of one cluster."""
    before, after = old.fleet, new.fleet
    if before is None or after is None:
        raise ValueError("not a fleet")
    reports = fleet_report(old, "estimate"), fleet_report(new, "estimate")
    both = [name for name in after.jobs if name in before.jobs]
    known = [{(one.rule, one.message) for one in each.findings} for each in reports]
    return FleetDiffReport(
        tool=new.settings.tool,
        old=Input(names[0].get(old.source.name, old.input.file), old.input.data),
        new=Input(names[1].get(new.source.name, new.input.file), new.input.data),
        jobs={name: diff(before.jobs[name], after.jobs[name], names) for name in both},
        added=tuple(name for name in after.fleet.jobs if name not in before.fleet.jobs),
        removed=tuple(name for name in before.fleet.jobs if name not in after.fleet.jobs),
        old_pools=reports[0].pools,
        new_pools=reports[1].pools,
        found=tuple(one for one in reports[1].findings if (one.rule, one.message) not in known[0]),
        fixed=tuple(one for one in reports[0].findings if (one.rule, one.message) not in known[1]),
    )


def _pool_cost(study: Study) -> Cost | None:
    """The cost of a pool as a machine without a workload."""
    return worked_out(study.design, None, counted(study.design))


def _job_cost(study: Study) -> Cost | None:
    """The cost of a design with its work, for the cost of a run and of tokens."""
    return worked_out(study.design, study.plan if study.possible else None, counted(study.design))


def _pool_use(parts: FleetStudy, pool: Pool, cost: Cost | None) -> PoolUse:
    shares = [(each.nodes or 0) * min(1.0, _busy_share(parts.fleet, each)) for each in pool.sets]
    written = parts.pools[pool.name].spec.cluster
    return PoolUse(
        nodes=pool.nodes,
        used=pool.promised,
        idle=pool.idle,
        used_share=sum_of(shares) / pool.nodes if pool.nodes and pool.idle is not None else None,
        power=cost.watts.value if cost and cost.watts.parts else None,
        cost=cost.total.value if cost and cost.total else None,
        currency=cost.currency if cost else "",
        free=free_groups(pool),
        phases=growth(pool.cluster, written, pool.spec.phases) if pool.cluster and pool.spec.phases else (),
    )


def _busy_share(fleet: Fleet, nodes: NodeSet) -> float:
    """The share of the term for which some job has the nodes."""
    return sum_of(fleet.jobs[name].share for name in nodes.jobs)


def _job_use(parts: FleetStudy, job: Job, costs: dict[str, Cost | None]) -> JobUse:
    pool = parts.fleet.pools.get(job.spec.pool or "")
    whole = costs.get(pool.name) if pool else None
    total = whole.total.value if whole and whole.total else None
    known = pool is not None and pool.nodes and job.nodes is not None and total is not None
    plan = parts.jobs[job.name].plan if job.name in parts.jobs else None
    run = plan.time_to_train if plan is not None else None
    return JobUse(
        pool=job.spec.pool,
        nodes=job.nodes,
        share=job.share,
        elapsed=run / job.share if run is not None and job.share > 0 else None,
        billed=_billed(total or 0.0, job, pool.nodes) if known and pool and pool.nodes else None,
    )


def _billed(total: float, job: Job, nodes: int) -> float:
    """The part of the cost of a pool that a job is billed: by its nodes and its share of the term.

    >>> from clusterspec.spec.model import JobSpec
    >>> _billed(1000.0, Job("a", JobSpec(share=0.5), nodes=4), 16)
    125.0
    """
    return total * (job.nodes or 0) / nodes * job.share
