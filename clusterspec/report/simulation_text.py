"""The simulation of a serving plan as text."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.report.ink import PLAIN, Ink, text_table, wrapped_lines
from clusterspec.results.simulation import Percentiles, SimulationReport
from clusterspec.units import display, percent, plain, plural

SHOWN = 10
"""Points of the queue that the text shows; JSON has all."""


def simulation_as_text(report: SimulationReport, ink: Ink = PLAIN) -> str:
    """The percentiles, the rates, and the queue over time."""
    heading = (
        f"{plural(report.requests, 'request')} on {plural(report.engines, 'engine')} "
        f"({plural(round(report.accelerators), 'accelerator')}): {report.load}, seed {report.seed}."
    )
    early = f" The first {report.warm_up:,} do not count." if report.warm_up else ""
    parts = [
        "\n".join(wrapped_lines(heading + early, ink.measure)) + "\n",
        _percentile_table(report, ink),
        "".join(f"{line}\n" for line in _figure_lines(report)),
        ink.paint("bold", "Queue over time") + "\n" + _queue_table(report, ink),
    ]
    if report.cache_sizes:
        title = ink.paint("bold", "Hits of one cache of all engines, by its size")
        parts.append(f"{title}\n{_size_table(report, ink)}")
    notes = "".join("\n".join(wrapped_lines(note, ink.measure)) + "\n" for note in report.notes)
    return "\n".join([*parts, notes] if notes else parts)


def _percentile_table(report: SimulationReport, ink: Ink) -> str:
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
    return text_table(("  latency", "p50", "p90", "p99", "formula"), rows, right=(1, 2, 3, 4), ink=ink)


def _figure_lines(report: SimulationReport) -> Iterator[str]:
    if report.goodput is not None:
        yield f"  within targets           {percent(report.goodput)} of requests"
    for quantity, percentile, target, value in report.targets:
        if value is not None:
            met = "met" if value <= target else "missed"
            name = f"{quantity.replace('_', ' ')} p{plain(percentile)}"
            yield f"  {name:<24} {display(value, 's')}, target {display(target, 's')}: {met}"
    yield f"  waiting for admission    {percent(report.queue_share, 2)} of the time to the first token"
    for tier, share in report.hit_rate.items():
        yield f"  {f'read from {tier}':<24} {percent(share, 2)} of the input tokens"
    yield f"  throughput               {display(report.output_tokens_per_second, 'T/s')} of output"
    yield f"  requests                 {plain(report.request_rate)}/s"
    if report.saturation is not None:
        yield f"  sustained at most        {plain(report.saturation)}/s"


def _queue_table(report: SimulationReport, ink: Ink) -> str:
    step = max(1, (len(report.queue) - 1) // SHOWN)
    rows = [
        (f"  {display(point.time, 's')}", f"{point.waiting:,}", f"{point.running:,}") for point in report.queue[::step]
    ]
    return text_table(("  time", "waiting", "running"), rows, right=(0, 1, 2), ink=ink)


def _size_table(report: SimulationReport, ink: Ink) -> str:
    rows = [
        (
            f"  {display(each.bytes, 'B')}",
            percent(each.hit_rate, 2),
            f"{each.requests:,.0f} requests" + (f", {display(each.seconds, 's')}" if each.seconds is not None else ""),
        )
        for each in report.cache_sizes
    ]
    return text_table(("  size", "of the input tokens", "keeps a block for"), rows, right=(0, 1, 2), ink=ink)
