"""Steps of attention replicas that run prompts or decode, in limits that can be worked out by hand."""

from __future__ import annotations

from math import exp
from random import Random

import pytest

from clusterspec.cluster.requests import Lengths
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.quantiles import longest_over_mean
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.waits import replica as replica_waits
from clusterspec.cost.serving.waits.prompts import variation_seconds
from clusterspec.cost.serving.waits.receptions import Reception, reception_at
from clusterspec.cost.serving.waits.replica_steps import ReplicaSteps, lead_in_row, row_of_steps, steps_at_rate
from clusterspec.cost.serving.waits.replicas import PromptCycle, prefill_time_of_replicas, prompt_cycle
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.effort import sampled, thorough

STEPS = ReplicaSteps(16.0, 1.0, 0.01, 0.1, 4.0)


def test_without_prompts_replicas_decode_in_every_step() -> None:
    idle = STEPS._replace(rate=1e-9)
    assert max(idle.prompt_step_share, idle.prompt_share) < 1e-8
    assert idle.decode_interval == pytest.approx(idle.plain)


def test_steps_of_one_length_hold_the_prompts_of_the_one_before() -> None:
    equal = STEPS._replace(longer=0.01)
    assert equal.prompt_step_share == pytest.approx(1 - exp(-0.16))
    assert equal.prompt_share == pytest.approx(1 - exp(-0.01))
    assert equal.decode_interval == pytest.approx(0.01 * exp(0.01))


def test_steps_with_prompts_follow_long_ones_more_often_as_drawn() -> None:
    """30,000 steps, with a prompt a second on each of 16 replicas: the first one, and the others."""
    random, mixed, own, seconds, each = Random(3), 0, 0, 0.0, STEPS.plain
    for _ in range(30_000):
        first, others = random.random() < 1 - exp(-each), random.random() < 1 - exp(-15 * each)
        each = STEPS.longer if first or others else STEPS.plain
        mixed, own, seconds = mixed + (first or others), own + first, seconds + each
    assert STEPS.prompt_step_share == pytest.approx(mixed / 30_000, rel=0.05)
    assert STEPS.prompt_share == pytest.approx(own / 30_000, rel=0.08)
    assert STEPS.mean == pytest.approx(seconds / 30_000, rel=0.05)


def test_prompts_of_several_steps_hold_rows_together_as_drawn() -> None:
    """100,000 steps, with prompts of three steps at 0.5 a second on each of 16 replicas, none of which queues."""
    random, mixed, last, seconds, each = Random(5), 0, -9, 0.0, STEPS.plain
    for place in range(100_000):
        if random.random() < 1 - exp(-16 * 0.5 * each):
            last = place
        each = STEPS.longer if place < last + 3 else STEPS.plain
        mixed, seconds = mixed + (each == STEPS.longer), seconds + each
    found = STEPS._replace(rate=0.5, chunks=3.0, most=1 / 3)
    assert found.prompt_step_share == pytest.approx(mixed / 100_000, rel=0.05)
    assert found.mean == pytest.approx(seconds / 100_000, rel=0.05)


def test_steps_formed_ahead_have_one_more_in_which_all_replicas_decode() -> None:
    """At most: none more where prompts come in the time between the forming of a step and its start."""
    late, early = STEPS._replace(lead=0.0), STEPS._replace(lead=100.0)
    assert late.decode_row == pytest.approx(STEPS.decode_row + 1)
    assert early.decode_row == pytest.approx(1.0)
    assert late.prompt_step_share < STEPS.prompt_step_share < early.prompt_step_share


def test_the_lead_of_launches_in_a_row_is_as_drawn() -> None:
    """6,000 rows that end after each step with a probability of 1/6; the launch takes less or more than the device."""
    for launching in (0.09, 0.1, 0.11, 0.13, 0.2):
        random, leads, seconds = Random(11), [], []
        for _ in range(6_000):
            lead, goes_on = 0.06, True
            while goes_on:
                took = max(0.1, launching - lead)
                leads.append(lead)
                seconds.append(took)
                lead, goes_on = min(0.1, max(0.0, lead + took - launching)), random.random() > 1 / 6
        found = lead_in_row(0.06, 0.1, launching, 6.0)
        assert found[0] == pytest.approx(sum(leads) / len(leads), rel=0.04)
        assert found[1] == pytest.approx(sum(seconds) / len(seconds), rel=0.01)


def test_a_request_waits_for_half_of_an_interval_without_prompts_and_of_a_step_between_many() -> None:
    """Ten decode steps of 0.01 s to a reception; of 16 replicas with 50 prompts per second and replica each step of 0.1
    s has some, so that the next one receives again.
    """
    rare = Reception(waiting=0.1, some=1e-9, number=1.0, longer=0.1, after=0.0, later=0.1, decoded=10.0)
    assert rare.wait == pytest.approx(0.05) and rare.interval_seconds == pytest.approx(0.01)
    many = rare._replace(some=1.0, after=1e9, decoded=1e9)
    assert many.wait == pytest.approx(0.05) and many.interval_seconds == pytest.approx(0.1)
    assert row_of_steps(1.0, 16 * 50 * 0.1) > 1e20


def test_replicas_are_never_faster_than_one_of_them_alone_with_its_share() -> None:
    for steps in (STEPS, STEPS._replace(chunks=3.0, most=1 / 3), STEPS._replace(lead=0.02)):
        for rate in (0.01, 0.3, 2.0):
            several = steps._replace(rate=rate)
            assert several.decode_interval >= several._replace(ranks=1.0).decode_interval


@pytest.mark.parametrize("name", ["prompt_step_share", "mean", "prompt_share", "fullest_prompts", "decode_interval"])
def test_more_prompts_or_longer_ones_never_shorten_the_steps_of_replicas(name: str) -> None:
    rates = [getattr(STEPS._replace(rate=rate), name) for rate in (0.01, 0.1, 1.0, 5.0)]
    lengths = [getattr(STEPS._replace(longer=longer), name) for longer in (0.01, 0.05, 0.1, 0.4)]
    assert rates == sorted(rates) and lengths == sorted(lengths)


def test_the_fullest_replica_has_one_prompt_at_least_and_as_many_as_fit_at_most() -> None:
    assert STEPS._replace(rate=1e-6).fullest_prompts == pytest.approx(1.0, abs=1e-3)
    assert STEPS._replace(rate=100.0).fullest_prompts == STEPS.most == 4.0
    one = STEPS._replace(ranks=1.0, rate=20.0, longer=0.05)
    # one replica: a mean of 0.2 prompts in plain steps and 1.0 in longer ones, over the steps that have any
    assert one.fullest_prompts == pytest.approx(max(1.0, 1.0 + (1 / one.prompt_step_share - 1) * 0.2))


def test_the_longest_of_more_prompts_is_longer_and_none_exceeds_the_cut() -> None:
    drawn = [longest_over_mean(Lengths(1000, 4000, most), count) for most in (2000, None) for count in (1, 3, 30)]
    assert drawn[:3] == sorted(drawn[:3]) and drawn[3:] == sorted(drawn[3:]) and drawn[2] <= 2.0
    assert drawn[3] == pytest.approx(1.0, abs=0.01)


EIGHT = """
cluster: {{platform: dgx-h200, nodes: 1}}
workload:
  kind: serve
  model: qwen3-235b-a22b
  precision: fp8
  serving: {{input_tokens: {input}, output_tokens: 500, concurrency: 64, chunk_tokens: {budget}{more}}}
layout: {{framework: sglang, tp: 1, attention_dp: 8, ep: 8}}
"""
DRAFTS = ", speculative: {tokens: 1, acceptance: 0.8}"


def eight(lengths: str = "1000", more: str = "", budget: int = 8192) -> tuple[Pools, tuple[StepTime, StepTime]]:
    """Eight replicas of attention, with a step that decodes and one prompt alone."""
    pools = bare_pools(clean(EIGHT.format(input=lengths, more=more, budget=budget)))
    assert pools is not None
    prompt = prompt_step(pools.prompts, 1000.0, 1000.0, 1.0)
    return pools, (prompt._replace(total=0.01, floor=0.0), prompt)


def test_a_prompt_on_its_own_stops_its_replica_for_a_step_and_lengthens_that_of_the_others() -> None:
    """Seven steps of other replicas are as much longer as the prompt takes; that of its own decodes nothing.

    The host takes longer to launch the prompt than the device to compute it.
    """
    pools, steps = eight()
    decode, prompt = steps
    alone = prefill_time_of_replicas(pools, 1e-7, steps, follow=False)
    assert alone == pytest.approx(decode.total + 8 * (prompt.lasting_after(decode.total) - decode.total), rel=1e-4)
    assert prefill_time_of_replicas(pools, 1e-7, steps, follow=True) == pytest.approx(alone, rel=1e-2)


def test_a_prompt_on_its_own_stops_every_replica_that_drafts_for_a_step() -> None:
    pools, steps = eight(more=DRAFTS)
    for follow in (True, False):
        assert prefill_time_of_replicas(pools, 1e-7, steps, follow=follow) == pytest.approx(
            8 * steps[1].lasting_seconds, rel=1e-4
        )


def test_prompts_of_varied_lengths_make_the_steps_of_replicas_longer() -> None:
    pools, steps = eight("4000", budget=65536)
    varied, _ = eight("{mean: 4000, p99: 16000}", budget=65536)
    for prompts in (0.01, 0.1, 1.0):
        long, even = (prefill_time_of_replicas(each, prompts, steps, follow=False) for each in (varied, pools))
        assert long > 1.01 * even


LATE, PLAIN, FLOOR = 0.01, 0.03, 0.12


def drawn_cycle(ended: float, longer: float, steps: int) -> tuple[float, float, float, float]:
    """Steps without and with prompts of a cycle, prompts of such a step, and their mean wait, drawn step by step.

    Each step is formed when the launch of the one before is over, or when that begins if it takes no launch.
    """
    random, now, looked, cycles, former = Random(7), 0.0, 0.0, 0, False
    ready: list[float] = []
    coming: list[float] = []
    waits: list[float] = []
    counts, prompts = [0, 0], 0
    for _ in range(steps):
        mixed = bool(ready)
        counts[mixed] += 1
        cycles += mixed and not former
        prompts += len(ready)
        waits += [now - came for came in ready]
        launched = looked + FLOOR if mixed else now
        looked, now, former = max(now, launched), now + (longer if mixed else PLAIN), mixed
        ready = [came for came in coming if came <= looked]
        coming = [came for came in coming if came > looked]
        count, left = 0, random.expovariate(1.0)
        while left < ended:
            count, left = count + 1, left + random.expovariate(1.0)
        coming += [now + LATE] * count
    return counts[0] / cycles, counts[1] / cycles, prompts / counts[1], sum(waits) / len(waits)


@thorough
@pytest.mark.parametrize(
    ("ended", "longer", "close"), sampled([(0.05, 0.1, 0.02), (0.5, 0.1, 0.02), (1.5, 0.15, 0.1), (1.5, 0.1, 0.02)], 4)
)
def test_steps_formed_ahead_gather_prompts_and_leave_two_quiet_steps(ended: float, longer: float, close: float) -> None:
    """As drawn step by step on so many replicas that no two prompts meet on one. The device takes longer than the host
    in the last case: rows of steps with prompts are cut.
    """
    quiet, mixed, prompts, waited = drawn_cycle(ended, longer, 200_000)
    cycle = PromptCycle(1e4, ended, 1e4, PLAIN, longer, FLOOR, LATE, 1.0)
    low, high = 1e-9, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if replace(cycle, drawn=middle).missing_prompts < 0 else (low, middle)
    cycle = replace(cycle, drawn=low)
    assert cycle.decode_steps == pytest.approx(quiet, rel=close) and (cycle.cut > 0) is (longer > FLOOR)
    assert cycle.prompt_steps == pytest.approx(mixed, rel=close)
    assert cycle.prompts == pytest.approx(prompts, rel=close)
    assert cycle.wait == pytest.approx(waited, rel=close)


def test_as_many_prompts_run_in_a_cycle_as_requests_end() -> None:
    pools, steps = eight()
    cycles = [prompt_cycle(pools, prompts, steps) for prompts in (1e-4, 0.01, 0.1, 0.5, 2.0)]
    assert all(abs(each.missing_prompts) < 1e-6 * each.prompts for each in cycles)
    for name in ("prompts", "prompt_share", "longer", "met", "decode_interval", "wait"):
        found = [getattr(each, name) for each in cycles]
        assert found == sorted(found), name


@pytest.mark.parametrize(("drawn", "most"), [(1.0, 1), (2.0, 2), (6.0, 4)])
def test_prompts_beyond_those_of_a_step_wait_for_the_next(drawn: float, most: int) -> None:
    """Where a request ends in hardly any step, a prompt waits for the rest of a step that decodes and for another, and
    for a step with prompts where its replica has ``most`` before it: for 1 prompt in a Poisson mean of 1 and one place,
    1/e of the prompts.
    """
    cycle = PromptCycle(1.0, 1e-9, float(most), PLAIN, 0.1, FLOOR, LATE, drawn)
    several = PromptCycle(4.0, 1e-9, float(most), PLAIN, 0.1, FLOOR, LATE, 4 * drawn)
    counts = [exp(-drawn)]
    for count in range(1, 60):
        counts.append(counts[-1] * drawn / count)
    behind = sum(max(0, count - most) * share for count, share in enumerate(counts)) / drawn
    assert (drawn, most) != (1.0, 1) or behind == pytest.approx(exp(-1))
    assert cycle.wait == pytest.approx(PLAIN - LATE + PLAIN + behind * 0.1, rel=1e-6)
    assert several.wait == pytest.approx(cycle.wait, rel=1e-6), "each of four replicas has the same mean"


@pytest.mark.parametrize(
    ("steps", "number", "wait"),
    [
        # the prompt alone takes 0.1 s; half an interval of 0.1 s passes until its engine receives it
        (1.0, 1.0, 0.05),
        (1.0, 5.0, 0.05 + 0.2),  # five prompts in five steps: three of them on average
        (2.0, 5.0, 0.05 + 0.1),  # a prompt of two steps takes both, however many others come
        (3.0, 5.0, 0.05 + 0.2),
    ],
)
def test_prompts_that_are_received_together_wait_for_half_of_an_interval_and_for_each_other(
    steps: float, number: float, wait: float
) -> None:
    rare = Reception(waiting=0.1, some=1e-12, number=number, longer=0.1, after=0.0, later=0.1, decoded=10.0)
    prompts = StepTime((), steps, 0.1 * steps, 0.09 * steps)
    assert replica_waits._wait_once_received(rare, prompts, 0.1) == pytest.approx(wait)


@pytest.mark.parametrize(
    ("lead", "floor", "ended", "wait"),
    [
        # half a decode step of 0.02 s, then three steps of 0.1 s, of which the prompt alone takes one
        (None, 0.0, 0.0, 0.01 + 0.2),
        (None, 0.12, 0.0, 0.01 + 0.22),  # the first launch takes longer than the device
        (0.05, 0.12, 0.0, 0.01 + 0.2),  # the decode step of 0.02 s before it hides the difference
        (None, 0.0, 0.2, 0.01 + 0.03 + 0.2),  # half of the 0.2 prompts of a decode step come before: 0.1 x 3 x 0.1 s
    ],
)
def test_a_prompt_of_replicas_waits_for_the_running_step_earlier_prompts_and_launches(
    lead: float | None, floor: float, ended: float, wait: float
) -> None:
    found = ReplicaSteps(16.0, 1e-12, 0.02, 0.1, 4.0, chunks=3.0, lead=lead, device=0.1)
    prompts = StepTime((), 1.0, 0.1, 0.09, floor)
    assert replica_waits._wait_in_steps(found, (30.0, ended), prompts, 0.1) == pytest.approx(wait)


@pytest.mark.parametrize("interval", [1, 4])
def test_waits_of_engines_are_those_in_their_steps_and_of_bursts(interval: int) -> None:
    """One prompt a second on each of eight replicas, which come in bursts of a coefficient of variation of two."""
    pools, steps = eight()
    load = replace(
        pools.load, concurrency=None, load="open", receive_interval=interval, request_rate=8.0, arrival_cv=2.0
    )
    pools = pools._replace(load=load)
    if interval == 1:
        found = steps_at_rate(pools, 1.0, steps)
        used, service = found.longer / found.most, found.longer / found.most
        alone = replica_waits._wait_in_steps(found, (1.0, 0.1), steps[1], 0.02)
        told = replica_waits.wait_of_replicas(pools, (1.0, 0.1), steps, 0.02)
    else:
        received = reception_at(pools, 1.0, steps)
        used = service = received.longer
        assert pools.decode.runs_ahead
        alone = 0.01 + replica_waits._wait_once_received(received, steps[1], 0.02)  # behind a step that decodes
        told = replica_waits.wait_for_reception(pools, 1.0, steps, 0.02)
    bursts = variation_seconds(pools, used, service)
    assert bursts > 0 and told == pytest.approx(alone + bursts)
