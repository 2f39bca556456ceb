"""The estimate as text on one screen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.sites import accelerators_away
from clusterspec.cost.memory.recomputation import offloads_saved
from clusterspec.cost.plan import Communication, Plan
from clusterspec.cost.term import MemoryUse
from clusterspec.report import (
    PLAIN,
    TextStyle,
    plain_line,
    share_bar,
    shell_word,
    text_table,
    title_text,
    wrapped_lines,
)
from clusterspec.report import estimate_rows as traffic
from clusterspec.report.assumption_rows import influences_text
from clusterspec.report.breakdown_text import MOST, breakdown_text
from clusterspec.report.estimate_rows import HOURS, VERDICT_COLORS, day_rows, joined_notes, serving_rows, verdict_word
from clusterspec.report.power_rows import power_rows
from clusterspec.report.rl_rows import rl_rows, rl_text
from clusterspec.results import EstimateReport, counts_by_severity
from clusterspec.results.estimate_json import HEADS, measured_shares, share_row
from clusterspec.results.verdict import Influence, VerdictStatus
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plain, plural, portion

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

# The estimate as text: the verdict, the figures, and the influential assumptions, on one screen

SCREEN = 60
"""Maximum lines of the whole text."""
FLOWS = 8
"""Maximum rows of the communication table; the least exposed flows are combined."""
FEWEST = 6
"""Minimum number of lines for the assumptions, however long the rest is."""


def estimate_as_text(report: EstimateReport, style: TextStyle = PLAIN, influences: Sequence[Influence] = ()) -> str:
    """The verdict, the computed figures, and the most influential assumptions."""
    parts = [
        verdict_lines(report, style),
        estimate_heading(report, style),
        headline_table(report, style),
        *estimate_tables(report, style),
    ]
    if report.plan.assumptions and (report.plan.step_time or report.plan.memory):
        used = sum(part.count("\n") + 1 for part in parts) + 3
        parts.append(influences_text(influences, report, style, max(FEWEST, SCREEN - used)))
    return "\n".join([*(part for part in parts if part), findings_footer(report, style)])


def estimate_tables(report: EstimateReport, style: TextStyle) -> Iterable[str]:
    """Step, communication and memory, each under its title, as far as computed."""
    plan = report.plan
    if plan.rl is not None:
        yield style.paint("bold", "Roles of one step") + "\n" + rl_text(plan.rl, style)
    if plan.step_time:
        yield (
            style.paint("bold", "Update of one minibatch" if plan.is_update else "Step time")
            + "\n"
            + breakdown_text(plan.step_time, style, most=MOST)
        )
    if any(flow.ranks > 1 for flow in plan.communication):
        yield style.paint("bold", "Communication per step and accelerator") + "\n" + communication_text(plan, style)
    if plan.day is not None:
        table = text_table(
            (f"  {HOURS[0]}", *HOURS[1:]),
            [(f"  {row[0]}", *row[1:]) for row in day_rows(plan.day)],
            right=range(1, 8),
            style=style,
        )
        yield style.paint("bold", "Engines by the hour") + "\n" + table
    if plan.memory:
        away = plan.memory.elsewhere
        part = away or (plan.design.cluster.accelerator if plan.design.cluster else None)
        where = f" (prefill, {away.name})" if away else ""
        title = style.paint("bold", f"Memory of the fullest accelerator{where}")
        yield f"{title}\n{memory_text(plan.memory, part, style, cache_extent(plan))}{saved_on_host(plan, style)}"
    if seen := measured_shares(report.design.cluster):
        rows = [(f"  {name}", *rest) for name, *rest in map(share_row, seen)]
        table = text_table((f"  {HEADS[0]}", *HEADS[1:]), rows, right=(2,), wrap=(1, 3), style=style)
        yield (
            style.paint("bold", "Measured, in place of the catalog's efficiencies")
            + "\n"
            + table
            + measurement_effect(report)
        )


def measurement_effect(report: EstimateReport) -> str:
    """The effect of measurements on the step time, in one line; empty without measurements."""
    before, after = report.unmeasured_step_time, report.plan.step_seconds
    if not before or not after:
        return ""
    sign = "+" if after >= before else ""
    change = f"{sign}{percent(after / before - 1, 2)}"
    return f"  step time {change}: {display(before, 's')} without them, {display(after, 's')} with\n"


def saved_on_host(plan: Plan, style: TextStyle) -> str:
    """One line on tensors that selective recomputation saves in host memory; empty if they stay on the accelerator."""
    saved = plan.stored.saved_on_host if plan.stored else 0.0
    text = f"  (selective recomputation saves {display(saved, 'B')} more per accelerator in host memory)"
    return style.paint("dim", text) + "\n" if saved else ""


def verdict_lines(report: EstimateReport, style: TextStyle) -> str:
    """The verdict with its reasons, one per line; empty if there are none."""
    found = report.verdict
    if found.status is VerdictStatus.CLEAR:
        return ""
    lines = [style.paint(VERDICT_COLORS[found.status], verdict_word(found))]
    lines += [line for reason in found.reasons for line in wrapped_lines(reason, style.measure, "  ", "    ")]
    open_ = "" if found.status is VerdictStatus.NOT_JUDGED else "not judged: "
    lines += [
        line for part in found.not_judged for line in wrapped_lines(f"{open_}{part}", style.measure, "  ", "    ")
    ]
    return "".join(f"{line}\n" for line in lines)


def estimate_heading(report: EstimateReport, style: TextStyle) -> str:
    """The title of the estimate, in one or two lines."""
    design = report.design
    cluster, work = design.cluster, design.workload
    name = title_text(design.spec.name or report.input.name)
    if cluster is None:
        return f"{style.paint('bold', name)}: the cluster cannot be resolved; `clusterspec check` reports the reason\n"
    used = report.used_text()
    machines = f"{'uses ' if ' of ' in used else ''}{used} ({cluster.accelerator.name})"
    model = f", {plain_line(work.model.name)}" if work else ""
    others = "".join(f", {count:,} of pool {pool}" for pool, count in accelerators_away(design).items())
    text = f"{name}: {machines}, {report.nodes_text()}{others}{model}"
    first, *rest = wrapped_lines(text, style.measure, then="  ")
    painted = style.paint("bold", name) + first[len(name) :] if first.startswith(name) else first
    return "".join(line + "\n" for line in (painted, *rest))


def headline_table(report: EstimateReport, style: TextStyle) -> str:
    """The headline figures."""
    rows = [row for row in headline_rows(report) if row is not None]
    if not rows:
        return "The spec states too little for an estimate.\n"
    label = max(len(name) for name, _, _ in rows)
    figure = max(len(value) for _, value, _ in rows)
    indent, width = " " * (label + figure + 6), max(20, style.width - label - figure - 6)
    lines = []
    for name, value, note in rows:
        first, *others = wrapped_lines(note, width) or [""]
        shown = (
            f"  {name.ljust(label)}  {style.paint('bold', value.rjust(figure))}  {style.paint('dim', first)}".rstrip()
        )
        lines += [shown, *(indent + style.paint("dim", other) for other in others)]
    return "".join(f"{line}\n" for line in lines)


def headline_rows(report: EstimateReport) -> Iterable[tuple[str, str, str] | None]:
    """Name, value and note of each headline figure; the note states if the plan cannot run."""
    plan, held, used = report.plan, report.condition, report.used_text("")
    share = f"on {used}" if " of " in used else ""
    times = plan.rl
    if times is not None:
        yield from rl_rows(times, held)
    elif plan.is_update:
        yield "step time", "not known", "of all roles: the time of rollout is not known"
    if plan.step_time:
        band = plan.step_time_range
        span = f"{display(band[0], 's')} to {display(band[1], 's')}" if band else ""
        name, of = ("update", "of a minibatch") if plan.is_update else ("step time", share)
        yield name, display(plan.step_time.value, "s"), joined_notes(span, of, held)
    rate = f"{plan.tokens_per_second_per_accelerator:,.0f}" if plan.tokens_per_second_per_accelerator else ""
    if rate and not (plan.is_update and plan.mfu is not None):
        whose = " of the trainer in updates" if plan.is_update else " used" if share else ""
        yield "tokens per second", rate, joined_notes(f"per accelerator{whose}", held)
    if plan.mfu is not None:
        again = f"HFU {percent(plan.hfu)}" if plan.hfu is not None else ""
        of_trainer = f"{rate} tokens per second and accelerator of the trainer" if plan.is_update and rate else ""
        yield "MFU of updates" if plan.is_update else "MFU", percent(plan.mfu), joined_notes(again, of_trainer, held)
    if plan.serving is not None:
        load = plan.design.workload.serving if plan.design.workload else None
        assert load is not None
        yield from ((name, value, note) for name, value, note, _ in serving_rows(plan, load, held))
    if plan.memory:
        yield memory_row(plan)
    if plan.parameters is not None:
        active = plan.active_parameters
        note = f"{display(active, '1')} active per token" if active and active != plan.parameters else ""
        yield "parameters", display(plan.parameters, "1"), note
    if plan.time_to_train is not None:
        yield "time to train", display(plan.time_to_train, "s"), joined_notes("without interruptions", share, held)
    yield storage_row(report)
    yield data_row(report)
    yield from power_rows(report)


def storage_row(report: EstimateReport) -> tuple[str, str, str] | None:
    """The time to write a checkpoint and to read it after a failure, or to load the engines; None without a storage
    system.
    """
    use = report.storage
    if use is None:
        return None
    if use.load is not None:
        return "loading", display(use.load.seconds.value, "s"), "all engines read their weights from the storage system"
    if use.checkpoint is None or use.restore is None:
        return None
    kept = f"{display(use.kept.value, 'B')} kept" if use.kept else ""
    read = f"read by all ranks after a failure in {display(use.restore.seconds.value, 's')}"
    return "checkpoint", display(use.checkpoint.seconds.value, "s"), joined_notes("to write", read, kept)


def data_row(report: EstimateReport) -> tuple[str, str, str] | None:
    """The rate at which training reads data, and the rate of the storage system; None if unknown."""
    reads = report.storage.data if report.storage is not None else None
    if reads is None:
        return None
    given = f"{percent(reads.share, 2)} of the {display(reads.batch.rate.value, 'B/s')} that the storage system gives"
    waits = f"training waits {percent(reads.stall, 2)} of the time" if reads.stall else ""
    whole = ""
    if reads.whole is not None:
        held = display(reads.whole.size.value, "B")
        whole = f"reading all {held} of the data set takes {display(reads.whole.seconds.value, 's')}"
    return "data", display(reads.needed.value, "B/s"), joined_notes(given, waits, whole)


def memory_row(plan: Plan) -> tuple[str, str, str]:
    use = plan.memory
    assert use is not None
    if use.capacity is None:
        return "memory", display(use.total.value, "B"), "capacity not known"
    update, capacity = use.total.value, use.capacity.value
    total = plan.fullest_phase(update)
    low, high = plan.fullest_range or (total, total)
    fit = "does not fit" if low > capacity else "may not fit" if high > capacity else "fits"
    span = f"; {display(low, 'B')} to {display(high, 'B')}" if high > low else ""
    alone = f", an update {display(update, 'B')}" if total > update else ""
    note = f"{fit}: {percent(total / capacity)} of {display(capacity, 'B')}{span}{alone}"
    return "memory", display(total, "B"), note


def communication_text(plan: Plan, style: TextStyle) -> str:
    """The communication flows between ranks, limited to the most exposed ones."""
    flows = [flow for flow in plan.communication if flow.ranks > 1]
    kept = sorted(flows, key=lambda flow: (-flow.exposed, -flow.seconds))
    rest = kept[FLOWS - 1 :] if len(kept) > FLOWS else []
    rows = [(f"  {axis}", *more) for axis, *more in map(traffic.communication_row, _ordered_flows(flows, rest))]
    if rest:
        seconds, exposed = (
            display(sum_of(getattr(flow, name) for flow in rest), "s") for name in ("seconds", "exposed")
        )
        rows.append((f"  {len(rest)} more", "", "", "", "", "", seconds, exposed))
    return text_table((f"  {traffic.HEADS[0]}", *traffic.HEADS[1:]), rows, right=traffic.NUMBERS, style=style)


def _ordered_flows(flows: Sequence[Communication], omitted: Sequence[Communication]) -> list[Communication]:
    left = set(map(id, omitted))
    return [flow for flow in flows if id(flow) not in left]


def cache_extent(plan: Plan) -> str:
    """What the row of the cache, or of activations partly stored in host memory, includes; empty if it includes
    everything.
    """
    stored = plan.stored
    if stored is not None and offloads_saved(stored.job):
        return "(the activations that selective recomputation keeps are in host memory, as in published recipes)"
    if stored is None or stored.job.workload.kind != "serve" or not stored.rank.activations:
        return ""
    load = stored.job.workload.serving
    if load is not None and load.concurrency is None and load.max_sequences is None:
        return (
            f"(cache: all memory up to memory_fraction {load.memory_fraction:g}, which the engine reserves in advance)"
        )
    count = stored.rank.activations[0].numbers["count"]
    requests = f"{plain(count, 3)} requests in flight" if count > 1 else "one request at its full length"
    where = "on one attention replica; an engine that reserves all memory up to memory_fraction shows more"
    return f"(cache: {requests} {where})"


def memory_text(use: MemoryUse, accelerator: Accelerator | None, style: TextStyle, cache: str = "") -> str:
    """The parts of memory relative to the capacity, with the line ``cache`` on what the cache includes."""
    whole = use.capacity.value if use.capacity else use.total.value
    rows = [
        (
            f"  {part.label}",
            display(part.value, "B"),
            portion(part.value / whole),
            style.paint("blue", share_bar(part.value / whole)),
        )
        for part in (use.weights, use.gradients, use.optimizer, use.activations, use.other, use.total)
        if part.value or part is use.total
    ]
    table = text_table(
        ("  part", "size", "of capacity" if use.capacity else "share", ""), rows, right=(1, 2), style=style
    )
    views = [cache] if cache else []
    views += _memory_views(use, accelerator)
    lines = [line for view in views for line in wrapped_lines(view, style.measure, "  ", "   ")]
    return f"{table.rstrip()}\n" + "".join(style.paint("dim", line) + "\n" for line in lines)


WHOLE = 1 - 1e-6
"""Smallest share of the memory at which an engine may use all of it, but for rounding."""


def _memory_views(use: MemoryUse, accelerator: Accelerator | None) -> list[str]:
    """The memory of a device: as the driver reports it, as the vendor states it, and the part held by the framework's
    allocator.
    """
    shown = "as nvidia-smi shows it" if accelerator and accelerator.vendor == "NVIDIA" else "as the driver reports it"
    lines = [f"({shown}; the framework's allocator holds {display(use.allocator, 'B')} of it)"]
    whole = accelerator.memory if accelerator else None
    if accelerator and whole and use.capacity:
        printed = accelerator.memory_printed
        sold = f", sold as {printed}" if printed and printed != display(whole.value, "B") else ""
        usable = use.capacity.value - (use.total.value - use.allocator)
        device = f"{display(whole.value, 'B')} on the device{sold}"
        own, share = display(max(usable, 0.0), "B"), use.capacity.value / whole.value
        of_engine = f"the engine may use {percent(share)} of it, which leaves {own} to the framework"
        lines.append(f"({device}; {of_engine if share < WHOLE else f'a framework can use {own} of it'})")
    return lines


def findings_footer(report: EstimateReport, style: TextStyle) -> str:
    """The number of findings in one line, and how to see more."""
    counted = counts_by_severity(report.findings)
    counts = ", ".join(plural(number, level) for level, number in counted.items() if number)
    file = plain_line(shell_word(report.input.name)).replace("\n", " ")
    name = "tpot" if report.plan.serving is not None else "'step time'" if report.plan.step_time else "memory"
    lines = [f"{counts}: `clusterspec check {file}`"] if counts else []
    if report.plan.serving is not None or report.plan.step_time or report.plan.memory is not None:
        lines.append(f"how a figure is computed: `clusterspec estimate {file} --explain {name}`")
    return "".join(f"{part}\n" for line in lines for part in wrapped_lines(line, style.measure, then="  "))
