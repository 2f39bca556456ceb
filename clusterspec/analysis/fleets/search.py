"""The best assignment of a fleet's jobs to pools and numbers of nodes, from the options of `fleet_options`.

Jobs that take turns on the same nodes are assigned together. Options are searched only as far as the best assignments
need: an unsearched size is assumed to be at most slightly more efficient than the best searched one, which rules most
sizes out. Jobs that share a pool's storage wait for it as in the estimate of a fleet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf

from clusterspec.analysis.fleets.assignment import ChosenOptions, Option, best_assignments
from clusterspec.analysis.fleets.options import (
    OBJECTIVES,
    FleetSearchFault,
    Goal,
    KeptResults,
    Place,
    misses_target_by_wait,
    options_at,
    options_of_sizes,
    places_by_size,
    places_of_jobs,
    with_figures,
    with_missed_limit,
    without_search,
)
from clusterspec.analysis.searches.studied import currency_of
from clusterspec.cluster.fleet import Fleet, NodeSet, Pool
from clusterspec.records import replace
from clusterspec.results.fleet_search import UNSEARCHED, Assignment, FleetSearchReport, JobOption
from clusterspec.results.serving_json import serving_json
from clusterspec.rules.knowledge.shared_stores import demand_of_jobs
from clusterspec.standard import sum_of
from clusterspec.studies import Study
from clusterspec.studies.fleet import FleetStudy
from clusterspec.units import plural

__all__ = [
    "OBJECTIVES",
    "FleetSearchFault",
    "Goal",
    "KeptResults",
    "Place",
    "options_at",
    "options_of_sizes",
    "places_by_size",
    "places_of_jobs",
]

MOST_EFFICIENT = 0.95
"""Assumed lower bound of the node-seconds, cost or energy of a run on a number of nodes that is not searched, relative
to the best value found for the job on the pool. The best layout on more nodes is seldom more efficient: groups grow,
and micro-batches become fewer.
"""
MOST_COMPARED = 40
"""The maximum number of assignments that are compared including waits for storage systems."""
Group = tuple[Place, ...]
"""Places with the same jobs on the same pool but different numbers of nodes."""
Evaluate = Callable[[Sequence[Group]], Iterable[Sequence[Sequence[JobOption]]]]
"""The options of groups of places, in their order."""


def fleet_search(
    study: Study,
    goal: Goal,
    evaluate: Evaluate | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FleetSearchReport:
    """The best assignments of a fleet. ``evaluate`` returns the options for `places_of_jobs`; the default is
    `options_of_sizes`.

    Raises `FleetSearchFault`, and `SolverMissing` where the solver is not installed.
    """
    known = KeptResults()
    alone: Evaluate = lambda groups: (options_of_sizes(study, goal, one, known) for one in groups)  # noqa: E731
    table = _Table(study, goal, evaluate or alone)
    found = table.assignments(progress)
    parts = study.fleet
    assert parts is not None
    flat = tuple(each for options in table.options.values() for each in options)
    idle = table.jobs_without_place
    return FleetSearchReport(
        tool=study.settings.tool,
        input=study.input,
        name=study.spec.name or study.source.name,
        objective=goal.objective,
        unit=OBJECTIVES[goal.objective] or currency_of(study) or "currency",
        assignments=tuple(found),
        present=study.part("assignment of the spec", lambda: _present_assignment(parts, goal), None),
        options=flat,
        currency=currency_of(study),
        why="" if found else _infeasibility_reason(flat, dict.fromkeys(idle), goal, parts.fleet),
    )


class _Table:
    """The options of all places, searched or not, and the assignments of them."""

    def __init__(self, study: Study, goal: Goal, evaluate: Evaluate) -> None:
        self.places = places_of_jobs(study, goal)
        assert study.fleet is not None
        self.goal, self._evaluate, self._fleet = goal, evaluate, study.fleet.fleet
        before = ((place, without_search(study, place)) for place in self.places)
        self.options = {place: tuple(with_missed_limit(each, goal) for each in options) for place, options in before}
        self.searched = {place for place, options in self.options.items() if any(each.missed for each in options)}
        pools = self._fleet.pools
        self.capacity = {name: (pool.nodes or 0) - _nodes_taken_by_engines(pool) for name, pool in pools.items()}

    def assignments(self, progress: Callable[[int, int], None]) -> list[Assignment]:
        """The best assignments; every option in them was searched at its lowest value."""
        # serving plans are searched first: they take as few nodes of a whole pool as they need
        unbounded = [place for place in self.places if not all(each.least for each in self.options[place])]
        self._search(self.places if self.goal.every else [*unbounded, *self._first_places()], progress)
        while True:
            rows, where = self._rows()
            found = [] if self.jobs_without_place else self._best_assignments(rows, where)
            used = {where[index] for each, _ in found for index in each.options}
            if used <= self.searched:
                progress(len(self.places), len(self.places))
                return [assignment for _, assignment in found if assignment is not None][: self.goal.top]
            self._search([each for each in self.places if each in used], progress)

    def _best_assignments(
        self, rows: Sequence[Option], places: Sequence[Place]
    ) -> list[tuple[ChosenOptions, Assignment | None]]:
        """The assignments with the lowest value once waits for shared storage are included, lowest first. An assignment
        is None if its waits make a job miss a target.

        Waits only lengthen runs, so no assignment after the compared `best_assignments` can be better.
        """
        found: list[tuple[ChosenOptions, Assignment | None]] = []
        last = 0.0
        most = max(self.goal.top, MOST_COMPARED)
        for each in best_assignments(rows, self.capacity, top=most, seconds=self.goal.seconds):
            last = each.value
            kept = sorted(one.objective for _, one in found if one is not None)[: self.goal.top]
            if len(kept) == self.goal.top and last >= kept[-1]:
                break
            found.append((each, self._assignment(places, each)))
        ranked = sorted(found, key=lambda one: one[1].objective if one[1] is not None else inf)
        if len(found) < most:
            return ranked
        return [
            (each, one and replace(one, gap=max(one.gap or 0.0, _optimality_gap(one, last)))) for each, one in ranked
        ]

    def _first_places(self) -> list[Place]:
        """The places to search first: those of the spec, and for every job and pool the size one third up the list,
        which is quick to search and usually efficient.
        """
        stated = {(each.jobs, each.pool, each.nodes) for pool in self._fleet.pools.values() for each in pool.sets}
        groups = places_by_size(self.places)
        return [
            place
            for group in groups
            for at, place in enumerate(group, 1)
            if at == (len(group) + 2) // 3 or place in stated
        ]

    def _search(self, places: Iterable[Place], progress: Callable[[int, int], None]) -> None:
        groups = places_by_size(each for each in dict.fromkeys(places) if each not in self.searched)
        for group, options in zip(groups, self._evaluate(groups), strict=True):
            self.options |= zip(group, map(tuple, options), strict=True)
            self.searched |= set(group)
            progress(len(self.searched), len(self.places))

    def _rows(self) -> tuple[list[Option], list[Place]]:
        """The usable places as options of the integer program. Places that have not been searched have their lowest
        possible value.
        """
        rows, where, least = [], [], self._value_lower_bounds()
        for place, options in self.options.items():
            if place in self.searched:
                value = objective_of(options, self.goal.objective) if all(each.is_usable for each in options) else None
            else:
                value = least.get((place.jobs, place.pool), 0.0) / (place.nodes if self._falls_with_nodes else 1)
                if self._falls_with_nodes:
                    value = max(value, sum_of(each.least or 0.0 for each in options))
            if value is not None:
                rows.append(Option(_job_names_text(place), place.pool, max(each.nodes for each in options), value))
                where.append(place)
        return rows, where

    @property
    def _falls_with_nodes(self) -> bool:
        """Whether more nodes lower the objective, as for time but not for cost or energy."""
        return self.goal.objective == "time"

    def _value_lower_bounds(self) -> dict[tuple[tuple[str, ...], str], float]:
        """The lowest possible value for jobs on a pool at sizes that have not been searched: `MOST_EFFICIENT` times the
        best value found. For time, the value is per node.
        """
        found: dict[tuple[tuple[str, ...], str], float] = {}
        for place in self.searched:
            value = objective_of(self.options[place], self.goal.objective)
            if value:
                least = MOST_EFFICIENT * value * (place.nodes if self._falls_with_nodes else 1)
                key = (place.jobs, place.pool)
                found[key] = min(least, found.get(key, inf))
        return found

    @property
    def jobs_without_place(self) -> list[str]:
        """The jobs without a usable place."""
        there = {row.item for row in self._rows()[0]}
        return [_job_names_text(place) for place in self.places if _job_names_text(place) not in there]

    def _assignment(self, where: Sequence[Place], choice: ChosenOptions) -> Assignment | None:
        """The assignment, with the waits of its jobs for shared storage; None if a job then misses a target."""
        places = [where[index] for index in choice.options]
        jobs = {each.job: each for place in places for each in self.options[place]}
        waits = _store_wait_factors(self._fleet, places)
        if not waits:
            return Assignment(jobs, choice.value, choice.gap)
        waiting = _with_waits(jobs, waits)
        if any(misses_target_by_wait(each, self.goal) for each in waiting.values()):
            return None
        value = objective_of([*waiting.values()], self.goal.objective)
        return Assignment(waiting, choice.value if value is None else value, choice.gap)


def _optimality_gap(assignment: Assignment, bound: float) -> float:
    """The share by which the objective of a better assignment could be lower, given a lower bound."""
    return max(0.0, 1 - bound / assignment.objective) if assignment.objective else 0.0


def _store_wait_factors(fleet: Fleet, places: Iterable[Place]) -> dict[str, float]:
    """Factors above 1 by which jobs take longer because they wait for a shared storage system, by placement."""
    found: dict[str, float] = {}
    by_pool: dict[str, list[tuple[str, ...]]] = {}
    for place in places:
        by_pool.setdefault(fleet.store_pool(place.pool), []).append(place.jobs)
    for pool, sets in by_pool.items():
        demand = demand_of_jobs(fleet, fleet.pools[pool], sets)
        if demand is not None and demand.mean > demand.bandwidth:
            found |= {name: wait for jobs in sets for name in jobs if (wait := demand.run_stretch(name)) > 1}
    return found


def _with_waits(options: Mapping[str, JobOption], waits: Mapping[str, float]) -> dict[str, JobOption]:
    """The options by job. If a job waits, its runs are longer by a factor."""
    return {name: _with_wait(each, waits[name]) if name in waits else each for name, each in options.items()}


def _with_wait(option: JobOption, wait: float) -> JobOption:
    """An option whose run is longer by a factor."""
    longer = {key: getattr(option, key) for key in ("elapsed", "cost", "energy")}
    return replace(option, store_wait=wait, **{key: value * wait for key, value in longer.items() if value is not None})


def _job_names_text(place: Place) -> str:
    return " ".join(place.jobs)


def _own_node_sets(fleet: Fleet) -> Iterator[NodeSet]:
    """The node sets of jobs on their own pools."""
    return (nodes for pool in fleet.pools.values() for nodes in pool.sets if nodes.path is None)


def _nodes_taken_by_engines(pool: Pool) -> int:
    """Nodes of a pool that run engines for jobs of other pools."""
    return sum(each.nodes or 0 for each in pool.sets if each.path is not None)


def objective_of(options: Sequence[JobOption], objective: str) -> float | None:
    """The sum of the objective over some jobs; None if a figure is unknown. Serving jobs add no run time."""
    values = [
        0.0
        if objective == "time" and each.serving is not None
        else {"time": each.elapsed}.get(objective, getattr(each, objective, None))
        for each in options
    ]
    known = [value for value in values if value is not None]
    return sum_of(known) if len(known) == len(values) else None


def _present_assignment(parts: FleetStudy, goal: Goal) -> Assignment | None:
    """The assignment of the spec with its own layouts; None if a figure is not known."""
    options = {}
    for name, study in parts.jobs.items():
        job, work = parts.fleet.jobs[name], study.design.workload
        if job.nodes is None or work is None or study.design.cluster is None or study.design.layout is None:
            return None
        written = study.document.value.get("layout") if study.document else None
        option = JobOption(name, job.spec.pool or "", job.nodes, layout=written or {}, memory=study.plan.memory_bytes)
        served = serving_json(study.plan.serving, work.serving) if study.plan.serving and work.serving else None
        options[name] = replace(with_figures(option, parts, study, goal, alone=False), serving=served)
    places = [Place(each.jobs, each.pool, each.nodes or 0) for each in _own_node_sets(parts.fleet)]
    options = _with_waits(options, _store_wait_factors(parts.fleet, places))
    value = objective_of([*options.values()], goal.objective)
    return Assignment(options, value, None) if value is not None else None


def _infeasibility_reason(options: Sequence[JobOption], idle: Iterable[str], goal: Goal, fleet: Fleet) -> str:
    """Why there is no assignment: the jobs that no pool can hold, or the nodes that all take together."""
    reasons = [
        _missing_option_reason(name, [each for each in options if each.job == name], goal)
        for group in idle
        for name in group.split(" ")
    ]
    told = [reason for reason in reasons if reason]
    if told:
        return "; ".join(told)
    least = {
        name: min(each.nodes for each in options if each.job == name and (each.is_usable or each.why == UNSEARCHED))
        for name in dict.fromkeys(each.job for each in options)
    }
    total = sum(pool.nodes or 0 for pool in fleet.pools.values())
    wanted = ", ".join(f"{name} {count}" for name, count in least.items())
    return f"every job fits alone, but not all together on {plural(total, 'node')}: they need at least {wanted} nodes"


def _missing_option_reason(name: str, options: Sequence[JobOption], goal: Goal) -> str:
    """Why a job has no option; empty if it has some."""
    if any(each.is_usable and objective_of([each], goal.objective) is not None for each in options):
        return ""
    usable = [each for each in options if each.is_usable]
    if usable:
        missing = {"cost": "`procurement.prices` and `procurement.term`", "energy": "the power of a node"}
        return f"{name}: its {goal.objective} is not known: state {missing.get(goal.objective, '`workload.tokens`')}"
    late = [each for each in options if each.missed]
    if late:
        best = min(late, key=lambda each: each.elapsed or each.least or 0.0)
        return f"{name}: {'; '.join(best.missed)} at best, with {plural(best.nodes, 'node')} of {best.pool}"
    whys = dict.fromkeys(each.why for each in options if each.why)
    return f"{name}: {next(iter(whys), 'no pool has the nodes')}"
