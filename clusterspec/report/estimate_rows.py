"""Rows shared by writers of estimates: serving latencies, verdict colors, communication, and parts of sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clusterspec.cluster.model import Serving
from clusterspec.cost.serving.explain import Tail, latency_tail, serving_range
from clusterspec.cost.serving.times import ServingTimes
from clusterspec.cost.term import Communication, Term
from clusterspec.report.ink import Ink, share_bar, text_table
from clusterspec.results.verdict import VerdictStatus
from clusterspec.units import display, percent, plain, plural, portion

# The headline figures of a serving plan: latencies with ranges and targets, throughput, and cache

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
    at = latency_tail(times, load)
    for title, name, target in TIMES:
        goal = getattr(load, target)
        aim = f"target {display(goal, 's')}" if goal is not None else ""
        span = _span_text(serving_range(times, name))
        value = display(getattr(times, name), "s")
        yield ServingRow(title, value, joined_notes(span, "" if at else aim, _speculation_text(load), held), name)
        if at is not None:
            yield _percentile_row(at, name, aim, held)
    rate = f"{times.output_tokens_per_second:,.0f}"
    each = f"{times.per_accelerator:,.0f} per accelerator of {times.accelerators:,.0f}"
    yield ServingRow("output tokens per second", rate, joined_notes(each, held), "output_tokens_per_second")
    yield ServingRow(
        "request latency", display(times.request_latency, "s"), prefill_note(times, load), "request_latency"
    )
    requests = f"tokens, {times.places:,} requests, {display(times.kv_bytes_per_token, 'B')} per token"
    yield ServingRow("cache holds", f"{float(f'{times.kv_capacity_tokens:.3g}'):,.0f}", requests, "kv_capacity_tokens")
    if times.most_in_flight is not None:
        yield ServingRow("most concurrency", f"{times.most_in_flight:,}", limit_note(load), "max_concurrency")


def _percentile_row(at: Tail, name: str, aim: str, held: str) -> ServingRow:
    value, span = display(getattr(at, name), "s"), _span_text(getattr(at, f"{name}_range"))
    return ServingRow(
        f"  {percentile_name(at.percentile)}", value, joined_notes(span, aim, held), f"at_percentile.{name}"
    )


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


def limit_note(load: Serving) -> str:
    """The limits that determine the highest concurrency."""
    if load.ttft_target is None and load.tpot_target is None:
        return "in flight that the engines run at once"
    return "in flight within the cache, at which the median meets the targets"


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
    VerdictStatus.FAILS: "Does not work as written",
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


# The communication of each axis in one step, as shown by writers of estimates

HEADS = ("axis", "collective", "tier", "ranks", "calls", "bytes", "on the wire", "exposed")
NUMBERS = range(3, len(HEADS))
"""The columns that are set to the right."""


def communication_row(sent: Communication) -> tuple[str, ...]:
    """The row of an axis for `HEADS`; ``exposed`` is the time not overlapped with computation."""
    return (
        sent.axis,
        sent.collective,
        sent.tier,
        f"{sent.ranks:,}",
        display(sent.calls, "1"),
        display(sent.bytes, "B"),
        display(sent.seconds, "s"),
        display(sent.exposed, "s"),
    )


# The parts of a sum as text: value, fraction and bar

MOST = 10
"""Rows of one sum on the first screen; the small parts are put together in a last one."""


def breakdown_text(term: Term, ink: Ink, depth: int = 1, most: int | None = None) -> str:
    """A sum with its parts, each with its fraction and a bar; at most ``most`` rows."""
    shown = folded_term(term, most) if most else term
    rows = [
        (
            "  " * level + part.label,
            display(part.value, part.unit),
            portion(part.value / term.value) if term.value else "",
            ink.paint("blue", share_bar(part.value / term.value)) if term.value and level == 1 else "",
        )
        for part, level in nested_parts(shown, depth)
    ]
    return text_table(
        ("  part", "time" if term.unit == "s" else "size", "share", ""), rows, right=(1, 2), wrap=(0,), ink=ink
    )


def nested_parts(term: Term, depth: int, level: int = 1) -> Iterable[tuple[Term, int]]:
    """The parts that are not zero, each with its depth."""
    for part in term.parts:
        if part.value:
            yield part, level
            if depth > 1:
                yield from nested_parts(part, depth - 1, level + 1)


def folded_term(term: Term, most: int) -> Term:
    """The term with its smallest parts combined if more than ``most`` are not zero."""
    parts = tuple(part for part in term.parts if part.value)
    if len(parts) <= most:
        return term
    kept = sorted(parts, key=lambda part: -part.value)[: most - 1]
    rest = tuple(part for part in parts if part not in kept)
    small = Term.total(f"{len(rest)} smaller parts", rest, term.unit)
    return Term.total(term.name, (*(part for part in parts if part in kept), small), term.unit)
