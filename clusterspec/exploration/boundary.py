"""The minimum or maximum of a key that meets a condition."""

from __future__ import annotations

from clusterspec.cluster.model import Design
from clusterspec.cost.estimate import estimate
from clusterspec.cost.plan import Plan
from clusterspec.exploration.studied import POOLS, Studied, job_of, present_section, whole_section
from clusterspec.pipeline import Study
from clusterspec.records import replace
from clusterspec.results import Json
from clusterspec.results.search import SolveReport
from clusterspec.search.conditions import WHOLE, Condition, metric_unit, parse
from clusterspec.search.evaluate import evaluation
from clusterspec.search.families import families
from clusterspec.search.layouts import section_of
from clusterspec.search.levers import LEVERS, OF_LOAD, Lever
from clusterspec.search.run import Limits
from clusterspec.search.run import search as run_search
from clusterspec.search.solve import Probe
from clusterspec.search.solve import solve as find_boundary
from clusterspec.search.space import Space
from clusterspec.search.variation import Changes, divides
from clusterspec.units import metric_text


def solve(study: Study, key: str, until: str, *, best_layout: bool = False) -> SolveReport:
    """The minimum or maximum of a key that meets a condition. Raises `ConditionFault` for an invalid condition."""
    base = study.plan.step_time.value if study.plan.step_time else None
    condition = parse(until, base)
    lever = _toward(LEVERS[key], condition)
    present = lever.value(study.design)
    nothing = SolveReport(
        study.settings.tool,
        study.input,
        key,
        lever.unit,
        condition.text,
        present,
        None,
        None,
        False,
        {},
        None,
        (),
        metric=condition.metric,
        metric_unit=metric_unit(condition.metric),
    )
    served = study.plan.serving is not None and key in OF_LOAD
    if (present is None and not served) or study.document is None or study.plan.memory is None:
        return replace(nothing, why=f"the design has no {key} to vary")
    studied = Studied(study)
    layouts: dict[float, Changes] = {}

    def plan_at(value: float) -> Plan | None:
        changes = lever.changes(value)
        varied = studied.variations.design(changes)
        if not best_layout:
            return estimate(varied) if divides(varied) else None
        best = _best_serving(studied, varied, condition) if study.plan.serving else _best_training(studied, varied)
        if best is None:
            return None
        layouts[value] = best
        return estimate(studied.variations.design({**changes, **best}))

    found = find_boundary(lever, condition, plan_at, present or 1.0)
    plan, best = found.plan, layouts.get(found.value or 0.0, {})
    section = best.get(("layout",), present_section(study))
    pools = best.get(POOLS)
    return replace(
        nothing,
        value=_counted(lever, found.value),
        catalog_step=found.catalog_step,
        free=found.free,
        layout=section if plan and isinstance(section, dict) else {},
        disaggregated=pools if plan and isinstance(pools, dict) else None,
        searched=best_layout and plan is not None,
        estimate=_estimate_json(plan),
        probes=tuple((probe.value, probe.metric, probe.holds) for probe in found.probes),
        why="" if found.value is not None else _nearest(found.probes, condition) + _misfit(study.plan, best_layout),
    )


def _counted(lever: Lever, value: float | None) -> float | None:
    """A value as written in a spec: an integer if the key is a count."""
    written = lever.written(value) if value is not None else None
    return float(written) if isinstance(written, int | float) else value


def _toward(lever: Lever, condition: Condition) -> Lever:
    """The lever with the direction that satisfies the condition: both throughput and latency grow with the load."""
    grows = lever.name in OF_LOAD and not condition.at_most and condition.metric not in WHOLE
    return replace(lever, better=1) if grows else lever


def _misfit(plan: Plan, best_layout: bool) -> str:
    """The reason why a fixed layout meets no condition where it does not fit; empty if it fits."""
    return "; the plan of the spec does not fit in memory" if plan.fits is False and not best_layout else ""


def _nearest(probes: tuple[Probe, ...], condition: Condition) -> str:
    metrics = [probe.metric for probe in probes if probe.metric is not None]
    if not metrics:
        return "no value that was tried gives a layout that divides"
    if condition.metric in WHOLE:
        return "no value that was tried meets it"
    best = min(metrics) if condition.at_most else max(metrics)
    return f"not reachable: the best value is {metric_text(best, metric_unit(condition.metric) or '1')}"


def _best_training(studied: Studied, varied: Design) -> Changes | None:
    """The keys of the best layout of a varied design."""
    job = job_of(varied)
    if job is None:
        return None
    memory = job.cluster.accelerator.memory
    limits = Limits(memory.value if memory else None)
    space = Space(list(families(job)))
    found = run_search(space, evaluation(varied, job), limits, top=1)
    best = found.best[0] if found.best else found.smallest
    if best is None:
        return None
    return {("layout",): whole_section(studied.one, section_of(job, space.choice(best.number)))}


def _best_serving(studied: Studied, varied: Design, condition: Condition) -> Changes | None:
    """The keys of the serving plan of a varied design that meets the condition most easily."""
    from clusterspec.exploration.serving import best_by, written

    found = best_by(varied, condition.metric)
    return written(studied, *found) if found else None


def _estimate_json(plan: Plan | None) -> Json | None:
    from clusterspec.results.estimate_json import body

    return body(plan) if plan else None
