"""The headline figures of a serving plan: latencies with ranges and targets, throughput, and cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from clusterspec.cluster.model import Serving
from clusterspec.cost.serving import ServingTimes
from clusterspec.cost.serving.ranges import serving_range
from clusterspec.cost.serving.targets import Tail, tail
from clusterspec.units import display, percent, plain, plural

TIMES = (
    ("time to first token", "ttft", "ttft_target"),
    ("time per output token", "tpot", "tpot_target"),
)


class ServingRow(NamedTuple):
    """Name, value and note of a figure, and its field in the JSON of ``estimate.serving``."""

    name: str
    value: str
    note: str
    field: str


def serving_rows(times: ServingTimes, load: Serving, held: str) -> Iterator[ServingRow]:
    """The figures of a plan; ``held`` is the condition under which they hold, empty if it can run."""
    at = tail(times, load)
    for title, name, target in TIMES:
        goal = getattr(load, target)
        aim = f"target {display(goal, 's')}" if goal is not None else ""
        span = _span(serving_range(times, name))
        value = display(getattr(times, name), "s")
        yield ServingRow(title, value, _notes(span, "" if at else aim, _drafted(load), held), name)
        if at is not None:
            yield _at_percentile(at, name, aim, held)
    rate = f"{times.output_tokens_per_second:,.0f}"
    each = f"{times.per_accelerator:,.0f} per accelerator of {times.accelerators:,.0f}"
    yield ServingRow("output tokens per second", rate, _notes(each, held), "output_tokens_per_second")
    yield ServingRow(
        "request latency", display(times.request_latency, "s"), prefill_note(times, load), "request_latency"
    )
    requests = f"tokens, {times.places:,} requests, {display(times.kv_bytes_per_token, 'B')} per token"
    yield ServingRow("cache holds", f"{float(f'{times.kv_capacity_tokens:.3g}'):,.0f}", requests, "kv_capacity_tokens")
    if times.most_in_flight is not None:
        yield ServingRow("most concurrency", f"{times.most_in_flight:,}", most_note(load), "max_concurrency")


def _at_percentile(at: Tail, name: str, aim: str, held: str) -> ServingRow:
    value, span = display(getattr(at, name), "s"), _span(getattr(at, f"{name}_range"))
    return ServingRow(f"  {percentile_name(at.percentile)}", value, _notes(span, aim, held), f"at_percentile.{name}")


def percentile_name(value: float) -> str:
    """``percentile 95``."""
    return f"percentile {plain(value)}"


def prefill_note(times: ServingTimes, load: Serving) -> str:
    """The part of prefill in the time of a request or of the engines."""
    share = percent(times.prefill_share, 2)
    if load.load == "static":
        return f"{share} of it is the prefill of the batch"
    if load.prefill is not None:
        return f"the prefill engines are {percent(min(1.0, times.prompt_load), 2)} busy"
    return f"{share} of the engines' time is prefill"


def most_note(load: Serving) -> str:
    """The limits under which a concurrency is the highest."""
    if load.ttft_target is None and load.tpot_target is None:
        return "in flight that the engines run at once"
    return "in flight within the cache, at which the median meets the targets"


def _drafted(load: Serving) -> str:
    if not load.draft_tokens:
        return ""
    return f"with {plural(load.draft_tokens, 'draft token')}, {percent(load.draft_acceptance, 2)} accepted"


def _span(ends: tuple[float, float] | list[float]) -> str:
    return f"{display(ends[0], 's')} to {display(ends[1], 's')}"


def _notes(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
