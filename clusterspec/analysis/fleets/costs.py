"""The costs of a fleet: of each job on its nodes, and of each pool with all its jobs."""

from __future__ import annotations

from clusterspec.cluster.fabric import counted_fabric
from clusterspec.cluster.fleet import Fleet, Job, main_pool, pools_of_job
from clusterspec.cost.nameplates import charged_nodes
from clusterspec.cost.plan import Plan
from clusterspec.cost.power import drawn_power
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import Cost, cost
from clusterspec.procurement.pool_cost import PoolJob, cost_at_nameplates, job_cost_in_pool, pool_cost
from clusterspec.records import dataclass, field
from clusterspec.rules.knowledge.shared_stores import store_demand
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.studies import Study
    from clusterspec.studies.fleet import FleetStudy


@dataclass(frozen=True)
class FleetCosts:
    """The costs of the pools and jobs of a fleet, each computed once. Every output of a fleet has them from here."""

    parts: FleetStudy
    _pools: dict[str, Cost | None] = field(default_factory=dict)
    _alone: dict[str, Cost | None] = field(default_factory=dict)

    def of_pool(self, name: str) -> Cost | None:
        """The cost of a pool: its machine, the energy of its jobs, and the energy of nodes without a job.

        Nameplates apply if the nodes of a job are unknown.
        """
        if name not in self._pools:
            design = self.parts.pools[name].design
            counted = bill(design)
            jobs = [self._job_on_pool(name, job) for job in self.parts.fleet.jobs_of(name)]
            known = [job for job in jobs if job is not None]
            whole = len(known) == len(jobs)
            self._pools[name] = pool_cost(design, counted, known) if whole else cost(design, None, counted)
        return self._pools[name]

    def total_of(self, name: str) -> float | None:
        """The cost of a pool over the term; None if it is not known."""
        return _cost_over_term(self.of_pool(name))

    def of_changed(self, plan: Plan, pool: str, job: str | None) -> float | None:
        """The cost of a pool over the term with the design of a plan. If ``job`` is given, the plan is for that job,
        and the pool's other jobs are as written; otherwise the plan is for the pool. None if it is not known.
        """
        counted, cluster, fleet = bill(plan.design), plan.design.cluster, self.parts.fleet
        jobs = [self._job_on_pool(pool, each) for each in fleet.jobs_of(pool) if each.name != job]
        if job is not None and cluster is not None:
            own = cost(plan.design, plan, counted)
            jobs.append(PoolJob(charged_nodes(plan.design, cluster), fleet.jobs[job].term_share, own))
        known = [each for each in jobs if each is not None]
        whole = len(known) == len(jobs)
        changed = job is None
        found = (
            pool_cost(plan.design, counted, known, is_changed=changed) if whole else cost(plan.design, None, counted)
        )
        return _cost_over_term(found)

    def of_job(self, name: str) -> Cost | None:
        """The cost of a job. The total and the yearly costs are those of its main pool with all jobs. The costs of a
        run, of a million tokens and of its nodes are those of the job, including its wait for a storage system.
        """
        job = self.parts.fleet.jobs[name]
        own, pool = self._cost_of_job(name), main_pool(job.spec)
        if own is None or pool is None or pool not in self.parts.pools:
            return own
        share = job.term_share if len(pools_of_job(job.spec)) == 1 else None
        return job_cost_in_pool(own, self.of_pool(pool), share, store_wait(self.parts.fleet, job))

    def billed(self, name: str) -> float | None:
        """The cost over the term of the nodes that a job has, in its share of the term; None if it is not known."""
        job = self.parts.fleet.jobs[name]
        bills = [self._billed_on_pool(pool, job) for pool in pools_of_job(job.spec)]
        known = [each for each in bills if each is not None]
        return sum_of(known) if known and len(known) == len(bills) else None

    def _billed_on_pool(self, pool: str | None, job: Job) -> float | None:
        found = self._job_on_pool(pool, job) if pool is not None and pool in self.parts.pools else None
        if found is None or pool is None:
            return None
        if found.cost is not None:
            return found.cost.of_nodes.value * found.share if found.cost.of_nodes is not None else None
        design = self.parts.pools[pool].design
        whole, nodes = cost_at_nameplates(design, bill(design)), self.parts.fleet.pools[pool].nodes
        return whole * found.nodes / nodes * found.share if whole is not None and nodes else None

    def _job_on_pool(self, pool: str, job: Job) -> PoolJob | None:
        """The share of a pool that belongs to a job; None if its number of nodes is unknown."""
        study, nodes = self.parts.jobs.get(job.name), self.parts.fleet.job_node_count(pool, job.name)
        if study is not None and main_pool(job.spec) == pool and study.design.layout is not None:
            own, cluster = self._cost_of_job(job.name), study.design.cluster
            if own is not None and cluster is not None:
                return PoolJob(charged_nodes(study.design, cluster), job.term_share, own)
        return PoolJob(nodes, job.term_share, None) if nodes is not None else None

    def _cost_of_job(self, name: str) -> Cost | None:
        if name not in self._alone:
            study = self.parts.jobs.get(name)
            self._alone[name] = _cost_with_work(study) if study is not None else None
        return self._alone[name]


def _cost_over_term(cost: Cost | None) -> float | None:
    return cost.total.value if cost is not None and cost.total is not None else None


def cost_in_fleet(study: Study, costs: FleetCosts | None = None) -> Cost | None:
    """The cost of a pool, or of a job with its pool, computed for the whole fleet. For a study outside a fleet, or one
    that differs from the fleet's file, the cost of its own design.
    """
    part = study.fleet_part[1] if study.fleet_part is not None else None
    if part is None or part.fleet is None or study.is_variation:
        return _cost_with_work(study)
    costs = costs or FleetCosts(part.fleet)
    return costs.of_pool(part.pool) if part.job is None else costs.of_job(part.job)


def _cost_with_work(study: Study) -> Cost | None:
    """The cost of a design with its work."""
    return cost(study.design, study.plan if study.has_figures else None, bill(study.design))


def drawn_energy(study: Study, cost: Cost | None, seconds: float | None, nodes: float) -> float | None:
    """The energy in joules that ``nodes`` of a job's nodes draw in ``seconds`` of work. Without a predicted power it is
    computed from the nameplates in ``cost``; None if neither is known.
    """
    design = study.design
    if seconds is None or design.cluster is None:
        return None
    drawn = drawn_power(study.plan, counted_fabric(design)) if study.has_figures else None
    if drawn is not None and drawn.busy is not None:
        return drawn.busy.value * nodes / charged_nodes(design, design.cluster) * seconds
    if cost is None or not cost.watts.parts:
        return None
    return cost.watts.value * nodes / design.cluster.nodes * seconds


def store_wait(fleet: Fleet, job: Job) -> float:
    """The factor by which a job's run lengthens because other jobs write checkpoints to the same storage system."""
    pool = fleet.pools.get(job.spec.pool or "")
    demand = store_demand(fleet, pool) if pool is not None else None
    return demand.run_stretch(job.name) if demand is not None else 1.0
