"""Tables of layouts that a search found: lines of layouts, placements of roles, step times by degrees, and CSV."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec import report as grid
from clusterspec.procurement.amounts import money_text
from clusterspec.report import TextStyle, text_table
from clusterspec.results.search import Grid, GridCell, LayoutRow, RlSplit, SearchReport, Section
from clusterspec.units import display, percent

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
SPLITS = 12
"""Placements of reinforcement learning that are printed; JSON has all."""


def layouts_table(rows: tuple[LayoutRow, ...], style: TextStyle, currency: str = "") -> str:
    """One line per layout, costs in ``currency``. Columns with only default values are left out.

    Where the terminal is too narrow for a column per key, one column holds all keys.
    """
    keys = [key for key in SHOWN if any(key in row.layout for row in rows)]
    costs = any(row.cost is not None for row in rows)
    measured = ("step", "range", "MFU", "memory", *((f"{currency} a run".lstrip(),) if costs else ()))
    figures = [_layout_figures(row)[: len(measured)] for row in rows]
    numbers = [f"{number}{'=' if row.tied and number > 1 else ''}" for number, row in enumerate(rows, 1)]
    heads = ("", *(SHORT.get(key, key) for key in keys), *measured)
    degrees = [[_value_text(row.layout.get(key, "")) for key in keys] for row in rows]
    lines = [(number, *cells, *found) for number, cells, found in zip(numbers, degrees, figures, strict=True)]
    last = range(len(heads) - costs, len(heads))
    unbounded = TextStyle(style.on, width=1_000)
    wide = grid.text_table(heads, lines, right=(0, *last), style=unbounded)
    if max(map(grid.text_width, wide.splitlines())) <= style.width:
        return wide
    folded = [layout_text(row.layout) for row in rows]
    narrow = [(number, text, *found) for number, text, found in zip(numbers, folded, figures, strict=True)]
    return grid.text_table(
        ("", "layout", *measured), narrow, right=(0, *((6,) if costs else ())), wrap=(1,), style=style
    )


def _layout_figures(row: LayoutRow) -> tuple[str, ...]:
    """Step time with its range, MFU, memory and cost."""
    return (
        display(row.step_time, "s") if row.step_time is not None else "?",
        f"{display(row.low, 's')} – {display(row.high, 's')}" if row.low is not None and row.high is not None else "",
        percent(row.mfu) if row.mfu is not None else "?",
        memory_text(row),
        money_text(round(row.cost)) if row.cost is not None else "",
    )


def memory_text(row: LayoutRow) -> str:
    """The memory of a layout. ``x`` marks a layout that does not fit, ``?`` one whose upper estimate does not fit."""
    if row.memory is None:
        return "?"
    mark = " x" if row.fits is False else " ?" if row.surely_fits is False else ""
    return display(row.memory, "B") + mark


def _value_text(value: object) -> str:
    return ",".join(str(each) for each in value) if isinstance(value, list | tuple) else str(value)


def layout_text(layout: Section, pools: Mapping[str, Section] | None = None) -> str:
    """The keys of a layout in short. Separate engines are listed by side."""
    if pools:
        return ", ".join(f"{side} {layout_text(engine)}" for side, engine in pools.items())
    shown = ("replicas", *SHOWN, "attention_dp", "dp", "nodes", "nodes_per_domain")
    return ", ".join(f"{SHORT.get(key, key)} {_value_text(layout[key])}" for key in shown if key in layout)


def splits_table(splits: tuple[RlSplit, ...], style: TextStyle) -> str:
    """The placements of reinforcement learning, with the idle share of each role."""
    rows = [
        (
            f"  {one.placement}",
            f"{one.trainer_nodes:,}",
            f"{one.rollout_nodes:,}" if one.rollout_nodes else "",
            str(one.rollout_tp),
            str(one.max_staleness),
            display(one.step_time, "s"),
            f"{one.tokens_per_second_per_accelerator:,.0f}",
            f"{percent(one.idle.get('rollout', 0.0), 2)}",
            f"{percent(one.idle.get('update', 0.0), 2)}",
            one.layout,
        )
        for one in splits
    ]
    heads = (
        "  placement",
        "trainer",
        "rollout",
        "tp",
        "ahead",
        "step",
        "tokens/s",
        "rollout idle",
        "trainer idle",
        "layout",
    )
    return text_table(heads, rows, right=tuple(range(1, 9)), style=style)


def heat_table(layout_grid: Grid, style: TextStyle) -> str:
    """A table of step times: x if no layout fits, · if none is legal, * at the present degrees."""
    rows = sorted({cell.row for cell in layout_grid.cells})
    columns = sorted({cell.column for cell in layout_grid.cells})
    by_pair = {(cell.row, cell.column): cell for cell in layout_grid.cells}
    lines = [(str(row), *(_heat_cell(by_pair.get((row, column))) for column in columns)) for row in rows]
    heads = ("", *(str(column) for column in columns))
    note = "x does not fit in memory; · no legal layout; * the degrees of the layout of the spec\n"
    return grid.text_table(heads, lines, right=range(len(heads)), style=style) + note


def _heat_cell(cell: GridCell | None) -> str:
    if cell is None or cell.step_time is None:
        return "·"
    return display(cell.step_time, "s") + (" x" if cell.fits is False else "") + (" *" if cell.present else "")


def search_csv(report: SearchReport) -> str:
    """One row per layout."""
    fields = (*SHOWN, "step_time", "low", "high", "mfu", "memory", "fits", "surely_fits", "cost", "tied", "findings")
    rows = []
    for row in report.layouts:
        times = (row.step_time, row.low, row.high, row.mfu, row.memory, row.fits, row.surely_fits, row.cost, row.tied)
        figures = ["" if value is None else str(value) for value in times]
        rows.append([*(_value_text(row.layout.get(key, "")) for key in SHOWN), *figures, " ".join(row.findings)])
    return grid.csv_text(fields, rows)
