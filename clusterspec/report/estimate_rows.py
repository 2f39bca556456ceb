"""Rows of estimates as text: latencies, verdict colors, communication, parts of sums, and values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import inf

from clusterspec.cost.plan import Communication, Plan
from clusterspec.quantity import Bandwidth, Figure, Quantity
from clusterspec.records import NamedTuple
from clusterspec.report import TextStyle, share_bar, text_table, wrapped_lines
from clusterspec.results.verdict import Verdict, VerdictStatus
from clusterspec.units import display, percent, plain, plural, portion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from clusterspec.cluster.requests import Serving, Target
    from clusterspec.cost.serving.day import DayPlan
    from clusterspec.cost.serving.latency import ServingTimes
    from clusterspec.results.machine import Loss

TERMS_OF_ROWS = {
    "checkpoint": ("checkpoint write", "checkpoint restore"),
    "rollout": ("rl step",),
    "loading": ("model load",),
    "data": ("data needed", "data rate"),
    "rack": ("power rack", "power row", "power feed"),
    "swing": ("power swing", "power ramp", "power fall"),
    "heat": ("power heat hall liquid", "power heat hall air"),
    "energy": (
        "energy of run",
        "energy cost of run",
        "carbon of run",
        "energy per token",
        "energy cost per million tokens",
        "carbon per million tokens",
    ),
}
"""Terms of printed rows that show several terms, by the name of the row."""

# Rows shared by writers of estimates: serving latencies, verdict colors, communication, and parts of sums

# The headline figures of a serving plan: latencies with ranges and targets, throughput, and cache


class ServingRow(NamedTuple):
    """Name, value and note of a figure, and its field in the JSON of ``estimate.serving``."""

    name: str
    value: str
    note: str
    field: str


def serving_rows(plan: Plan, load: Serving, condition: str) -> Iterator[ServingRow]:
    """The figures of a serving plan; they apply under ``condition``, empty if the plan can run."""
    times = plan.serving
    if times is None:
        return
    for row in latency_rows(times, load):
        drafted = _speculation_text(load) if row.field in {"ttft", "tpot"} else ""
        notes = joined_notes(_span_text(row.span), *_aim_notes(times, load, row), drafted, condition)
        yield ServingRow(row.title, display(row.seconds, "s"), notes, row.field)
    rate = f"{times.output_tokens_per_second:,.0f}"
    each = f"{times.per_accelerator:,.0f} per accelerator of {times.accelerators:,.0f}"
    yield ServingRow("output tokens per second", rate, joined_notes(each, condition), "output_tokens_per_second")
    latency = joined_notes(OF_FULL_ENGINES if times.queue_grows else "", mean_note(times), prefill_note(times, load))
    yield ServingRow("request latency", display(times.request_latency, "s"), latency, "request_latency")
    each = f"tokens, {plural(times.places, 'request')}, {display(times.kv_bytes_per_token, 'B')} per token"
    capacity, requests = f"{float(f'{times.kv_capacity_tokens:.3g}'):,.0f}", joined_notes(each, condition)
    yield ServingRow("cache holds", capacity, requests, "kv_capacity_tokens")
    yield from _expert_rows(times)
    yield from _tier_rows(times)
    if times.most_in_flight is not None:
        limit = joined_notes(limit_note(load), condition)
        yield ServingRow("highest concurrency", f"{times.most_in_flight:,}", limit, "max_concurrency")
    yield from _day_rows(plan.day)


def target_text(times: ServingTimes, load: Serving, target: Target) -> str:
    """A target, with `missed` if it is missed, and with the reason if only the growing queue makes it miss."""
    from clusterspec.cost.serving.targets import target_result

    result = target_result(times, load, target)
    missed = " missed" if result.missed else ""
    return (
        f"{display(target.seconds, 's')}{missed}{', as the queue grows without end' if result.missed_in_queue else ''}"
    )


ALIKE = 0.05
"""The maximum relative difference of mean and median up to which the mean is not printed separately."""
OF_FULL_ENGINES = "of full engines, as the queue grows without end"
"""The remark on a latency that holds in full engines, since the wait in a growing queue has no steady value."""


def _aim_notes(times: ServingTimes, load: Serving, row: LatencyRow) -> Iterator[str]:
    """The target of a latency, and the remark that a growing queue adds to the latency without limit."""
    if row.target is not None:
        yield f"target {target_text(times, load, row.target)}"
    if row.queue_grows and (row.target is None or row.seconds > row.target.seconds):
        yield OF_FULL_ENGINES


def latency_text(figures: Mapping[str, Any], name: str) -> str:
    """A latency of the JSON of a serving plan that includes the wait for a place: unbounded in an endless queue."""
    return display(inf if figures.get("queue_grows") else figures[name], "s")


class LatencyRow(NamedTuple):
    """A latency: its name, its value in seconds with a range, its target, and its field in ``estimate.serving``.

    ``queue_grows``: the value holds for full engines, without the time in the endlessly growing queue before them.
    """

    title: str
    seconds: float
    span: tuple[float, float]
    target: Target | None
    field: str
    queue_grows: bool = False


def latency_rows(times: ServingTimes, load: Serving) -> Iterator[LatencyRow]:
    """For both latencies, the median and then the percentiles of the targets; then other latencies that have targets.

    Rows of percentiles are indented. Where `targets` state a percentile, both latencies have it without a target too.
    """
    from clusterspec.cost.serving.percentiles import MEDIAN, QUANTITIES, latency_at, latency_range
    from clusterspec.cost.serving.targets import OF_QUEUE, latency_tail

    tail = latency_tail(times, load)
    for quantity, title in QUANTITIES.items():
        targets = {each.percentile: each for each in load.targets if each.quantity == quantity}
        own = quantity in {"ttft", "tpot"}
        at = {*targets, *({tail.percentile} if tail and own else ())}
        if own or at:
            middle = next((each for each in targets.values() if each.percentile <= MEDIAN), None)
            value, span = latency_at(times, load, quantity, MEDIAN), latency_range(times, load, quantity, MEDIAN)
            field = quantity if own else _target_field(load, middle) if middle else ""
            yield LatencyRow(title, value, span, middle, field, times.queue_grows and quantity in OF_QUEUE)
        for percentile in sorted(each for each in at if each > MEDIAN):
            target = targets.get(percentile)
            field = (
                f"at_percentile.{quantity}"
                if tail and own and percentile == tail.percentile
                else _target_field(load, target)
            )
            value, span = (
                latency_at(times, load, quantity, percentile),
                latency_range(times, load, quantity, percentile),
            )
            name, grows = f"  {percentile_name(percentile)}", times.queue_grows and quantity in OF_QUEUE
            yield LatencyRow(name, value, span, target, field, grows)


def _target_field(load: Serving, target: Target | None) -> str:
    return f"targets[{load.targets.index(target)}].value" if target is not None else ""


def _expert_rows(times: ServingTimes) -> Iterator[ServingRow]:
    """The tokens on the fullest rank at the stated expert load, and the change that would balance them."""
    use = times.experts
    if use is None:
        return
    copies = f"with {plural(use.copies, 'copy', 'copies')} in {display(use.copy_bytes, 'B')}" if use.copies else ""
    others = f"{plain(use.listed, 3)} in the order of the experts, {plain(use.balanced, 3)} placed by load"
    notes = joined_notes("times the mean", copies, others)
    yield ServingRow("fullest rank", plain(use.fullest, 3), notes, "experts.fullest")


def _day_rows(day: DayPlan | None) -> Iterator[ServingRow]:
    """The accelerator-hours of a day on which engines follow the load."""
    if day is None:
        return
    engines = sorted({each.prefill + each.replicas for each in day.hours})
    counts = f"{engines[0]:,} to {plural(engines[-1], 'engine')}" if len(engines) > 1 else plural(engines[0], "engine")
    all_hours = f"{plain(day.constant_accelerator_hours, 4)} with all engines at all hours"
    note = joined_notes(f"a day, {counts}", all_hours)
    yield ServingRow("accelerator-hours", f"{day.accelerator_hours:,.4g}", note, "day.accelerator_hours")


HOURS = ("hours", "requests/s", "engines", "accelerators", "utilization", "first token", "p99", "per token", "")


def day_rows(day: DayPlan) -> Iterator[tuple[str, ...]]:
    """The rows of the hours of a day, for `HOURS`: the load as a share of the capacity of that hour's engines, and
    median latencies; for the first token also the 99th percentile.
    """
    for each in day.hours:
        engines = f"{each.prefill:,} + {each.replicas:,}" if each.prefill else f"{each.replicas:,}"
        yield (
            f"{clock_text(each.hours.start)} to {clock_text(each.hours.end)}",
            plain(each.hours.rate, 3),
            engines,
            f"{each.accelerators:,.0f}",
            percent(each.utilization, 2) if each.utilization is not None else "",
            display(inf if each.times.queue_grows else each.times.ttft, "s") if each.times else "",
            display(each.slowest, "s") if each.slowest is not None else "",
            display(each.times.tpot, "s") if each.times else "",
            "" if each.served else "more than the engines serve within the targets",
        )


def clock_text(minute: int) -> str:
    """A minute of the day as ``HH:MM``."""
    return f"{minute // 60:02}:{minute % 60:02}"


def _tier_rows(times: ServingTimes) -> Iterator[ServingRow]:
    """For each cache tier: the share of the input tokens read from it, its retention time, and its load."""
    for number, use in enumerate(times.tiers):
        kept = f"of the input tokens, kept {display(min(use.retention, A_YEAR), 's')}" + (
            " or more" if use.retention > A_YEAR else ""
        )
        loads = f"{percent(round(min(1.0, use.busy), 3), 2)} of its bandwidth" if use.tier else ""
        worn = (
            f"overwritten {plain(use.overwrites_per_day, 2)} times a day"
            if use.overwrites_per_day and use.medium == "nvme"
            else ""
        )
        enough = f"working set {display(use.working_set, 'B')}" if number + 1 == len(times.tiers) else ""
        title = f"hits, {use.medium}"
        yield ServingRow(
            title, percent(use.hit, 2), joined_notes(kept, loads, worn, enough), f"cache_tiers[{number}].hit_rate"
        )


A_YEAR = 365 * 86400.0


def percentile_name(value: float) -> str:
    """``percentile 95``."""
    return f"percentile {plain(value)}"


def mean_note(times: ServingTimes) -> str:
    """A note that the printed latency of a request is a mean; empty if it is close to the sum of the printed
    medians.
    """
    tokens = times.output_tokens - 1
    medians = times.ttft + tokens * times.tpot
    if abs(times.request_latency - medians) <= ALIKE * times.request_latency:
        return ""
    first = times.request_latency - tokens * times.tpot_mean
    return f"mean: {display(first, 's')} + {tokens:,.0f} × {display(times.tpot_mean, 's')}"


def prefill_note(times: ServingTimes, load: Serving) -> str:
    """The part of prefill in the time of a request or of the engines."""
    share = percent(times.prefill_share, 2)
    if load.load == "static":
        return f"{share} of it is the prefill of the batch"
    if load.prefill is not None:
        busy = f"the prefill engines are {percent(min(1.0, times.prefill_busy), 2)} busy"
        links = f"the links for caches, {percent(min(1.0, times.prompt_load), 2)} busy, limit prefill"
        return f"{links}; {busy}" if times.links_limit_prefill else busy
    return f"{share} of the engines' time is prefill"


def limit_note(load: Serving) -> str:
    """The limits that determine the highest concurrency."""
    if not load.targets:
        return "requests in flight, as many as the engines run at once"
    return "requests in flight; more exceed the cache or miss a target"


def _speculation_text(load: Serving) -> str:
    if not load.draft_tokens:
        return ""
    return f"with {plural(load.draft_tokens, 'draft token')}, {percent(load.draft_acceptance, 2)} accepted"


def _span_text(ends: tuple[float, float] | list[float]) -> str:
    return f"{display(ends[0], 's')} to {display(ends[1], 's')}"


def joined_notes(*parts: str) -> str:
    """The notes of a row, without empty ones."""
    return ", ".join(part for part in parts if part)


# Texts and colors of verdicts, shared by all writers

VERDICT_WORDS = {
    VerdictStatus.FAILS: "The design has errors",
    VerdictStatus.RESERVATIONS: "Works with reservations",
    VerdictStatus.CLEAR: "Checked, nothing found against it",
    VerdictStatus.NOT_JUDGED: "Not judged",
}
VERDICT_COLORS = {
    VerdictStatus.FAILS: "red",
    VerdictStatus.RESERVATIONS: "yellow",
    VerdictStatus.CLEAR: "green",
    VerdictStatus.NOT_JUDGED: "cyan",
}


def verdict_word(verdict: Verdict) -> str:
    """The verdict in words. If the design works and the purchase has errors, it names the purchase."""
    return "The purchase has errors" if verdict.of_purchase else VERDICT_WORDS[verdict.status]


# The communication of each axis in one step, as shown by writers of estimates

HEADS = ("axis", "collective", "tier", "ranks", "calls", "bytes", "on the wire", "exposed")
NUMBERS = range(3, len(HEADS))
"""The columns that are set to the right."""


def communication_row(flow: Communication) -> tuple[str, ...]:
    """The row of an axis for `HEADS`; ``exposed`` is the time not overlapped with computation."""
    return (
        flow.axis,
        flow.collective,
        flow.tier,
        f"{flow.ranks:,}",
        display(flow.calls, "1"),
        display(flow.bytes, "B"),
        display(flow.seconds, "s"),
        display(flow.exposed, "s"),
    )


# The parts of a sum as text: value, fraction and bar


# Values with their units, and headings


LONGEST_LIST = 16
"""Maximum length of a list printed item by item; in a longer list, equal neighbors are combined."""


def value_text(value: Any) -> str:
    """The text of a value with its unit.

    >>> value_text(True), value_text(("tp", "dp")), value_text(None), value_text((0, *[1] * 30))
    ('yes', 'tp, dp', 'none', '1 × 0, 30 × 1')
    """
    if isinstance(value, Figure):
        return display(value.value, value.unit, 4) + (" each way" if isinstance(value, Bandwidth) else "")
    if isinstance(value, Quantity):
        return value.written
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        texts = [value_text(one) for one in value]
        if len(texts) > LONGEST_LIST:
            texts = [f"{len([*same])} × {text}" for text, same in groupby(texts)]
        return ", ".join(texts)
    if isinstance(value, float):
        return display(value, "1", 4)
    return "none" if value is None else str(value)


def heading_line(text: str, style: TextStyle) -> str:
    return "".join(style.paint("bold", line) + "\n" for line in wrapped_lines(text, style.measure))


def losses_text(losses: Sequence[Loss], mfu: float | None, style: TextStyle) -> str:
    """The losses from the peak of the accelerators down to the MFU, each as a time of the step and as a share of the
    peak.
    """
    rows = [("  peak of the accelerators", "", "100 %", "")]
    rows += [
        (
            f"  {loss.label}",
            display(loss.seconds, "s"),
            f"{'−' if loss.share > 0 else '+'}{portion(abs(loss.share))}",
            style.paint("blue", share_bar(abs(loss.share))),
        )
        for loss in losses
    ]
    rows.append(("  achieved (MFU)", "", percent(mfu or 0.0), style.paint("blue", share_bar(mfu or 0.0))))
    title = style.paint("bold", "From peak to achieved FLOP/s")
    return f"{title}\n{text_table(('  loss', 'time', 'of the peak', ''), rows, right=(1, 2), style=style)}"
