"""The step: timeline, communication by axis and tier, kernels, and memory."""

from __future__ import annotations

from clusterspec.cost.plan import Plan
from clusterspec.report import communication as traffic
from clusterspec.report.charts.palette import cause_of
from clusterspec.report.charts.roofline import RooflinePoint, roofline
from clusterspec.report.charts.stacks import StackPart, against_capacity, by_stage, timeline
from clusterspec.report.charts.tables import Sent, matrix
from clusterspec.report.paper.blocks import Block, PaperTable, Picture, Section, TableColumn, TableRow
from clusterspec.results.estimate_json import terms
from clusterspec.results.full import FullReport
from clusterspec.results.kernels import Roofline
from clusterspec.results.verdict import condition
from clusterspec.summation import sum_of
from clusterspec.units import display, percent, portion

LEAST = 0.004
"""Parts of a step below this share are drawn together."""


def section(report: FullReport) -> Section | None:
    """The time of one optimizer step by part."""
    plan = report.estimate.plan
    if plan.step_time is None:
        return None
    blocks: list[Block] = [timeline_of(plan)]
    if plan.communication:
        blocks += [_matrix(plan), _communication(plan)]
    if report.roofline and report.roofline.kernels:
        blocks.append(_roofline(report.roofline))
    held = condition(plan)
    low, high = plan.step_time_range or (plan.step_time.value, plan.step_time.value)
    band = f"{display(low, 's')} to {display(high, 's')}"
    lead = f"One optimizer step takes {display(plan.step_time.value, 's')} (range {band})"
    return Section("step", "Step time", tuple(blocks), lead=lead + (f" {held}." if held else "."))


def timeline_of(plan: Plan) -> Picture:
    """The parts of a step in order, with the overlapped communication below."""
    assert plan.step_time is not None
    total = plan.step_time.value
    parts = [part for part in plan.step_time.parts if part.value > 0]
    small = [part for part in parts if part.value < LEAST * total]
    kept = [part for part in parts if part not in small] if len(small) > 1 else parts
    shown = [StackPart(part.label, cause_of(part.name), part.value, display(part.value, "s")) for part in kept]
    if len(small) > 1:
        rest = sum_of(part.value for part in small)
        shown.append(StackPart(f"{len(small)} smaller parts", "overhead", rest, display(rest, "s")))
    hidden: dict[str, float] = {}
    for row in plan.communication:
        hidden[row.axis] = hidden.get(row.axis, 0.0) + max(0.0, row.seconds - row.exposed)
    under = [
        StackPart(axis, cause_of(axis), value, display(value, "s"))
        for axis, value in hidden.items()
        if value > LEAST * total
    ]
    alt = "; ".join(f"{part.label} {part.value_text}" for part in shown)
    caption = "One step: computation and exposed communication in order, overlapped communication below"
    return Picture(timeline(shown, under, lambda tick: display(tick, "s"), alt), caption, "estimate.terms[0]")


def _matrix(plan: Plan) -> Picture:
    assert plan.step_time is not None
    step = plan.step_time.value
    sums: dict[tuple[str, str], list[float]] = {}
    for row in plan.communication:
        if row.bytes and row.seconds > 0:
            cell = sums.setdefault((row.axis, row.tier), [0.0, 0.0])
            cell[0] += row.bytes
            cell[1] += row.seconds
    cells = {
        place: Sent(display(sent, "B"), seconds / step, f"{portion(seconds / step)} of the step")
        for place, (sent, seconds) in sums.items()
    }
    axes, tiers = (list(dict.fromkeys(place[k] for place in sums)) for k in (0, 1))
    alt = "; ".join(f"{axis} on {tier}: {cell.value_text}, {cell.busy_text}" for (axis, tier), cell in cells.items())
    caption = "Bytes of each axis on each tier, and how long the links of the tier are busy with them"
    return Picture(matrix(axes, tiers, cells, alt), caption, "estimate.communication")


def _communication(plan: Plan) -> PaperTable:
    keys = ("axis", "collective", "tier", "ranks", "calls", "bytes", "seconds", "exposed")
    columns = tuple(
        TableColumn(head.capitalize(), "right" if number in traffic.NUMBERS else "left", key)
        for number, (head, key) in enumerate(zip(traffic.HEADS, keys, strict=True))
    )
    rows = tuple(
        TableRow(traffic.row(row), f"estimate.communication[{number}]") for number, row in enumerate(plan.communication)
    )
    return PaperTable(columns, rows, "estimate.communication", caption="Communication in one step, per accelerator")


def _roofline(found: Roofline) -> Picture:
    spent = sum_of(kernel.seconds for kernel in found.kernels)
    points = [RooflinePoint(one.name, one.intensity, one.rate, one.seconds / spent) for one in found.kernels]
    alt = "; ".join(f"{point.label}: {display(point.rate, 'FLOP/s')}" for point in points)
    caption = "Roofline of one rank: the kernels of the slowest stage, all passes"
    return Picture(roofline(found.peak, found.bandwidth, points, alt), caption, "roofline")


def memory(report: FullReport) -> Section | None:
    """The memory of the fullest accelerator by part."""
    plan = report.estimate.plan
    use = plan.memory
    if use is None:
        return None
    order = (use.weights, use.gradients, use.activations, use.optimizer, use.other)
    slices = [
        StackPart(part.label, cause_of(part.name), part.value, display(part.value, "B")) for part in order if part.value
    ]
    capacity = use.capacity.value if use.capacity else None
    alt = "; ".join(f"{part.label} {part.value_text}" for part in slices)
    drawn = against_capacity(slices, capacity, plan.memory_range, lambda tick: display(tick, "B"), alt)
    share = f", {percent(use.total.value / capacity)} of {plan.capacity_text}" if capacity else ""
    caption = f"Memory of the fullest accelerator: {display(use.total.value, 'B')}{share}"
    columns = (
        TableColumn("Part", key="name"),
        TableColumn("Bytes", "right", "value"),
        TableColumn("Formula", key="formula"),
    )
    parts = use.total.parts
    root = f"estimate.terms[{terms(plan).index(use.total)}]"
    rows = [
        TableRow((part.label, display(part.value, "B"), part.formula), f"{root}.parts[{number}]")
        for number, part in enumerate(parts)
    ]
    rows.append(TableRow((use.total.label, display(use.total.value, "B"), use.total.formula), root, total=True))
    table = PaperTable(columns, tuple(rows), root)
    fullest = Picture(drawn, caption, "estimate.memory")
    return Section("memory", "Memory", (fullest, *_by_stage(report, capacity), table))


def _by_stage(report: FullReport, capacity: float | None) -> tuple[Picture, ...]:
    """The memory of each pipeline stage, if there are several."""
    names = ("weights", "gradients", "activations", "optimizer", "other")
    stages = [
        (
            f"stage {one.stage}",
            [StackPart(name, name, value, display(value, "B")) for name in names if (value := getattr(one, name))],
        )
        for one in report.stages
    ]
    if len(stages) < 2:
        return ()
    alt = "; ".join(f"stage {one.stage}: {display(one.total, 'B')}" for one in report.stages)
    drawn = by_stage(stages, capacity, lambda tick: display(tick, "B"), alt)
    return (Picture(drawn, "Memory by pipeline stage, in the same colors", "stages"),)
