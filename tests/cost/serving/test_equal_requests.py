"""Prompts that come together in a closed loop of equal requests, with steps of round times: worked out by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from clusterspec.cost.serving import waves
from clusterspec.cost.serving.waves import group_of_prompts, prefill_time_in_full_steps, wait_in_step

DECODE: Any = SimpleNamespace(total=0.02)


def pools_of(
    outside: float = 0.03, ahead: bool = False, lasting: float = 0.05, budget: int | None = None
) -> tuple[Any, list[tuple[Any, ...]]]:
    """Engines whose steps of prompts last 50 ms, as 1.5 steps, and what those steps are asked to hold."""
    asked: list[tuple[Any, ...]] = []

    def prefill(*words: Any) -> Any:
        asked.append(words)
        return SimpleNamespace(lasting_seconds=lasting, steps=1.5)

    pools = SimpleNamespace(
        load=SimpleNamespace(fresh_tokens=900, input_tokens=1000, chunk_tokens=budget),
        prompts=SimpleNamespace(layout=SimpleNamespace(attention_dp=2), prefill=prefill),
        decode=SimpleNamespace(runs_ahead=ahead),
        in_waves=False,
        outside=outside,
    )
    return pools, asked


def decoding(sequences: float) -> Any:
    return SimpleNamespace(sequences=sequences, tokens=3.0)


@pytest.fixture(autouse=True)
def eight_prompts_share_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token budget of a step, with 3 tokens of each of 33 sequences, has room for eight prompts."""
    monkeypatch.setattr(waves, "prompts_of_step", lambda pools, tokens: 8.0 if tokens == 99.0 else 40.0)


@pytest.mark.parametrize(
    ("sequences", "alone", "prompts"), [(33, 1.0, 8.0), (5, 0.0, 5.0), (5, 1.0, 4.0), (1, 1.0, 1.0)]
)
def test_no_more_prompts_come_together_than_there_are_sequences(sequences: int, alone: float, prompts: float) -> None:
    pools, asked = pools_of()
    assert group_of_prompts(pools, decoding(sequences), alone)[0] == prompts
    assert asked == [(prompts * 900, 1000.0, 2.0, decoding(sequences))]


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
    pools, _ = pools_of(outside, ahead)
    assert wait_in_step(pools, DECODE, decoding(sequences), prompt) == pytest.approx((wait, above))


def test_groups_that_need_more_than_a_step_end_as_many_steps_apart() -> None:
    """7,200 tokens of eight prompts in steps of 3,699, of which the sequences take 99: two steps for each group. In the
    two steps that end while a successor is outside, one further group ends.
    """
    pools, _ = pools_of(budget=3699)
    mean, above = wait_in_step(pools, DECODE, decoding(33), 0.045)
    assert mean == pytest.approx(2 * 0.02 + 0.75 * (0.05 - 2 * 0.02) + 0.05 - 0.03 - 0.045)
    assert above == pytest.approx((1 - 0.75) * (0.05 - 2 * 0.02))


def test_a_prompt_adds_its_share_of_what_a_step_lasts_longer() -> None:
    steps: Any = (DECODE, DECODE)
    # 50 ms in place of 1.5 steps of 20 ms, for eight prompts, or for one
    assert prefill_time_in_full_steps(pools_of()[0], decoding(33), steps) == pytest.approx(0.02 / 8)
    assert prefill_time_in_full_steps(pools_of()[0], decoding(0.5), steps) == pytest.approx(0.02)
    assert prefill_time_in_full_steps(pools_of(lasting=0.01)[0], decoding(33), steps) == 0.0


def test_an_engine_that_separates_prompts_runs_those_of_all_sequences_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four steps of 50 ms for 32 sequences are 6.25 ms each."""
    monkeypatch.setattr(waves, "step_ahead", lambda pools, steps, waiting: (steps, waiting))
    monkeypatch.setattr(
        waves, "steps_of_prompts", lambda pools, many, waiting, ahead: (many / 8, 0.05 if waiting == 0.0 else 9.0)
    )
    pools, _ = pools_of()
    pools.in_waves = True
    steps: Any = (DECODE, DECODE)
    assert prefill_time_in_full_steps(pools, decoding(32), steps) == pytest.approx(0.00625)
