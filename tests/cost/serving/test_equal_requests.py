"""Prompts that come together in a closed loop of equal requests, with steps of round times: worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.waits.waves import (
    delaying_prompts_in_step,
    group_of_prompts,
    prefill_time_in_full_steps,
    wait_in_step,
)
from clusterspec.records import replace
from tests.designs import changed, engines_of, times_of, with_steps

DECODE, PROMPTS = StepTime((), 1.0, 0.02, 0.02), 1.5
"""A decode step of 20 ms, and the number of steps of a group of prompts."""
PLAN = """
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 1000, output_tokens: {mean: 100, p99: 100}, concurrency: 32, requests: 320}
layout: {framework: vllm, tp: 1, attention_dp: 2}
"""
LOAD: dict[str, Any] = {"prefix_hit": 0.1, "chunk_tokens": 8 * 900 + 99}


def decoding(sequences: float) -> Decoding:
    return Decoding(sequences, 1000.0, 3.0)


def pools_of(
    sequences: float, prompts: float, outside: float = 0.03, ahead: bool = False, lasting: float = 0.05
) -> Pools:
    """Engines of two attention ranks whose steps with these prompts, beside the sequences, last 50 ms.

    The token budget of a step, with 3 tokens of each of 33 sequences, has room for eight prompts of 900 tokens.
    """
    pools = engines_of(PLAN)
    habits = replace(pools.decode.habits, request=outside, prompt_token=0.0)
    timed = {(prompts * 900, 1000.0, 2.0, decoding(sequences)): StepTime((), PROMPTS, lasting, lasting)}
    drafts = {"workload.serving.draft_tokens": 0 if ahead else 2}  # a step with drafts is formed after the one before
    engine = with_steps(replace(changed(pools.decode, drafts), habits=habits), timed)
    assert engine.runs_ahead is ahead
    return pools._replace(decode=engine, prompts=engine, load=replace(pools.load, **LOAD))


@pytest.mark.parametrize(("sequences", "prompts"), [(33, 8.0), (5, 5.0), (1, 1.0)])
def test_no_more_prompts_come_together_than_there_are_sequences(sequences: int, prompts: float) -> None:
    pools = pools_of(sequences, prompts)
    assert group_of_prompts(pools, decoding(sequences)) == (prompts, StepTime((), PROMPTS, 0.05, 0.05))


def loop_of(requests: int, outside: float, ahead: bool, chunk: int = LOAD["chunk_tokens"]) -> Pools:
    """A loop of ``requests`` on each attention rank, of which 33 sequences decode in a step with prompts."""
    pools = pools_of(33, max(1.0, min(requests - 1.0, 8.0)) if chunk > 900 else 1.0, outside, ahead)
    loop: dict[str, Any] = {"concurrency": pools.decode.attention_ranks * requests, "chunk_tokens": chunk}
    return pools._replace(load=replace(pools.load, **loop))


@pytest.mark.parametrize(
    ("requests", "outside", "ahead", "mean", "median"),
    [
        # 32 others are 4 groups of 8, a step apart; two steps end while a successor is outside, the first prompt has
        # the next one. Of the seconds since the end of the request before:
        # first 2 · 20 + 45; then 20 + 45 + 50, 0 + 45 + 2 · 50 and twice 3 · 50
        (33, 0.03, False, (0.085 + 8 * (0.115 + 0.145 + 2 * 0.15)) / 33, 0.145),
        # steps formed ahead: first 3 · 20 + 45; then 40 + 45 + 50, 20 + 45 + 100, 45 + 150 and 4 · 50
        (33, 0.03, True, (0.105 + 8 * (0.135 + 0.165 + 0.195 + 0.2)) / 33, 0.165),
        (33, 0.04, False, (0.085 + 8 * (0.115 + 0.145 + 2 * 0.15)) / 33, 0.145),
        (33, 0.041, False, (0.105 + 8 * (0.135 + 0.165 + 0.195 + 0.2)) / 33, 0.165),
        # one step: first 20 + 45; then 45 + 50 and three times 2 · 50
        (33, 0.0, False, (0.065 + 8 * (0.095 + 3 * 0.1)) / 33, 0.1),
        (5, 0.03, False, (0.085 + 4 * 0.115) / 5, 0.115),  # one group of four
        (2, 0.03, False, (0.085 + 0.115) / 2, (0.085 + 0.115) / 2),
    ],
)
def test_a_prompt_waits_for_the_first_one_and_for_the_groups_before_its_own(
    requests: int, outside: float, ahead: bool, mean: float, median: float
) -> None:
    pools, prompt = loop_of(requests, outside, ahead), 0.045
    wait, above = wait_in_step(pools, DECODE, decoding(33), prompt)
    assert wait == pytest.approx(mean - outside - prompt)
    assert above == pytest.approx(median - mean)


@pytest.mark.parametrize(("prompt", "wait"), [(0.045, 0.05 - 0.045), (0.06, 0.0)])
def test_a_request_alone_has_its_step_at_once(prompt: float, wait: float) -> None:
    assert wait_in_step(loop_of(1, 0.03, ahead=False), DECODE, decoding(33), prompt) == pytest.approx((wait, 0.0))


def test_prompts_that_need_more_than_a_step_end_as_many_steps_apart() -> None:
    """A prompt of 900 tokens in steps of 549, of which the sequences take 99, takes two steps of 25 ms.

    Two steps end while a successor is outside, in which one of two others ends. The second prompt ends after the whole
    first, which began when its request was sent; the third after both: 2 · 20 + 45, 45 + 50 and 2 · 50. A prompt ends
    in the middle of a step that the next one fills: 12.5 ms more but for the last.
    """
    wait, above = wait_in_step(loop_of(3, 0.03, False, 549), DECODE, decoding(33), 0.045)
    mean = (0.085 + 0.0125 + 0.095 + 0.0125 + 0.1) / 3
    assert wait == pytest.approx(mean - 0.03 - 0.045)
    assert above == pytest.approx(0.095 + 0.0125 - mean)


@pytest.mark.parametrize(
    ("requests", "chunk", "delaying"),
    [
        # the first decodes while all others have their prompts; a group not while the first, its own and those before
        # it have theirs: 33 - 1 - 8, 33 - 1 - 16 and twice 33 - 3 · 8
        (33, LOAD["chunk_tokens"], (32 + 8 * (24 + 16 + 2 * 9)) / 33),
        (5, LOAD["chunk_tokens"], 4 / 5),
        (1, LOAD["chunk_tokens"], 0.0),
        # two prompts of two steps each: the second request ends as the prompt after the first one starts
        (2, 549, 1 / 2),
    ],
)
def test_the_prompts_of_others_delay_a_request_unless_it_waits_for_them(
    requests: int, chunk: int, delaying: float
) -> None:
    pools = loop_of(requests, 0.03, False, chunk)
    assert delaying_prompts_in_step(pools, decoding(33), DECODE.total) == pytest.approx(delaying)


@pytest.mark.parametrize(
    ("sequences", "prompts", "lasting", "added"),
    [
        # 50 ms in place of 1.5 steps of 20 ms, for eight prompts, or for one
        (33, 8.0, 0.05, 0.02 / 8),
        (0.5, 1.0, 0.05, 0.02),
        (33, 8.0, 0.01, 0.0),
    ],
)
def test_a_prompt_adds_its_share_of_what_a_step_lasts_longer(
    sequences: float, prompts: float, lasting: float, added: float
) -> None:
    pools = pools_of(sequences, prompts, lasting=lasting)
    assert not pools.in_waves
    assert prefill_time_in_full_steps(pools, decoding(sequences), (DECODE, DECODE)) == pytest.approx(added)


def test_an_engine_that_separates_prompts_runs_those_of_all_sequences_first() -> None:
    """Four steps of 50 ms for 32 sequences are 6.25 ms each."""
    pools = engines_of(PLAN.replace("vllm, tp: 1, attention_dp: 2", "sglang, tp: 1"))
    engine = with_steps(pools.decode, {(8 * 900, 1000.0, 1.0, NOTHING): StepTime((), 1.0, 0.05, 0.05)})
    pools = pools._replace(decode=engine, prompts=engine, load=replace(pools.load, **LOAD))
    assert pools.in_waves
    assert prefill_time_in_full_steps(pools, decoding(32), (DECODE, DECODE)) == pytest.approx(0.00625)


@pytest.mark.parametrize("framework", ["vllm, tp: 1, attention_dp: 2", "sglang, tp: 1"])
def test_a_loop_without_an_end_stays_in_step_as_a_long_run_does(framework: str) -> None:
    """A hundred thousand rounds of 32 requests, of which the first and the last do not count."""
    plan = PLAN.replace("vllm, tp: 1, attention_dp: 2", framework)
    endless, long = (times_of(plan.replace(", requests: 320", requests)) for requests in ("", ", requests: 3200000"))
    assert endless.lasting is None and long.lasting is not None
    for name in ("ttft", "ttft_mean", "tpot"):
        assert getattr(endless, name) == pytest.approx(getattr(long, name), rel=1e-3), name
    rate = 32 * 100 / endless.request_latency  # Little's law; a run counts whole rounds
    assert endless.output_tokens_per_second == pytest.approx(rate)
    assert long.output_tokens_per_second == pytest.approx(rate, rel=0.05)
    other = times_of(plan.replace(", requests: 320", "").replace("{mean: 100, p99: 100}", "100"))
    assert endless.ttft_mean > 1.05 * other.ttft_mean
