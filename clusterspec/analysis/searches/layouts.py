"""Search of training layouts: options, candidates with their findings, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from clusterspec.analysis.searches.layout_rows import (
    best_time_grid,
    front_rows,
    layout_row,
    picked_rows,
    refused_row,
    smallest_layout_row,
    step_comparisons,
)
from clusterspec.analysis.searches.picks import Picks, refusing_text, training_picks
from clusterspec.analysis.searches.space.families import data_parallel_degrees, families, section_of
from clusterspec.analysis.searches.space.kept import Kept
from clusterspec.analysis.searches.space.run import Evaluate, Limits, Progress, SearchResult
from clusterspec.analysis.searches.space.run import search as run_search
from clusterspec.analysis.searches.space.searches import evaluation, evaluation_of_sizes, searches_of_sizes
from clusterspec.analysis.searches.studied import (
    EVERYTHING,
    Pins,
    SearchJob,
    SearchOptions,
    Space,
    StudyVariations,
    currency_of,
    job_of,
    missing_for_search,
    present_section,
    with_a_layout,
)
from clusterspec.cluster.layout import ORDER
from clusterspec.cluster.nearby_layouts import fewer_nodes
from clusterspec.cost.batch.columns import DEGREES
from clusterspec.cost.batch.columns import layout_of as with_degrees
from clusterspec.cost.plan import TIE
from clusterspec.records import NamedTuple, replace
from clusterspec.results.search import LayoutRow, RlSplit, SearchReport
from clusterspec.studies import Study
from clusterspec.studies.variation import rewritten_study

# Options of a search


# The best layouts of a study's job, each checked by the rules


class SearchedLayouts(NamedTuple):
    """The layouts of a search, its result, and the evaluation of the layouts; None without NumPy."""

    space: Space
    found: SearchResult
    evaluate: Evaluate | None


Evaluations = list[tuple[SearchJob, Evaluate | None]]
"""Jobs, without their number of nodes, each with an evaluation of its layouts on any number of nodes."""


def searches_of_studies(
    studies: Sequence[Study], options: SearchOptions, evaluations: Evaluations | None = None
) -> list[SearchedLayouts | None]:
    """The layouts that `search` finds for each study, fastest first. None for a study that cannot be searched, and
    without NumPy.

    Studies that differ only in the number of nodes or in the placement of reinforcement-learning roles are evaluated
    together. ``evaluations`` keeps the evaluations for later calls.
    """
    evaluations = [] if evaluations is None else evaluations
    designs = [with_a_layout(study).design for study in studies]
    jobs = [job_of(design) for design in designs]
    found: list[SearchedLayouts | None] = [None] * len(studies)
    alike: list[tuple[SearchJob, dict[int, list[int]]]] = []
    for at, job in enumerate(jobs):
        if job is not None:
            same = _job_without_size(job)
            numbers = next((numbers for other, numbers in alike if other == same), None)
            if numbers is None:
                alike.append((same, numbers := {}))
            numbers.setdefault(job.layout.nodes, []).append(at)
    for same, numbers in alike:
        firsts = [(designs[members[0]], job) for members in numbers.values() if (job := jobs[members[0]])]
        if same not in [other for other, _ in evaluations]:
            evaluations.append((same, evaluation_of_sizes(*firsts[0])))
        evaluate = next(each for other, each in evaluations if other == same)
        if evaluate is None:
            continue
        spaces = [Space(list(families(job, Pins(options.pins)))) for _, job in firsts]
        results = searches_of_sizes(spaces, _search_limits(firsts[0][1], options), top=options.top, evaluate=evaluate)
        for members, space, result in zip(numbers.values(), spaces, results, strict=True):
            for at in members:
                found[at] = SearchedLayouts(space, result, evaluate)
    return found


def _job_without_size(job: SearchJob) -> SearchJob:
    """The job on one node, with the settings that a search varies at their defaults and without roles other than the
    trainer.
    """
    layout = replace(job.layout, nodes=1, order=ORDER, sharding="none", schedule="1f1b", recompute="none")
    layout = with_degrees(replace(layout, sequence_parallel=False), job.workload, dict.fromkeys(DEGREES, 1))
    return SearchJob(job.cluster, replace(job.workload, rl=None), layout)


def _search_limits(job: SearchJob, options: SearchOptions) -> Limits:
    memory = job.cluster.accelerator.memory
    return Limits(memory.value if memory else None, options.min_headroom)


def search(
    study: Study,
    options: SearchOptions = EVERYTHING,
    progress: Progress = lambda done, total: None,
    searched_before: SearchedLayouts | None = None,
) -> SearchReport:
    """The best legal layouts of a study's job, each checked by all rules.

    ``searched_before`` is passed to `searches_of_studies`. For serving, the search varies the engines and their number.
    """
    if study.spec.workload is not None and study.spec.workload.implied_kind == "serve":
        from clusterspec.analysis.searches.serving import search_serving

        return search_serving(study, options, progress)
    return _search_training(study, options, progress, searched_before)


def _search_training(
    study: Study, options: SearchOptions, progress: Progress, searched_before: SearchedLayouts | None
) -> SearchReport:
    """The best layouts of a training job, and the layouts that a report compares with them."""
    options = replace(options, objective=options.objective or "step_time")
    searched = with_a_layout(study)
    job = job_of(searched.design)
    if job is None or study.document is None:
        return _incomplete_report(study, options)
    limits, studied = _search_limits(job, options), StudyVariations(searched)
    evaluate = (searched_before and searched_before.evaluate) or evaluation(searched.design, job)
    space = searched_before.space if searched_before else Space(list(families(job, Pins(options.pins))))

    def search_all_layouts() -> SearchResult:
        return run_search(space, evaluate, limits, top=options.top, objective=options.objective, progress=progress)

    found = searched_before.found if searched_before else search_all_layouts()
    picks = training_picks(studied, job, space, found, options.top)
    if len(picks.without_objection) < options.top and found.complete_to < inf:
        found = search_all_layouts()
        picks = training_picks(studied, job, space, found, options.top)
    reported = replace(_search_report(studied, job, space, found, picks), objective=options.objective)
    if not reported.layouts:
        reported = replace(reported, why=_empty_search_reason(found, job, Pins(options.pins), picks))
    if options.best_only:
        return reported
    own = _study_with_steps(study)
    fewer = _fewer_nodes(study, searched, options, reported, progress) if found.evaluated == space.size else None
    return replace(
        reported,
        pareto=front_rows(studied, job, space, found, picks),
        fewer_nodes=fewer,
        present=study.part("layout of the spec", lambda: _present_row(study), None) if own else None,
        comparisons=study.part("comparisons", lambda: step_comparisons(picks, own), ()) if options.explain else (),
        grid=study.part("grid", lambda: best_time_grid(evaluate, job, space.families, options.grid, limits), None),
        splits=study.part("placements", lambda: _rl_placements(study, next(iter(reported.layouts), None)), ()),
    )


def _study_with_steps(study: Study) -> Study | None:
    """The study itself if its spec states a layout that is possible and has a predicted step."""
    return study if present_section(study) and study.has_figures and study.plan.step else None


def _fewer_nodes(
    study: Study, searched: Study, options: SearchOptions, reported: SearchReport, progress: Progress
) -> LayoutRow | None:
    """The best layout of the job on fewer nodes; None if there is none, or if its search fails."""
    return study.part("fewer nodes", lambda: _layout_on_fewer_nodes(searched, options, reported, progress), None)


def best_layout(study: Study, objective: str = "") -> tuple[SearchReport, LayoutRow | None]:
    """The best layout of a study's job, on all nodes or on a power of two of them; and the search on all nodes."""
    options = SearchOptions(objective=objective, top=1, best_only=True)
    report = search(study, options)
    serves = study.spec.workload is not None and study.spec.workload.implied_kind == "serve"
    fewer = None if serves else _layout_on_fewer_nodes(with_a_layout(study), options, report)
    return report, fewer or next(iter(report.layouts), None)


def _layout_on_fewer_nodes(
    study: Study, options: SearchOptions, whole: SearchReport, progress: Progress = lambda done, total: None
) -> LayoutRow | None:
    """The best layout on part of the nodes, where its step is shorter than on all of them; else None.

    The degrees of a layout divide a power of two of nodes, or of those in each domain, better than most other numbers.
    """
    cluster = study.design.cluster
    fewer = fewer_nodes(study.spec.layout, cluster) if cluster is not None else None
    if fewer is None or options.objective not in {"", "step_time"}:
        return None
    key, number = fewer
    changed = rewritten_study(study, {("layout", key): number})
    wanted = replace(options, top=1, best_only=True)
    before = whole.evaluated

    def values_of_both(done: int, total: int) -> object:
        return progress(before + done, before + total)

    found = search(changed, wanted, values_of_both, *searches_of_studies([changed], wanted))
    best, row = next(iter(whole.layouts), None), next(iter(found.layouts), None)
    if row is None or row.step_time is None or found.unsure:
        return None
    limit = best.step_time if best is not None and best.step_time is not None and not whole.unsure else inf
    return row if row.step_time * (1 + TIE) < limit else None


def _rl_placements(study: Study, best: LayoutRow | None) -> tuple[RlSplit, ...]:
    """The placements of reinforcement learning, each with the layout of the spec for the trainer or with the best one,
    whichever is faster; none for other work.
    """
    if study.design.workload is None or study.design.workload.rl is None:
        return ()
    from clusterspec.analysis.searches.rl_splits import Rollouts, faster_splits, rl_splits  # few searches need them

    rollouts: Rollouts = {}
    nodes = study.fleet_part[1].nodes if study.fleet_part is not None else None
    found = rl_splits(study.design, nodes, rollouts)
    if best is None:
        return found
    changed = rewritten_study(with_a_layout(study), {("layout",): best.layout})
    return faster_splits(found, rl_splits(changed.design, nodes, rollouts, layout="best"))


def _present_row(study: Study) -> LayoutRow:
    """The row of the layout of the spec."""
    return layout_row(StudyVariations(study), present_section(study), study)


def _incomplete_report(study: Study, options: SearchOptions) -> SearchReport:
    """The report for a spec that lacks the inputs of a search."""
    nothing = (options.objective, 0, 0, 0, (), (), None)
    why = missing_for_search(study)
    return SearchReport(study.settings.tool, study.input, *nothing, why=why, may_fit=0, incomplete=True)


def _search_report(
    studied: StudyVariations, job: SearchJob, space: Space, result: SearchResult, picks: Picks[Kept]
) -> SearchReport:
    """The report of the result of a search."""
    study, rows = studied.one, picked_rows(studied, job, space, picks)
    least = result.smallest if result.smallest and not result.best else None
    return SearchReport(
        study.settings.tool,
        study.input,
        "",
        result.evaluated,
        result.fitting,
        sum(picks.refused.values()),
        rows,
        (),
        None,
        smallest=smallest_layout_row(studied, section_of(job, space.choice(least.number))) if least else None,
        first_refused=refused_row(studied, job, space, picks),
        currency=currency_of(study),
        may_fit=result.may_fit,
        refused_by=dict(picks.refused),
        unsure=result.unsure and bool(rows),
        unsearched=() if job.searches_pipelines or any(one.pp > 1 for one in space.families) else ("pp",),
    )


def _empty_search_reason(result: SearchResult, job: SearchJob, pins: Pins, picks: Picks[Kept]) -> str:
    """Why a search shows no layout."""
    if any(not each.required_use_sets for each in job.demands.refused):
        return f"{job.layout.framework} does not support what every layout of this job uses; `check` names it"
    if not result.evaluated:
        return _indivisible_batch_reason(job, pins) or (
            "no layout divides the ranks, heads, layers and batch of this job with the keys that are fixed"
        )
    if result.smallest is None:
        return (
            "no layout has a step time: a fabric that it uses, or its rate, is not known; `check` names the missing"
            " keys"
        )
    if result.fits_nowhere:
        return "no legal layout fits in memory"
    if not result.best:
        return "no layout leaves that much memory free"
    return f"rules find an error in every layout kept{refusing_text(picks.refused)}"


def _indivisible_batch_reason(job: SearchJob, pins: Pins) -> str:
    """Why no layout divides the batch, and the nearest batches that one divides; empty if the batch is not why."""
    batch, degrees = job.workload.global_batch, data_parallel_degrees(job, pins)
    if batch is None or not degrees or any(batch % dp == 0 for dp in degrees):
        return ""
    dp = max((each for each in degrees if each <= batch), default=min(degrees))
    below = batch - batch % dp
    multiples = " and ".join(f"{each:,}" for each in (below, below + dp) if each)
    many = "are multiples" if below else "is a multiple"
    return f"no dp of {job.demands.ranks:,} ranks divides a global batch of {batch:,}; {multiples} {many} of dp {dp:,}"
