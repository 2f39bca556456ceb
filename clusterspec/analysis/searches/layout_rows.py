"""Rows of the result of a search: the best layouts, the Pareto front, comparisons, and a grid of two axes."""

from __future__ import annotations

from clusterspec.analysis.searches.picks import Candidate, Picks, candidate_of, tied_layouts
from clusterspec.analysis.searches.space.families import section_of
from clusterspec.analysis.searches.space.kept import Kept
from clusterspec.analysis.searches.space.run import Evaluate, Limits, SearchResult
from clusterspec.analysis.searches.space.run import search as run_search
from clusterspec.analysis.searches.studied import (
    Family,
    SearchJob,
    Space,
    StudyVariations,
    errors_of,
    section_with_fixed_settings,
)
from clusterspec.cost.plan import Plan
from clusterspec.records import replace
from clusterspec.results.search import Comparison, Grid, GridCell, LayoutRow, Section
from clusterspec.studies import Study


def picked_rows(studied: StudyVariations, job: SearchJob, space: Space, picks: Picks[Kept]) -> tuple[LayoutRow, ...]:
    """The rows of the chosen layouts, with ties marked."""
    shown = picks.best_candidates
    if not shown:
        return ()
    same = [each.objection_counts == shown[0].objection_counts for each in shown]
    tied = tied_layouts([each.kept for each, alike in zip(shown, same, strict=True) if alike])
    return tuple(
        replace(_candidate_row(studied, job, space, each), tied=alike and each.kept in tied)
        for each, alike in zip(shown, same, strict=True)
    )


def front_rows(
    studied: StudyVariations, job: SearchJob, space: Space, result: SearchResult, picks: Picks[Kept]
) -> tuple[LayoutRow, ...]:
    """The first layouts of the Pareto front in which no rule finds an error."""
    known = {each.kept.number: each for each in picks.checked}
    rows: list[LayoutRow] = []
    for kept in result.front:
        if len(rows) == picks.top:
            break
        candidate = known.get(kept.number) or candidate_of(studied, job, space, kept)
        rows += [] if candidate is None or candidate.errors else [_candidate_row(studied, job, space, candidate)]
    return tuple(rows)


def _candidate_row(studied: StudyVariations, job: SearchJob, space: Space, candidate: Candidate[Kept]) -> LayoutRow:
    section, study = section_of(job, space.choice(candidate.kept.number)), candidate.study
    return replace(layout_row(studied, section, study), findings=candidate.finding_rules)


def refused_row(studied: StudyVariations, job: SearchJob, space: Space, picks: Picks[Kept]) -> LayoutRow | None:
    """The row of the first layout if the rules refuse all layouts; else None."""
    refused = picks.best_refused
    return None if refused is None else _candidate_row(studied, job, space, refused)


def smallest_layout_row(studied: StudyVariations, section: Section) -> LayoutRow | None:
    """The row of the layout with the least memory, regardless of findings."""
    return studied.one.part("smallest layout", lambda: layout_row(studied, section, studied.with_layout(section)), None)


def step_comparisons(picks: Picks[Kept], present: Study | None) -> tuple[Comparison, ...]:
    """The best layout compared with the next one, and with the layout of the spec."""
    shown = picks.best_candidates
    if not shown:
        return ()
    best = shown[0].study.plan
    others = [("next", each.study.plan) for each in shown[1:2]]
    others += [("spec", present.plan)] if present else []
    return tuple(_step_comparison(name, best, other) for name, other in others)


def _step_comparison(name: str, best: Plan, other: Plan) -> Comparison:
    """The difference of the parts of two steps."""
    assert best.step_time is not None and other.step_time is not None
    ours = {part.label: part.value for part in best.step_time.parts}
    theirs = {part.label: part.value for part in other.step_time.parts}
    parts = [(label, ours.get(label, 0.0) - theirs.get(label, 0.0)) for label in dict.fromkeys((*ours, *theirs))]
    parts = sorted((part for part in parts if part[1]), key=lambda part: -abs(part[1]))
    memory = (best.memory_bytes or 0.0) - (other.memory_bytes or 0.0)
    return Comparison(name, best.step_time.value - other.step_time.value, memory, tuple(parts))


def layout_row(studied: StudyVariations, section: Section, study: Study) -> LayoutRow:
    """The row of a study whose layout is ``section``."""
    plan = study.plan
    low, high = plan.step_time_range or (None, None)
    return LayoutRow(
        layout=section_with_fixed_settings(studied.one, section),
        step_time=plan.step_seconds,
        low=low,
        high=high,
        mfu=plan.mfu,
        memory=plan.memory_bytes,
        memory_range=plan.memory_range,
        fits=plan.fits,
        surely_fits=plan.surely_fits,
        cost=studied.cost(study.design, plan),
        errors=tuple(sorted(errors_of(study))),
    )


def best_time_grid(
    evaluate: Evaluate, job: SearchJob, space: tuple[Family, ...], axes: tuple[str, str] | None, limits: Limits
) -> Grid | None:
    """The best layout for every pair of degrees of two axes, by step time; None without axes."""
    if axes is None:
        return None
    first, second = axes
    by_pair: dict[tuple[int, int], list[Family]] = {}
    for family in space:
        by_pair.setdefault((getattr(family, first), getattr(family, second)), []).append(family)
    cells = []
    for (row, column), group in sorted(by_pair.items()):
        found = run_search(Space(group), evaluate, limits, top=1)
        best = found.best[0] if found.best else found.smallest
        present = (getattr(job.layout, first), getattr(job.layout, second)) == (row, column)
        fits = bool(found.best) if best else None
        cells.append(
            GridCell(row, column, best.step_time if best else None, best.memory if best else None, fits, present)
        )
    return Grid((first, second), tuple(cells))
