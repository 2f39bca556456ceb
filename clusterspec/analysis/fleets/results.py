"""The results of a fleet: each job as a separate design, and the use and cost of its pools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.comparison import Names, diff
from clusterspec.analysis.fleets.costs import FleetCosts, store_wait
from clusterspec.analysis.outputs import bill, cost, estimate
from clusterspec.cluster.fleet import Fleet, Job, NodeSet, Pool, free_groups, pools_of_job
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Finding
from clusterspec.procurement.growth import growth
from clusterspec.quantity import YEAR
from clusterspec.records import replace
from clusterspec.results import Input
from clusterspec.results.fleet import FleetDiffReport, FleetReport, JobUse, LinkUse, PoolUse
from clusterspec.rules.knowledge.shared_links import link_demand
from clusterspec.standard import sum_of
from clusterspec.studies import Study

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from clusterspec.cost.plan import Plan
    from clusterspec.procurement.cost import Cost
    from clusterspec.results import BillReport, EstimateReport
    from clusterspec.results.decision import CostReport
    from clusterspec.studies.fleet import FleetStudy

    Compute = Callable[[Study], EstimateReport | BillReport | CostReport]

VERBS: dict[str, Compute] = {"estimate": estimate, "bom": bill, "cost": cost}
"""The commands with a result for a whole fleet."""


def fleet_report(study: Study, verb: str) -> FleetReport:
    """The result of a command of `VERBS` for a fleet. Raises `ValueError` for a study of one cluster."""
    from clusterspec.analysis.verdict import reasons_of_findings, verdict

    parts = study.fleet
    if parts is None:
        raise ValueError("not a fleet")
    costs = FleetCosts(parts)
    jobs = {name: one for name, one in parts.jobs.items() if name in parts.fleet.jobs}
    shared = _findings_of_no_job(study.checked.findings, jobs.values())
    return FleetReport(
        tool=study.settings.tool,
        input=study.input,
        name=study.spec.name or study.source.name,
        jobs={name: _job_use(parts, job, costs) for name, job in parts.fleet.jobs.items()},
        pools={name: _pool_use(parts, pool, costs.of_pool(name)) for name, pool in parts.fleet.pools.items()},
        reports={name: _single_report(one, verb, costs) for name, one in jobs.items()},
        pool_bills={name: _pool_bill(parts, name) for name in parts.pools} if verb == "bom" else {},
        estimates={name: estimate(one) for name, one in jobs.items()},
        costs={name: costs.of_job(name) for name in jobs},
        findings=study.checked.findings,
        sources=study.sources,
        today=study.settings.today,
        spec=study.spec,
        links=tuple(_link_uses(parts)) if verb != "cost" else (),
        told={
            name: verdict(one.plan, one.checked.findings, one.checked.waived, words=True) for name, one in jobs.items()
        },
        shared_reasons=reasons_of_findings(shared, words=False),
        shared_reasons_in_words=reasons_of_findings(shared, words=True),
    )


def _findings_of_no_job(findings: Iterable[Finding], jobs: Iterable[Study]) -> list[Finding]:
    """The findings about pools and their links, without those that a job on a pool has as well."""
    known = {(one.rule, one.message) for job in jobs for one in job.checked.findings}
    return [one for one in findings if one.path[:1] != ("jobs",) and (one.rule, one.message) not in known]


def _single_report(study: Study, verb: str, costs: FleetCosts) -> EstimateReport | BillReport | CostReport:
    """The result of a command for one job. The cost reuses the costs that were computed for the fleet."""
    return cost(study, costs) if verb == "cost" else VERBS[verb](study)


def _link_uses(parts: FleetStudy) -> Iterator[LinkUse]:
    """The links between pools over which some job sends."""
    for link in parts.study.spec.pool_links or ():
        demand = link_demand(parts.fleet, link)
        if demand is not None and demand.crossings:
            latency = link.latency.value if link.latency else None
            mean = {name: each.mean for name, each in demand.crossings.items()}
            burst = {name: each.burst for name, each in demand.crossings.items()}
            yield LinkUse(link.between or (), demand.total, latency, mean, burst)


def fleet_diff(old: Study, new: Study, names: tuple[Names, Names] = ({}, {})) -> FleetDiffReport:
    """The difference of two fleets, job by job. Raises `ValueError` for a study of one cluster."""
    before, after = old.fleet, new.fleet
    if before is None or after is None:
        raise ValueError("not a fleet")
    reports = fleet_report(old, "estimate"), fleet_report(new, "estimate")
    both = [name for name in after.jobs if name in before.jobs]
    known = [{(one.rule, one.message) for one in each.findings} for each in reports]
    jobs = {name: diff(before.jobs[name], after.jobs[name], names) for name in both}
    unjudged = {(one.rule, one.message) for job in jobs.values() for one in job.unchecked}
    return FleetDiffReport(
        tool=new.settings.tool,
        old=Input(names[0].get(old.source.name, old.input.file), old.input.data),
        new=Input(names[1].get(new.source.name, new.input.file), new.input.data),
        jobs=jobs,
        added=tuple(name for name in after.fleet.jobs if name not in before.fleet.jobs),
        removed=tuple(name for name in before.fleet.jobs if name not in after.fleet.jobs),
        old_jobs=reports[0].jobs,
        new_jobs=reports[1].jobs,
        old_pools=reports[0].pools,
        new_pools=reports[1].pools,
        found=tuple(one for one in reports[1].findings if (one.rule, one.message) not in known[0]),
        fixed=tuple(one for one in reports[0].findings if (one.rule, one.message) not in known[1] | unjudged),
    )


def _pool_bill(parts: FleetStudy, name: str) -> BillReport:
    """The bill of a pool. It names the pools that share its fabric: the links between them are not counted."""
    found = bill(parts.pools[name])
    shared = [link.between or () for link in parts.study.spec.pool_links or () if link.fabric == "shared"]
    others = [f"`{each}`" for between in shared if name in between for each in between if each != name]
    if not others or found.bill.fabric is None:
        return found
    text = f"shared fabric with {', '.join(others)} (`pool_links`): switches and cables that join the pools"
    return replace(found, bill=replace(found.bill, not_counted=(*found.bill.not_counted, text)))


def _pool_use(parts: FleetStudy, pool: Pool, cost: Cost | None) -> PoolUse:
    shares = [(each.nodes or 0) * min(1.0, _busy_share(parts.fleet, each)) for each in pool.sets]
    written = parts.pools[pool.name].spec.cluster
    return PoolUse(
        nodes=pool.nodes,
        used=pool.promised_nodes,
        idle=pool.idle_nodes,
        used_share=sum_of(shares) / pool.nodes if pool.nodes and pool.idle_nodes is not None else None,
        power=cost.watts.value if cost and cost.watts.parts else None,
        cost=cost.total.value if cost and cost.total else None,
        currency=cost.currency if cost else "",
        free=free_groups(pool),
        parts={part.label: part.value for part in cost.total.parts} if cost and cost.total else {},
        missing=cost.missing if cost else (),
        phases=growth(pool.cluster, written, pool.spec.phases) if pool.cluster and pool.spec.phases else (),
        machine=_node_text(pool.cluster) if pool.cluster else "",
        spares=pool.cluster.spare_nodes if pool.cluster else 0,
        sets=pool.sets,
    )


def _node_text(cluster: Cluster) -> str:
    """The platform of a node, else its accelerators."""
    if cluster.platform is not None:
        return cluster.platform.name
    return f"{cluster.accelerators_per_node} × {cluster.accelerator.name}"


def _busy_share(fleet: Fleet, nodes: NodeSet) -> float:
    """The share of the term for which some job has the nodes."""
    return sum_of(fleet.jobs[name].term_share for name in nodes.jobs)


def _job_use(parts: FleetStudy, job: Job, costs: FleetCosts) -> JobUse:
    plan = parts.jobs[job.name].plan if job.name in parts.jobs else None
    run = plan.time_to_train if plan is not None else None
    used = {name: parts.fleet.job_node_count(name, job.name) for name in pools_of_job(job.spec) if name is not None}
    own, billed = costs.of_job(job.name), costs.billed(job.name)
    wait = store_wait(parts.fleet, job)
    elapsed = run * wait / job.term_share if run is not None and job.term_share > 0 else None
    return JobUse(
        pool=job.spec.pool,
        nodes=job.nodes,
        share=job.term_share,
        elapsed=elapsed,
        billed=billed,
        beside={name: nodes for name, nodes in used.items() if name != job.spec.pool},
        unit_cost=_unit_cost(plan, job.term_share, own, billed),
        store_wait=wait,
        link_share=parts.link_shares.get(job.name, 1.0),
    )


def _unit_cost(plan: Plan | None, share: float, cost: Cost | None, billed: float | None) -> float | None:
    """The cost of one run of a job with its interruptions, or of a million tokens; None if unknown. The job has its
    nodes for a ``share`` of the term.

    It is the part of the bill for that time, so all runs of the term together cost as much as the job's bill. A job
    with engines on several pools has it from its bill on all of them.
    """
    if plan is None or cost is None or billed is None:
        return None
    known = cost.per_run or (cost.per_million_tokens if cost.run is None else None)
    if known is not None:
        return known.value
    seconds = (cost.years or 0.0) * YEAR * share * cost.utilization
    if not seconds:
        return None
    if cost.run is not None:
        return billed / seconds * cost.run.value
    rate = _tokens_per_second(plan, cost)
    return billed / seconds / rate * 1e6 if rate else None


def _tokens_per_second(plan: Plan, cost: Cost) -> float | None:
    """Output tokens of a serving plan, else the tokens of training that its goodput keeps; None if unknown."""
    if plan.serving is not None:
        return plan.serving.output_tokens_per_second
    if plan.rl is not None:
        return plan.rl.tokens_per_second
    each, used = plan.tokens_per_second_per_accelerator, cost.accelerators_used
    return each * used * cost.goodput.value if each and used and cost.goodput is not None else None
