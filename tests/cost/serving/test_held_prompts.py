"""Prompts that an engine holds until each of its attention replicas has one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.times import serving_times
from clusterspec.cost.serving.waits.carried import carried_prefill, seconds_added
from clusterspec.cost.serving.waits.held_prompts import steps_of_release, steps_until_release, wait_until_release
from clusterspec.cost.serving.waits.prompts import step_ahead
from tests.cluster.resolving import clean

PLAN = """
cluster: {{platform: dgx-h200, nodes: 1}}
workload:
  kind: serve
  model: qwen3-235b-a22b
  precision: fp8
  serving: {{input_tokens: 1000, output_tokens: 500, {load}, hold_steps: {hold}}}
layout: {{framework: {layout}}}
"""
EIGHT = "tp: 1, attention_dp: 8, ep: 8"


def engines(hold: int, layout: str = f"trt-llm, {EIGHT}", load: str = "concurrency: 64, chunk_tokens: 8192") -> Pools:
    found = bare_pools(clean(PLAN.format(hold=hold, layout=layout, load=load)))
    assert found is not None
    return found


def times(hold: int, layout: str, load: str) -> ServingTimes:
    found = serving_times(clean(PLAN.format(hold=hold, layout=layout, load=load)))
    assert found is not None
    return found


def test_eight_replicas_have_a_prompt_each_after_the_longest_of_eight_exponential_times() -> None:
    """With a prompt after 100 steps on each: 100 (1 + 1/2 + ... + 1/8) = 271.79 steps, if they may be held for longer.

    Few of 9 steps bring one to each: nearly all end with the limit. With 50 prompts a step none waits.
    """
    load = engines(1_000_000).load
    assert steps_of_release(load, 8, 0.01) == pytest.approx(1 + 270.7857, rel=0.01)
    assert steps_until_release(engines(9), 0.001) == pytest.approx(
        1 + 8 * (1 - 0.607), rel=0.01
    )  # half a request decodes
    assert steps_until_release(engines(9), 0.02) == pytest.approx(9, rel=1e-3)
    assert steps_until_release(engines(9), 50.0) == pytest.approx(1.0)


def test_one_replica_holds_nothing() -> None:
    assert steps_until_release(engines(9, "trt-llm, tp: 8, ep: 8"), 0.1) == 1.0
    assert steps_until_release(engines(1), 0.1) == 1.0


def test_a_prompt_waits_for_half_of_the_further_steps() -> None:
    assert wait_until_release(engines(9), 0.02, 0.02) == pytest.approx(4 * 0.02, rel=1e-2)


def test_prompts_of_all_replicas_cost_the_steps_of_one_release() -> None:
    """With 0.02 on each of 8 replicas in a step, 9 steps bring 1.44 prompts, and none in exp(-1.44) = 0.237 of cases.

    Those of a case lengthen one step by little more than one of them; started at once, nearly each lengthens its own.
    """
    held, load = engines(9), engines(9).load
    decode = decode_step(held.decode, 10.0, 1200.0)
    sequences, gained = (0.02 * load.gaps, 1200.0), 1.0
    prompt = prompt_step(held.prompts, 1000.0, 1000.0, 1.0, Decoding(*sequences, 1.0))
    steps: tuple[StepTime, StepTime] = decode, prompt
    found = carried_prefill(held, sequences, gained, steps, full=False)
    one = seconds_added(steps, step_ahead(held, steps, 0.1))
    assert 0.95 < found * 0.18 / (0.763 * one) < 1.2
    each = carried_prefill(engines(1), sequences, gained, steps, full=False)
    assert 0.4 < found / each < 0.7


@pytest.mark.parametrize("prompts", [0.3, 0.5, 1.0, 2.0])
def test_a_release_takes_as_long_as_the_replica_with_the_most_prompts(prompts: float) -> None:
    """Each of 8 replicas has started some prompts of 1,000 tokens by then, one of them up to 2.5 more."""
    held = engines(9)
    decode = decode_step(held.decode, 10.0, 1200.0)
    prompt = prompt_step(held.prompts, 1000.0, 1000.0, 1.0, Decoding(10.0, 1200.0, 1.0))
    found = carried_prefill(held, (prompts * held.load.gaps, 1200.0), 1.0, (decode, prompt), full=False)
    started = prompts * steps_until_release(held, prompts)
    mean, most = (prompt_step(held.prompts, each * 1000, 1000.0, 8.0).total for each in (started, started + 2.5))
    assert mean < found * started < most


@pytest.mark.parametrize("framework", ["trt-llm", "sglang"])
@pytest.mark.parametrize("load", ["request_rate: 8, load: open", "concurrency: 64", "concurrency: 512"])
def test_prompts_held_for_longer_come_later_and_disturb_decoding_less(framework: str, load: str) -> None:
    found = [times(hold, f"{framework}, {EIGHT}", f"{load}, chunk_tokens: 8192") for hold in (1, 3, 9, 30, 90)]
    assert all(before.ttft < after.ttft for before, after in pairwise(found[1:4]))
    assert all(before.tpot > after.tpot for before, after in pairwise(found[1:4]))
    assert found[0].tpot > found[2].tpot
    assert found[0].ttft < found[2].ttft


@pytest.mark.parametrize("load", ["load: offline", "concurrency: 64, load: static"])
def test_batches_that_fill_all_replicas_evenly_are_never_held(load: str) -> None:
    assert times(9, f"trt-llm, {EIGHT}", load) == times(1, f"trt-llm, {EIGHT}", load)


def test_some_prompts_are_held_for_nearly_all_of_the_steps_and_half_for_less_than_half() -> None:
    """At 2 requests a second few of 9 steps bring any: a prompt is held for up to eight, four on average.

    From the median to the 99th percentile that is 0.49 of the eight, with the tail of other waits.
    """
    load = "request_rate: 2, load: open, chunk_tokens: 8192"
    held, free = (times(hold, f"trt-llm, {EIGHT}", load) for hold in (9, 1))
    one, other = engines(9, load=load).load, engines(1, load=load).load
    longer = latency_at(held, one, "ttft", 99) - latency_at(held, one, "ttft", 50)
    longer -= latency_at(free, other, "ttft", 99) - latency_at(free, other, "ttft", 50)
    assert longer == pytest.approx(0.49 * 8 * held.tpot, rel=0.3)
    assert held.ttft - free.ttft == pytest.approx(4 * held.tpot, rel=0.3)
