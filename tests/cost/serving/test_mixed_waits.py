"""Waits of prompts that share steps with sequences that decode: limits worked out by hand, laws, and drawn queues."""

from __future__ import annotations

from collections import deque
from math import exp, log
from random import Random

import pytest

from clusterspec.cluster.model import Design
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.engine import NOTHING, Decoding
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.runs import OpenRun
from clusterspec.cost.serving.state import LEAST_LOAD, WaitTail
from clusterspec.cost.serving.times import serving_times
from clusterspec.cost.serving.waits.carried import FullStep, full_prompt_step
from clusterspec.cost.serving.waits.mixed import PromptQueue, _full_step
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.designs import APART, SERVED, changed, engines_of, with_steps
from tests.effort import sampled, telling, thorough

PROMPTS, STEP = 8_000, 1e-3


def queue(load: float, per_step: float, plain: float = 0.012, added: float = 0.155) -> PromptQueue:
    """Prompts of 155 ms each between steps of 12 ms, at a ``load`` of full steps."""
    full = plain + per_step * added
    return PromptQueue(load * per_step / full, plain, added, per_step, full)


def drawn_waits(one: PromptQueue, seed: int = 1) -> list[float]:
    """The times of prompts to the end of their last step, drawn step by step, in order."""
    random, now = Random(seed), 0.0
    found: list[float] = []
    waiting: deque[list[float]] = deque()
    coming = random.expovariate(one.rate)
    while len(found) < PROMPTS:
        budget, done = one.per_step, 0
        for each in waiting:
            part = min(budget, each[1])
            each[1] -= part
            budget -= part
            done += each[1] <= 1e-9
            if budget <= 1e-9:
                break
        now += one.plain + one.added * (one.per_step - budget) + one.fixed * (budget < one.per_step)
        while coming <= now:
            waiting.append([coming, 1.0])
            coming += random.expovariate(one.rate)
        found += [now - waiting.popleft()[0] for _ in range(done)]
    return sorted(found)


def alone(one: PromptQueue) -> float:
    """Seconds of a prompt that comes at the start of a step and finds no other."""
    return -(-1 // one.per_step) * one.plain + one.added


@pytest.mark.parametrize("load", [0.1, 0.3, 0.6])
def test_steps_that_the_host_launches_take_as_long_with_many_prompts_as_with_one(load: float) -> None:
    """Of 8,000 drawn prompts, in steps of 62 ms that have room for twelve, or of 4 ms without any. Each adds 0.3 ms."""
    one = PromptQueue(load * 12 / 0.0656, 0.004, 0.0003, 12.0, 0.0656, fixed=0.058)
    drawn = sum(drawn_waits(one)) / PROMPTS
    assert one.tail(0.0, 0.0).of_all + 0.0623 == pytest.approx(drawn, rel=0.03)
    each = one._replace(added=one.added + one.fixed, fixed=0.0, rate=10.0)
    assert each.tail(0.0, 0.0).of_all > 1.1 * one._replace(rate=10.0).tail(0.0, 0.0).of_all


@thorough
@pytest.mark.parametrize("per_step", sampled([0.1, 0.43, 1.02, 2.04, 4.1, 16.0], 4))
def test_mean_times_to_the_end_of_a_prompt_are_those_of_drawn_queues(per_step: float) -> None:
    """Of 8,000 drawn prompts, from a tenth of a prompt in each step to sixteen."""
    for load in (0.2, 0.6):
        one = queue(load, per_step)
        drawn, tail = drawn_waits(one), one.tail(0.0, 0.0)
        assert alone(one) + tail.of_all == pytest.approx(sum(drawn) / PROMPTS, rel=0.11), load
        assert alone(one) + tail.wait_at(0.99) == pytest.approx(drawn[int(0.99 * PROMPTS)], rel=0.3), load


def test_lone_prompts_wait_for_the_rest_of_a_step_alone() -> None:
    """Hardly any come: half of 12 ms, however many a step holds; a tenth of a prompt in each step is behind nothing."""
    for per_step in (0.1, 0.5, 2.0, 16.0):
        tail = queue(1e-6, per_step).tail(0.0, 0.0)
        assert tail.of_all == pytest.approx(0.006, rel=1e-3), per_step
        assert tail.wait_at(0.5) == pytest.approx(0.006, rel=1e-3), per_step


def test_short_steps_of_one_place_are_a_queue_with_one_server() -> None:
    """Without decoding, a tenth of a prompt in a step: 0.6 / (2 · 0.4) = 0.75 of the time of a prompt, and 0.6 / 2 +
    0.4 (1 − exp(−9 · 0.06)) · 0 of a step of 0.1, since all of its ten steps are full.
    """
    one = PromptQueue(0.6, 1e-9, 1.0, 0.1, 0.1)
    assert one.tail(0.0, 0.0).of_all == pytest.approx(0.75 + 0.6 * 0.05, rel=1e-6)
    assert one.left > one._replace(engines=2.0).left > 0  # a prompt goes to the engine that has fewer


def test_a_prompt_waits_longer_the_more_come_and_the_less_room_a_step_has() -> None:
    for per_step in (0.3, 1.5, 2.04, 8.0):
        waits = [queue(load / 50, per_step).tail(0.0, 0.0) for load in range(1, 49)]
        for share in (0.5, 0.9, 0.99):
            assert [each.wait_at(share) for each in waits] == sorted(each.wait_at(share) for each in waits), (
                per_step,
                share,
            )
    one = queue(0.0, 1.0)._replace(rate=4.0)
    found = [one._replace(per_step=many, full=0.012 + many * 0.155).left for many in (1.5, 2.5, 4.0, 8.0)]
    assert found == sorted(found, reverse=True)


def test_long_waits_fall_as_the_lundberg_equation_says() -> None:
    """Per full step A − per_step more prompts wait: with t = 1 / prompts behind e, 0.7 (exp(t) − 1) = t."""
    one = queue(0.7, 2.0)
    fall = one.full / one.per_step / one.decay
    assert 0.7 * (exp(fall) - 1) == pytest.approx(fall)
    assert one._replace(engines=4.0).decay == pytest.approx(one.decay / 4)


@telling(1)
@pytest.mark.parametrize(
    "tail",
    [
        WaitTail(1.0, 2.0, 0.5, 4.0),
        WaitTail(0.0, 2.0, 1.0, 0.5),
        WaitTail(0.5, 0.0, 0.3, 2.0),
        WaitTail(0.2, 1.0, 0.0, 0.0),
        WaitTail(0.2, 1.0, 0.5, 4.0, 0.6, 2.0),
    ],
)
def test_the_mean_of_a_wait_is_the_sum_of_the_shares_that_wait_longer(tail: WaitTail) -> None:
    steps = int(60 / STEP)
    assert sum(tail.share_beyond((each + 0.5) * STEP) for each in range(steps)) * STEP == pytest.approx(
        tail.of_all, rel=1e-3
    )
    for share in (0.55, 0.9, 0.99):
        if tail.share_beyond(tail.wait_at(share)) > 0 and tail.window:
            assert tail.share_beyond(tail.wait_at(share)) == pytest.approx(1 - share, abs=1e-6)


def test_the_share_that_waits_longer_is_worked_out_by_hand() -> None:
    """Half of an even part of 2 s after one second: behind it 0.5 · 4 / 2 · (1 − exp(−1 / 4)) of those with a tail."""
    tail = WaitTail(1.0, 2.0, 0.5, 4.0)
    assert tail.share_beyond(0.9) == 1.0
    assert tail.share_beyond(2.0) == pytest.approx(0.5 + 0.5 * 4 / 2 * (1 - exp(-1 / 4)))
    assert tail.share_beyond(5.0) == pytest.approx(0.5 * 4 / 2 * exp(-4 / 4) * (exp(2 / 4) - 1))
    assert tail.exponential_mean == pytest.approx((tail.wait_at(0.99) - tail.wait_at(0.5)) / log(50))


def test_only_prompts_that_find_a_running_step_wait_for_it() -> None:
    """A quarter finds one: of a mean of 1.5 s each of them waits four times as much, 4 s for a step formed before and
    then up to 4 s. Half of all wait for nothing.
    """
    tail = WaitTail(0.0, 3.0, 0.0, 0.0).for_share(0.25, 1.0)
    assert tail.of_all == pytest.approx(1.5)
    assert tail.wait_at(0.5) == pytest.approx(0.0, abs=1e-6)
    assert tail.wait_at(0.875) == pytest.approx(4.0 + 4.0 / 2)
    none = WaitTail(0.0, 3e-8, 0.0, 0.0).for_share(1e-143, 0.0)  # as rare as the smallest load
    assert none.met == LEAST_LOAD and none.window == pytest.approx(0.03) and none.wait_at(0.5) < 1e-6


RUN = OpenRun(200.0, 5.0, 1e6, 0.0, 1.0, service=0.15, tail=WaitTail(0.0, 0.2, 1.0, 0.9), walk=2.0)


def test_a_run_ends_before_the_longest_waits_of_a_steady_state() -> None:
    """The 99th percentile of a steady state is 0.1 + 0.9 ln 100 = 4.2 s and that of a walk of 2 s 2.27 times as long:
    3.1 s together. With a longer walk it is that of the steady state, and without any the rest of a step.
    """
    steady = RUN.tail.wait_at(0.99) if RUN.tail is not None else 0.0
    assert RUN._replace(walk=1e9).wait_at(0.99) == pytest.approx(steady, rel=1e-3)
    limited = ((steady - 0.1) ** -1.5 + (2 * 2.3 * 0.99**1.3) ** -1.5) ** (-2 / 3)
    assert RUN.wait_at(0.99) == pytest.approx(0.1 + limited)
    assert RUN._replace(walk=1e-9).wait_at(0.99) == pytest.approx(0.1, rel=1e-6)
    waits = [RUN.wait_at(each / 100) for each in range(50, 100)]
    assert waits == sorted(waits)


@pytest.mark.parametrize(("growth", "part"), [(0.0, 1.0), (2.0, 1 / 2), (6.0, 1 / 4)])
def test_waits_of_a_growing_queue_approach_their_mean(growth: float, part: float) -> None:
    """After a growth as long as the walk of 2 s, half of the distance is left: 2 / (2 + growth)."""
    longest, mean = (RUN._irregular_wait(0.99, at) for at in (0.0, 1e15))
    assert longest > mean
    assert RUN._irregular_wait(0.99, growth) == pytest.approx(mean + part * (longest - mean))


@pytest.mark.parametrize(
    ("chunk", "own", "waiting", "prompts", "seen"),
    [
        # a quarter of a prompt of 4,000 tokens, after 1,000 cached ones: 3 / 4 of the fresh ones come later, half of
        # them on average
        (1000, 2.0, 0.0, 0.25, 5000 - 0.75 * 4000 / 2),
        (8000, 2.0, 0.0, 2.0, 5000),
        (8000, 1.0, 6.0, 2.0, 5000),  # of the waiting ones as many as the step holds
        (None, 0.5, 0.0, 1.0, 5000),
    ],
)
def test_a_part_of_a_prompt_sees_the_mean_of_the_tokens_before_it(
    chunk: int | None, own: float, waiting: float, prompts: float, seen: float
) -> None:
    pools = engines_of(APART)
    timed = {(prompts * 4000, seen, 1.0, NOTHING): StepTime((), 1.0, 0.5, 0.5)}
    load = replace(pools.load, input_tokens=5000, prefix_hit=0.2, chunk_tokens=chunk)
    pools = pools._replace(prompts=with_steps(pools.prompts, timed), load=load)
    assert pools.has_prefill_engines and pools.prompts.attention_ranks == 2 and load.fresh_tokens == 4000
    assert full_prompt_step(pools, 2 * own, 2 * waiting) == FullStep(prompts, StepTime((), 1.0, 0.5, 0.5), NOTHING)
    assert pools.prompts.steps == timed


@pytest.mark.parametrize(
    ("fresh", "chunk", "decoding", "tokens", "seen"),
    [
        # chunks of 2,000 end at 2,000, 4,000, 6,000 and 8,000 tokens, those after 2,000 cached ones at 4,000 and later
        (8000, 2000, 0, 2000, 5000),
        (6000, 2000, 0, 2000, 6000),
        # 400 sequences that decode for half of the time, two tokens each, take 400 of 2,400 tokens on average
        (6000, 2400, 400, 2000, 6000),
        # a step that holds a whole prompt reads all of it
        (6000, 6000, 0, 6000, 8000),
        (6000, 7000, 0, 7000, 8000),
        (6000, None, 0, 6000, 8000),
    ],
)
def test_a_full_step_reads_the_mean_of_what_the_chunks_of_a_prompt_see(
    fresh: int, chunk: int | None, decoding: int, tokens: int, seen: int
) -> None:
    """Prompts of 8,000 tokens, and two stages: a step of 0.5 s takes 0.25 s on each of them.

    A step is timed with all that decode in it: of 2,400 tokens, 1,600 are left to a prompt, which run in one step.
    """
    pools, sequences = engines_of(SERVED), Decoding(decoding, 1000.0, 2.0)
    timed = {(min(tokens, (chunk or tokens) - 2 * decoding), seen, 1.0, sequences): StepTime((), 1.0, 0.5, 0.5)}
    load = replace(pools.load, input_tokens=8000, prefix_hit=1 - fresh / 8000, chunk_tokens=chunk)
    pools = pools._replace(prompts=with_steps(changed(pools.prompts, {"layout.pp": 2}), timed), load=load)
    per_step, full = _full_step(pools, StepTime((), 1.0, 0.1, 0.1), sequences, 0.5)
    assert pools.prompts.steps == timed
    assert (per_step, full) == pytest.approx((tokens / fresh, 0.5 / 2))


PLAN = """
cluster: {{platform: dgx-h100, nodes: 1}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving: {{input_tokens: {prompt}, output_tokens: 100, chunk_tokens: {chunk}, load: open, request_rate: {rate}}}
layout: {{framework: vllm, tp: 8}}
"""


def design(prompt: int, chunk: int, rate: float) -> Design:
    return clean(PLAN.format(prompt=prompt, chunk=chunk, rate=rate))


@thorough
@pytest.mark.parametrize(("prompt", "chunk"), [(500, 8192), (4000, 8192), (4000, 2048)])
def test_more_requests_a_second_never_shorten_the_first_token(prompt: int, chunk: int) -> None:
    rates = [20000 / prompt * part / 12 for part in range(1, 13)]
    for percentile in (50, 90, 99):
        found = []
        for rate in rates:
            one = design(prompt, chunk, rate)
            times = serving_times(one)
            assert times is not None and one.workload is not None and one.workload.serving is not None
            found.append(latency_at(times, one.workload.serving, "ttft", percentile))
        assert found == sorted(found), percentile
