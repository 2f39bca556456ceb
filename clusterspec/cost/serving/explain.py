"""Ranges, terms and tail latencies of a serving plan, and the targets that it misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.cluster.requests import gaps_between
from clusterspec.cost.formulas import EXPRESSIONS
from clusterspec.cost.formulas.serving import (
    handoff_time,
    output_rate,
    overlapped_handoff_time,
    prompt_time,
    request_time,
    time_per_output_token,
    time_per_token_after_transfer,
    time_per_token_with_preemption,
    time_to_first_token,
    transfer_time,
    typical_prompt_time,
    unequal_prompt_time,
)
from clusterspec.cost.serving import constants
from clusterspec.cost.serving.constants import Part, StepTime
from clusterspec.cost.serving.latency import ServingTimes, serving_range
from clusterspec.cost.serving.pools import unequal_in_pipeline
from clusterspec.cost.term import Term, formula_source, named_count
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.source import Computed

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
"""Origin of numbers that are in no kernel table."""


def token_time_term(times: ServingTimes) -> Term:
    """The time per output token: a decode step and its share of prompts, and the handoff where it lengthens a gap."""
    waits: dict[Callable[..., float], tuple[str, str]] = {
        time_per_token_after_transfer: ("joining", "the handoff and half a step, after the first token"),
        time_per_token_with_preemption: ("preempted", "the cache, and tokens computed again, after the first token"),
    }
    found = [(formula, name, why) for formula, (name, why) in waits.items() if getattr(times, name)]
    if not found:
        return _token_term(times, "tpot", times.tpot)
    formula, name, why = found[0]
    seconds: float = getattr(times, name)
    inputs = (
        (name, _computed_figure(seconds, why, "s")),
        ("output_tokens", _computed_figure(times.output_tokens, "output tokens of a request")),
    )
    token = times.tpot - seconds / gaps_between(times.output_tokens)
    part = replace(_token_term(times, "token", token), low=None, high=None)
    limits = serving_range(times, "tpot")
    return Term("tpot", times.tpot, "s", EXPRESSIONS[formula], inputs, (part,), _source(formula), *limits)


def _token_term(times: ServingTimes, name: str, seconds: float) -> Term:
    step = _step_term("step", times.decode)
    inputs = (
        ("sequences", _computed_figure(times.decoding_sequences, _sequences_text(times))),
        ("gaps", _computed_figure(gaps_between(times.output_tokens), "gaps between the output tokens of a request")),
        (
            "prefill",
            _computed_figure(times.carried_prefill, "seconds of a prompt on this engine, without launches", "s"),
        ),
        ("tokens_per_step", _computed_figure(times.tokens_per_step, "one, plus the accepted draft tokens")),
        ("stages", _computed_figure(float(times.stages[1]), "pipeline stages")),
    )
    return Term(
        name,
        seconds,
        "s",
        EXPRESSIONS[time_per_output_token],
        inputs,
        (step,),
        _source(time_per_output_token),
        *serving_range(times, "tpot"),
    )


def _sequences_text(times: ServingTimes) -> str:
    """The sequences whose prompts delay the tokens of a request."""
    if times.shares is None:
        return "sequences in flight on one attention rank"
    return "sequences of one attention rank whose prompts the median request meets"


def first_token_time_term(times: ServingTimes) -> Term:
    """The time to first token: the wait, the prompt, and the transfer of its cache."""
    inputs = (
        (
            "wait",
            _computed_figure(times.wait + times.burst[0] + times.place.median + times.loading, _wait_text(times), "s"),
        ),
        ("request", _computed_figure(times.overhead, "time of a request outside the engines", "s")),
        ("tpot", _computed_figure(times.started, "the time of an output token of separate decode engines", "s")),
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


def _wait_text(times: ServingTimes) -> str:
    """Text about the waits of a request before its prompt is computed."""
    loaded = ", and reading cached tokens" if times.loading else ""
    loaded += ", without the queue before full engines, which grows without end" if times.queue_grows else ""
    return f"the queueing time, for cache space, for the running step and for other prompts{loaded}"


def _prompt_term(times: ServingTimes) -> Term:
    """The prompt: its steps on the device, or its kernel launches on the host."""
    inputs: tuple[tuple[str, Figure], ...] = (
        ("steps", _computed_figure(times.prefill.steps, "chunks processed in one step")),
        (
            "floor",
            _computed_figure(
                times.prompt_floor, "launching every kernel of the prompt outside of captured graphs", "s"
            ),
        ),
        ("stages", _computed_figure(float(times.stages[0]), "pipeline stages")),
    )
    unequal = unequal_in_pipeline(times.prefill, float(times.stages[0]))
    if unequal:
        inputs += (("longest", _computed_figure(times.prefill.longest, "the longest chunk over the mean one")),)
    step = _step_term("step", times.prefill, times.prefill.total / times.prefill.steps)
    formula = unequal_prompt_time if unequal else prompt_time
    expression, source_ = EXPRESSIONS[formula], _source(formula)
    if times.typical_prompt == 1:
        return Term("prefill", times.prompt_time, "s", expression, inputs, (step,), source_)
    mean = Term("mean_prompt", times.prompt_time, "s", expression, inputs, (step,), source_)
    typical = ("typical", _computed_figure(times.typical_prompt, "the median prompt over the mean one"))
    median = typical_prompt_time(times.prompt_time, times.typical_prompt)
    return Term("prefill", median, "s", EXPRESSIONS[typical_prompt_time], (typical,), (mean,))


def prefill_step_term(times: ServingTimes) -> tuple[Term, str]:
    """One step of a prompt of mean length, and its place among the parts of the time to first token."""
    prompt, place = first_token_time_term(times).parts[0], ".parts[0].parts[0]"
    return (prompt.parts[0], place) if times.typical_prompt == 1 else (prompt.parts[0].parts[0], f"{place}.parts[0]")


def _handoff_term(times: ServingTimes) -> Term:
    """The transfer of the cache to the decode engine."""
    sent = times.sent
    if sent is None or times.joining:
        return Term("handoff", 0.0, "s", "0")
    passing = ("passing", constants.HANDOFF)
    moved = (
        ("size", _computed_figure(sent.transfer.size, "the cache of the prompt on one rank", "B")),
        ("bandwidth", _computed_figure(sent.transfer.bandwidth, "the link of one rank between the engines", "B/s")),
    )
    if sent.pieces == 1 and not sent.transfer.descriptors:
        inputs, formula = (passing, *moved), handoff_time
        return Term("handoff", times.handoff, "s", EXPRESSIONS[formula], inputs, source=_source(formula))
    each = ("each", constants.DESCRIPTOR)
    descriptors = ("descriptors", _computed_figure(sent.transfer.descriptors, "blocks of the prompt in every layer"))
    inputs = (
        passing,
        ("pieces", _computed_figure(sent.pieces, "parts of the cache, sent as they are computed")),
        ("computing", _computed_figure(sent.computing, "the prompt", "s")),
    )
    source, other = _source(transfer_time), overlapped_handoff_time
    expression = EXPRESSIONS[transfer_time]
    part = Term("transfer", sent.transfer.seconds, "s", expression, (*moved, descriptors, each), source=source)
    return Term("handoff", times.handoff, "s", EXPRESSIONS[other], inputs, (part,), source=_source(other))


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


def _computed_figure(value: float, why: str, unit: str = "1") -> Figure:
    return Figure(value, unit, Computed(why))


def _source(formula: Callable[..., float]) -> str:
    return formula_source(formula)


# The headline figures of a serving plan


def serving_headline(found: ServingTimes) -> Iterator[Term]:
    """The headline figures of a serving plan, named as printed."""
    yield replace(first_token_time_term(found), name="time to first token")
    yield replace(token_time_term(found), name="time per output token")
    tokens = named_count("output_tokens", found.output_tokens)
    mean = _computed_figure(found.ttft_of_mean_prompt, "the time to first token of a prompt of mean length", "s")
    gap = _computed_figure(found.tpot_mean, "the mean time per output token of a request", "s")
    times = (("ttft", mean), ("tpot", gap))
    yield Term("request latency", found.request_latency, "s", EXPRESSIONS[request_time], (*times, tokens))
    inputs = (named_count("concurrency", found.offered), tokens, ("latency", _seconds_figure(found.request_latency)))
    if found.run is not None and found.lasting is not None:
        whole = _computed_figure(found.lasting, "the run of all its requests", "s")
        inputs = (named_count("concurrency", found.run.requests), tokens, ("latency", whole))
    rate = found.output_tokens_per_second
    low, high = serving_range(found, "output_tokens_per_second")
    yield Term("output tokens per second", rate, "1", EXPRESSIONS[output_rate], inputs, low=low, high=high)
    held = (
        named_count("kv_capacity_sequences", found.kv_capacity_sequences),
        named_count("mean_context", found.kv_capacity_tokens / found.kv_capacity_sequences),
    )
    yield Term("cache holds", found.kv_capacity_tokens, "1", "kv_capacity_sequences * mean_context", held)
    reused = "prompt tokens reused within the retention of this tier that are in no faster tier, over all input tokens"
    for use in found.tiers:
        kept = (("retention", Figure(use.retention, "s", Computed("time that the tier keeps a block"))),)
        yield Term(f"hits, {use.medium}", use.hit, "1", reused, kept)
    if found.most_in_flight is not None:
        formula = "the highest concurrency at which the cache has space and the targets are met, by bisection"
        yield Term("highest concurrency", float(found.most_in_flight), "1", formula)


def _seconds_figure(value: float) -> Figure:
    return Figure(value, "s", Computed("the time of a whole request"))
