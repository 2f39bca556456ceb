"""Text and Markdown of the differences between two fleets."""

from __future__ import annotations

from clusterspec.report import PLAIN, TextStyle, diff_text, text_table
from clusterspec.report.fleet_costs import UNKNOWN
from clusterspec.report.fleet_text import POOL_HEADS, pool_row
from clusterspec.results.decision import DiffReport
from clusterspec.results.fleet import POOL_FIGURES, FleetDiffReport, JobUse, PoolUse
from clusterspec.units import display, percent


def fleet_diff_text(report: FleetDiffReport, style: TextStyle = PLAIN, *, markdown: bool = False) -> str:
    """The pools of both fleets, findings about the fleet, and the difference of every job that differs."""
    heads = ("pool", *POOL_FIGURES)
    pools = dict.fromkeys((*report.new_pools, *report.old_pools))
    rows = [_pool_change(name, report.old_pools.get(name), report.new_pools.get(name)) for name in pools]
    differing = {name: each for name, each in report.jobs.items() if _has_difference(each)}
    same = tuple(name for name in report.jobs if name not in differing)
    names = (("Jobs added", report.added), ("Jobs removed", report.removed), ("Jobs without a difference", same))
    lists = [f"{title}: {', '.join(each)}\n" for title, each in names if each]
    uses = [
        _job_change(name, report.old_jobs[name], use) for name, use in report.new_jobs.items() if name in report.jobs
    ]
    if markdown:
        jobs = [f"## {name}\n\n{diff_text.diff_as_markdown(each)}" for name, each in differing.items()]
        tables = [
            diff_text.markdown_table(each, some) + "\n" for each, some in ((heads, rows), (USE_HEADS, uses)) if some
        ]
        of_fleet = [f"- {line}" for line in _findings_of_fleet(report, PLAIN)]
        return "\n".join((*tables, *lists, *of_fleet, *jobs))
    jobs = [f"{style.paint('bold', name)}\n{diff_text.diff_as_text(each, style)}" for name, each in differing.items()]
    tables = [
        text_table(each, some, right=range(1 + number, len(each)), style=style)
        for number, (each, some) in enumerate(((heads, rows), (USE_HEADS, uses)))
        if some
    ]
    return "\n".join((*tables, *lists, *_findings_of_fleet(report, style), *jobs))


def _has_difference(report: DiffReport) -> bool:
    """Whether a key, a figure or a finding of a job differs."""
    return any((report.changes, report.effects, report.found, report.fixed, report.unchecked, report.caution))


def _findings_of_fleet(report: FleetDiffReport, style: TextStyle) -> list[str]:
    """The differing findings that belong to no single job, such as those about a shared storage system or a common
    budget.
    """
    lines = []
    for label, findings, of_job in (("new", report.found, "found"), ("fixed", report.fixed, "fixed")):
        known = {(one.rule, one.message) for each in report.jobs.values() for one in getattr(each, of_job)}
        lines += diff_text.labeled_lines(
            label, [one for one in findings if (one.rule, one.message) not in known], style
        )
    return lines


USE_HEADS = ("job", "pool", "nodes", "share", "run", "billed")
"""The columns of the jobs' shares of a fleet, in a difference."""


def _job_change(name: str, old: JobUse, new: JobUse) -> tuple[str, ...]:
    """A job's share of both fleets; differences as old -> new."""
    cells = [
        (
            use.pool or UNKNOWN,
            f"{use.nodes:,}" if use.nodes is not None else UNKNOWN,
            percent(use.share, 2),
            display(use.elapsed, "s") if use.elapsed is not None else UNKNOWN,
            f"{use.billed:,.0f}" if use.billed is not None else UNKNOWN,
        )
        for use in (old, new)
    ]
    pairs = zip(*cells, strict=True)
    return (name, *(after if before == after else f"{before} -> {after}" for before, after in pairs))


def _pool_change(name: str, old: PoolUse | None, new: PoolUse | None) -> tuple[str, ...]:
    cells = [pool_row(name, use)[1:] if use else (UNKNOWN,) * len(POOL_HEADS[1:]) for use in (old, new)]
    kept = [index for index, head in enumerate(POOL_HEADS[1:]) if head in POOL_FIGURES]
    pairs = [(cells[0][index], cells[1][index]) for index in kept]
    return (name, *(after if before == after else f"{before} -> {after}" for before, after in pairs))
