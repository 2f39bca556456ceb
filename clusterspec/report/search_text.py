"""Results of search, solve and sensitivity as text and CSV."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.procurement.money import money
from clusterspec.report import grid
from clusterspec.report.ink import PLAIN, Ink, wrapped
from clusterspec.results.search import (
    Grid,
    GridCell,
    LayoutRow,
    LeverRow,
    SearchReport,
    Section,
    SensitivityReport,
    SolveReport,
)
from clusterspec.units import display, display_bits, percent, plural

SHORT = {"virtual_stages": "vpp", "micro_batch": "mb", "shard_group": "group", "expert_tp": "etp"}
SHOWN = (
    "tp",
    "cp",
    "ep",
    "expert_tp",
    "pp",
    "virtual_stages",
    "micro_batch",
    "sharding",
    "shard_group",
    "recompute",
    "schedule",
    "order",
)
"""The keys that a search varies, in the order of their columns."""


def search(report: SearchReport, ink: Ink = PLAIN) -> str:
    """The number of layouts evaluated, the best layouts, and the difference to the present one."""
    looked = f"{report.evaluated:,} layouts evaluated, {report.fitting:,} fit in memory"
    refused = f", {plural(report.refused, 'layout')} refused by a rule" if report.refused else ""
    parts = ["\n".join(wrapped(f"{looked}{refused}.", ink.measure)) + "\n"]
    if report.layouts:
        parts.append(ink.paint("bold", f"Best by {report.objective.replace('_', ' ')}") + "\n")
        parts[-1] += table(report.layouts, ink, report.currency)
        parts += [_ties(report, ink), _front(report, ink)]
    else:
        least = report.smallest.memory if report.smallest else None
        smallest = f" The smallest takes {display(least, 'B')}." if least else ""
        parts.append("\n".join(wrapped(f"No layout found: {report.why}.{smallest}", ink.measure)) + "\n")
    if report.present is not None:
        parts.append("\n".join(wrapped(_present(report), ink.measure)) + "\n")
    if report.grid is not None:
        title = f"Best step time by {report.grid.axes[0]} (down) and {report.grid.axes[1]} (across)"
        parts.append(ink.paint("bold", title) + "\n" + heat(report.grid, ink))
    return "\n".join(part for part in parts if part)


def table(rows: tuple[LayoutRow, ...], ink: Ink, currency: str = "") -> str:
    """One line per layout, costs in ``currency``, without columns in which all layouts have the default."""
    keys = [key for key in SHOWN if any(key in row.layout for row in rows)]
    costs = any(row.cost is not None for row in rows)
    heads = (
        "",
        *(SHORT.get(key, key) for key in keys),
        "step",
        "range",
        "MFU",
        "memory",
        *((f"cost {currency}".rstrip(),) if costs else ()),
    )
    lines = [
        (
            f"{number}{'=' if row.tied and number > 1 else ''}",
            *(_value(row.layout.get(key, "")) for key in keys),
            display(row.step_time, "s") if row.step_time is not None else "?",
            f"{display(row.low, 's')} – {display(row.high, 's')}"
            if row.low is not None and row.high is not None
            else "",
            percent(row.mfu) if row.mfu is not None else "?",
            display(row.memory, "B") if row.memory is not None else "?",
            *((money(round(row.cost)) if row.cost is not None else "",) if costs else ()),
        )
        for number, row in enumerate(rows, 1)
    ]
    return grid.grid(heads, lines, right=(0, *range(len(heads) - costs, len(heads))), ink=ink)


def _value(value: object) -> str:
    return ",".join(str(each) for each in value) if isinstance(value, list | tuple) else str(value)


def _ties(report: SearchReport, ink: Ink) -> str:
    tied = sum(row.tied for row in report.layouts) - 1
    if tied <= 0:
        return ""
    text = (
        f"{plural(tied, 'layout')} marked = {'is' if tied == 1 else 'are'} tied with the best: "
        "closer than half the width of its uncertainty range."
    )
    return "\n".join(wrapped(text, ink.measure)) + "\n"


def _front(report: SearchReport, ink: Ink) -> str:
    if len(report.pareto) < 2:
        return ""
    return ink.paint("bold", "Pareto front of step time and memory") + "\n" + table(report.pareto, ink, report.currency)


def _present(report: SearchReport) -> str:
    present = report.present
    assert present is not None and present.step_time is not None
    text = f"The layout of the spec takes {display(present.step_time, 's')} a step"
    if present.fits is False:
        text += " and does not fit in memory"
    lost = report.lost
    if lost is None:
        return text + "."
    if lost <= 0:
        return text + ": no layout found is faster."
    return text + f": the best one saves {percent(lost)} of that."


def heat(found: Grid, ink: Ink) -> str:
    """A table of step times: x if no layout fits, · if none is legal, * at the present degrees."""
    rows = sorted({cell.row for cell in found.cells})
    columns = sorted({cell.column for cell in found.cells})
    by_pair = {(cell.row, cell.column): cell for cell in found.cells}
    lines = [(str(row), *(_cell(by_pair.get((row, column))) for column in columns)) for row in rows]
    heads = ("", *(str(column) for column in columns))
    note = "x does not fit in memory; · no legal layout; * the layout of the spec\n"
    return grid.grid(heads, lines, right=range(len(heads)), ink=ink) + note


def _cell(cell: GridCell | None) -> str:
    if cell is None or cell.step_time is None:
        return "·"
    return display(cell.step_time, "s") + (" x" if cell.fits is False else "") + (" *" if cell.present else "")


def search_csv(report: SearchReport) -> str:
    """One row per layout."""
    fields = (*SHOWN, "step_time", "low", "high", "mfu", "memory", "fits", "cost", "tied")
    rows = [
        [_value(row.layout.get(key, "")) for key in SHOWN]
        + [
            "" if value is None else str(value)
            for value in (row.step_time, row.low, row.high, row.mfu, row.memory, row.fits, row.cost, row.tied)
        ]
        for row in report.layouts
    ]
    return grid.separated(fields, rows)


OF_REQUESTS = ("concurrency", "request_rate", "input_tokens")
"""Levers that a serving plan alone has."""
UPWARD = ("concurrency", "request_rate", "input_tokens", "sequence_length", "oversubscription")
"""Keys of which the most is sought that keeps a metric below its limit."""


def solve(report: SolveReport, ink: Ink = PLAIN) -> str:
    """The boundary in a sentence, and the values tried."""
    lines = wrapped(_answer(report), ink.measure)
    tried = sorted(report.probes)
    shown = tried if len(tried) <= 12 else _spread(tried)
    rows = [
        (f"  {_amount(report, value)}", "?" if metric is None else f"{metric:.4g}", "yes" if holds else "no")
        for value, metric, holds in shown
    ]
    metric = report.condition.split("<")[0].split(">")[0]
    body = grid.grid((f"  {report.key}", metric, "meets it"), rows, right=(1,), ink=ink)
    return "\n".join(lines) + "\n\n" + ink.paint("bold", f"{plural(len(tried), 'value')} tried") + "\n" + body


def _spread(tried: list[tuple[float, float | None, bool]]) -> list[tuple[float, float | None, bool]]:
    """Twelve of the values tried, including both ends."""
    return [tried[round(index * (len(tried) - 1) / 11)] for index in range(12)]


def _answer(report: SolveReport) -> str:
    if report.value is None:
        return f"{report.condition}: {report.why}."
    holds = "The spec meets its targets" if report.condition == "targets" else f"{report.condition} holds"
    if report.free:
        return f"{holds} at every value of {report.key} that was tried."
    sold = ""
    if report.catalog_step is not None and report.catalog_step != report.value and report.key not in OF_REQUESTS:
        sold = f"; the nearest that is sold or usual and meets it: {_amount(report, report.catalog_step)}"
    now = f" (now {_amount(report, report.present)})" if report.present is not None else ""
    sense = "up to" if report.key in UPWARD and ">=" not in report.condition else "from"
    found = f" The best layout there: {layout_text(report.layout, report.disaggregated)}." if report.searched else ""
    return f"{holds} {sense} {report.key} = {_amount(report, report.value)}{now}{sold}.{found}"


def _amount(report: SolveReport, value: float) -> str:
    if report.key == "nic_bandwidth":
        return display_bits(value)
    if report.unit == "B/s":
        return f"{display(value, 'B/s')} each way"
    return f"{value:.4g}:1" if report.key == "oversubscription" else f"{value:,.0f}"


def sensitivity(report: SensitivityReport, ink: Ink = PLAIN) -> str:
    """One line per step of a lever, largest effect on the time per token first."""
    if not report.levers:
        return "Nothing to vary: neither step time nor time per output token of the spec can be computed.\n"
    costs = any(row.cost is not None for row in report.levers)
    each = "tpot" if any(row.key in OF_REQUESTS for row in report.levers) else "step"
    heads = (
        "lever",
        "from",
        "to",
        "time per token",
        each,
        "memory",
        *((f"cost {report.currency}".rstrip(),) if costs else ()),
    )
    rows = [
        (
            row.key,
            _lever_value(row, row.before),
            _lever_value(row, row.after),
            f"{row.effect:+.1%}".replace("%", " %").replace("-", "−") if row.effect is not None else "?",
            display(row.step_time, "s") if row.step_time is not None else "?",
            (display(row.memory, "B") if row.memory is not None else "?") + (" x" if row.fits is False else ""),
            *((money(round(row.cost)) if row.cost is not None else "",) if costs else ()),
        )
        for row in report.levers
    ]
    note = "x does not fit in memory\n" if any(row.fits is False for row in report.levers) else ""
    return grid.grid(heads, rows, right=(3, 4, 5, 6) if costs else (3, 4, 5), ink=ink) + note


def _lever_value(row: LeverRow, value: object) -> str:
    if not isinstance(value, float | int) or isinstance(value, bool):
        return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    if row.key == "nic_bandwidth":
        return display_bits(float(value))
    if row.unit == "B/s":
        return display(float(value), "B/s")
    return f"{value:g}:1" if row.key == "oversubscription" else f"{value:,.0f}"


def sensitivity_csv(report: SensitivityReport) -> str:
    """One row per step of a lever, in SI units."""
    fields = ("key", "from", "to", "unit", "effect", "step_time", "memory", "fits", "cost")
    rows = [row.to_json() for row in report.levers]
    return grid.separated(fields, ([("" if row[name] is None else row[name]) for name in fields] for row in rows))


def layout_text(layout: Section, pools: Mapping[str, Section] | None = None) -> str:
    """The keys of a layout in short, those of separate engines by side."""
    if pools:
        return ", ".join(f"{side} {layout_text(engine)}" for side, engine in pools.items())
    shown = ("replicas", *SHOWN, "attention_dp", "dp", "nodes")
    return ", ".join(f"{SHORT.get(key, key)} {_value(layout[key])}" for key in shown if key in layout)
