"""Which job of a fleet on which pool with how many nodes: the best assignment of the choices of `fleet_options`.

Jobs that take turns on the same nodes are assigned together. Choices are searched as far as the best assignments need
them: one whose run is too long even at the peak of its accelerators cannot be in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from clusterspec.analysis.assignment import Chosen, Option, best_assignments
from clusterspec.analysis.fleet_options import (
    OBJECTIVES,
    FleetSearchFault,
    Goal,
    Place,
    beyond_limit,
    by_size,
    options_at,
    options_of_sizes,
    places_of_jobs,
    with_figures,
    without_search,
)
from clusterspec.analysis.studied import currency_of
from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.records import replace
from clusterspec.results.estimate_json import serving_json
from clusterspec.results.fleet_search import UNSEARCHED, Assignment, FleetSearchReport, JobOption
from clusterspec.studies.fleet import FleetStudy
from clusterspec.studies.study import Study
from clusterspec.summation import sum_of
from clusterspec.units import plural

__all__ = [
    "OBJECTIVES",
    "FleetSearchFault",
    "Goal",
    "Place",
    "by_size",
    "options_at",
    "options_of_sizes",
    "places_of_jobs",
]

Group = tuple[Place, ...]
"""Places of the same jobs on the same pool."""
Evaluate = Callable[[Sequence[Group]], Iterable[Sequence[Sequence[JobOption]]]]
"""The options of groups of places, in their order."""


def fleet_search(
    study: Study,
    goal: Goal,
    evaluate: Evaluate | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FleetSearchReport:
    """The best assignments of a fleet. ``evaluate`` finds the options of `places_of_jobs` as `options_of_sizes` does.

    Raises `FleetSearchFault`, and `SolverMissing` where the solver is not installed.
    """
    table = _Table(study, goal, evaluate or (lambda groups: (options_of_sizes(study, goal, one) for one in groups)))
    found = table.assignments(progress)
    parts = study.fleet
    assert parts is not None
    flat = tuple(each for options in table.options.values() for each in options)
    idle = table.idle
    return FleetSearchReport(
        tool=study.settings.tool,
        input=study.input,
        name=study.spec.name or study.source.name,
        objective=goal.objective,
        unit=OBJECTIVES[goal.objective] or currency_of(study) or "currency",
        assignments=tuple(found),
        present=study.part("assignment of the spec", lambda: _present(parts, goal), None),
        options=flat,
        currency=currency_of(study),
        why="" if found else _why(flat, dict.fromkeys(idle), goal, parts.fleet),
    )


class _Table:
    """The options of all places, searched or not, and the assignments of them."""

    def __init__(self, study: Study, goal: Goal, evaluate: Evaluate) -> None:
        self.goal, self._evaluate = goal, evaluate
        self.places = places_of_jobs(study, goal)
        before = ((place, without_search(study, place)) for place in self.places)
        self.options = {place: tuple(beyond_limit(each, goal) for each in options) for place, options in before}
        self.searched = {place for place, options in self.options.items() if any(each.missed for each in options)}
        pools = study.fleet.fleet.pools if study.fleet else {}
        self.capacity = {name: (pool.nodes or 0) - _taken_by_engines(pool) for name, pool in pools.items()}

    def assignments(self, progress: Callable[[int, int], None]) -> list[Assignment]:
        """The best assignments: with every choice that is in them, at its least value, searched."""
        bounded = self.goal.objective == "time" and not self.goal.every
        # serving plans are searched first: they take as few nodes of a whole pool as they need
        least = {place: all(each.least for each in options) for place, options in self.options.items()}
        self._search([place for place in self.places if not bounded or not least[place]], progress)
        while True:
            rows, where = self._rows()
            found = (
                []
                if self.idle
                else list(best_assignments(rows, self.capacity, top=self.goal.top, seconds=self.goal.seconds))
            )
            used = {where[index] for each in found for index in each.options}
            if used <= self.searched:
                progress(len(self.places), len(self.places))
                return [self._assignment(where, each) for each in found]
            sets = {(place.jobs, place.pool) for place in used - self.searched}
            self._search([each for each in self.places if (each.jobs, each.pool) in sets], progress)

    def _search(self, some: Iterable[Place], progress: Callable[[int, int], None]) -> None:
        groups = by_size(each for each in some if each not in self.searched)
        for group, options in zip(groups, self._evaluate(groups), strict=True):
            self.options |= zip(group, map(tuple, options), strict=True)
            self.searched |= set(group)
            progress(len(self.searched), len(self.places))

    def _rows(self) -> tuple[list[Option], list[Place]]:
        """The usable places as options of the integer program, those not searched at their least value."""
        rows, where = [], []
        for place, options in self.options.items():
            if place in self.searched:
                value = objective_of(options, self.goal.objective) if all(each.usable for each in options) else None
            else:
                value = sum_of(each.least or 0.0 for each in options)
            if value is not None:
                rows.append(Option(_item(place), place.pool, max(each.nodes for each in options), value))
                where.append(place)
        return rows, where

    @property
    def idle(self) -> list[str]:
        """The jobs without a usable place."""
        there = {row.item for row in self._rows()[0]}
        return [_item(place) for place in self.places if _item(place) not in there]

    def _assignment(self, where: Sequence[Place], chosen: Chosen) -> Assignment:
        jobs = {each.job: each for index in chosen.options for each in self.options[where[index]]}
        return Assignment(jobs, chosen.value, chosen.gap)


def _item(place: Place) -> str:
    return " ".join(place.jobs)


def _taken_by_engines(pool: Pool) -> int:
    """Nodes of a pool that engines of jobs of other pools have."""
    return sum(each.nodes or 0 for each in pool.sets if each.path is not None)


def objective_of(options: Sequence[JobOption], objective: str) -> float | None:
    """The sum of the objective over some jobs; None where a figure is not known. Serving takes no time of its own."""
    values = [
        0.0
        if objective == "time" and each.serving is not None
        else {"time": each.elapsed}.get(objective, getattr(each, objective, None))
        for each in options
    ]
    known = [value for value in values if value is not None]
    return sum_of(known) if len(known) == len(values) else None


def _present(parts: FleetStudy, goal: Goal) -> Assignment | None:
    """The assignment of the spec with its own layouts; None where a figure is not known."""
    options = {}
    for name, study in parts.jobs.items():
        job, work = parts.fleet.jobs[name], study.design.workload
        if job.nodes is None or work is None or study.design.cluster is None or study.design.layout is None:
            return None
        written = study.document.value.get("layout") if study.document else None
        option = JobOption(name, job.spec.pool or "", job.nodes, layout=written or {}, memory=study.plan.memory_bytes)
        served = serving_json(study.plan.serving, work.serving) if study.plan.serving and work.serving else None
        options[name] = replace(with_figures(option, parts, study, goal, alone=False), serving=served)
    value = objective_of([*options.values()], goal.objective)
    return Assignment(options, value, None) if value is not None else None


def _why(options: Sequence[JobOption], idle: Iterable[str], goal: Goal, fleet: Fleet) -> str:
    """Why there is no assignment: the jobs that no pool can hold, or the nodes that all take together."""
    reasons = [
        _why_not(name, [each for each in options if each.job == name], goal)
        for group in idle
        for name in group.split(" ")
    ]
    told = [reason for reason in reasons if reason]
    if told:
        return "; ".join(told)
    least = {
        name: min(each.nodes for each in options if each.job == name and (each.usable or each.why == UNSEARCHED))
        for name in dict.fromkeys(each.job for each in options)
    }
    total = sum(pool.nodes or 0 for pool in fleet.pools.values())
    wanted = ", ".join(f"{name} {count}" for name, count in least.items())
    return f"every job fits alone, and not all together on {plural(total, 'node')}: they take at least {wanted} nodes"


def _why_not(name: str, options: Sequence[JobOption], goal: Goal) -> str:
    """Why a job has no option; empty where it has some."""
    if any(each.usable and objective_of([each], goal.objective) is not None for each in options):
        return ""
    usable = [each for each in options if each.usable]
    if usable:
        missing = {"cost": "`procurement.prices` and `procurement.term`", "energy": "the power of a node"}
        return f"{name}: its {goal.objective} is not known: state {missing.get(goal.objective, '`workload.tokens`')}"
    late = [each for each in options if each.missed]
    if late:
        best = min(late, key=lambda each: each.elapsed or each.least or 0.0)
        return f"{name}: {'; '.join(best.missed)} at best, with {plural(best.nodes, 'node')} of {best.pool}"
    whys = dict.fromkeys(each.why for each in options if each.why)
    return f"{name}: {next(iter(whys), 'no pool has the nodes')}"
