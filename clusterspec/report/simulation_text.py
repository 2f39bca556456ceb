"""The simulation of a serving plan as text."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.report import PLAIN, TextStyle, paragraph, text_table
from clusterspec.report.estimate_rows import clock_text
from clusterspec.results.simulation import Percentiles, SimulatedHours, SimulationReport
from clusterspec.units import display, percent, plain, plural

SHOWN = 10
"""Points of the queue that the text shows; JSON has all."""


CLOCK = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))
"""Units of times with their seconds, largest first. A column uses the largest in which its last time is at
least ten.
"""


def simulation_as_text(report: SimulationReport, style: TextStyle = PLAIN) -> str:
    """The percentiles, the rates, and the queue over time."""
    heading = (
        f"{plural(report.requests, 'request')} on {plural(report.engines, 'engine')} "
        f"({plural(round(report.accelerators), 'accelerator')}): {report.load}, seed {report.seed}."
    )
    ends = [(report.warm_up, "first"), (report.cool_down, "last")]
    left_out = " and ".join(f"the {name} {count:,}" for count, name in ends if count)
    early = f" {left_out.capitalize()} do not count." if left_out else ""
    parts = [
        paragraph(heading + early, style),
        _percentile_table(report, style),
        "".join(f"{line}\n" for line in _figure_lines(report)),
        style.paint("bold", "Queue over time") + "\n" + _queue_table(report, style),
    ]
    if report.day:
        parts.append(style.paint("bold", "The hours of a day") + "\n" + _day_table(report, style))
    if report.cache_sizes:
        title = style.paint("bold", "Hits of one cache of all engines, by its size")
        parts.append(f"{title}\n{_size_table(report, style)}")
    notes = "".join(paragraph(note, style) for note in report.notes)
    return "\n".join([*parts, notes] if notes else parts)


def _percentile_table(report: SimulationReport, style: TextStyle) -> str:
    named: list[tuple[str, Percentiles | None, float | None]] = [
        ("time to first token", report.ttft, report.expected[0]),
        ("time per output token", report.tpot, report.expected[1]),
        ("gap between tokens", report.itl, None),
        ("end to end", report.end_to_end, None),
    ]
    rows = [
        (f"  {name}", *(display(value, "s") for value in found), display(expected, "s") if expected else "")
        for name, found, expected in named
        if found is not None
    ]
    return text_table(("  latency", "p50", "p90", "p99", "formula"), rows, right=(1, 2, 3, 4), style=style)


def _figure_lines(report: SimulationReport) -> Iterator[str]:
    if report.goodput is not None:
        yield f"  within targets           {percent(report.goodput)} of requests"
    for each in report.targets:
        if each.value is not None:
            met = "met" if each.is_met else "missed"
            met += ", as the queue grows" if each.value <= each.target and not each.is_met else ""
            name = f"{each.quantity.replace('_', ' ')} p{plain(each.percentile)}"
            yield f"  {name:<24} {display(each.value, 's')}, target {display(each.target, 's')}: {met}"
    yield f"  waiting for prefill      {percent(report.queue_share, 2)} of the time to first token"
    for tier, share in report.hit_rate.items():
        yield f"  {f'read from {tier}':<24} {percent(share, 2)} of the input tokens"
    yield f"  throughput               {display(report.output_tokens_per_second, '1')} output tokens per second"
    yield f"  requests                 {plain(report.request_rate)}/s"
    if report.saturation is not None:
        yield f"  sustained at most        {plain(report.saturation)}/s"


def _queue_table(report: SimulationReport, style: TextStyle) -> str:
    step = max(1, (len(report.queue) - 1) // SHOWN)
    points = report.queue[::step]
    size, unit = next(((size, unit) for size, unit in CLOCK if points and points[-1].time >= 10 * size), CLOCK[-1])
    rows = [(f"  {plain(point.time / size, 3)}", f"{point.waiting:,}", f"{point.running:,}") for point in points]
    return text_table((f"  time in {unit}", "waiting", "running"), rows, right=(0, 1, 2), style=style)


HOURS = ("hours", "requests/s", "engines", "first token p50", "p99", "per token p50", "p99", "within targets")


def _day_table(report: SimulationReport, style: TextStyle) -> str:
    """The hours of a day with the engines that each needs; below, the rises of the load that engines answer late."""
    rows = []
    for each in report.day:
        first = [display(value, "s") for value in (each.ttft.p50, each.ttft.p99)] if each.ttft else ["", ""]
        token = [display(value, "s") for value in (each.tpot.p50, each.tpot.p99)] if each.tpot else ["", ""]
        good = percent(each.goodput, 3) if each.goodput is not None else ""
        count = f"{each.prefill:,} + {each.replicas:,}" if each.prefill else f"{each.replicas:,}"
        hours = f"  {clock_text(each.start)} to {clock_text(each.end)}"
        rows.append((hours, plain(each.rate, 3), count, *first, *token, good))
    table = text_table((f"  {HOURS[0]}", *HOURS[1:]), rows, right=tuple(range(1, len(HOURS))), style=style)
    return table + "".join(
        f"{line}\n" for each in report.day for line in (*_missed_lines(each), *_load_rise_lines(each))
    )


def _missed_lines(hours: SimulatedHours) -> Iterator[str]:
    """The targets that the engines of some hours miss."""
    for each in hours.targets:
        if each.value is not None and not each.is_met:
            name = f"{each.quantity.replace('_', ' ')} p{plain(each.percentile)}"
            reached = f"{display(each.value, 's')}, target {display(each.target, 's')}: missed"
            yield f"  from {clock_text(hours.start)} {name} {reached}"


def _load_rise_lines(hours: SimulatedHours) -> Iterator[str]:
    """Waits of requests after the load rises at the start of hours."""
    rise = hours.rise
    if rise is not None:
        good = f", {percent(rise.goodput, 3)} within the targets" if rise.goodput is not None else ""
        yield (
            f"  from {clock_text(hours.start)} engines are {display(rise.late, 's')} late: first token p50 "
            f"{display(rise.ttft.p50, 's')}, p99 {display(rise.ttft.p99, 's')} of {rise.requests:,} requests in "
            f"{display(rise.seconds, 's')}{good}"
        )


def _size_table(report: SimulationReport, style: TextStyle) -> str:
    rows = [
        (
            f"  {display(each.bytes, 'B')}",
            percent(each.hit_rate, 2),
            f"{each.requests:,.0f} requests" + (f", {display(each.seconds, 's')}" if each.seconds is not None else ""),
        )
        for each in report.cache_sizes
    ]
    return text_table(("  size", "of the input tokens", "keeps a block for"), rows, right=(0, 1, 2), style=style)
