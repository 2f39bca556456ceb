"""Sections on alternatives: other layouts, and influential assumptions."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.report.assumption_rows import change_text
from clusterspec.report.charts.bars import HeatCell, heatmap_chart
from clusterspec.report.charts.curves import LeverBar, tornado_chart
from clusterspec.report.charts.links import WireRow, wire_chart
from clusterspec.report.charts.svg import cause_of
from clusterspec.report.estimate_rows import value_text
from clusterspec.report.paper.blocks import (
    Block,
    PaperTable,
    Picture,
    Section,
    TableColumn,
    TableRow,
    Text,
    embedded_json,
)
from clusterspec.results.full import FullReport
from clusterspec.results.levers import SensitivityReport
from clusterspec.results.machine import LayoutCell, LayoutGrid
from clusterspec.results.survival import WireCase
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plural

MOST_LEVERS = 8


def survival_section(report: FullReport) -> Section | None:
    """Communication time by kind of parallelism compared with computation time."""
    grid = report.survival
    if grid is None:
        return None
    own = report.estimate.design.workload
    model = own.model.id if own and own.model.id else grid.models[0][0]
    nodes = _job_nodes(report)
    cases = [case for case in grid.cases if case.nodes == nodes and case.model == model]
    rows = [
        WireRow(
            case.strategy,
            cause_of(case.strategy.lower()),
            case.communication,
            case.compute,
            _case_note(case),
            case.fits is not False,
        )
        for case in cases
    ]
    if not rows:
        return None
    rows += _own_row(report)
    alt = "; ".join(f"{row.label}: {row.note}, {display(row.compute, 's')} of computation" for row in rows)
    caption = (
        f"Communication time of one step by kind of parallelism, each alone, on {plural(nodes, 'node')}: "
        "layouts that do not fit in memory are hatched"
    )
    picture = Picture(wire_chart(rows, alt), caption, "survival", "survival", embedded_json(_grid_data(report)))
    error = (
        f"Times on the wire are interpolated in a table of the cost model; the largest error at {grid.checked:,} "
        f"positions is {percent(grid.error, 2)}. Each accelerator works on {plural(grid.sequences, 'sequence')} a step "
        "in micro-batches of one, without recomputation."
    )
    lead = (
        "Exposed time, bubble and memory come from the estimate at the rates of the spec. Communication that takes "
        "longer than the computation is partly exposed, even with perfect overlap."
    )
    return Section(
        "survival", "Communication time by kind of parallelism", (picture, Text(error, "survival.error")), lead=lead
    )


def _job_nodes(report: FullReport) -> int:
    design = report.estimate.design
    return design.layout.nodes if design.layout else design.cluster.nodes if design.cluster else 0


def _case_note(case: WireCase) -> str:
    """The estimate's note on a case: seconds on the wire and exposed, the bubble, and exceeded memory."""
    note = f"{display(case.communication, 's')}, {display(case.exposed, 's')} exposed"
    note += f", bubble {display(case.bubble, 's')}" if case.bubble else ""
    if case.fits is False and case.memory is not None:
        note += f"; does not fit: {display(case.memory, 'B')}"
    return note


def _own_row(report: FullReport) -> Iterator[WireRow]:
    """The row of the design itself, with all of its communication and its own batch."""
    plan = report.estimate.plan
    if plan.step is None or not plan.communication:
        return
    wire = sum_of(row.seconds for row in plan.communication)
    exposed = sum_of(row.exposed for row in plan.communication)
    bubble = plan.step.times.bubble
    note = f"{display(wire, 's')}, {display(exposed, 's')} exposed" + (
        f", bubble {display(bubble, 's')}" if bubble else ""
    )
    if plan.fits is False and plan.memory_bytes is not None:
        note += f"; does not fit: {display(plan.memory_bytes, 'B')}"
    yield WireRow("this design", "ink", wire, plan.step.computing_seconds, note, plan.fits is not False)


def _grid_data(report: FullReport) -> dict[str, object]:
    """The grid with the position and the row of the spec."""
    grid = report.survival
    design = report.estimate.design
    assert grid is not None
    own = design.workload.model.id if design.workload else ""
    rows = [{"wire": row.wire, "compute": row.compute, "note": row.note} for row in _own_row(report)]
    return grid.to_json() | {"present": {"nodes": _job_nodes(report), "model": own, "rows": rows}}


def layouts_section(report: FullReport) -> Section | None:
    """Step time and memory of layouts over tp and pp."""
    grid = report.layouts
    if grid is None or not any(cell.step_time for cell in grid.cells):
        return None
    times = [cell.step_time for cell in grid.cells if cell.step_time]
    best = min(times)
    cells = [_heat_cell(cell, best) for cell in grid.cells]
    values = f"{plural(len(grid.tp), 'value')} of tp and {len(grid.pp)} of pp"
    alt = f"step time over {values}; the fastest is {display(best, 's')}"
    timed = "Time of an update" if report.estimate.plan.is_update else "Step time"
    caption = f"{timed} over tp and pp, all else as designed{_fastest_text(grid)}; hatched ones do not fit in memory"
    drawn = Picture(heatmap_chart(grid.pp, grid.tp, cells, alt), caption, "layouts")
    return Section("layouts", "Layouts over tp and pp", (drawn, *_better_layouts(grid)))


def _fastest_text(grid: LayoutGrid) -> str:
    """The fastest layout that leaves the reserve of the memory free; empty if there is none."""
    fitting = [cell for cell in grid.cells if cell.fits_with_reserve and cell.step_time]
    best = min(fitting, key=lambda cell: cell.step_time or 0.0, default=None)
    return f"; tp {best.tp}, pp {best.pp} is the fastest that fits" if best else ""


def _heat_cell(cell: LayoutCell, best: float) -> HeatCell:
    if cell.step_time is None:
        return HeatCell(None, "", title=f"tp {cell.tp}, pp {cell.pp}: {cell.why or 'no step time'}")
    level = min(1.0, (cell.step_time / best - 1) / 1.5)
    memory = f", {display(cell.memory, 'B')}" if cell.memory else ""
    title = f"tp {cell.tp}, pp {cell.pp}: {display(cell.step_time, 's')}{memory}"
    return HeatCell(level, display(cell.step_time, "s", 2), cell.fits is False, cell.present, title)


def _better_layouts(grid: LayoutGrid) -> tuple[Block, ...]:
    """The fastest layouts that fit with a reserve of memory, compared with the present layout. Advice on memory names
    the same layouts.
    """
    present = next((cell for cell in grid.cells if cell.present), None)
    fitting = [(number, cell) for number, cell in enumerate(grid.cells) if cell.fits_with_reserve and cell.step_time]
    fitting.sort(key=lambda pair: pair[1].step_time or 0.0)
    if present is None or present.step_time is None or not fitting:
        return ()
    columns = (
        TableColumn("tp", "right", "tp"),
        TableColumn("pp", "right", "pp"),
        TableColumn("Step time", "right", "step_time"),
        TableColumn("Memory", "right", "memory"),
        TableColumn("Against this layout", "right", "step_time"),
    )
    rows = []
    for number, cell in fitting[:5]:
        assert cell.step_time is not None
        against = "this layout" if cell.present else change_text(cell.step_time / present.step_time - 1) or "the same"
        memory = display(cell.memory, "B") if cell.memory else "–"
        rows.append(
            TableRow(
                (f"{cell.tp}", f"{cell.pp}", display(cell.step_time, "s"), memory, against), f"layouts.cells[{number}]"
            )
        )
    return (
        PaperTable(
            columns,
            tuple(rows),
            "layouts.cells",
            caption=f"The fastest that leave {percent(grid.reserve)} of the memory free; search varies all settings",
        ),
    )


def sensitivity_section(report: FullReport) -> Section | None:
    """The assumptions with the largest effect on step time and memory."""
    found = report.influences
    updates = report.estimate.plan.is_update
    blocks: list[Block] = list(_lever_pictures(report.sensitivity, " of an update" if updates else ""))
    time = "time per output token" if report.serves else "time of an update" if updates else "step time"
    for name, key, tint in ((time, "step_time", "forward"), ("memory", "memory", "weights")):
        ranked = sorted(
            (one for one in found if abs(getattr(one, key)) > 0.005), key=lambda one: -abs(getattr(one, key))
        )
        levers = [
            LeverBar(
                _bar_label(one.assumption[0]),
                f"{value_text(one.assumption[1])} → {value_text(one.against)}",
                getattr(one, key),
                change_text(getattr(one, key)),
            )
            for one in ranked[:MOST_LEVERS]
        ]
        if levers:
            alt = "; ".join(f"{lever.label} {lever.against}: {lever.value_text}" for lever in levers)
            caption = f"Effect of assumptions on the {name}"
            blocks.append(Picture(tornado_chart(levers, alt, tint), caption, "influences"))
    lead = "Each number varies over its range or by 10 %; each keyword takes the value with the largest effect."
    return Section("sensitivity", "Sensitivity", tuple(blocks), lead=lead) if blocks else None


def _bar_label(name: str) -> str:
    """The name of an assumption at its bar: a dotted fact without its entry, else the whole name.

    >>> _bar_label("stack/custom-2021 memory.context"), _bar_label("custom-2021 products"), _bar_label("layout.order")
    ('memory.context', 'custom-2021 products', 'layout.order')
    """
    fact = name.rpartition(" ")[2]
    return fact if "." in fact else name


def _lever_pictures(moved: SensitivityReport | None, subject: str = "") -> Iterator[Picture]:
    """Each lever of the design one step up and down, as `clusterspec sensitivity` prints it."""
    if moved is None:
        return
    rows = [row for row in moved.levers if abs(row.effect or 0.0) > 0.005][:MOST_LEVERS]
    levers = [
        LeverBar(
            row.key,
            f"{lever_text(row.before, row.unit)} → {lever_text(row.after, row.unit)}",
            row.effect or 0.0,
            change_text(row.effect or 0.0),
        )
        for row in rows
    ]
    if levers:
        alt = "; ".join(f"{lever.label} {lever.against}: {lever.value_text}" for lever in levers)
        measured = "throughput of full engines, as the queue grows" if moved.queue_grows else f"time per token{subject}"
        caption = f"Effect of one step of each parameter on the {measured}"
        yield Picture(tornado_chart(levers, alt, "dp"), caption, "sensitivity.levers")


def lever_text(value: object, unit: str) -> str:
    """A value of a lever with its unit."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value_text(value)
    return display(float(value), unit or "1")
