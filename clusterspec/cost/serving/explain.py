"""Ranges, terms and tail latencies of a serving plan, and the targets that it misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log

from clusterspec.cluster.model import Serving
from clusterspec.cost.formulas.serving import (
    burst_wait_percentile,
    handoff_time,
    output_rate,
    prompt_time,
    request_time,
    time_per_output_token,
    time_to_first_token,
    wait_above_median,
)
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import RANGES, TAILS, Part, StepTime
from clusterspec.cost.serving.times import ServingTimes
from clusterspec.cost.term import EXPRESSIONS, Term, formula_source, named_count
from clusterspec.origin import Computed
from clusterspec.quantity import Figure
from clusterspec.records import dataclass, replace


def serving_range(times: ServingTimes, name: str) -> list[float]:
    """The low and the high end of a field: a latency, its mean, or the output tokens per second."""
    low, high = range_factors(times, name.removesuffix("_mean"))
    value: float = getattr(times, name)
    return [value * low, value * high]


def range_factors(times: ServingTimes, quantity: str) -> tuple[float, float]:
    """The ends of the range of a quantity over its prediction.

    The time to first token is least certain with separate prefill engines, which queue, with experts, and in a batch
    that starts together; throughput with experts.
    """
    kind = quantity
    routed = any(part.name == "experts" for part in times.prefill.parts)
    if quantity == "output_tokens_per_second" and routed:
        kind = "output_tokens_per_second experts"
    elif quantity == "ttft":
        cases = ("alone", times.offered <= 1.0), ("apart", times.handoff > 0), ("static", not times.started)
        found = next((name for name, holds in (*cases, ("experts", routed)) if holds), "")
        kind = f"ttft {found}".strip()
    return RANGES[kind]


def tail_factors(times: ServingTimes, quantity: str, share: float) -> tuple[float, float]:
    """The ends of the range of ``ttft`` or ``tpot`` at a percentile (``share`` from 0.5 to 1) over its prediction.

    Those of the median and of the 99th percentile were measured. Between them the ends follow the exponential tail of
    waits; above, they are those of the 99th.
    """
    kind = "ttft apart" if quantity == "ttft" and times.handoff > 0 else quantity
    part = min(1.0, log(0.5 / (1 - share)) / log(0.5 / 0.01))
    low, high = (
        middle ** (1 - part) * end**part
        for middle, end in zip(range_factors(times, quantity), TAILS[kind], strict=True)
    )
    return low, high


# The terms of a serving plan: the time per output token and the time to first token

UNITS = {
    "bytes_read": "B",
    "bandwidth": "B/s",
    "flops": "FLOP",
    "rate": "FLOP/s",
    "latency": "s",
    "floor": "s",
    "each": "s",
    "host": "s",
    "sequence": "s",
}


WORK = "the model, the layout and the requests"
"""Origins of the numbers of a part that no kernel table has."""


def token_time_term(times: ServingTimes) -> Term:
    """The time per output token: a decode step, and its share of prompts."""
    step = _step_term("step", times.decode)
    inputs = (
        ("sequences", _computed(times.carried, "sequences in flight on one attention rank")),
        ("output_tokens", _computed(times.output_tokens, "output tokens of a request")),
        ("prefill", _computed(times.carried_prefill, "seconds of a prompt on this engine, without launches", "s")),
        ("tokens_per_step", _computed(times.tokens_per_step, "one, plus the accepted draft tokens")),
        ("stages", _computed(float(times.stages[1]), "pipeline stages")),
    )
    return Term(
        "tpot",
        times.tpot,
        "s",
        EXPRESSIONS[time_per_output_token],
        inputs,
        (step,),
        _source(time_per_output_token),
        *serving_range(times, "tpot"),
    )


def first_token_time_term(times: ServingTimes) -> Term:
    """The time to first token: the wait, the prompt, and half a step."""
    inputs = (
        (
            "wait",
            _computed(times.wait + times.burst[0], "the queueing time, for cache space and for other prompts", "s"),
        ),
        ("request", _computed(times.overhead, "time of a request outside the engines", "s")),
        ("tpot", _computed(times.started, "the time of an output token", "s")),
    )
    return Term(
        "ttft",
        times.ttft,
        "s",
        EXPRESSIONS[time_to_first_token],
        inputs,
        (_prompt_term(times), _handoff_term(times)),
        source=_source(time_to_first_token),
        low=serving_range(times, "ttft")[0],
        high=serving_range(times, "ttft")[1],
    )


def _prompt_term(times: ServingTimes) -> Term:
    """The prompt: its steps on the device, or its kernel launches on the host."""
    inputs = (
        ("steps", _computed(times.prefill.steps, "chunks processed in one step")),
        ("floor", _computed(times.prompt_floor, "launching every kernel of the prompt without captured graphs", "s")),
        ("stages", _computed(float(times.stages[0]), "pipeline stages")),
    )
    step = _step_term("step", times.prefill, times.prefill.total / times.prefill.steps)
    expression, source_ = EXPRESSIONS[prompt_time], _source(prompt_time)
    return Term("prefill", times.prompt_time, "s", expression, inputs, (step,), source_)


def _handoff_term(times: ServingTimes) -> Term:
    """The transfer of the cache to the decode engine."""
    if times.sent is None:
        return Term("handoff", 0.0, "s", "0")
    inputs = (
        ("passing", constants.HANDOFF),
        ("size", _computed(times.sent.size, "the cache of the prompt on one rank", "B")),
        ("bandwidth", _computed(times.sent.bandwidth, "the link of one rank between the engines", "B/s")),
    )
    return Term("handoff", times.handoff, "s", EXPRESSIONS[handoff_time], inputs, source=_source(handoff_time))


def _step_term(name: str, step_time: StepTime, seconds: float | None = None) -> Term:
    parts = tuple(_part_term(part) for part in step_time.parts)
    return Term(
        name, step_time.total if seconds is None else seconds, "s", " + ".join(part.name for part in parts), parts=parts
    )


def _part_term(part: Part) -> Term:
    inputs = tuple(
        (name, Figure(value, UNITS.get(name, "1"), Computed(part.origins.get(name, WORK))))
        for name, value in part.numbers.items()
    )
    return Term(part.name, part.seconds, "s", EXPRESSIONS[part.formula], inputs, source=_source(part.formula))


def _computed(value: float, why: str, unit: str = "1") -> Figure:
    return Figure(value, unit, Computed(why))


def _source(formula: Callable[..., float]) -> str:
    return formula_source(formula)


# Latency of a serving plan at the percentile of its targets, and whether the targets are met

MEDIAN = 50.0
HIGHEST = 99.9
"""The percentile up to which the exponential tail of the waits is used."""


@dataclass(frozen=True, slots=True)
class Tail:
    """The latencies that ``percentile`` of 100 requests do not exceed, in seconds, each with its range."""

    percentile: float
    ttft: float
    tpot: float
    ttft_range: tuple[float, float]
    tpot_range: tuple[float, float]


def latency_tail(times: ServingTimes, load: Serving) -> Tail | None:
    """The latencies at the percentile of the targets; None at the median, which the plan itself has."""
    if load.percentile <= MEDIAN:
        return None
    first, each = ttft_percentile(times, load), tpot_percentile(times, load)
    low, high = percentile_factors(times, load, "ttft")
    least, most = percentile_factors(times, load, "tpot")
    return Tail(load.percentile, first, each, (first * low, first * high), (each * least, each * most))


def percentile_factors(times: ServingTimes, load: Serving, quantity: str) -> tuple[float, float]:
    """The ends of the range of ``ttft`` or ``tpot`` over its prediction, at the percentile of the targets."""
    if load.percentile <= MEDIAN:
        return range_factors(times, quantity)
    return tail_factors(times, quantity, min(load.percentile, HIGHEST) / 100)


def ttft_percentile(times: ServingTimes, load: Serving) -> float:
    """The time to the first token that the percentile of the targets does not exceed; the median up to 50.

    Waits in a steady state have an exponential tail. In a finite run the requests of the burst at its start are the
    slowest: each waits for those before it, so that the place in the burst is the percentile.
    """
    if load.percentile <= MEDIAN:
        return times.ttft
    share = min(load.percentile, HIGHEST) / 100
    return times.ttft + wait_above_median(times.wait, share) + _burst_wait(times, load, share)


def _burst_wait(times: ServingTimes, load: Serving, share: float) -> float:
    """Seconds that the request at percentile ``share`` waits in the burst at the start of a run."""
    if not load.requests:
        return 0.0
    of_burst = min(1.0, times.offered / load.requests)
    median, mean = times.burst
    return burst_wait_percentile(mean, of_burst, share) - median if of_burst > 0 else 0.0


def tpot_percentile(times: ServingTimes, load: Serving) -> float:
    """The time of an output token that the percentile of the targets does not exceed.

    All requests of a batch share its steps, so that the percentiles of a request's mean are close together.
    """
    return times.tpot if load.percentile <= MEDIAN else max(times.tpot, times.tpot_mean)


def missed_targets(times: ServingTimes, load: Serving) -> tuple[str, ...]:
    """The targets that a plan does not meet at its load: ``ttft``, ``tpot``, both or none."""
    first = load.ttft_target is not None and ttft_percentile(times, load) > load.ttft_target
    each = load.tpot_target is not None and tpot_percentile(times, load) > load.tpot_target
    return tuple(name for name, late in (("ttft", first), ("tpot", each)) if late)


# The headline figures of a serving plan


def serving_headline(found: ServingTimes) -> Iterator[Term]:
    """The headline figures of a serving plan, named as printed."""
    yield replace(first_token_time_term(found), name="time to first token")
    yield replace(token_time_term(found), name="time per output token")
    tokens = named_count("output_tokens", found.output_tokens)
    times = (("ttft", _seconds_figure(found.ttft)), ("tpot", _seconds_figure(found.tpot)))
    yield Term("request latency", found.request_latency, "s", EXPRESSIONS[request_time], (*times, tokens))
    inputs = (named_count("concurrency", found.offered), tokens, ("latency", _seconds_figure(found.request_latency)))
    rate = found.output_tokens_per_second
    yield Term("output tokens per second", rate, "1", EXPRESSIONS[output_rate], inputs)
    held = (
        named_count("kv_capacity_sequences", found.kv_capacity_sequences),
        named_count("mean_context", found.kv_capacity_tokens / found.kv_capacity_sequences),
    )
    yield Term("cache holds", found.kv_capacity_tokens, "1", "kv_capacity_sequences * mean_context", held)
    if found.max_concurrency is not None:
        formula = "the highest concurrency at which the cache has space and the targets are met, by bisection"
        yield Term("most concurrency", found.max_concurrency, "1", formula)


def _seconds_figure(value: float) -> Figure:
    return Figure(value, "s", Computed("see the name"))
