"""The choices of a search over a fleet: jobs on a number of nodes of a pool, each with its best layout and figures.

The layouts of one job on one pool are evaluated together for all numbers of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from math import inf

from clusterspec.analysis.fleets.costs import drawn_energy
from clusterspec.analysis.fleets.pool_sizes import pool_sizes_to_try
from clusterspec.analysis.searches.layouts import Evaluations, search, searches_of_studies
from clusterspec.analysis.searches.rl_splits import COLOCATED, Rollouts, keys_of_split, placement_json, rl_splits
from clusterspec.analysis.searches.studied import (
    POOLS,
    SearchOptions,
    missing_for_search,
    serving_targets_missed,
    with_a_layout,
)
from clusterspec.cluster.degrees import nodes_of_domain, nodes_of_engines
from clusterspec.cluster.fleet import NodeSet, Pool, engines_on_other_pools
from clusterspec.cluster.model import Cluster
from clusterspec.cost.formulas.compute import frozen_flops_per_token, model_flops_per_token
from clusterspec.cost.nameplates import charged_nodes
from clusterspec.cost.parameters import model_weights
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import Cost
from clusterspec.procurement.cost import cost as cost_of
from clusterspec.quantity import YEAR
from clusterspec.records import NamedTuple, dataclass, field, replace
from clusterspec.results.fleet_search import UNSEARCHED, JobOption
from clusterspec.results.search import LayoutRow, RlSplit, SearchReport
from clusterspec.results.serving_json import serving_json
from clusterspec.studies import Study, variation
from clusterspec.studies.fleet import FleetStudy
from clusterspec.units import display, distinct_texts

OBJECTIVES = {"time": "s", "cost": "", "energy": "J"}
"""Objectives that an assignment minimizes, summed over all jobs, with the unit: run time, cost, or energy."""


class FleetSearchFault(ValueError):
    """Raised for a fleet, or a goal, for which nothing can be searched, with a one-line reason."""


@dataclass(frozen=True)
class Goal:
    """The goal of a search over a fleet.

    ``within`` is the maximum run time in seconds, by job; the key ``""`` applies to all other training jobs. ``nodes``
    are the sizes to try instead of the default ones. ``top`` is the number of assignments, ``seconds`` the time limit
    of the solver for each. ``every`` searches also the choices that cannot be in these assignments.
    """

    objective: str = "time"
    within: Mapping[str, float] = field(default_factory=dict)
    nodes: tuple[int, ...] = ()
    top: int = 3
    seconds: float = 60.0
    every: bool = False

    def longest_run(self, job: str) -> float | None:
        """The longest time of the run of a job that trains, in seconds; None without a limit."""
        return self.within.get(job, self.within.get(""))


class Place(NamedTuple):
    """Jobs on a number of nodes of one pool. Several jobs use them in turn."""

    jobs: tuple[str, ...]
    pool: str
    nodes: int


# The choices


def places_of_jobs(study: Study, goal: Goal) -> tuple[Place, ...]:
    """The choices of a fleet: every set of jobs on every pool with every size. Raises `FleetSearchFault`."""
    parts = study.fleet
    if parts is None:
        raise FleetSearchFault(f"{study.source.name} describes one cluster: `--fleet` takes a spec with pools and jobs")
    _refuse_unknown_jobs(parts, goal)
    _refuse_endless_jobs(parts)
    sets = [nodes for pool in parts.fleet.pools.values() for nodes in pool.sets if nodes.path is None]
    chosen = [
        Place(nodes.jobs, pool.name, size)
        for nodes in sets
        for pool in parts.fleet.pools.values()
        for size in _sizes_for(parts, nodes, pool, goal)
        if not _has_engines_elsewhere(parts, nodes) or (pool.name, size) == (nodes.pool, nodes.nodes)
    ]
    if not chosen:
        raise FleetSearchFault(f"{study.source.name}: no job has a workload, or no pool has nodes")
    return tuple(chosen)


def _has_engines_elsewhere(parts: FleetStudy, nodes: NodeSet) -> bool:
    """Whether a job of a set has engines on another pool: the search does not move it."""
    return any(engines_on_other_pools(parts.fleet.jobs[name].spec) for name in nodes.jobs)


def _refuse_unknown_jobs(parts: FleetStudy, goal: Goal) -> None:
    strange = [name for name in goal.within if name and name not in parts.jobs]
    if strange:
        raise FleetSearchFault(f"no job is called {strange[0]!r}; there are {', '.join(parts.jobs)}")


def _refuse_endless_jobs(parts: FleetStudy) -> None:
    """Raises `FleetSearchFault` for jobs that train and do not say how long."""
    works = {name: study.design.workload for name, study in parts.jobs.items()}
    endless = [name for name, work in works.items() if work and work.kind == "train" and not work.tokens]
    if endless:
        names = ", ".join(endless)
        of_steps = " (with reinforcement learning the prompts and answers of all steps)"
        told = of_steps if any(work is not None and work.rl for work in works.values()) else ""
        raise FleetSearchFault(f"the length of a run is not known: state `workload.tokens` of {names}{told}")


def _sizes_for(parts: FleetStudy, nodes: NodeSet, pool: Pool, goal: Goal) -> Sequence[int]:
    """The sizes to try; a serving plan alone takes as few nodes of the whole pool as it needs."""
    if pool.nodes is None or pool.cluster is None:
        return ()
    if _has_engines_elsewhere(parts, nodes):
        return (nodes.nodes,) if nodes.nodes else ()
    if len(nodes.jobs) == 1 and _is_serving(parts.jobs.get(nodes.jobs[0])):
        return (pool.nodes,)
    if goal.nodes:
        return [size for size in goal.nodes if size <= pool.nodes]
    stated = [each.nodes for other in parts.fleet.pools.values() for each in other.sets if each.nodes]
    return pool_sizes_to_try(pool.nodes, nodes_of_domain(pool.cluster), stated)


def _is_serving(study: Study | None) -> bool:
    work = study.spec.workload if study else None
    return work is not None and work.implied_kind == "serve"


# The options of one choice


def options_at(study: Study, goal: Goal, place: Place) -> tuple[JobOption, ...]:
    """The best layout of each job of a place, with its figures. Raises the exception of a part that failed."""
    return options_of_sizes(study, goal, (place,))[0]


class KeptResults:
    """Results that a search keeps for later sizes of its jobs; a new process starts without them."""

    def __init__(self) -> None:
        self.layouts: Evaluations = []
        self.rollouts: dict[tuple[str, str], Rollouts] = {}
        """By job and pool."""

    def __reduce__(self) -> tuple[type[KeptResults], tuple[()]]:
        return KeptResults, ()


def options_of_sizes(
    study: Study, goal: Goal, places: Sequence[Place], evaluated: KeptResults | None = None
) -> tuple[tuple[JobOption, ...], ...]:
    """The options of places that differ only in the number of nodes and therefore share layout tables.

    Raises the exception of a part that failed.
    """
    parts = study.fleet
    assert parts is not None
    by_job = [_options_of_job(parts, goal, places, name, evaluated or KeptResults()) for name in places[0].jobs]
    return tuple(zip(*by_job, strict=True))


def places_by_size(places: Iterable[Place]) -> list[tuple[Place, ...]]:
    """The places with the same jobs and pool, in their order."""
    return [tuple(some) for _, some in groupby(places, key=lambda each: (each.jobs, each.pool))]


def _options_of_job(
    parts: FleetStudy, goal: Goal, places: Sequence[Place], name: str, evaluated: KeptResults
) -> list[JobOption]:
    """The option of a job on each of the given sizes of a pool."""
    nothing = [JobOption(name, place.pool, place.nodes) for place in places]
    if engines_on_other_pools(parts.fleet.jobs[name].spec):
        return [_option_as_written(option, parts, goal) for option in nothing]
    rollouts = evaluated.rollouts.setdefault((name, places[0].pool), {})
    placed = [_placed_study(option, parts, rollouts) for option in nothing]
    serves = _is_serving(parts.jobs.get(name))
    wanted = SearchOptions(objective="accelerators" if serves else "step_time", top=1, best_only=True)
    found = searches_of_studies([study for _, study in placed], wanted, evaluated.layouts)
    return [
        option
        if option.why
        else _with_placement_again(
            _option_with_best_layout(
                option, parts, goal, (study, search(study, wanted, searched_before=one)), len(place.jobs) == 1
            ),
            parts,
            goal,
            rollouts,
        )
        for (option, study), one, place in zip(placed, found, places, strict=True)
    ]


ROUNDS = 3
"""Maximum number of rounds in which placement and layout are chosen again for each other."""


def _with_placement_again(option: JobOption, parts: FleetStudy, goal: Goal, rollouts: Rollouts) -> JobOption:
    """The option after alternating two steps until neither changes anything: the fastest placement for its layout, then
    the best layout for that placement.

    The first placement was chosen with the layout of the spec.
    """
    for _ in range(ROUNDS if option.rl is not None and option.layout else 0):
        study = with_a_layout(parts.job_study(option.pool, option.job, option.nodes))
        laid = variation.rewritten_study(study, {("layout",): option.layout})
        splits = rl_splits(laid.design, option.nodes, rollouts)
        if not splits or splits[0].step_time >= (option.step_time or inf) or placement_json(splits[0]) == option.rl:
            break
        other = variation.rewritten_study(study, keys_of_split(splits[0]))
        again = JobOption(option.job, option.pool, option.nodes, rl=placement_json(splits[0]))
        report = search(other, SearchOptions(objective="step_time", top=1, best_only=True))
        found = _option_with_best_layout(again, parts, goal, (other, report), alone=False)
        if found.step_time is None or found.step_time >= (option.step_time or inf):
            break
        option = found
    return option


def _placed_study(option: JobOption, parts: FleetStudy, rollouts: Rollouts) -> tuple[JobOption, Study]:
    """The option and the study of a job on its nodes, with the fastest placement of its roles; the option says why, if
    the study cannot be searched.
    """
    study = parts.job_study(option.pool, option.job, option.nodes)
    if study.design.workload is not None and study.design.workload.rl is not None:
        splits = rl_splits(study.design, option.nodes, rollouts) or _splits_of_found_layout(study, option, rollouts)
        if not splits:
            return replace(option, why="no placement of rollout fits in memory with the trainer"), study
        study = variation.rewritten_study(with_a_layout(study), keys_of_split(splits[0]))
        option = replace(option, rl=placement_json(splits[0]))
    return replace(option, why=_missing_part(study)), study


def _splits_of_found_layout(study: Study, option: JobOption, rollouts: Rollouts) -> tuple[RlSplit, ...]:
    """The placements with the trainer's best layout on all nodes, used if none fits with the layout of the spec."""
    whole = variation.rewritten_study(with_a_layout(study), {**COLOCATED, ("layout", "nodes"): option.nodes})
    rows = search(whole, SearchOptions(objective="step_time", top=1, best_only=True)).layouts
    found = variation.rewritten_study(study, {("layout",): rows[0].layout}) if rows else None
    return rl_splits(found.design, option.nodes, rollouts) if found is not None else ()


def _option_with_best_layout(
    option: JobOption, parts: FleetStudy, goal: Goal, found: tuple[Study, SearchReport], alone: bool
) -> JobOption:
    """The option with the best layout of a search. Raises the exception of a part that failed."""
    study, report = found
    if study.failures:
        raise study.failures[0][1]
    if not report.layouts:
        return replace(option, why=report.why)
    row = report.layouts[0]
    changes: dict[tuple[str | int, ...], object] = {("layout",): row.layout}
    if row.serving is not None:
        changes[POOLS] = row.serving["disaggregated"]
    placed = variation.rewritten_study(with_a_layout(study), changes)
    return with_figures(_with_row(option, row), parts, placed, goal, alone=alone)


def _option_as_written(option: JobOption, parts: FleetStudy, goal: Goal) -> JobOption:
    """The option of a job with engines on other pools. It keeps the nodes and degrees of the spec."""
    study = parts.jobs[option.job]
    value, work = study.document.value if study.document else {}, study.design.workload
    served = serving_json(study.plan.serving, work.serving if work else None)
    layout = dict(value.get("layout") or {})
    requests = (value.get("workload") or {}).get("serving") or {}
    apart = requests.get("disaggregated")
    kept = JobOption(option.job, option.pool, option.nodes, layout, apart, serving=served, as_written=True)
    return with_figures(kept, parts, study, goal, alone=False)


# Choices that need no search


def without_search(study: Study, place: Place) -> tuple[JobOption, ...]:
    """The options of a place that has not been searched, each with a lower bound of its run time."""
    parts = study.fleet
    assert parts is not None
    return tuple(
        JobOption(name, place.pool, place.nodes, least=run_time_lower_bound(parts, place, name), why=UNSEARCHED)
        for name in place.jobs
    )


def run_time_lower_bound(parts: FleetStudy, place: Place, name: str) -> float:
    """A lower bound of a job's run time in seconds, including the pauses in which other jobs have the nodes: the time
    of its matrix products with all accelerators at peak.

    0 if nothing is known, and for serving.
    """
    job = parts.fleet.jobs[name]
    if engines_on_other_pools(job.spec):
        return 0.0
    design = parts.job_study(place.pool, name, place.nodes).design
    cluster, work = design.cluster, design.workload
    if cluster is None or work is None or work.peak is None or not work.tokens or work.serving is not None:
        return 0.0
    products = model_flops_per_token if work.trainable is None else frozen_flops_per_token
    each = products(model_weights(work.model).multiplied_weights, 0.0)
    trained = 1.0
    if work.rl is not None:
        step = work.rl.minibatches * work.rl.epochs * work.global_batch * work.filled_length
        trained = step / (work.rl.samples * work.rl.sample_tokens)
    accelerators = place.nodes * cluster.accelerators_per_node
    return work.tokens * trained * each / (accelerators * work.peak.value) / (job.term_share or 1.0)


def with_missed_limit(option: JobOption, goal: Goal) -> JobOption:
    """The option, marked as missing its time limit if its lower bound (all accelerators at peak) exceeds the limit."""
    limit = goal.longest_run(option.job)
    if limit is None or not option.least or option.least <= limit:
        return option
    return replace(option, missed=(f"run at least {' > '.join(distinct_texts(option.least, limit, 's'))}",))


def misses_target_by_wait(option: JobOption, goal: Goal) -> bool:
    """Whether a run misses its time limit because it waits for a shared storage system."""
    limit = goal.longest_run(option.job)
    trains = option.serving is None and option.elapsed is not None
    return limit is not None and trains and (option.elapsed or 0.0) > limit


def _missing_part(study: Study) -> str:
    """Why a job cannot be searched at all; empty if it can."""
    described = study.design.cluster is not None and study.design.workload is not None
    return "" if described else missing_for_search(study)


def _with_row(option: JobOption, row: LayoutRow) -> JobOption:
    pools = row.serving["disaggregated"] if row.serving else None
    job, pool, nodes = option.job, option.pool, option.nodes
    served = JobOption(job, pool, nodes, layout=row.layout, disaggregated=pools, serving=row.serving, memory=row.memory)
    return replace(served, rl=option.rl)


def with_figures(option: JobOption, parts: FleetStudy, placed: Study, goal: Goal, *, alone: bool) -> JobOption:
    """The option with the figures of the placed design; ``alone`` means that no other job shares the nodes."""
    design, plan = placed.design, placed.plan
    assert design.cluster is not None
    share = parts.fleet.jobs[option.job].term_share
    nodes = option.nodes
    if alone and plan.serving is not None:
        nodes = _nodes_used(nodes_of_engines(design), design.cluster, option.nodes)
    elapsed = plan.time_to_train / share if plan.time_to_train is not None and share > 0 else None
    found = cost_of(design, plan if placed.has_figures else None, bill(design))
    run_cost = found.per_run.value if found is not None and found.per_run else None
    return replace(
        option,
        nodes=nodes,
        step_time=plan.whole_step.seconds,
        mfu=plan.whole_step.mfu,
        elapsed=elapsed,
        surely_fits=plan.surely_fits,
        cost=run_cost if plan.serving is None else _billed_cost(found, placed, nodes * share),
        energy=drawn_energy(
            placed, found, plan.time_to_train if plan.serving is None else _accounting_period(placed) * share, nodes
        ),
        missed=tuple(_missed_targets(option.job, placed, elapsed, goal)),
    )


def _nodes_used(used: int | None, cluster: Cluster, most: int) -> int:
    """The nodes of a serving plan with engines on ``used`` nodes, in whole domains; all where these are not known."""
    if used is None:
        return most
    unit = min(nodes_of_domain(cluster), most)
    return min(most, -(-used // unit) * unit)


def _billed_cost(cost: Cost | None, study: Study, nodes: float) -> float | None:
    """The cost over the term of ``nodes`` of the nodes of a job, as the fleet bills it: with the energy that they
    draw."""
    design = study.design
    if cost is None or cost.of_nodes is None or design.cluster is None:
        return None
    return cost.of_nodes.value * nodes / charged_nodes(design, design.cluster)


def _accounting_period(study: Study) -> float:
    """The seconds for which cost and energy of a serving plan are counted: the procurement term, else a year."""
    procurement = study.spec.procurement
    return procurement.term.value if procurement and procurement.term else YEAR


def _missed_targets(job: str, study: Study, elapsed: float | None, goal: Goal) -> Iterator[str]:
    """The targets that a design misses."""
    if study.plan.serving is not None:
        yield from serving_targets_missed(study)
        return
    limit = goal.longest_run(job)
    if limit is not None and (elapsed is None or elapsed > limit):
        unknown = ("of unknown time", display(limit, "s"))
        yield f"run {' > '.join(unknown if elapsed is None else distinct_texts(elapsed, limit, 's'))}"
