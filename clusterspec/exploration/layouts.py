"""The best layouts of a study's job, each checked by the rules."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.cluster.model import Design
from clusterspec.cost.plan import Plan
from clusterspec.exploration.options import SearchOptions
from clusterspec.exploration.studied import Studied, currency_of, errors_of, job_of, present_section, whole_section
from clusterspec.pipeline import Study
from clusterspec.records import replace
from clusterspec.results.search import Grid, GridCell, LayoutRow, SearchReport, Section
from clusterspec.search.evaluate import evaluation
from clusterspec.search.families import families
from clusterspec.search.front import Kept
from clusterspec.search.layouts import section_of
from clusterspec.search.run import Found, Limits, Progress
from clusterspec.search.run import search as run_search
from clusterspec.search.space import Family, Pins, SearchJob, Space

__all__ = ["SearchOptions", "search"]
NOTHING_TO_SEARCH = "a search needs a cluster, a training workload and a layout that resolve"


def search(study: Study, options: SearchOptions, progress: Progress = lambda done, total: None) -> SearchReport:
    """The best legal layouts of a study's job, each checked by all rules.

    For a serving plan, the search varies the engines and their number.
    """
    if study.spec.workload is not None and study.spec.workload.kind == "serve":
        from clusterspec.exploration.serving import search_serving

        return search_serving(study, options, progress)
    options = replace(options, objective=options.objective or "step_time")
    design, job = study.design, job_of(study.design)
    if job is None or study.document is None:
        nothing = (options.objective, 0, 0, 0, (), (), None)
        return SearchReport(study.settings.tool, study.input, *nothing, why=NOTHING_TO_SEARCH)
    studied = Studied(study)
    space = Space(list(families(job, Pins(options.pins))))
    memory = job.cluster.accelerator.memory
    limits = Limits(memory.value if memory else None, options.min_headroom)
    found = run_search(
        space, evaluation(design, job), limits, top=options.top, objective=options.objective, progress=progress
    )
    rows, refused = _checked(studied, job, space, found.best, options.top)
    front, _ = _checked(studied, job, space, found.front, options.top)
    runs = study.possible and study.plan.step_time is not None
    present = _row(studied, present_section(study), design, study.plan) if runs else None
    least = found.smallest if found.smallest and not found.fitting else None
    return SearchReport(
        study.settings.tool,
        study.input,
        options.objective,
        found.evaluated,
        found.fitting,
        refused,
        _with_ties(rows),
        tuple(front),
        present,
        smallest=_estimated(studied, section_of(job, space.choice(least.number))) if least else None,
        grid=_grid(studied, job, space.families, options, limits) if options.grid else None,
        why=_why(found, rows),
        currency=currency_of(study),
    )


def _why(found: Found, rows: tuple[LayoutRow, ...]) -> str:
    if rows:
        return ""
    if not found.evaluated:
        return "no layout divides the ranks, heads, layers and batch of this job with the keys that are fixed"
    return "no legal layout fits in memory" if not found.fitting else "a rule finds an error in every layout kept"


def _checked(
    studied: Studied, job: SearchJob, space: Space, kept: Iterable[Kept], top: int
) -> tuple[tuple[LayoutRow, ...], int]:
    """The first rows in which no rule finds an error, and the number of rejected rows before them."""
    rows: list[LayoutRow] = []
    refused = 0
    for each in kept:
        if len(rows) == top:
            break
        row = _layout_row(studied, section_of(job, space.choice(each.number)))
        refused += row is None
        rows += [row] if row else []
    return tuple(rows), refused


def _estimated(studied: Studied, section: Section) -> LayoutRow:
    """A row for a layout in place of the spec's, regardless of findings."""
    varied = studied.with_layout(section)
    return _row(studied, section, varied.design, varied.plan)


def _layout_row(studied: Studied, section: Section) -> LayoutRow | None:
    """A row for a layout in place of the spec's, estimated and checked; None if a rule finds an error that the machine
    alone does not have."""
    varied = studied.with_layout(section)
    if errors_of(varied) - studied.machine_errors:
        return None
    return _row(studied, section, varied.design, varied.plan)


def _row(studied: Studied, section: Section, design: Design, plan: Plan) -> LayoutRow:
    low, high = plan.step_time_range or (None, None)
    return LayoutRow(
        layout=whole_section(studied.one, section),
        step_time=plan.step_seconds,
        low=low,
        high=high,
        mfu=plan.mfu,
        memory=plan.memory_bytes,
        fits=plan.fits,
        cost=studied.cost(design, plan),
    )


def _with_ties(rows: tuple[LayoutRow, ...]) -> tuple[LayoutRow, ...]:
    """Marks the layouts that lie within the half-width of the best one's range."""
    best = rows[0] if rows else None
    if best is None or best.step_time is None or best.low is None or best.high is None:
        return rows
    most = best.step_time + (best.high - best.low) / 2
    return tuple(replace(row, tied=row.step_time is not None and row.step_time <= most) for row in rows)


def _grid(studied: Studied, job: SearchJob, space: tuple[Family, ...], options: SearchOptions, limits: Limits) -> Grid:
    """The best layout for every pair of degrees of two axes, by step time."""
    assert options.grid is not None
    first, second = options.grid
    evaluate = evaluation(studied.one.design, job)
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
