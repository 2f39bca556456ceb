"""The effects of steps of parameters as text and as CSV."""

from __future__ import annotations

from clusterspec import report as grid
from clusterspec.procurement.amounts import money_text
from clusterspec.report import PLAIN, TextStyle, paragraph, wrapped_lines
from clusterspec.report.solve_text import SERVED_KEYS, rate_text
from clusterspec.results.levers import LeverRow, SensitivityReport
from clusterspec.units import display, display_bits, percent

NEGLIGIBLE = 5e-4
"""Relative effect that prints as 0.0 %."""


def sensitivity_as_text(report: SensitivityReport, style: TextStyle = PLAIN) -> str:
    """One line per step of a parameter, largest effect on the time per token first."""
    if not report.levers:
        why = report.why or "neither step time nor time per output token of the spec can be computed"
        return paragraph(f"Nothing to vary: {why}.", style)
    costs = any(row.cost is not None for row in report.levers)
    each = "tpot" if any(row.key in SERVED_KEYS for row in report.levers) else "step"
    cost = (f"{report.currency} {'per M tokens' if each == 'tpot' else 'a run'}".lstrip(),) if costs else ()
    full = ("tokens/s", "queue") if report.queue_grows else ()
    heads = ("parameter", "from", "to", "throughput" if full else "time per token", *full, each, "memory", *cost)
    moving = [row for row in report.levers if not _is_hidden(row) and not row.errors]
    rows = [_lever_cells(row, costs, overloaded=bool(full)) for row in moving]
    note = "x does not fit in memory\n" if any(row.fits is False for row in moving) else ""
    full_rows = not full and any(row.queue_grows for row in moving)
    note += "q of full engines: the queue grows without end\n" if full_rows else ""
    numbers = tuple(column for column in range(3, len(heads)) if heads[column] != "queue")
    body = grid.text_table(heads, rows, right=numbers, style=style) if rows else ""
    return _overload_text(report, style) + body + note + _idle_steps_text(report, style) + _refusals_text(report, style)


def _overload_text(report: SensitivityReport, style: TextStyle) -> str:
    """A paragraph on the quantity to which effects refer if requests arrive faster than the engines serve them; else
    empty.
    """
    if not report.queue_grows or report.output_tokens_per_second is None:
        return ""
    return (
        paragraph(
            f"The queue grows without end: full engines produce {report.output_tokens_per_second:,.0f} output tokens "
            "per second, fewer than the load requests. Effects are on that throughput; times are of full engines.",
            style,
        )
        + "\n"
    )


def _is_hidden(row: LeverRow) -> bool:
    """Whether the effect of a step is too small to be printed."""
    return row.effect is not None and abs(row.effect) < NEGLIGIBLE


def _idle_steps_text(report: SensitivityReport, style: TextStyle) -> str:
    """The steps without an effect, in a sentence."""
    idle = [
        f"{row.key} {_lever_value_text(row, row.before)} → {_lever_value_text(row, row.after)}"
        for row in report.levers
        if _is_hidden(row)
    ]
    of = "throughput" if report.queue_grows else "time per token"
    text = f"Changes with less than {percent(NEGLIGIBLE)} effect on the {of}: {', '.join(idle)}."
    return paragraph(text, style) if idle else ""


def _refusals_text(report: SensitivityReport, style: TextStyle) -> str:
    """The steps in which a rule finds an error, by rule: each parameter with the values to which it cannot move."""
    refused: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for row in report.levers:
        if row.errors:
            refused.setdefault(tuple(row.errors), {}).setdefault(row.key, []).append(_lever_value_text(row, row.after))
    lines = []
    for rules, keys in refused.items():
        moves = "; ".join(f"{key} → {' or '.join(values)}" for key, values in keys.items())
        lines.append(f"  {' and '.join(rules)}: {moves}")
    text = "".join(f"{part}\n" for line in lines for part in wrapped_lines(line, style.measure, then="    "))
    return f"Left out, since `check` finds an error with these values:\n{text}" if lines else ""


def _lever_cells(row: LeverRow, costs: bool, *, overloaded: bool = False) -> tuple[str, ...]:
    tokens = row.output_tokens_per_second
    full = (f"{tokens:,.0f}" if tokens is not None else "–", "grows" if row.queue_grows else "no")
    return (
        row.key,
        _lever_value_text(row, row.before),
        _lever_value_text(row, row.after),
        f"{row.effect:+.1%}".replace("%", " %").replace("-", "−") if row.effect is not None else "–",
        *(full if overloaded else ()),
        (display(row.step_time, "s") if row.step_time is not None else "–")
        + (" q" if row.queue_grows and not overloaded else ""),
        (display(row.memory, "B") if row.memory is not None else "–") + (" x" if row.fits is False else ""),
        *((_money_cell(row.cost),) if costs else ()),
    )


def _money_cell(cost: float | None) -> str:
    """A cost; the cost of a million tokens has two decimals."""
    return money_text(round(cost, 2 if cost < 1000 else None)) if cost is not None else ""


def _lever_value_text(row: LeverRow, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float | int):
        return str(value)
    if row.key == "nic_bandwidth":
        return display_bits(float(value))
    if row.unit == "B/s":
        return display(float(value), "B/s")
    if row.key == "request_rate":
        return rate_text(value)
    return f"{value:g}:1" if row.key == "oversubscription" else f"{value:,.0f}"


def sensitivity_csv(report: SensitivityReport) -> str:
    """One row per step of a parameter, in SI units."""
    served = ("output_tokens_per_second", "queue_grows") if report.queue_grows is not None else ()
    fields = ("key", "from", "to", "unit", "effect", "step_time", *served, "memory", "fits", "cost", "errors")
    rows = [row.to_json() | {"errors": " ".join(row.errors)} for row in report.levers]
    return grid.csv_text(fields, ([("" if row[name] is None else row[name]) for name in fields] for row in rows))
