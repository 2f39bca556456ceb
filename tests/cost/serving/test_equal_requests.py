"""Prompts that come together in a closed loop of equal requests, with steps of round times: worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.waves import group_of_prompts, prefill_time_in_full_steps, wait_in_step
from clusterspec.records import replace
from tests.designs import changed, engines_of, with_steps

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


@pytest.mark.parametrize(
    ("sequences", "alone", "prompts"), [(33, 1.0, 8.0), (5, 0.0, 5.0), (5, 1.0, 4.0), (1, 1.0, 1.0)]
)
def test_no_more_prompts_come_together_than_there_are_sequences(sequences: int, alone: float, prompts: float) -> None:
    pools = pools_of(sequences, prompts)
    assert group_of_prompts(pools, decoding(sequences), alone) == (prompts, StepTime((), PROMPTS, 0.05, 0.05))


@pytest.mark.parametrize(
    ("sequences", "outside", "ahead", "prompt", "wait", "above"),
    [
        # 32 others are 4 groups of 8; two steps end while a successor is outside, so two groups end before its step:
        # one of four waits for no group, one for one, two for two; the median for two
        (33, 0.03, False, 0.045, (2 * 0.02 + 1.25 * 0.03) + 0.05 - 0.03 - 0.045, 0.75 * 0.03),
        # steps formed ahead: one step and one group more; the median still waits for the middle one of four
        (33, 0.03, True, 0.045, (3 * 0.02 + 1.5 * 0.03) + 0.05 - 0.03 - 0.045, 0.5 * 0.03),
        (33, 0.04, False, 0.045, (2 * 0.02 + 1.25 * 0.03) + 0.05 - 0.04 - 0.045, 0.75 * 0.03),
        (33, 0.041, False, 0.045, (3 * 0.02 + 1.5 * 0.03) + 0.05 - 0.041 - 0.045, 0.5 * 0.03),
        (33, 0.0, False, 0.045, (1 * 0.02 + 0.75 * 0.03) + 0.05 - 0.045, 0.25 * 0.03),
        (5, 0.03, False, 0.045, (2 * 0.02) + 0.05 - 0.03 - 0.045, 0.0),  # one group of four
        (5, 0.03, True, 0.045, (3 * 0.02) + 0.05 - 0.03 - 0.045, 0.0),
        (33, 0.03, False, 9.0, 0.0, 0.75 * 0.03),
        # a request alone has its step at once
        (1, 0.03, False, 0.045, 0.05 - 0.045, 0.0),
        (1, 0.03, False, 0.06, 0.0, 0.0),
    ],
)
def test_a_prompt_waits_for_the_groups_that_end_before_its_own(
    sequences: int, outside: float, ahead: bool, prompt: float, wait: float, above: float
) -> None:
    pools = pools_of(sequences, max(1, min(sequences - 1, 8)), outside, ahead)
    assert wait_in_step(pools, DECODE, decoding(sequences), prompt) == pytest.approx((wait, above))


def test_prompts_that_need_more_than_a_step_end_as_many_steps_apart() -> None:
    """A prompt of 900 tokens in steps of 549, of which the sequences take 99, takes two steps. In the two steps that
    end while a successor is outside, one of the 32 other prompts ends.
    """
    pools = pools_of(33, 1.0)
    pools = pools._replace(load=replace(pools.load, chunk_tokens=549))
    mean, above = wait_in_step(pools, DECODE, decoding(33), 0.045)
    assert mean == pytest.approx(2 * 0.02 + 31 / 32 * (0.05 - 2 * 0.02) + 0.05 - 0.03 - 0.045)
    assert above == pytest.approx((1 - 31 / 32) * (0.05 - 2 * 0.02))


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
