"""The best assignments of the jobs of a fleet as text, and all options as CSV."""

from __future__ import annotations

from clusterspec.procurement.amounts import money_text
from clusterspec.report import PLAIN, TextStyle, csv_text, paragraph, text_table, title_text, wrapped_lines
from clusterspec.report.estimate_rows import latency_text
from clusterspec.report.layout_tables import layout_text
from clusterspec.results.fleet_search import UNSEARCHED, Assignment, FleetSearchReport, JobOption
from clusterspec.units import display, percent, plain, plural

UNKNOWN = "–"
WORDS = {"time": "time of all runs", "cost": "cost", "energy": "energy"}
HEADS = ("job", "pool", "nodes", "layout", "time", "run")
MOST_ROWS = 40
"""Largest number of options that are printed; CSV and JSON have all."""


def fleet_search_text(report: FleetSearchReport, style: TextStyle = PLAIN) -> str:
    """The best assignments, the assignment of the spec, and the options that were compared."""
    waits: dict[str, list[int]] = {}
    for number, one in enumerate(report.assignments, 1):
        waits.setdefault(_wait_text(one), []).append(number)
    looked = f"{plural(len(report.options), 'choice')} of job, pool and nodes compared."
    parts = [paragraph(f"{title_text(report.name)}: {looked}", style)]
    for number, assignment in enumerate(report.assignments, 1):
        parts.append(
            style.paint("bold", _assignment_title(report, assignment, number))
            + "\n"
            + _assignment_table(report, assignment, style)
        )
    told = [f"Number {', '.join(map(str, numbers))}: {text}" for text, numbers in waits.items() if text]
    parts += [paragraph(each, style) for each in told]
    if report.why:
        parts.append(paragraph(f"No assignment: {report.why}.", style))
    if report.present is not None:
        parts.append(paragraph(_present_text(report, report.present), style))
    parts.append(style.paint("bold", "Choices") + "\n" + _options_table(report, style))
    return "\n".join(parts)


def _assignment_title(report: FleetSearchReport, assignment: Assignment, number: int) -> str:
    name = "Best" if number == 1 else f"Number {number}"
    gap = f"; a better assignment is at most {percent(assignment.gap, 2)} lower" if assignment.gap else ""
    searched = all(option.why != UNSEARCHED for option in report.options)
    proven = "; proven" if number == 1 and not assignment.gap and searched else ""
    runs = any(option.elapsed is not None for option in assignment.jobs.values())
    value = _value_text(report, assignment.objective) if runs or report.objective != "time" else "no job has a run"
    return f"{name} by {report.objective}: {value}{gap}{proven}"


def _wait_text(assignment: Assignment) -> str:
    """The jobs of an assignment that wait for a storage system; empty if none does."""
    waits = [f"{name} {plain(one.store_wait, 3)} times" for name, one in assignment.jobs.items() if one.store_wait > 1]
    return f"runs are longer, because jobs wait for their common storage system: {', '.join(waits)}." if waits else ""


def _value_text(report: FleetSearchReport, value: float) -> str:
    return money_text(round(value), report.currency) if report.objective == "cost" else display(value, report.unit)


def _assignment_table(report: FleetSearchReport, assignment: Assignment, style: TextStyle) -> str:
    extra = _extra_head(report)
    rows = [(*_option_cells(option), *_extra_cells(report, option)) for option in assignment.jobs.values()]
    return text_table((*HEADS, *extra), rows, right=(2, 4, 5, *range(6, 6 + len(extra))), wrap=(0, 1, 3), style=style)


def _extra_head(report: FleetSearchReport) -> tuple[str, ...]:
    return () if report.objective == "time" else (report.objective,)


def _extra_cells(report: FleetSearchReport, option: JobOption) -> tuple[str, ...]:
    if report.objective == "time":
        return ()
    value = option.cost if report.objective == "cost" else option.energy
    return (_value_text(report, value) if value is not None else UNKNOWN,)


def _option_cells(option: JobOption) -> tuple[str, ...]:
    layout = {key: value for key, value in (option.layout or {}).items() if key != "nodes"}
    mark = " ?" if option.surely_fits is False else ""
    shown = layout_text(layout, option.disaggregated) + mark
    if option.rl is not None:
        rollout = option.rl["rollout"]
        where = f" on {plural(rollout['nodes'], 'node')}" if "nodes" in rollout else ""
        ahead = f", {plural(option.rl['max_staleness'], 'step')} ahead" if option.rl["max_staleness"] else ""
        shown += f"; rollout {option.rl['placement']}{where}, tp {rollout['tp']}{ahead}"
    shown += f"{'; ' if shown else ''}as in the spec" if option.as_written else ""
    run = display(option.elapsed, "s") if option.elapsed is not None else UNKNOWN
    return (option.job, option.pool, f"{option.nodes:,}", shown, _time_text(option), run)


def _time_text(option: JobOption) -> str:
    if option.serving is not None:
        return f"{latency_text(option.serving, 'ttft')} / {display(option.serving['tpot'], 's')}"
    return display(option.step_time, "s") if option.step_time is not None else UNKNOWN


EQUAL = 5e-4
"""Share saved below which an assignment is as good as the spec's."""


def _present_text(report: FleetSearchReport, present: Assignment) -> str:
    where = ", ".join(f"{name} on {each.nodes} of {each.pool}" for name, each in present.jobs.items())
    text = f"The spec ({where}, with its own layouts): {_value_text(report, present.objective)}"
    missed = [f"{name}: {reason}" for name, each in present.jobs.items() for reason in each.missed]
    if missed:
        return f"{text}; it misses {'; '.join(missed)}."
    if report.assignments and present.objective > 0:
        saved = max(0.0, 1 - report.assignments[0].objective / present.objective)
        return f"{text}; " + (
            f"the best one saves {percent(saved, 2)}." if saved >= EQUAL else "no assignment is better."
        )
    return f"{text}."


def _options_table(report: FleetSearchReport, style: TextStyle) -> str:
    extra = _extra_head(report)
    names = dict.fromkeys(option.job for option in report.options)
    searched = [option for option in report.options if option.why != UNSEARCHED]
    rows = [_option_row(report, option) for name in names for option in searched if option.job == name]
    heads = (*HEADS[:3], *HEADS[4:], *extra, "")
    shown = text_table(
        heads, rows[:MOST_ROWS], right=range(2, len(heads) - 1), wrap=(0, 1, len(heads) - 1), style=style
    )
    more = f"{len(rows) - MOST_ROWS} more with --format csv or json.\n" if len(rows) > MOST_ROWS else ""
    note = "time: of a step, or to the first / of each next token. run: with pauses in which other jobs have the nodes."
    notes = [note, *_unsearched_text(report)]
    return shown + more + "".join(line + "\n" for each in notes for line in wrapped_lines(each, style.measure))


def _unsearched_text(report: FleetSearchReport) -> list[str]:
    """The choices that were not searched, with lower bounds of their run times."""
    least: dict[tuple[str, str], list[JobOption]] = {}
    for option in report.options:
        if option.why == UNSEARCHED:
            least.setdefault((option.job, option.pool), []).append(option)
    if not least:
        return []
    told = [
        f"{job} on {pool} (at least {display(min(each.least or 0.0 for each in some), 's')})"
        for (job, pool), some in least.items()
    ]
    return [
        f"Not searched: {', '.join(told)}. An assignment with one of these choices could"
        " be as good as the shown ones only if its nodes were over 5 % more efficient than at the best searched size;"
        " --all-choices searches these choices, too."
    ]


def _option_row(report: FleetSearchReport, option: JobOption) -> tuple[str, ...]:
    best = report.assignments[0].jobs.get(option.job) if report.assignments else None
    told = "best" if option.has_same_nodes(best) else "; ".join(option.missed) or option.why
    cells = _option_cells(option)
    return (*cells[:3], *cells[4:], *_extra_cells(report, option), told)


FIELDS = (
    "job",
    "pool",
    "nodes",
    "layout",
    "step_time",
    "mfu",
    "elapsed",
    "ttft",
    "tpot",
    "queue_grows",
    "memory",
    "cost",
    "energy",
    "chosen",
    "missed",
    "why",
    "least",
)


def options_csv(report: FleetSearchReport) -> str:
    """One row per option, in SI units; ``chosen`` marks those of the best assignment."""
    best = report.assignments[0].jobs if report.assignments else {}
    rows = []
    for option in report.options:
        served = option.serving or {}
        values = option.to_json() | {key: served.get(key) for key in ("ttft", "tpot", "queue_grows")}
        values["layout"] = layout_text(option.layout or {}, option.disaggregated)
        values |= {"chosen": option.has_same_nodes(best.get(option.job)), "missed": "; ".join(option.missed)}
        rows.append(["" if values[key] is None else values[key] for key in FIELDS])
    return csv_text(FIELDS, rows)
