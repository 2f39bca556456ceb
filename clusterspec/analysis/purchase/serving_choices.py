"""The serving machines among which a buyer chooses: the design's engines in other numbers, and the plan of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import inf

from clusterspec.analysis.searches.serving import default_objective, engine_section, section_of
from clusterspec.analysis.searches.serving_plans.run import search
from clusterspec.analysis.searches.serving_plans.space import Plan, ServingJob, own_plan, rated_plan, serving_job
from clusterspec.analysis.searches.studied import POOLS, Pins, StudyVariations, section_with_fixed_settings
from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.legality import layout_error_rules
from clusterspec.cluster.model import Design
from clusterspec.cluster.requests import Engines
from clusterspec.cost.plan import Plan as Predicted
from clusterspec.cost.serving.targets import meets_targets
from clusterspec.records import NamedTuple, replace
from clusterspec.results import Json
from clusterspec.source import Path
from clusterspec.studies import Study, variation

Changes = dict[Path, object]
TRIED = 4
"""Plans of a search that are checked by the rules until one has no errors."""


class ServingMachine(NamedTuple):
    """The study of a machine, its output tokens per second by `tokens_within_targets`, and its engines."""

    study: Study
    work: float
    engines: Json


def tokens_within_targets(predicted: Predicted, share: float = 1.0) -> float | None:
    """The output tokens per second of a plan with the most requests in flight that meet its targets.

    Without targets, the tokens at the load of the spec times ``share``. None if there is no plan, or no load meets
    them.
    """
    job, times = serving_job(predicted.design), predicted.serving
    if job is None or times is None:
        return None
    if not job.load.targets and share == 1.0:
        return times.output_tokens_per_second
    most = times.most_in_flight if job.load.targets else round(times.offered * share)
    found = rated_plan(job, own_plan(job), inf, most) if most else None
    return found.times.output_tokens_per_second if found is not None else None


def holds_load(predicted: Predicted) -> bool:
    """Whether a plan meets its targets at the load of the spec, and keeps up with it."""
    job, times = serving_job(predicted.design), predicted.serving
    if job is None or times is None:
        return False
    return meets_targets(times, job.load) and not times.queue_grows


def load_tokens(design: Design) -> float | None:
    """The output tokens per second of an open load; None for other loads."""
    job = serving_job(design)
    if job is None or job.load.request_rate is None:
        return None
    return job.load.request_rate * job.load.output_tokens


def machine_of_size(study: Study, changes: Changes, factor: Fraction) -> ServingMachine | None:
    """A machine of another size with ``factor`` times the engines of the design; None unless that gives whole
    numbers.
    """
    job = serving_job(study.design)
    plan = scaled_plan(own_plan(job), factor) if job is not None else None
    return _machine_with_plan(study, changes, plan, float(factor)) if plan is not None else None


def scaled_plan(plan: Plan, factor: Fraction) -> Plan | None:
    """A plan with ``factor`` times the engines of each kind; None unless that gives whole numbers.

    >>> one = Engines(replicas=4, tp=2)
    >>> scaled_plan((None, one), Fraction(3, 4))[1].replicas, scaled_plan((None, one), Fraction(1, 8))
    (3, None)
    """
    prefill, decode = plan
    more, most = prefill and _scaled_engines(prefill, factor), _scaled_engines(decode, factor)
    return None if most is None or (prefill is not None and more is None) else (more, most)


def _scaled_engines(engines: Engines, factor: Fraction) -> Engines | None:
    count = engines.replicas * factor
    return replace(engines, replicas=int(count)) if count.denominator == 1 else None


def searched_machines(study: Study, changes_of: Callable[[int], Changes]) -> Iterator[ServingMachine]:
    """The machine of the plan that a search prefers, and the machine of the design with engines of that kind.

    ``changes_of`` are the changed keys of a machine with a number of nodes. There is none if the plan of the design
    is the best.
    """
    job = serving_job(study.design)
    if job is None or layout_error_rules(study.design):
        return
    memory, studied = job.cluster.accelerator.memory, StudyVariations(study)
    most = memory.value if memory else inf
    found = search(job, Pins({}), most, objective=default_objective(study.design), top=1, with_front=False, surely=True)
    for best in found.best[:TRIED]:
        if best.plan == own_plan(job):
            return
        nodes = nodes_of_plan(job, best.plan)
        machine = _machine_with_plan(study, changes_of(nodes), best.plan, nodes / job.nodes)
        if machine is None or studied.refusing_rules(machine.study):
            continue
        yield machine
        same = scaled_plan(best.plan, Fraction(job.nodes, nodes)) if nodes < job.nodes else None
        whole = _machine_with_plan(study, changes_of(job.nodes), same, 1.0) if same is not None else None
        if whole is not None:
            yield whole
        return


def nodes_of_plan(job: ServingJob, plan: Plan) -> int:
    """The nodes that the engines of a plan take, in whole domains."""
    ranks = sum(engine.replicas * engine.ranks for engine in plan if engine is not None)
    unit = nodes_of_domain(job.cluster)
    return min(job.cluster.nodes, -(-ranks // (job.cluster.ranks_per_node * unit)) * unit)


def _machine_with_plan(study: Study, changes: Changes, plan: Plan, share: float) -> ServingMachine | None:
    """A machine of another size with a plan on it; None if it cannot run."""
    job, cluster = serving_job(study.design), variation.rewritten_study(study, changes).design.cluster
    found = rated_plan(job, plan, inf, 1) if job is not None else None
    if job is None or found is None or cluster is None:
        return None
    section, pools = section_of(job, found, cluster.nodes)
    placed = variation.rewritten_study(
        study, changes | {("layout",): section_with_fixed_settings(study, section), POOLS: pools}
    )
    if not placed.has_figures:
        return None
    work = tokens_within_targets(placed.plan, share)
    return ServingMachine(placed, work, engines_of(found.plan)) if work else None


def engines_of(plan: Plan) -> Json:
    """The engines of a plan as JSON: prefill and decode engines, or ``both`` if the same engines do both."""
    prefill, decode = plan
    sides = {"prefill": prefill, "decode": decode} if prefill is not None else {"both": decode}
    return {side: engine_section(engine) for side, engine in sides.items() if engine is not None}
