"""Results of search as text and CSV."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.procurement.money import money
from clusterspec.report import grid
from clusterspec.report.ink import PLAIN, Ink, wrapped
from clusterspec.results.search import (
    Grid,
    GridCell,
    LayoutRow,
    SearchReport,
    Section,
)
from clusterspec.units import display, percent, plural

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


def layout_text(layout: Section, pools: Mapping[str, Section] | None = None) -> str:
    """The keys of a layout in short, those of separate engines by side."""
    if pools:
        return ", ".join(f"{side} {layout_text(engine)}" for side, engine in pools.items())
    shown = ("replicas", *SHOWN, "attention_dp", "dp", "nodes")
    return ", ".join(f"{SHORT.get(key, key)} {_value(layout[key])}" for key in shown if key in layout)
