"""Serving plans found by search, and the points of a sweep, as text and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf

from clusterspec import report as grid
from clusterspec.procurement.amounts import money_text
from clusterspec.report import PLAIN, TextStyle, paragraph, wrapped_lines
from clusterspec.report.estimate_rows import heading_line, latency_text
from clusterspec.report.layout_tables import layout_text, memory_text
from clusterspec.report.search_text import comparison_text, findings_text, memory_note, refusing_rules_text
from clusterspec.report.separation_text import separation_text
from clusterspec.results.levers import SERVING_COLUMNS, SweepRow
from clusterspec.results.search import LayoutRow, SearchReport
from clusterspec.units import display, percent, plain, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEGREES = ("tp", "attention_dp", "ep", "pp")
SHORT = {"attention_dp": "adp"}


def serving_search_as_text(report: SearchReport, style: TextStyle = PLAIN) -> str:
    """The number of plans evaluated, the best plans, the Pareto front, and the plan of the spec."""
    parts = (
        [paragraph(f"Nothing to sweep: {report.why}.", style)]
        if report.incomplete
        else [paragraph(_counts_text(report), style)]
    )
    if report.layouts:
        title = f"Best by {report.objective.replace('_', ' ')}"
        parts.append(heading_line(title, style) + plans_table(report.layouts, style, report.currency))
        parts[-1] += _counting_note(report, style)
        notes = (memory_note(report.layouts), *findings_text(report.layouts, "plan").splitlines())
        parts.append("".join(paragraph(each, style) for each in notes))
        parts.append(
            "".join(paragraph(comparison_text(each, "plan", "a request"), style) for each in report.comparisons)
        )
        parts.append(paragraph(separation_text(report.separation), style) if report.separation else "")
    elif not report.incomplete:
        parts.append(paragraph(f"No plan found: {report.why}.{_nearest_text(report)}", style))
    if len(report.pareto) > 1:
        title = "Pareto front of output tokens per second of a user and of an accelerator"
        parts.append(heading_line(title, style) + plans_table(report.pareto, style, report.currency, fronted=True))
    if report.present is not None:
        parts.append(paragraph(_present_text(report, report.present), style))
    return "\n".join(part for part in parts if part)


def _counts_text(report: SearchReport) -> str:
    """The numbers of plans evaluated, meeting the targets, and dropped, with the rule."""
    looked = f"{report.evaluated:,} plans evaluated: {report.fitting:,} {report.aim}"
    looked += f", {report.may_fit:,} of these may not fit." if report.may_fit else "."
    return " ".join(each for each in (looked, refusing_rules_text(report, "plan")) if each)


def engines_text(row: LayoutRow) -> str:
    """The engines of a plan: ``4 × tp 8``, or ``2 × tp 4 prefill + 1 × adp 8 decode``."""
    serving = row.serving or {}
    pools = serving.get("disaggregated")
    return sides_text(pools) if pools else _engine_text(row.layout, serving.get("replicas") or 1)


def sides_text(sides: Mapping[str, Any]) -> str:
    """The engines of each side and their pool; the name of the side is omitted if there is only ``both``."""
    names = {side: f"{side} on {degrees['pool']}" if degrees.get("pool") else side for side, degrees in sides.items()}
    shown = ((names[side], _engine_text(degrees, degrees.get("replicas", 1))) for side, degrees in sides.items())
    return " + ".join(text if name == "both" else f"{text} {name}" for name, text in shown)


def _engine_text(degrees: object, replicas: int) -> str:
    assert isinstance(degrees, dict)
    named = [(key, degrees.get(key, 1)) for key in DEGREES]
    kept = [(key, value) for key, value in named if value != 1] or [("tp", 1)]
    shown = " ".join(f"{SHORT.get(key, key)} {value}" for key, value in kept)
    return f"{replicas} × {shown}"


def median_latencies(row: LayoutRow) -> tuple[float, float]:
    """The median time to first token, infinite in an endless queue, and time per output token of a plan, in seconds."""
    return _latency_pair(row, row.serving or {})


def target_latencies(row: LayoutRow) -> tuple[float, float]:
    """The time to first token and the time per output token of a plan at the percentile of the targets, in seconds."""
    return _latency_pair(row, (row.serving or {}).get("at_percentile") or row.serving or {})


def _latency_pair(row: LayoutRow, fields: Mapping[str, Any]) -> tuple[float, float]:
    return (inf if row.serving and row.serving.get("queue_grows") else fields["ttft"]), fields["tpot"]


def latency_heads(rows: Sequence[LayoutRow]) -> tuple[str, str]:
    """The names of `target_latencies`: ``TTFT p95`` and ``TPOT p95``; medians have no suffix."""
    at = next((row.serving["at_percentile"] for row in rows if row.serving and row.serving["at_percentile"]), None)
    suffix = f" p{plain(at['percentile'])}" if at else ""
    return f"TTFT{suffix}", f"TPOT{suffix}"


def plans_table(rows: tuple[LayoutRow, ...], style: TextStyle, currency: str, *, fronted: bool = False) -> str:
    """One line per plan. Plans of the front show their requests in flight."""
    costs = any(row.cost is not None for row in rows)
    heads = (
        "",
        "engines",
        *(("in flight",) if fronted else ("accelerators",)),
        *((("TTFT", "TPOT")) if fronted else latency_heads(rows)),
        "tok/s/user",
        "tok/s/acc",
        *(() if fronted else ("memory",)),
        *((f"{currency} per M tokens".lstrip(),) if costs else ()),
    )
    lines = []
    for number, row in enumerate(rows, 1):
        found = row.serving or {}
        whole = f"{found['concurrency']:,.0f}" if fronted else f"{found['accelerators']:,.0f}"
        memory = memory_text(row)
        lines.append(
            (
                str(number),
                engines_text(row),
                whole,
                *(
                    display(seconds, "s")
                    for seconds in (target_latencies(row) if not fronted else median_latencies(row))
                ),
                f"{found['tokens_per_second_per_user']:,.0f}",
                f"{found['output_tokens_per_second_per_accelerator']:,.0f}",
                *(() if fronted else (memory,)),
                *((money_text(round(row.cost, 2)) if row.cost is not None else "",) if costs else ()),
            )
        )
    return grid.text_table(heads, lines, right=(0, *range(2, len(heads))), wrap=(1,), style=style)


def _counting_note(report: SearchReport, style: TextStyle) -> str:
    """A note on which accelerators the plans count, if plans leave some of the machine idle; else empty."""
    plans = [row.serving for row in report.layouts if row.serving]
    partly = any(plan["idle"] for plan in plans)
    priced = any(row.cost is not None for row in report.layouts)
    if not partly and not (priced and len({plan["accelerators"] for plan in plans}) > 1):
        return ""
    what = "accelerators of a node" if partly else "accelerators"
    counted = (
        "throughput counts the accelerators in "
        f"use{', the cost of tokens all accelerators of the job' if priced else ''}"
    )
    note = f"Some plans leave {what} idle; {counted}."
    return style.paint("dim", "\n".join(wrapped_lines(note, style.measure, "  ", "  "))) + "\n"


def _nearest_text(report: SearchReport) -> str:
    if report.first_refused is not None:
        return f" The first of them is {engines_text(report.first_refused)}."
    row = report.smallest
    if row is None or row.serving is None:
        return ""
    heads, values = latency_heads((row,)), target_latencies(row)
    first, each = (f"{name} of {display(value, 's')}" for name, value in zip(heads, values, strict=True))
    return f" The nearest, {engines_text(row)}, reaches a {first} and a {each}."


EQUAL = 5e-4
"""Relative difference below which two plans make as many tokens."""


def _present_text(report: SearchReport, present: LayoutRow) -> str:
    found = present.serving or {}
    text = (
        f"The plan of the spec gives {display(found['output_tokens_per_second'], '1')} output tokens per second on "
        f"{plural(round(found['accelerators']), 'accelerator')}"
    )
    if present.fits is False:
        text += " and does not fit in memory"
    if found.get("queue_grows"):
        text += ", fewer than the load asks for, so that the queue grows without end"
    elif not found.get("meets_targets"):
        text += " and misses its targets"
    best = report.layouts[0].serving if report.layouts else None
    if best is None:
        return text + "."
    fewer = round(found["accelerators"] - best["accelerators"])
    gain = best["output_tokens_per_second_per_accelerator"] / found["output_tokens_per_second_per_accelerator"] - 1
    if engines_text(report.layouts[0]) == engines_text(present) and not fewer:
        return f"{text}; it is the best one found."
    difference = (
        plural(abs(fewer), f"{'fewer' if fewer > 0 else 'more'} accelerator") if fewer else "as many accelerators"
    )
    more = f"{percent(abs(gain), 2)} {'more' if gain >= 0 else 'fewer'} tokens per accelerator"
    more = more if abs(gain) >= EQUAL else "as many tokens per accelerator"
    return f"{text}; the best one uses {difference} and generates {more}."


FIELDS = (
    "ttft",
    "tpot",
    "queue_grows",
    "output_tokens_per_second",
    "output_tokens_per_second_per_accelerator",
    "concurrency",
)


def search_csv(report: SearchReport) -> str:
    """One row per plan: those at the load of the spec, then the front."""
    names = ("kind", "engines", "accelerators", *FIELDS, "memory", "fits", "cost")
    rows = []
    for kind, found in (("best", report.layouts), ("front", report.pareto)):
        for row in found:
            serving = row.serving or {}
            values = (
                serving.get("accelerators"),
                *(serving.get(name) for name in FIELDS),
                row.memory,
                row.fits,
                row.cost,
            )
            rows.append([kind, engines_text(row), *("" if value is None else str(value) for value in values)])
    return grid.csv_text(names, rows)


Column = tuple[str, Callable[[SweepRow], str]]
"""The head of a column, and its text for a point."""


def sweep_as_text(rows: list[SweepRow], style: TextStyle = PLAIN) -> str:
    """One line per point: axes, results, and the layout in short; below, the values that several points share."""
    names = list(rows[0].axes) if rows else []
    columns: list[Column] = [(name.rpartition(".")[2], _axis_cell(name)) for name in names]
    columns += _serving_columns() if any(row.serving for row in rows) else _training_columns()
    columns += [("memory", lambda row: _amount_text(row.memory, "B")), ("fits", lambda row: FITS[row.fits])]
    if any((row.serving or {}).get(MEETS) is False for row in rows):
        columns.append(("targets", _target_cell))
    if any(row.cost is not None for row in rows):
        head = "per M tokens" if any(row.serving for row in rows) else "cost"
        columns.append((head, _cost_text))
    columns.append((LAYOUT, lambda row: row.why or layout_text(row.layout or {}, (row.serving or {}).get(POOLS))))
    alike = {head: text for head, cell in columns if head in SHARED and (text := _shared_text(cell, rows))}
    columns = [column for column in columns if column[0] not in alike]
    lines = [tuple(shown(row) for _, shown in columns) for row in rows]
    last = [number for number, (head, _) in enumerate(columns) if head == LAYOUT]
    right = range(len(names), len(columns) - len(last))
    table = grid.text_table([head for head, _ in columns], lines, right=right, wrap=last, style=style)
    said = ", ".join(f"{head} {text}" for head, text in alike.items())
    return table + (f"\n{paragraph(f'At every point: {said}.', style)}" if said else "")


def _shared_text(cell: Callable[[SweepRow], str], rows: Sequence[SweepRow]) -> str:
    """The text that several points share in a column; empty if they differ or one of them has an error."""
    texts = {cell(row) for row in rows}
    return texts.pop() if len(rows) > 1 and len(texts) == 1 and not any(row.why for row in rows) else ""


LAYOUT = "layout"
SHARED = ("accelerators", "memory", LAYOUT)
"""Columns that stand below the table, in a sentence, where all points are alike."""


POOLS = "disaggregated"
MEETS = "meets_targets"
FITS = {True: "yes", False: "no", None: ""}


def _axis_cell(name: str) -> Callable[[SweepRow], str]:
    return lambda row: str(row.axes[name])


def _training_columns() -> list[Column]:
    return [
        ("step", lambda row: _amount_text(row.step_time, "s")),
        ("MFU", lambda row: percent(row.mfu) if row.mfu is not None else ""),
    ]


def _serving_columns() -> list[Column]:
    return [
        ("TTFT", lambda row: latency_text(row.serving, "ttft") if row.serving else ""),
        ("TPOT", lambda row: _amount_text(_row_figure(row, "tpot"), "s")),
        ("tok/s", lambda row: _number_text(_row_figure(row, "output_tokens_per_second"))),
        ("tok/s/acc", lambda row: _number_text(_row_figure(row, "output_tokens_per_second_per_accelerator"))),
        ("accelerators", lambda row: _number_text(_row_figure(row, "accelerators"))),
    ]


def _row_figure(row: SweepRow, name: str) -> float | None:
    return row.serving[name] if row.serving else None


def _target_cell(row: SweepRow) -> str:
    """Whether the plan of a point meets the targets of its spec; empty without a plan."""
    return ("met" if row.serving[MEETS] else "missed") if row.serving else ""


def _amount_text(value: float | None, unit: str) -> str:
    return display(value, unit) if value is not None else ""


def _number_text(value: float | None) -> str:
    return f"{value:,.0f}" if value is not None else ""


def _cost_text(row: SweepRow) -> str:
    if row.cost is None:
        return ""
    return money_text(round(row.cost, 2) if row.serving else round(row.cost))


def sweep_csv(rows: list[SweepRow]) -> str:
    """One row per point, in SI units."""
    names = list(rows[0].axes) if rows else []
    served: Sequence[str] = SERVING_COLUMNS if any(row.serving for row in rows) else ()
    fields = (*names, "step_time", "mfu", *served, "memory", "cost", "layout", "why", "fits", "errors")
    found = []
    for row in rows:
        pools = (row.serving or {}).get(POOLS)
        texts = {"layout": layout_text(row.layout or {}, pools), "errors": " ".join(row.errors)}
        found.append(row.to_json() | (row.serving or {}) | texts)
    return grid.csv_text(fields, (["" if one.get(name) is None else one[name] for name in fields] for one in found))
