"""Which job of a fleet on which pool with how many nodes: the best layout of every choice, and the best assignment.

The table of choices comes from the search for layouts: every job on every pool with several numbers of nodes. Jobs that
take turns on the same nodes are assigned together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from clusterspec.analysis.assignment import Chosen, Option, best_assignments
from clusterspec.analysis.layout_search import SearchOptions, search
from clusterspec.analysis.rl_splits import keys_of_split, rl_splits
from clusterspec.analysis.studied import POOLS, currency_of, missing_for_search, serving_targets_missed, with_a_layout
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.fleet import Fleet, NodeSet, Pool, engines_away
from clusterspec.cost.failures import YEAR
from clusterspec.procurement.bill import bill
from clusterspec.procurement.cost import Cost
from clusterspec.procurement.cost import cost as cost_of
from clusterspec.records import NamedTuple, dataclass, field, replace
from clusterspec.results import Json
from clusterspec.results.estimate_json import serving_json
from clusterspec.results.fleet_search import Assignment, FleetSearchReport, JobOption
from clusterspec.results.search import LayoutRow, RlSplit
from clusterspec.studies import variation
from clusterspec.studies.fleet import FleetStudy
from clusterspec.studies.study import Study
from clusterspec.summation import sum_of
from clusterspec.units import display, plural

OBJECTIVES = {"time": "s", "cost": "", "energy": "J"}
"""What an assignment minimizes, in sum over all jobs, with its unit: the time of runs, the cost, or the energy."""
FEW = 16
"""Sizes, in whole domains, up to which every size of a pool is tried."""


class FleetSearchFault(ValueError):
    """Raised for a fleet, or a goal, for which nothing can be searched, with a one-line reason."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a search over a fleet looks for.

    ``within`` is the longest time of a run in seconds, by job; the key ``""`` holds for all other jobs that train.
    ``nodes`` are the sizes to try instead of the default ones. ``top`` is the number of assignments, ``seconds`` the
    time limit of the solver for each.
    """

    objective: str = "time"
    within: Mapping[str, float] = field(default_factory=dict)
    nodes: tuple[int, ...] = ()
    top: int = 3
    seconds: float = 60.0


class Place(NamedTuple):
    """Jobs on a number of nodes of a pool; several jobs take turns."""

    jobs: tuple[str, ...]
    pool: str
    nodes: int


# The choices


def places(study: Study, goal: Goal) -> tuple[Place, ...]:
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
        if not _stays(parts, nodes) or (pool.name, size) == (nodes.pool, nodes.nodes)
    ]
    if not chosen:
        raise FleetSearchFault(f"{study.source.name}: no job has a workload, or no pool has nodes")
    return tuple(chosen)


def _stays(parts: FleetStudy, nodes: NodeSet) -> bool:
    """Whether a job of a set has engines on another pool: it stays where the spec has it."""
    return any(engines_away(parts.fleet.jobs[name].spec) for name in nodes.jobs)


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
        raise FleetSearchFault(f"the length of a run is not known: state `workload.tokens` of {names}")


def _sizes_for(parts: FleetStudy, nodes: NodeSet, pool: Pool, goal: Goal) -> Sequence[int]:
    """The sizes to try; a serving plan alone takes as few nodes of the whole pool as it needs."""
    if pool.nodes is None or pool.cluster is None:
        return ()
    if _stays(parts, nodes):
        return (nodes.nodes,) if nodes.nodes else ()
    if len(nodes.jobs) == 1 and _serves(parts.jobs.get(nodes.jobs[0])):
        return (pool.nodes,)
    if goal.nodes:
        return [size for size in goal.nodes if size <= pool.nodes]
    stated = [each.nodes for other in parts.fleet.pools.values() for each in other.sets if each.nodes]
    return sizes(pool.nodes, nodes_of_domain(pool.cluster), stated)


def _serves(study: Study | None) -> bool:
    work = study.spec.workload if study else None
    return work is not None and work.kind == "serve"


def sizes(nodes: int, domain: int, stated: Iterable[int] = ()) -> list[int]:
    """The sizes to try on a pool, in whole domains: all of a small pool, else steps of a half, with what each leaves.

    >>> sizes(4, 1), sizes(54, 18)
    ([1, 2, 3, 4], [18, 36, 54])
    >>> sizes(64, 1)
    [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 40, 48, 52, 56, 58, 60, 61, 62, 63, 64]
    """
    unit = max(1, min(domain, nodes))
    whole = nodes // unit
    steps = {factor << power for power in range(whole.bit_length()) for factor in (1, 3)}
    tried = range(1, whole + 1) if whole <= FEW else {size for step in steps for size in (step, whole - step)} | {whole}
    written = {size for size in stated if size <= nodes and size % unit == 0}
    return sorted({size * unit for size in tried if 0 < size <= whole} | written)


# The options of one choice


def options_at(study: Study, goal: Goal, place: Place) -> tuple[JobOption, ...]:
    """The best layout of each job of a place, with its figures. Raises the exception of a part that failed."""
    parts = study.fleet
    assert parts is not None
    return tuple(_option(parts, goal, place, name) for name in place.jobs)


def _option(parts: FleetStudy, goal: Goal, place: Place, name: str) -> JobOption:
    nothing = JobOption(name, place.pool, place.nodes)
    if engines_away(parts.fleet.jobs[name].spec):
        return _option_as_written(nothing, parts, goal)
    study = parts.job_on(place.pool, name, place.nodes)
    if study.design.workload is not None and study.design.workload.rl is not None:
        splits = rl_splits(study.design, place.nodes)
        if not splits:
            return replace(nothing, why="no placement of rollout fits in memory with the layout of the trainer")
        study = variation.rewritten(with_a_layout(study), keys_of_split(splits[0]))
        nothing = replace(nothing, rl=_placement(splits[0]))
    if missing := _missing_part(study):
        return replace(nothing, why=missing)
    serves = _serves(study)
    report = search(study, SearchOptions(objective="accelerators" if serves else "step_time", top=1))
    if study.failures:
        raise study.failures[0][1]
    if not report.layouts:
        return replace(nothing, why=report.why)
    row = report.layouts[0]
    changes: dict[tuple[str | int, ...], object] = {("layout",): row.layout}
    if row.serving is not None:
        changes[POOLS] = row.serving["disaggregated"]
    placed = variation.rewritten(with_a_layout(study), changes)
    found = replace(_option_of_row(name, place, row), rl=nothing.rl)
    return _with_figures(found, parts, placed, goal, alone=len(place.jobs) == 1)


def _placement(split: RlSplit) -> Json:
    """The keys of `workload.rl` for a placement."""
    own = {"nodes": split.rollout_nodes} if split.rollout_nodes else {}
    return {
        "placement": split.placement,
        "max_staleness": split.max_staleness,
        "rollout": own | {"tp": split.rollout_tp},
    }


def _option_as_written(option: JobOption, parts: FleetStudy, goal: Goal) -> JobOption:
    """The option of a job with engines on other pools, which stays as the spec has it."""
    study = parts.jobs[option.job]
    value, work = study.document.value if study.document else {}, study.design.workload
    served = serving_json(study.plan.serving, work.serving if work else None)
    layout = dict(value.get("layout") or {})
    written = JobOption(option.job, option.pool, option.nodes, layout=layout, serving=served)
    return _with_figures(written, parts, study, goal, alone=False)


def _missing_part(study: Study) -> str:
    """Why a job cannot be searched at all; empty where it can."""
    if study.design.cluster is None or study.design.workload is None:
        return missing_for_search(study)
    return ""


def _option_of_row(name: str, place: Place, row: LayoutRow) -> JobOption:
    pools = row.serving["disaggregated"] if row.serving else None
    layout, memory = row.layout, row.memory
    return JobOption(
        name, place.pool, place.nodes, layout=layout, disaggregated=pools, serving=row.serving, memory=memory
    )


def _with_figures(option: JobOption, parts: FleetStudy, placed: Study, goal: Goal, *, alone: bool) -> JobOption:
    """The option with the figures of a design of the job."""
    design, plan = placed.design, placed.plan
    assert design.cluster is not None
    share = parts.fleet.jobs[option.job].share
    nodes = _nodes_used(placed, option.nodes) if alone and plan.serving is not None else option.nodes
    elapsed = plan.time_to_train / share if plan.time_to_train is not None and share > 0 else None
    part = nodes / design.cluster.nodes
    found = cost_of(design, plan if placed.possible else None, bill(design))
    return replace(
        option,
        nodes=nodes,
        step_time=plan.rl.step if plan.rl else plan.step_seconds,
        mfu=plan.rl.mfu if plan.rl else plan.mfu,
        elapsed=elapsed,
        surely_fits=plan.surely_fits,
        cost=_cost(found, plan.serving is not None, part * share),
        energy=_energy(found, plan.time_to_train if plan.serving is None else _term(placed) * share, part),
        missed=tuple(_missed(option.job, placed, elapsed, goal)),
    )


def _nodes_used(study: Study, most: int) -> int:
    """The nodes of a serving plan, in whole domains."""
    layout, cluster = study.design.layout, study.design.cluster
    if layout is None or cluster is None:
        return most
    unit = min(nodes_of_domain(cluster), most)
    return min(most, -(-layout.nodes // unit) * unit)


def _cost(found: Cost | None, serves: bool, part: float) -> float | None:
    """The cost of a run, or of a part of the pool over the term."""
    if found is None:
        return None
    if serves:
        return found.total.value * part if found.total else None
    return found.per_run.value if found.per_run else None


def _energy(found: Cost | None, seconds: float | None, part: float) -> float | None:
    """Joules of a part of a pool at full load."""
    if found is None or not found.watts.parts or seconds is None:
        return None
    return found.watts.value * part * seconds


def _term(study: Study) -> float:
    """The seconds for which a serving plan is counted: the term of the procurement, else a year."""
    procurement = study.spec.procurement
    return procurement.term.value if procurement and procurement.term else YEAR


def _missed(job: str, study: Study, elapsed: float | None, goal: Goal) -> Iterator[str]:
    """The targets that a design misses."""
    if study.plan.serving is not None:
        yield from serving_targets_missed(study)
        return
    limit = goal.within.get(job, goal.within.get(""))
    if limit is not None and (elapsed is None or elapsed > limit):
        took = display(elapsed, "s") if elapsed is not None else "of unknown time"
        yield f"run {took} > {display(limit, 's')}"


# The assignment


def fleet_search(
    study: Study,
    goal: Goal,
    options: Iterable[Sequence[JobOption]] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> FleetSearchReport:
    """The best assignments of a fleet. ``options`` are those of `options_at` for all `places`, in their order.

    Raises `FleetSearchFault`, and `SolverMissing` where the solver is not installed.
    """
    chosen = places(study, goal)
    table = (
        list(options)
        if options is not None
        else [_counted(study, goal, chosen, number, progress) for number in range(len(chosen))]
    )
    parts = study.fleet
    assert parts is not None
    rows, groups = [], []
    for place, group in zip(chosen, table, strict=True):
        value = objective_of(group, goal.objective)
        if value is not None and all(each.usable for each in group):
            groups.append(tuple(group))
            rows.append(Option(" ".join(place.jobs), place.pool, max(each.nodes for each in group), value))
    capacity = {name: (pool.nodes or 0) - _taken_by_engines(pool) for name, pool in parts.fleet.pools.items()}
    idle = [" ".join(place.jobs) for place in chosen if " ".join(place.jobs) not in {row.item for row in rows}]
    found = [] if idle else list(best_assignments(rows, capacity, top=goal.top, seconds=goal.seconds))
    flat = tuple(each for group in table for each in group)
    return FleetSearchReport(
        tool=study.settings.tool,
        input=study.input,
        name=study.spec.name or study.source.name,
        objective=goal.objective,
        unit=OBJECTIVES[goal.objective] or currency_of(study) or "currency",
        assignments=tuple(_assignment(groups, each) for each in found),
        present=study.part("assignment of the spec", lambda: _present(parts, goal), None),
        options=flat,
        currency=currency_of(study),
        why="" if found else _why(flat, dict.fromkeys(idle), goal, parts.fleet),
    )


def _taken_by_engines(pool: Pool) -> int:
    """Nodes of a pool that engines of jobs of other pools have."""
    return sum(each.nodes or 0 for each in pool.sets if each.path is not None)


def _counted(
    study: Study, goal: Goal, chosen: Sequence[Place], number: int, progress: Callable[[int, int], None]
) -> tuple[JobOption, ...]:
    options = options_at(study, goal, chosen[number])
    progress(number + 1, len(chosen))
    return options


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


def _assignment(groups: Sequence[tuple[JobOption, ...]], chosen: Chosen) -> Assignment:
    jobs = {each.job: each for index in chosen.options for each in groups[index]}
    return Assignment(jobs, chosen.value, chosen.gap)


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
        options[name] = replace(_with_figures(option, parts, study, goal, alone=False), serving=served)
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
        name: min(each.nodes for each in options if each.job == name and each.usable)
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
        best = min(late, key=lambda each: each.elapsed or 0.0)
        return f"{name}: {'; '.join(best.missed)} at best, with {plural(best.nodes, 'node')} of {best.pool}"
    whys = dict.fromkeys(each.why for each in options if each.why)
    return f"{name}: {next(iter(whys), 'no pool has the nodes')}"
