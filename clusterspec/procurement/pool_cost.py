"""The cost of a pool of a fleet: its machine, the energy of its jobs, and the energy of nodes without a job."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.model import Design
from clusterspec.cost.nameplates import power_draw
from clusterspec.cost.power import idle_power
from clusterspec.cost.term import Term
from clusterspec.procurement.cost import Cost, cost, yearly_costs
from clusterspec.procurement.parts import summed_term
from clusterspec.procurement.total import Inputs, constant_energy, energy_term, ranged_over_picks
from clusterspec.quantity import YEAR, Figure
from clusterspec.records import NamedTuple, replace
from clusterspec.source import Computed
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.procurement.bill import Bill


class PoolJob(NamedTuple):
    """A job on a pool: its nodes there, its share of the term, and its cost as a design on this pool. The cost is None
    for engines whose job is designed on another pool; their nodes are assumed to draw nameplate power.
    """

    nodes: int
    share: float
    cost: Cost | None


def pool_cost(design: Design, bill: Bill, jobs: Sequence[PoolJob], *, is_changed: bool = False) -> Cost | None:
    """The cost of a pool over the term; ``design`` is the pool without a workload. ``is_changed`` is true if it differs
    from the pool for which the job costs were computed.

    Its energy is the energy of each job's nodes in the job's share of the term, plus the idle energy of nodes without a
    job.
    """
    machine = cost(design, None, bill)
    sole = jobs[0].cost if len(jobs) == 1 and jobs[0].share == 1 and not is_changed else None
    if machine is not None and sole is not None and sole.charged_accelerators == sole.accelerators:
        return replace(machine, total=sole.total, by_year=sole.by_year)
    energy = _energy_of_pool(design, bill, jobs)
    if machine is None or machine.total is None or energy is None:
        return machine
    parts = [energy if part.name == "energy" else part for part in machine.total.parts]
    total = replace(summed_term("total", parts, machine.total.unit), formula=machine.total.formula)
    low, high = (sum_of(part.ends[end] for part in parts) for end in (0, 1))
    total = replace(total, low=low, high=high) if low < high else total
    return replace(machine, total=total, by_year=yearly_costs(total, machine.years) if machine.years else ())


def job_energy(cost: Cost | None) -> Term | None:
    """The energy of the nodes of a job over the whole term; None if electricity has no price."""
    parts = cost.of_nodes.parts if cost is not None and cost.of_nodes is not None else ()
    return next((part for part in parts if part.name == "energy"), None)


def job_cost_in_pool(cost: Cost, pool: Cost | None, share: float | None, wait: float) -> Cost:
    """The cost of a job of a fleet, with the total and yearly costs of its pool, which include the energy of other
    jobs.

    The job has its nodes for a ``share`` of the term; None if it has nodes of other pools as well. ``wait`` is the
    factor by which waiting for a storage system lengthens its run and raises its cost.
    """
    run, each = (_longer_term(term, wait) for term in (cost.run, cost.per_run))
    others = share != 1 or cost.charged_accelerators < cost.accelerators
    found = replace(cost, run=run, per_run=each, share=share, has_other_jobs=others)
    if pool is None or pool.total is None:
        return found
    return replace(found, total=pool.total, by_year=pool.by_year)


def _longer_term(term: Term | None, wait: float) -> Term | None:
    if term is None or wait == 1:
        return term
    factor = ("store_wait", Figure(wait, "1", Computed("sum of checkpoint bytes / interval / bandwidth of the store")))
    low, high = (None if end is None else wait * end for end in (term.low, term.high))
    figures = (*term.inputs, factor)
    formula = f"{term.formula} * store_wait"
    return replace(term, value=wait * term.value, formula=formula, inputs=figures, low=low, high=high)


def cost_at_nameplates(design: Design, bill: Bill) -> float | None:
    """The cost of a pool over the term if all nodes draw their nameplate power; None if it is not known."""
    found = cost(design, None, bill)
    return found.total.value if found is not None and found.total is not None else None


def nameplate_energy(design: Design, bill: Bill) -> Term | None:
    """The energy of all nodes of a pool over the term at their nameplates."""
    inputs = _cost_inputs(design, bill)
    years = inputs.years if inputs is not None else None
    if inputs is None or years is None:
        return None
    return ranged_over_picks(lambda pick: energy_term(inputs, pick, years))


def _cost_inputs(design: Design, bill: Bill) -> Inputs | None:
    cluster, procurement = design.cluster, design.spec.procurement or ProcurementSpec()
    if cluster is None or procurement.term is None:
        return None
    drawn = power_draw(cluster, bill.fabric, design.spec.cluster.power if design.spec.cluster else None)
    return Inputs(cluster, bill, drawn, procurement, procurement.term.value / YEAR)


def _energy_of_pool(design: Design, bill: Bill, jobs: Sequence[PoolJob]) -> Term | None:
    inputs, nameplates = _cost_inputs(design, bill), nameplate_energy(design, bill)
    if inputs is None or nameplates is None or inputs.years is None:
        return None
    nodes, watts = inputs.cluster.nodes, idle_power(design, bill.fabric)
    idle = nameplates if watts is None else constant_energy(inputs, watts, inputs.years)
    if idle is None or not nodes:
        return None
    busy = []
    for number, job in enumerate(jobs, 1):
        known = job_energy(job.cost)
        part = job.share if known else job.share * job.nodes / nodes
        busy.append(replace(_shared_term(known or nameplates, part), name=f"job_{number}"))
    free = max(0.0, 1 - sum_of(job.share * job.nodes for job in jobs) / nodes)
    of_jobs = _summed_range("jobs", busy, idle.unit)
    of_idle = replace(_shared_term(idle, free), name="idle_nodes")
    return _summed_range("energy", [of_jobs, of_idle], idle.unit)


def _shared_term(term: Term, share: float) -> Term:
    """A share of a cost, with the same share of its range."""
    low, high = (None if end is None else share * end for end in (term.low, term.high))
    figures = (
        ("energy", Figure(term.value, term.unit, Computed(term.formula))),
        ("share", Figure(share, "1", Computed("nodes / nodes of the pool * share of the term"))),
    )
    return Term("energy", share * term.value, term.unit, "energy * share", figures, low=low, high=high)


def _summed_range(name: str, parts: Sequence[Term], unit: str) -> Term:
    """The sum of parts and of the ends of their ranges."""
    term = summed_term(name, parts, unit)
    low, high = (sum_of(part.ends[end] for part in parts) for end in (0, 1))
    return replace(term, low=low, high=high) if low < high else term
