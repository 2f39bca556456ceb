"""The drawings of a training step: the pipeline schedule, and the passes over one layer; and the evidence behind the
step's range.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.compute import Kernel
from clusterspec.cost.estimate import RUN_TO_RUN, UNSEEN_KIND, UNSEEN_PART, measured_step, range_figures, spread_name
from clusterspec.cost.layer_tables import PhaseTime, TransferTime
from clusterspec.cost.plan import StepRecord
from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.quantity import Figure
from clusterspec.report.charts.bars import StackPart, StackRow, rows_text, timed_rows_chart
from clusterspec.report.charts.steps import DrawnPass, Span, layer_chart, schedule_chart
from clusterspec.report.charts.svg import cause_of
from clusterspec.report.paper.blocks import PaperTable, Picture, Section, TableColumn, TableRow
from clusterspec.results.full import FullReport
from clusterspec.results.machine import Schedule
from clusterspec.source import Assumed
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plural, portion

KINDS = (("GEMMs", "forward"), ("attention", "weights"), ("memory-bound kernels", "activations"))
"""The kinds of kernels by bottleneck, each with a tint."""
LEAST = 0.002
"""Communication below this share of a pass is not drawn."""


def schedule_picture(schedule: Schedule | None) -> Iterator[Picture]:
    """The pipeline schedule, if there are several stages and its order is known."""
    if schedule is None:
        return
    again = schedule.recomputation / ((schedule.recomputation + schedule.backward) or 1.0)
    spans: dict[str, list[Span]] = {"forward": [], "recomputation": [], "backward": []}
    for one in schedule.operations:
        if not one.backward:
            spans["forward"].append(Span(one.stage, one.start, one.end))
            continue
        middle = one.start + again * (one.end - one.start)
        if again:
            spans["recomputation"].append(Span(one.stage, one.start, middle))
        spans["backward"].append(Span(one.stage, middle, one.end))
    rows = [f"stage {number + 1}" for number in range(schedule.stages)]
    kinds = [(name, name, found) for name, found in spans.items() if found]
    batches = plural(schedule.micro_batches, "micro-batch")
    part = f"the first {schedule.drawn} of {batches}" if schedule.drawn < schedule.micro_batches else batches
    virtual = f", {schedule.virtual_stages} virtual stages each" if schedule.virtual_stages > 1 else ""
    alt = (
        f"{schedule.name} with {schedule.stages} stages{virtual}: {part} take {display(schedule.simulated, 's')}, "
        f"{display(schedule.predicted, 's')} in the estimate; the slowest stage idles {display(schedule.idle, 's')}"
    )
    caption = f"Pipeline schedule ({schedule.name}), to scale: {part} over {schedule.stages} stages{virtual}"
    if schedule.drawn == schedule.micro_batches and schedule.simulated:
        caption += f"; the slowest stage idles {portion(schedule.idle / schedule.simulated)}"
    drawn = schedule_chart(rows, kinds, lambda tick: display(tick, "s"), alt)
    yield Picture(drawn, caption, "schedule")


def rl_section(times: RlTimes | None) -> Section | None:
    """The step of reinforcement learning by role, with the share in which a role's accelerators wait."""
    if times is None:
        return None
    rows = [
        TableRow(
            (
                part.role.replace("_", " "),
                display(part.seconds, "s"),
                portion(part.seconds / times.step),
                portion(part.idle_share),
            ),
            f"estimate.rl.parts[{number}]",
            bare=True,
        )
        for number, part in enumerate(times.parts)
    ]
    columns = (TableColumn("Role"), *(TableColumn(head, "right") for head in ("Time", "Of the step", "Idle")))
    low, high = times.band
    lead = (
        f"One step of reinforcement learning takes {display(times.step, 's')} (range {display(low, 's')} to "
        f"{display(high, 's')}): {times.tokens_per_second_per_accelerator:,.0f} tokens per second and accelerator"
    )
    share = f", MFU {percent(times.mfu)} of all roles" if times.mfu is not None else ""
    ahead = ""
    if times.rl.placement != "colocated" and any(part.seconds > times.step for part in times.parts):
        ahead = (
            f" Rollout runs up to {plural(times.rl.max_staleness, 'step')} ahead of the weights, so a batch of it may "
            "take longer than a step."
        )
    return Section(
        "roles", "Roles of one step", (PaperTable(columns, tuple(rows), "estimate.rl.parts"),), f"{lead}{share}.{ahead}"
    )


def roles_picture(times: RlTimes) -> Picture:
    """The activity of the accelerators of rollout and trainer during one step, and their waiting time."""
    trained = [
        _stack_part("log-probabilities", "recomputation", times.log_probabilities),
        _stack_part("update", "backward", times.update),
        _stack_part("driver", "overhead", times.driver),
    ]
    if times.switch:
        trained.append(_stack_part("switch of roles", "stragglers", times.switch))
    idle = {part.role: part.idle_share for part in times.parts}
    waiting = {role: _stack_part("waiting", "bubble", share * times.step) for role, share in idle.items()}
    rollout = times.rollout.batch if times.rl.placement == "colocated" else times.step
    busy = _stack_part("rollout", "forward", rollout - waiting["rollout"].value)
    rows = [StackRow("rollout", (busy, waiting["rollout"])), StackRow("trainer", (*trained, waiting["update"]))]
    if times.rl.placement == "colocated":
        rows = [StackRow("all", (busy, waiting["rollout"], *trained))]
    drawn = timed_rows_chart(rows, rows_text(rows), name="roles")
    return Picture(drawn, "What the accelerators of each role do in one step", "estimate.rl.parts")


def layer_picture(record: StepRecord | None) -> Iterator[Picture]:
    """The passes of one micro-batch over the kind of layer that is most frequent in the slowest stage."""
    if record is None or not record.parts:
        return
    part, count = max(record.parts, key=lambda pair: pair[1])
    passes = [drawn_pass(name, phase) for name, phase in part.phases if phase.total > 0]
    if not passes:
        return
    alt = "; ".join(one.title for one in passes)
    name = part.name.replace("_", " ")
    caption = f"One micro-batch through one {name} ({plural(count, 'pass', 'passes')} in a stage): exposed time hatched"
    yield Picture(layer_chart(passes, lambda tick: display(tick, "s"), alt), caption, "estimate.terms[0]")


def drawn_pass(name: str, phase: PhaseTime) -> DrawnPass:
    """A pass: kernels by kind, launches that the device waits for, exposed communication, and the links."""
    sums = dict.fromkeys(KINDS, 0.0)
    for kernel, seconds in phase.kernels:
        sums[_kind_of(kernel)] += float(seconds)
    device = [_stack_part(label, tint, value) for (label, tint), value in sums.items() if value]
    if phase.launch > 0:
        device.append(_stack_part("kernel launches", "overhead", float(phase.launch)))
    least = LEAST * float(phase.total)
    wires = {axis: (wire, shown) for axis, wire, shown in _seconds_by_axis(phase.transfers) if wire > least}
    exposed = [
        _stack_part(f"exposed {axis}", cause_of(axis), shown) for axis, (_, shown) in wires.items() if shown > least
    ]
    links = [(_stack_part(axis, cause_of(axis), wire), shown) for axis, (wire, shown) in wires.items()]
    wire = sum_of(seconds for seconds, _ in wires.values())
    title = f"{name}: {display(phase.total, 's')}"
    title += f", {percent(phase.exposed / phase.total)} of it exposed" if phase.exposed else ""
    title += f"; {display(wire, 's')} on the links" if wire else ""
    return DrawnPass(title, tuple(device), tuple(exposed), tuple(links))


def _kind_of(kernel: Kernel) -> tuple[str, str]:
    return (
        KINDS[0] if kernel.rate.startswith("matmul") else KINDS[1] if kernel.rate.startswith("attention") else KINDS[2]
    )


def _seconds_by_axis(transfers: tuple[TransferTime, ...]) -> Iterator[tuple[str, float, float]]:
    """Seconds on the wire, and exposed ones, by axis."""
    for axis in dict.fromkeys(one.transfer.axis for one in transfers):
        rows = [one for one in transfers if one.transfer.axis == axis]
        yield axis, sum_of(float(one.seconds) for one in rows), sum_of(float(one.exposed) for one in rows)


def _stack_part(label: str, tint: str, seconds: float) -> StackPart:
    return StackPart(label, tint, seconds, display(seconds, "s"))


# What the range of a step rests on


def range_text(report: FullReport, ratio: float) -> str:
    """Text on the evidence for the range of a step, whose high end is ``ratio`` times the low end, and on how to narrow
    it.
    """
    return _evidence_text(report) + _narrower_range_text(report, ratio)


def _evidence_text(report: FullReport) -> str:
    """Text on the evidence for the range of a step: the published runs with this software, and the extra width if none
    is like the design. Empty for a measured step and in a tender.
    """
    plan = report.estimate.plan
    work, step = plan.design.workload, plan.step
    if report.tender or work is None or step is None or measured_step(plan.design):
        return ""
    known = step.software.stack.achievable.get(spread_name(plan.design))
    told = []
    if known is not None and isinstance(known.origin, Assumed):
        told.append(f"Software: ±{percent(known.value)}, {known.origin.why}")
    for _, gained in range_figures(plan.design, step.seconds):
        told.append(f"Accelerator: ±{percent(gained.value)}, {_open_question_text(gained)}")
    return f" The range adds these uncertainties in quadrature. {'. '.join(told)}." if told else ""


def _open_question_text(gained: Figure) -> str:
    """The question that published runs leave open, for which the range is widened by this figure."""
    if gained is UNSEEN_KIND:
        return "no run of this precision and framework is published on it"
    if gained is UNSEEN_PART:
        return "no published run shows what it sustains at this precision"
    return gained.origin.why if isinstance(gained.origin, Assumed) else "measured"


def _narrower_range_text(report: FullReport, ratio: float) -> str:
    """The range that a measured step would give. Empty if a step is measured, if the range is not wider than that, and
    in a tender.
    """
    plan, least = report.estimate.plan, RUN_TO_RUN.value
    if report.tender or plan.rl is not None or measured_step(plan.design) or ratio <= (1 + least) ** 2:
        return ""
    return f" A measured step of this job would narrow the range to ±{percent(least)} at best (`measured[].step_time`)."
