"""The smallest or largest value of a key that meets a condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from clusterspec.analysis.fleets.costs import FleetCosts
from clusterspec.analysis.levers.conditions import (
    OF_FLEET,
    WHOLE,
    Condition,
    ConditionFault,
    metric_unit,
    parse,
)
from clusterspec.analysis.levers.keys import LEVERS, MACHINE, OF_LOAD, Lever, lever_of, machine_lever, uses_part
from clusterspec.analysis.levers.reasons import misfit_reason, nearest_text, unmoved_text
from clusterspec.analysis.levers.solutions import Refusal, Solution, Trial, boundary_of
from clusterspec.analysis.searches.rl_nodes import Divisions
from clusterspec.analysis.searches.rl_splits import nodes_by_role
from clusterspec.analysis.searches.space.families import families, section_of
from clusterspec.analysis.searches.space.run import Limits
from clusterspec.analysis.searches.space.run import search as run_search
from clusterspec.analysis.searches.space.searches import evaluation
from clusterspec.analysis.searches.studied import (
    POOLS,
    Space,
    StudyVariations,
    job_of,
    missing_for_estimate,
    present_section,
    section_with_fixed_settings,
    with_a_layout,
)
from clusterspec.cluster.model import Design
from clusterspec.cluster.variation import Changes
from clusterspec.cost.plan import Plan
from clusterspec.records import replace
from clusterspec.results import Json
from clusterspec.results.levers import SolveReport, seeks_most_nodes
from clusterspec.results.search import Section
from clusterspec.standard import sum_of
from clusterspec.studies import Study, variation

MOST_TRIED = 8
"""Maximum number of layouts per value that are checked against the rules, fastest first."""


def solve(study: Study, key: str, until: str, *, best_layout: bool = False, whole: Study | None = None) -> SolveReport:
    """The smallest or largest value of a key that meets a condition. Raises `ConditionFault` for an invalid condition.

    ``whole`` is the fleet that contains the job or pool of the study, for conditions on all pools and on shares of the
    term.
    """
    study = with_a_layout(study) if best_layout else study
    condition = _condition_in_fleet(parse(until, study.plan.whole_step.seconds), study, whole)
    if key not in LEVERS and key != MACHINE:
        raise ConditionFault(f"solve cannot vary {key!r}: it takes {', '.join(LEVERS)}")
    lever = _directed_lever(machine_lever(study.design) if key == MACHINE else lever_of(key, study.design), condition)
    present = lever.value(study.design)
    head = _report_head(study, lever.name, lever, condition)
    key = lever.name
    served = study.plan.serving is not None and key in OF_LOAD
    of_machine = condition.metric in {"power_peak", *OF_FLEET}
    if present is None and not served and study.design.cluster is not None:
        return SolveReport(**head, why=f"the design has no {key} to vary")
    if study.document is None or (study.plan.memory is None and not of_machine):
        return SolveReport(**head, why=missing_for_estimate(study))
    trials = _Trials(StudyVariations(study), lever, condition, best_layout=best_layout)
    found = _sure_boundary(lever, condition, trials, present or 1.0)
    plan, best = found.plan, (trials.layouts.get(found.value, {}) if found.value is not None else {})
    section = best.get(("layout",), present_section(study))
    pools = best.get(POOLS)
    missed = nearest_text(found.probes, condition, study, lever) + misfit_reason(study.plan, best_layout)
    return SolveReport(
        **head,
        value=_value_in_spec(lever, found.value),
        catalog_step=found.catalog_step,
        free=found.free,
        layout=section if plan and isinstance(section, dict) else {},
        disaggregated=pools if plan and isinstance(pools, dict) else None,
        searched=best_layout and plan is not None,
        estimate=_estimate_json(plan),
        present_roles=nodes_by_role(study.design) if trials.divisions is not None else {},
        role_pools=_pools_of_roles(study) if trials.divisions is not None else {},
        roles={value: nodes_by_role(one.design) for value, one in trials.studies.items()},
        rollout_tp=_searched_degree(trials, found.value),
        probes=tuple((probe.value, probe.metric, probe.holds) for probe in found.probes),
        why=missed if found.value is None else unmoved_text(found, study) if trials.is_of_one_layout else "",
        errors={probe.value: probe.errors for probe in found.probes if probe.errors},
        misfits={probe.value: probe.misfit for probe in found.probes if probe.misfit},
        unsure=found.condition == replace(condition, surely=False),
    )


def _sure_boundary(lever: Lever, condition: Condition, trials: _Trials, present: float) -> Solution:
    """The boundary at the unfavorable ends of the ranges. If `check` finds an error in every such boundary, the result
    is the boundary of the predictions themselves, if there is one.
    """
    found = boundary_of(lever, condition, trials.trial, present)
    if found.value is not None and not _has_errors(found):
        return found
    unsure = boundary_of(lever, replace(condition, surely=False), trials.trial, present)
    return unsure if unsure.value is not None and (found.value is None or not _has_errors(unsure)) else found


def _has_errors(solution: Solution) -> bool:
    """Whether `check` finds an error in the value of a solution."""
    return any(probe.value == solution.value and probe.errors for probe in solution.probes)


def _report_head(study: Study, key: str, lever: Lever, condition: Condition) -> dict[str, Any]:
    """The fields of a report that are known before a value is."""
    return {
        "tool": study.settings.tool,
        "input": study.input,
        "key": key,
        "unit": lever.unit,
        "condition": condition.text,
        "present": lever.value(study.design),
        "metric": condition.metric,
        "metric_unit": metric_unit(condition.metric),
        "available": _available_nodes(study) if key == "nodes" else None,
        **(_part_of_machine(study, lever) if key == "nodes" else {}),
        "other_load": _other_load(study, key),
    }


def _other_load(study: Study, key: str) -> str:
    """The kind of load in the spec if a value of ``key`` replaces it with another kind; else empty."""
    work = study.design.workload
    load = work.serving.load if work is not None and work.serving is not None else ""
    kinds = {"concurrency": ("closed", "static"), "request_rate": ("open",)}
    return load if load not in kinds.get(key, (load,)) else ""


def _part_of_machine(study: Study, lever: Lever) -> dict[str, Any]:
    """The key of the nodes and the size of the cluster, for a report on a job that uses part of a single cluster; else
    empty.
    """
    cluster = study.design.cluster
    if cluster is None or study.fleet_part is not None or not uses_part(study.design):
        return {}
    return {"path": lever.path, "machine": cluster.nodes}


def _available_nodes(study: Study) -> int | None:
    """The nodes of the pool of a job that no other job has; None outside a fleet, and with roles on several pools."""
    part, cluster = study.fleet_part[1] if study.fleet_part is not None else None, study.design.cluster
    if part is None or part.job is None or part.away or cluster is None:
        return None
    return cluster.nodes if part.nodes is None else part.nodes + (part.idle or 0)


def _condition_in_fleet(condition: Condition, study: Study, whole: Study | None) -> Condition:
    """The condition with the contribution of the rest of the fleet.

    Raises `ConditionFault` where a metric needs a fleet, or the figure of another pool is not known.
    """
    parts, own = whole.fleet if whole is not None else None, study.fleet_part
    if condition.metric == "elapsed" and parts is not None and own is not None and own[1].job is not None:
        return replace(condition, share=parts.fleet.jobs[own[1].job].term_share)
    if condition.metric not in OF_FLEET:
        return condition
    if parts is None or own is None:
        raise ConditionFault(
            f"`{condition.metric}` counts all pools of a fleet: pass a fleet, and choose a pool by --pool"
        )
    others = {name: each for name, each in parts.pools.items() if name != own[1].pool}
    figures = {name: OF_FLEET[condition.metric](each.plan) for name, each in others.items()}
    if condition.metric == "fleet_cost":
        costs = FleetCosts(parts)
        figures = {name: costs.total_of(name) for name in others}
        condition = replace(condition, of_pool=lambda plan: costs.of_changed(plan, own[1].pool, own[1].job))
    unknown = [name for name, figure in figures.items() if figure is None]
    if unknown:
        raise ConditionFault(f"`{condition.metric}` is not known: pool `{unknown[0]}` lacks it (`clusterspec cost`)")
    return replace(condition, of_other_pools=sum_of(each for each in figures.values() if each is not None))


class _Trials:
    """The study with different values of a lever, each with its layout; ``layouts`` are the best layouts found, by
    value.
    """

    def __init__(self, studied: StudyVariations, lever: Lever, condition: Condition, *, best_layout: bool) -> None:
        self.studied, self.lever, self.condition, self.best_layout = studied, lever, condition, best_layout
        self.layouts: dict[float, Changes] = {}
        self.studies: dict[float, Study] = {}
        self.divisions = _node_divisions(studied, best_layout=best_layout) if lever.spread is not None else None
        self._known: dict[float, Trial] = {}

    @property
    def is_of_one_layout(self) -> bool:
        """Whether every value uses the spec's layout and its division of nodes."""
        return self.divisions is None and not self.best_layout

    def trial(self, value: float) -> Trial:
        """The plan at a value, and the rules that refuse it. If the computation fails, both are empty and the study
        records the failure.
        """
        if value not in self._known:
            part = f"{self.lever.name} {value:g}"
            self._known[value] = self.studied.one.part(part, lambda: self._guarded_trial(value), Trial(None, Refusal))
        return self._known[value]

    def _guarded_trial(self, value: float) -> Trial:
        if self.divisions is not None:
            return self._best_division(self.divisions, value)
        varied = variation.varied_study(self.studied.one, self.lever.changes(value))
        if not self.best_layout:
            return self._trial(varied)
        none = self._trial(varied)._replace(plan=None)
        for changes in self._best_layout_keys(varied):
            found = variation.rewritten_study(varied, changes)
            if not self._refusal(found).of_others:
                self.layouts[value] = changes
                return self._trial(found)
        return none

    def _best_division(self, divisions: Divisions, value: float) -> Trial:
        """The fastest division of nodes between roles that meets the condition and that `check` accepts; without one,
        the fastest.
        """
        fastest = Trial(None, Refusal)
        for study, layout in islice(divisions.of_nodes(int(value)), MOST_TRIED):
            trial = self._trial(study)
            met = trial.plan is not None and self.condition.holds(trial.plan) and not trial.refusal().of_others
            if met or fastest.plan is None:
                fastest, self.studies[value] = trial, study
                self.layouts[value] = {("layout",): self._section_of_division(study, layout)}
            if met:
                break
        return fastest

    def _section_of_division(self, study: Study, layout: Changes) -> Section:
        """The layout of the trainer, the spec's own or the best one found, on the nodes of a division."""
        section = layout.get(("layout",))
        kept = section if isinstance(section, dict) else present_section(self.studied.one)
        return {**kept, "nodes": nodes_by_role(study.design)["trainer"]}

    def _trial(self, study: Study) -> Trial:
        refusal = Refusal(of_others=True)
        return Trial(
            study.plan if study.has_figures else None,
            lambda: self.studied.one.part(self.lever.name, lambda: self._refusal(study), refusal),
        )

    def _refusal(self, study: Study) -> Refusal:
        refused = self.studied.refusing_rules(study)
        own = {found.rule for found in study.errors if found.path == self.lever.path}
        return Refusal(refused, of_others=not own.issuperset(refused))

    def _best_layout_keys(self, varied: Study) -> Iterable[Changes]:
        """The keys of the best layouts of a variation, the best first."""
        if self.studied.one.plan.serving is not None:
            return _best_serving(self.studied, varied.design, self.condition)
        return _best_training_keys(self.studied, varied.design)


def _node_divisions(studied: StudyVariations, *, best_layout: bool) -> Divisions:
    """The divisions of nodes between the roles of a study of reinforcement learning."""
    return Divisions(studied.one, (lambda design: _best_training_keys(studied, design)) if best_layout else None)


def _pools_of_roles(study: Study) -> dict[str, str]:
    """The pool of each role of reinforcement learning with separate nodes; empty if all are on one machine."""
    rl = study.design.workload.rl if study.design.workload is not None else None
    away = (
        {role.name: role.pool for role in rl.roles_on_separate_nodes} | {"rollout": rl.rollout_pool}
        if rl is not None
        else {}
    )
    if study.fleet_part is None or not any(away.values()):
        return {}
    own = study.fleet_part[1].pool
    return {role: away.get(role) or own for role in nodes_by_role(study.design)}


def _searched_degree(trials: _Trials, value: float | None) -> int | None:
    """The tensor parallelism of rollout engines, which the search chose together with the division of the nodes."""
    study = trials.studies.get(value) if value is not None else None
    work = study.spec.workload if study is not None and trials.best_layout else None
    return work.rl.rollout.tp if work is not None and work.rl is not None and work.rl.rollout is not None else None


def _value_in_spec(lever: Lever, value: float | None) -> float | None:
    """A value as written in a spec: an integer if the key is a count."""
    written = lever.written(value) if value is not None else None
    return float(written) if isinstance(written, int | float) else value


def _directed_lever(lever: Lever, condition: Condition) -> Lever:
    """The lever with the direction in which the condition becomes true. Throughput and latency grow with the load.
    Power grows with the number of nodes, since a fixed amount of work then has a lower MFU.
    """
    grows = lever.name in OF_LOAD and not condition.at_most and condition.metric not in WHOLE
    if lever.name == "nodes" and seeks_most_nodes(condition.metric, "<=" if condition.at_most else ">="):
        return replace(lever, better=-1)
    return replace(lever, better=1) if grows else lever


def _best_training_keys(studied: StudyVariations, varied: Design) -> Iterator[Changes]:
    """The keys of the best layouts of a varied design."""
    job = job_of(varied)
    if job is None:
        return
    memory = job.cluster.accelerator.memory
    limits = Limits(memory.value if memory else None, None)
    space = Space(list(families(job)))
    for best in run_search(space, evaluation(varied, job), limits, top=MOST_TRIED).best[:MOST_TRIED]:
        yield {("layout",): section_with_fixed_settings(studied.one, section_of(job, space.choice(best.number)))}


def _best_serving(studied: StudyVariations, varied: Design, condition: Condition) -> Iterator[Changes]:
    """The keys of the serving plans of a varied design that meet the condition most easily, the best first."""
    from clusterspec.analysis.searches.serving import best_plans, plan_keys

    found = best_plans(varied, condition.metric, MOST_TRIED)
    if found is not None:
        job, plans = found
        yield from (plan_keys(studied, job, each) for each in plans)


def _estimate_json(plan: Plan | None) -> Json | None:
    from clusterspec.cost.estimate import unmeasured_step_time
    from clusterspec.results.estimate_json import estimate_fields

    return estimate_fields(plan, unmeasured_step_time(plan)) if plan else None
