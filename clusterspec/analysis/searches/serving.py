"""The best serving plans of a study, each checked by the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf

from clusterspec.analysis.searches.picks import Candidate, Picks, refusing_text
from clusterspec.analysis.searches.serving_plans.run import FoundPlans, one_kind_reason
from clusterspec.analysis.searches.serving_plans.run import search as run_search
from clusterspec.analysis.searches.serving_plans.separation import break_evens, plan_value
from clusterspec.analysis.searches.serving_plans.space import (
    METRICS,
    OBJECTIVES,
    RatedPlan,
    ServingJob,
    ranked_plans,
    serving_job,
)
from clusterspec.analysis.searches.studied import (
    POOLS,
    Pins,
    SearchOptions,
    StudyVariations,
    currency_of,
    errors_of,
    missing_for_search,
    present_section,
    section_with_fixed_settings,
    with_a_layout,
)
from clusterspec.cluster.model import Design
from clusterspec.cluster.requests import Engines
from clusterspec.cost.serving.latency import serving_range
from clusterspec.cost.serving.targets import meets_targets
from clusterspec.records import replace
from clusterspec.results import Json
from clusterspec.results.search import (
    BreakEvenRow,
    Comparison,
    LayoutRow,
    SearchReport,
    Section,
    Separation,
    SeparationSide,
)
from clusterspec.results.serving_json import serving_json
from clusterspec.source import Path as KeyPath
from clusterspec.studies import Study, variation

TIMES = {"ttft": "time to first token", "tpot": "time per output token"}
"""The times of a plan that are compared."""
CONCURRENCY: KeyPath = ("workload", "serving", "concurrency")
SHOWN_IN_REPORTS = 5
ENGINE_KEYS = ("replicas", "tp", "attention_dp", "ep", "pp")
Progress = Callable[[int, int], object]


def default_objective(design: Design) -> str:
    """The default objective: fewest accelerators where the spec has targets, else most tokens per accelerator."""
    load = design.workload.serving if design.workload else None
    targeted = load is not None and bool(load.targets)
    return "accelerators" if targeted else "tokens_per_accelerator"


def search_serving(study: Study, options: SearchOptions, progress: Progress) -> SearchReport:
    """The best legal plans that meet the targets at the load of a study, each checked by the rules."""
    searched = with_a_layout(study)
    objective = options.objective if options.objective in OBJECTIVES else default_objective(searched.design)
    job = serving_job(searched.design)
    if job is None or study.document is None:
        nothing = (objective, 0, 0, 0, (), (), None)
        why = missing_for_search(study)
        return SearchReport(study.settings.tool, study.input, *nothing, why=why, incomplete=True)
    memory = job.cluster.accelerator.memory
    most = memory.value * (1 - (options.min_headroom or 0.0)) if memory else inf
    pins, surely = Pins(options.pins), options.min_headroom is None
    whole = not options.best_only
    shared = objective == "cost" and searched.design.shares_machine  # a job of a fleet carries the nodes that it has
    order = "tokens_per_accelerator" if shared else objective
    found = run_search(
        job, pins, most, objective=order, top=options.top, progress=progress, surely=surely, with_front=whole
    )
    studied = StudyVariations(searched)
    picks = _picked_plans(studied, job, found.best, options.top)
    rows = [_candidate_row(studied, job, each) for each in _ordered_plans(picks, objective)]
    if objective == "cost":
        rows = sorted(rows, key=lambda row: inf if row.cost is None else row.cost)
    front = _picked_plans(studied, job, found.front, len(found.front))
    return SearchReport(
        study.settings.tool,
        study.input,
        objective,
        found.evaluated,
        found.meeting,
        sum(picks.refused.values()),
        tuple(rows),
        tuple(_candidate_row(studied, job, each) for each in front.checked),
        study.part("plan of the spec", lambda: present_row(studied), None) if whole and study.plan.serving else None,
        smallest=_nearest_row(studied, job, found.nearest) if whole and found.nearest else None,
        first_refused=_candidate_row(studied, job, picks.best_refused) if picks.best_refused is not None else None,
        why="" if rows else _empty_search_reason(found, job, picks),
        currency=currency_of(study),
        may_fit=found.may_fit,
        refused_by=dict(picks.refused),
        unsure=found.unsure and bool(rows),
        comparisons=tuple(_comparisons(rows, present_row(studied) if study.plan.serving else None))
        if options.explain
        else (),
        separation=study.part("separate engines", lambda: _separation(job, pins, found, objective), None)
        if whole
        else None,
    )


def _separation(job: ServingJob, pins: Pins, plans: FoundPlans, objective: str) -> Separation:
    """Whether prefill and decode are better on separate engines, and from which prompt length, load and link on."""
    together, apart = plans.kinds
    reason = one_kind_reason(job, pins)
    if pins.values.get("pools") == "disaggregated":
        reason = "`pools` is fixed, which leaves separate engines"
    if reason:
        return Separation(None, reason)
    targeted = bool(job.load.targets)
    first, second = (_separation_side(job, each) if each else None for each in plans.kinds)
    if together is None or apart is None or not together.meets or not apart.meets:
        meeting = [each for each in plans.kinds if each and each.meets]
        separate = meeting[0] is apart if meeting else None
        return Separation(separate, "" if meeting else "no plan meets the targets", targeted, first, second)
    separate = ranked_plans([together, apart], objective)[0] is apart
    rows = tuple(BreakEvenRow(*each) for each in break_evens(job, together, apart))
    return Separation(separate, "", targeted, first, second, rows)


def _separation_side(job: ServingJob, rated: RatedPlan) -> SeparationSide:
    section, pools = section_of(job, rated)
    times = rated.times
    if not pools and "dp" not in section:
        section = dict(section) | {"dp": rated.plan[1].replicas}
    return SeparationSide(
        layout=section,
        disaggregated=pools,
        accelerators=times.accelerators,
        ttft=times.ttft,
        tpot=times.tpot,
        per_accelerator=rated.per_accelerator,
        value=plan_value(job, rated.plan),
        meets_targets=rated.meets,
        excess=rated.excess,
        prefill_share=times.prefill_busy if pools else times.prefill_share,
        handoff=times.handoff,
        limit=rated.limit,
    )


def present_row(studied: StudyVariations) -> LayoutRow:
    """The row of the plan of the spec."""
    job = serving_job(studied.one.design)
    pools = _pools_of(job) if job is not None else None
    return _row_of_study(studied, studied.one, present_section(studied.one), pools=pools)


def other_plans(study: Study) -> SearchReport:
    """The plans that a report shows: the best few that meet the targets, and the front."""
    return search_serving(study, SearchOptions({}, top=SHOWN_IN_REPORTS), lambda done, total: None)


def _empty_search_reason(plans: FoundPlans, job: ServingJob, picks: Picks[RatedPlan]) -> str:
    if not plans.evaluated:
        return "no legal engine fits in memory on the nodes of the layout with the keys that are fixed"
    if plans.meeting:
        return f"rules find an error in every plan kept{refusing_text(picks.refused)}"
    return "no plan meets the targets at the load" if job.load.targets else "no plan holds the load"


def _picked_plans(studied: StudyVariations, job: ServingJob, plans: Iterable[RatedPlan], top: int) -> Picks[RatedPlan]:
    """The checked plans: the first ``top`` that pass the rules, or else the nearest ones."""
    picks: Picks[RatedPlan] = Picks(top)
    for each in plans:
        if len(picks.without_objection) == top:
            break
        if not picks.checked or _is_in_range(picks.checked[0].kept, each) or len(picks.checked) < top:
            candidate = _candidate(studied, job, each)
            if candidate is not None:
                picks.add(candidate)
    return picks


def _ordered_plans(picks: Picks[RatedPlan], objective: str) -> list[Candidate[RatedPlan]]:
    """The plans to show, in the order of the objective.

    Plans whose range includes the best value come first, in order of the number of warnings about the layout.
    """
    alike = [each for each in picks.checked if _are_equally_good(picks.checked[0].kept, each.kept, objective)]
    others = [each for each in picks.checked if each not in alike]
    return [*sorted(alike, key=lambda each: each.objection_counts), *others][: picks.top]


def _are_equally_good(first: RatedPlan, other: RatedPlan, objective: str) -> bool:
    """Whether two plans are equally good within the uncertainty range of the objective. The number of accelerators has
    no uncertainty.
    """
    if objective == "accelerators":
        return other.times.accelerators == first.times.accelerators
    return _is_in_range(first, other)


def _is_in_range(first: RatedPlan, other: RatedPlan) -> bool:
    """Whether a plan is as good as the first one within the range of its time per output token."""
    factor = serving_range(first.times, "tpot")[1] / first.times.tpot
    fewer = other.times.accelerators <= first.times.accelerators * factor
    return fewer and other.per_accelerator * factor >= first.per_accelerator


def _candidate(studied: StudyVariations, job: ServingJob, rated: RatedPlan) -> Candidate[RatedPlan] | None:
    """A plan in place of the spec's, with its findings. If its check fails, the result is None and the study notes the
    failure.
    """
    return studied.one.part(
        f"plan {section_of(job, rated)}",
        lambda: Candidate.of(rated, _study_with_plan(studied, job, rated), studied, _target_rules(rated)),
        None,
    )


def _candidate_row(studied: StudyVariations, job: ServingJob, candidate: Candidate[RatedPlan]) -> LayoutRow:
    section, pools = section_of(job, candidate.kept)
    return replace(_row_of_study(studied, candidate.study, section, pools=pools), findings=candidate.finding_rules)


def _nearest_row(studied: StudyVariations, job: ServingJob, rated: RatedPlan) -> LayoutRow | None:
    """The row of the plan closest to the targets, regardless of findings."""
    section, pools = section_of(job, rated)
    return studied.one.part(
        "nearest plan",
        lambda: _row_of_study(studied, _study_with_plan(studied, job, rated), section, pools=pools),
        None,
    )


def _study_with_plan(studied: StudyVariations, job: ServingJob, rated: RatedPlan) -> Study:
    """The study with a plan in place of the spec's."""
    changes = plan_keys(studied, job, rated)
    if rated.concurrency is not None:
        changes |= _closed_load_settings(rated.concurrency)
    return variation.rewritten_study(studied.one, changes)


def _comparisons(rows: Sequence[LayoutRow], spec: LayoutRow | None) -> list[Comparison]:
    """The times of the best plan compared with the next plan and with the spec's plan."""
    others = [("next", row) for row in rows[1:2]] + ([("spec", spec)] if rows and spec else [])
    return [_rate_comparison(name, rows[0], other) for name, other in others]


def _rate_comparison(name: str, best: LayoutRow, other: LayoutRow) -> Comparison:
    ours, theirs = best.serving or {}, other.serving or {}
    parts = [(label, ours[key] - theirs[key]) for key, label in TIMES.items()]
    memory = (best.memory or 0.0) - (other.memory or 0.0)
    return Comparison(name, ours["request_latency"] - theirs["request_latency"], memory, tuple(parts))


def plan_keys(studied: StudyVariations, job: ServingJob, rated: RatedPlan) -> dict[KeyPath, object]:
    """The keys of a spec that hold the engines of a plan."""
    section, pools = section_of(job, rated)
    return {("layout",): section_with_fixed_settings(studied.one, section), POOLS: pools}


def best_plans(design: Design, metric: str, top: int) -> tuple[ServingJob, tuple[RatedPlan, ...]] | None:
    """Among the plans whose cache holds the requests, the ``top`` ones that meet a condition on a metric most easily.

    The targets of the spec do not count, except for ``targets``. None if the design has no serving plan.
    """
    job = serving_job(design)
    if job is None:
        return None
    if metric != "targets":
        job = replace(job, load=replace(job.load, targets=()))
    memory = job.cluster.accelerator.memory
    objective = metric if metric in METRICS else "accelerators"
    found = run_search(
        job, Pins({}), memory.value if memory else inf, objective=objective, top=top, with_front=False, surely=True
    )
    return job, found.best[:top] or ((found.nearest,) if found.nearest is not None else ())


def _target_rules(rated: RatedPlan) -> frozenset[str]:
    """The rules about latency targets, which plans of the front may violate."""
    return (
        frozenset() if rated.concurrency is None else frozenset({"tpot-target-unreachable", "ttft-target-unreachable"})
    )


def _closed_load_settings(requests: int) -> dict[KeyPath, object]:
    """A closed load with a given number of requests in flight."""
    other: dict[KeyPath, object] = {("workload", "serving", key): None for key in ("request_rate", "load", "requests")}
    return {CONCURRENCY: requests} | other


def section_of(job: ServingJob, rated: RatedPlan, machine: int | None = None) -> tuple[Section, Json | None]:
    """The `layout` section of a plan, and its separate engines if any; defaults are omitted.

    ``machine`` are the nodes of the machine, by default the job's nodes.
    """
    prefill, decode = rated.plan
    here = [engine for engine in rated.plan if engine is not None and engine.pool is None]
    ranks, each = sum(engine.replicas * engine.ranks for engine in here), job.cluster.ranks_per_node
    nodes = -(-ranks // each)
    fewer = {"nodes": nodes} if 0 < nodes != (machine or job.cluster.nodes) else {}
    if prefill is not None:
        return fewer, {"prefill": engine_section(prefill), "decode": engine_section(decode)}
    section = {key: getattr(decode, key) for key in ENGINE_KEYS[1:] if key == "tp" or getattr(decode, key) > 1}
    section |= {"dp": decode.replicas} if ranks != nodes * each else {}
    return section | fewer, None


def _pools_of(job: ServingJob) -> Json | None:
    """The separate engines of the design; None if it has none."""
    prefill, decode = job.load.prefill, job.load.decode
    return {"prefill": engine_section(prefill), "decode": engine_section(decode)} if prefill and decode else None


def engine_section(engine: Engines) -> Json:
    """The keys of an engine as a spec states them; degrees of 1 are left out."""
    pool = {} if engine.pool is None else {"pool": engine.pool}
    return pool | {
        key: getattr(engine, key) for key in ENGINE_KEYS if key in {"replicas", "tp"} or getattr(engine, key) > 1
    }


def _row_of_study(studied: StudyVariations, study: Study, section: Section, *, pools: Json | None = None) -> LayoutRow:
    """A row of a study whose layout is ``section``."""
    design, times = study.design, study.plan.serving
    assert times is not None and design.workload is not None and design.workload.serving is not None
    more = {
        "accelerators": times.accelerators,
        "replicas": design.layout.dp if design.layout else None,
        "idle": _idle_accelerator_count(design),
        "tokens_per_second_per_user": 1 / times.tpot,
        "concurrency": times.offered,
        "meets_targets": meets_targets(times, design.workload.serving),
        "disaggregated": pools,
    }
    return LayoutRow(
        layout=section_with_fixed_settings(studied.one, section),
        step_time=None,
        low=None,
        high=None,
        mfu=None,
        memory=study.plan.memory_bytes,
        memory_range=study.plan.memory_range,
        fits=study.plan.fits,
        surely_fits=study.plan.surely_fits,
        cost=studied.cost(design, study.plan),
        errors=tuple(sorted(errors_of(study))),
        serving=(serving_json(times, design.workload.serving) or {}) | more,
    )


def _idle_accelerator_count(design: Design) -> int:
    """Accelerators without an engine on the nodes that a plan uses."""
    cluster, layout = design.cluster, design.layout
    if cluster is None or layout is None:
        return 0
    nodes = cluster.nodes_of_ranks(layout.ranks)
    return (nodes * cluster.ranks_per_node - layout.ranks) // cluster.ranks_per_accelerator
