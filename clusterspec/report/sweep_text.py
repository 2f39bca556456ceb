"""The points of a sweep, as text and CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.procurement.money import money
from clusterspec.report import grid
from clusterspec.report.ink import PLAIN, Ink
from clusterspec.report.search_text import layout_text
from clusterspec.results.search import SERVING_COLUMNS, SweepRow
from clusterspec.units import display, percent

Column = tuple[str, Callable[[SweepRow], str]]
"""The head of a column, and its text for a point."""


def sweep(rows: list[SweepRow], ink: Ink = PLAIN) -> str:
    """One line per point: axes, results, and the layout in short."""
    names = list(rows[0].axes) if rows else []
    columns: list[Column] = [(name.rpartition(".")[2], _axis(name)) for name in names]
    columns += _serving() if any(row.serving for row in rows) else _training()
    columns += [("memory", lambda row: _amount(row.memory, "B")), ("fits", lambda row: FITS[row.fits])]
    if any(row.cost is not None for row in rows):
        head = "per M tokens" if any(row.serving for row in rows) else "cost"
        columns.append((head, _cost))
    columns.append(("layout", lambda row: row.why or layout_text(row.layout or {}, (row.serving or {}).get(POOLS))))
    lines = [tuple(shown(row) for _, shown in columns) for row in rows]
    return grid.grid(
        [head for head, _ in columns],
        lines,
        right=range(len(names), len(columns) - 1),
        wrap=(len(columns) - 1,),
        ink=ink,
    )


POOLS = "disaggregated"
FITS = {True: "yes", False: "no", None: ""}


def _axis(name: str) -> Callable[[SweepRow], str]:
    return lambda row: str(row.axes[name])


def _training() -> list[Column]:
    return [
        ("step", lambda row: _amount(row.step_time, "s")),
        ("MFU", lambda row: percent(row.mfu) if row.mfu is not None else ""),
    ]


def _serving() -> list[Column]:
    return [
        ("TTFT", lambda row: _amount(_of(row, "ttft"), "s")),
        ("TPOT", lambda row: _amount(_of(row, "tpot"), "s")),
        ("tok/s", lambda row: _number(_of(row, "output_tokens_per_second"))),
        ("tok/s/acc", lambda row: _number(_of(row, "output_tokens_per_second_per_accelerator"))),
        ("accelerators", lambda row: _number(_of(row, "accelerators"))),
    ]


def _of(row: SweepRow, name: str) -> float | None:
    return row.serving[name] if row.serving else None


def _amount(value: float | None, unit: str) -> str:
    return display(value, unit) if value is not None else ""


def _number(value: float | None) -> str:
    return f"{value:,.0f}" if value is not None else ""


def _cost(row: SweepRow) -> str:
    if row.cost is None:
        return ""
    return money(round(row.cost, 2) if row.serving else round(row.cost))


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
    return grid.separated(fields, (["" if one.get(name) is None else one[name] for name in fields] for one in found))
