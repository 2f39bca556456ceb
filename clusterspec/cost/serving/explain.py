"""The terms of a serving plan: the time per output token and the time to first token."""

from __future__ import annotations

from collections.abc import Callable

from clusterspec.cost.expressions import EXPRESSIONS
from clusterspec.cost.formulas.serving import handoff_time, prompt_time, time_per_output_token, time_to_first_token
from clusterspec.cost.leaf import source
from clusterspec.cost.serving import constants as known
from clusterspec.cost.serving.ranges import serving_range
from clusterspec.cost.serving.steps import Part, StepTime
from clusterspec.cost.serving.times import ServingTimes
from clusterspec.cost.term import Term
from clusterspec.origin import Computed
from clusterspec.quantity import Figure

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


def time_of_token(times: ServingTimes) -> Term:
    """The time per output token: a decode step, and its share of prompts."""
    step = _step("step", times.decode)
    inputs = (
        ("sequences", _computed(times.carried, "sequences in flight on one attention rank")),
        ("output_tokens", _computed(times.output_tokens, "output tokens of a request")),
        ("prefill", _computed(times.carried_prefill, "seconds of a prompt on this engine, without launches", "s")),
        ("tokens_per_step", _computed(times.tokens_per_step, "one, plus the accepted draft tokens")),
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


def time_of_first_token(times: ServingTimes) -> Term:
    """The time to first token: the wait, the prompt, and half a step."""
    inputs = (
        ("wait", _computed(times.wait, "the queueing time, for cache space and for other prompts", "s")),
        ("request", _computed(times.overhead, "time of a request outside the engines", "s")),
        ("tpot", _computed(times.started, "the time of an output token", "s")),
    )
    return Term(
        "ttft",
        times.ttft,
        "s",
        EXPRESSIONS[time_to_first_token],
        inputs,
        (_prompt(times), _handoff(times)),
        source=_source(time_to_first_token),
        low=serving_range(times, "ttft")[0],
        high=serving_range(times, "ttft")[1],
    )


def _prompt(times: ServingTimes) -> Term:
    """The prompt: its steps on the device, or its kernel launches on the host."""
    inputs = (
        ("steps", _computed(times.prefill.steps, "chunks processed in one step")),
        ("floor", _computed(times.prompt_floor, "launching every kernel of the prompt without captured graphs", "s")),
    )
    step = _step("step", times.prefill, times.prefill.total / times.prefill.steps)
    expression, source_ = EXPRESSIONS[prompt_time], _source(prompt_time)
    return Term("prefill", times.prompt_time, "s", expression, inputs, (step,), source_)


def _handoff(times: ServingTimes) -> Term:
    """The transfer of the cache to the decode engine."""
    if times.sent is None:
        return Term("handoff", 0.0, "s", "0")
    inputs = (
        ("passing", known.HANDOFF),
        ("size", _computed(times.sent.size, "the cache of the prompt on one rank", "B")),
        ("bandwidth", _computed(times.sent.bandwidth, "the link of one rank between the engines", "B/s")),
    )
    return Term("handoff", times.handoff, "s", EXPRESSIONS[handoff_time], inputs, source=_source(handoff_time))


def _step(name: str, step_time: StepTime, seconds: float | None = None) -> Term:
    parts = tuple(_part(part) for part in step_time.parts)
    return Term(
        name, step_time.total if seconds is None else seconds, "s", " + ".join(part.name for part in parts), parts=parts
    )


def _part(part: Part) -> Term:
    inputs = tuple(
        (name, Figure(value, UNITS.get(name, "1"), Computed(part.origins.get(name, WORK))))
        for name, value in part.numbers.items()
    )
    return Term(part.name, part.seconds, "s", EXPRESSIONS[part.formula], inputs, source=_source(part.formula))


def _computed(value: float, why: str, unit: str = "1") -> Figure:
    return Figure(value, unit, Computed(why))


def _source(formula: Callable[..., float]) -> str:
    return source(formula)
