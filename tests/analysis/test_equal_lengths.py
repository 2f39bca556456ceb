"""Requests of equal lengths in a closed loop: the formulas agree with the simulation of such a run."""

from __future__ import annotations

import pytest

from clusterspec.analysis.simulation.outcomes import first_token_seconds
from clusterspec.analysis.simulation.run import simulated_load
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.times import serving_times
from tests.analysis.jobs import study_of
from tests.effort import sampled, telling, thorough

SPEC = """
cluster: {{accelerator: h100-sxm-80gb, nodes: 1}}
workload:
  kind: serve
  model: llama-3.3-70b
  precision: fp8
  serving: {{input_tokens: {prompt}, output_tokens: {answer}, load: closed, concurrency: {flight}{further}}}
layout: {{framework: {framework}, tp: 8}}
"""
ENGINES = {
    "mixed": "vllm, software: vllm 0.10.0",
    "ahead": "vllm, software: vllm 0.16.0",
    "chunks": "trt-llm, software: trt-llm 1.0",
    "alone": "sglang, software: sglang 0.5.9",
}
"""Engines that mix prompts with decoding, form steps ahead, or run prompts in steps of their own."""
EQUAL = "{mean: 512, p99: 512}"


def spec_text(engine: str, prompt: int, flight: int, answer: object = EQUAL, further: str | None = None) -> str:
    """A dense model of 70 B weights on eight H100, in a run of ten rounds."""
    further = f", requests: {10 * flight}" if further is None else further
    return SPEC.format(framework=ENGINES[engine], prompt=prompt, answer=answer, flight=flight, further=further)


def times_of(text: str) -> ServingTimes:
    found = serving_times(study_of(text).design)
    assert found is not None
    return found


CASES = [(engine, prompt, flight) for engine in ENGINES for prompt, flight in ((1024, 16), (2048, 64), (4096, 32))]


@thorough
@pytest.mark.parametrize(("engine", "prompt", "flight"), sampled(CASES, 2 * len(CASES)))
def test_equal_requests_that_start_together_stay_in_step(engine: str, prompt: int, flight: int) -> None:
    text = spec_text(engine, prompt, flight)
    found, load = times_of(text), simulated_load(study_of(text), seed=1)
    tpot, ttft = load.latencies["tpot"], load.latencies["ttft"]
    _, tokens, seconds = load.steady_output
    assert found.tpot == pytest.approx(tpot.p50, rel=0.05)
    assert found.output_tokens_per_second == pytest.approx(tokens / seconds, rel=0.08)
    assert found.ttft == pytest.approx(ttft.p50, rel=0.6)  # half of few groups
    loose = times_of(spec_text(engine, prompt, flight, 512))
    assert loose.ttft < found.ttft
    assert abs(loose.ttft - ttft.p50) > abs(found.ttft - ttft.p50)


REPLICAS = """
cluster: {{platform: dgx-h200, nodes: 1}}
workload:
  kind: serve
  model: qwen3-235b-a22b
  precision: fp8
  serving: {{input_tokens: {prompt}, output_tokens: {answer}, load: closed, concurrency: {flight}, requests: {number}}}
layout: {{framework: {framework}, tp: 1, ep: 8, attention_dp: 8}}
"""


@thorough
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("prompt", "each", "rounds"), sampled([(1000, 1, 1), (8000, 2, 1), (1000, 8, 10), (8000, 8, 10)], 8)
)
def test_replicas_of_attention_run_the_prompts_that_come_together_in_steps_of_all(
    engine: str, prompt: int, each: int, rounds: int
) -> None:
    """The first prompt of an engine runs alone; those of the other replicas come while it does and follow together."""
    fields = {"prompt": prompt, "flight": 8 * each, "number": 8 * each * rounds, "framework": ENGINES[engine]}
    text = REPLICAS.format(answer=EQUAL, **fields)
    found, load = times_of(text), simulated_load(study_of(text), seed=1)
    _, tokens, seconds = load.steady_output
    firsts = [first_token_seconds(request) for request in load.counted]
    assert found.ttft_mean == pytest.approx(sum(firsts) / len(firsts), rel=0.15 if rounds == 1 else 0.3)
    assert found.tpot == pytest.approx(load.latencies["tpot"].p50, rel=0.15)
    assert found.output_tokens_per_second == pytest.approx(tokens / seconds, rel=0.1)


@pytest.mark.parametrize("further", [None, ""])
def test_a_mean_alone_says_nothing_of_other_lengths(further: str | None) -> None:
    """In a run, and in a loop without an end."""
    equal, mean = (times_of(spec_text("alone", 1024, 32, answer, further)) for answer in (EQUAL, 512))
    assert equal.ttft > 2 * mean.ttft


@telling(2)
@pytest.mark.parametrize("engine", ENGINES)
def test_more_requests_in_step_wait_no_less(engine: str) -> None:
    found = [times_of(spec_text(engine, 1024, flight)) for flight in (2, 4, 8, 16, 32, 64, 128)]
    firsts, tokens = [each.ttft_mean for each in found], [each.tpot_mean for each in found]
    assert firsts == sorted(firsts)
    assert tokens == sorted(tokens)


def test_requests_without_a_place_are_not_in_step() -> None:
    """Where the cache holds fewer, those that wait start as others end."""
    places = ", requests: 640, max_sequences: 32"
    equal, mean = (times_of(spec_text("alone", 1024, 64, answer, places)) for answer in (EQUAL, 512))
    assert equal.ttft == mean.ttft


@pytest.mark.parametrize("engine", ENGINES)
def test_the_last_round_of_equal_requests_lasts_as_long_with_few_of_them(engine: str) -> None:
    """Of 52 requests, 16 in flight, four are left after three rounds: a fourth round, not a quarter of one."""
    text = spec_text(engine, 1024, 16, further=", requests: 52")
    found, run = times_of(text), simulated_load(study_of(text), seed=1).run
    assert found.output_tokens_per_second == pytest.approx(52 * 512 / run.ended, rel=0.05)


@pytest.mark.parametrize("engine", ["mixed", "alone"])
def test_one_more_equal_request_never_shortens_a_run(engine: str) -> None:
    lengths = [52, 63, 64, 65]
    rates = [
        times_of(spec_text(engine, 1024, 16, further=f", requests: {many}")).output_tokens_per_second
        for many in lengths
    ]
    seconds = [many / rate for many, rate in zip(lengths, rates, strict=True)]
    assert seconds == sorted(seconds)
    assert seconds[3] > seconds[2] * 1.15, "the 65th request is a round of its own"
