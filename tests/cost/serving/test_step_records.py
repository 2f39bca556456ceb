"""Properties of the records of steps, cycles, waits and queues, worked out by hand at numbers none of which is 1."""

from __future__ import annotations

from math import exp, expm1, inf, log, sqrt

import pytest

from clusterspec.cost.serving.runs import FiniteRun
from clusterspec.cost.serving.state import WaitTail
from clusterspec.cost.serving.waits.mixed import PromptQueue
from clusterspec.cost.serving.waits.prefill import PrefillQueue, idle_share
from clusterspec.cost.serving.waits.receptions import Reception
from clusterspec.cost.serving.waits.replica_steps import ReplicaSteps, lead_in_row
from clusterspec.cost.serving.waits.replicas import PromptCycle


def poisson(mean: float, number: int) -> float:
    """The probability of a number of events, whose mean is ``mean``."""
    found = exp(-mean)
    for each in range(1, number + 1):
        found *= mean / each
    return found


def test_steps_of_replicas_follow_from_the_arrivals_of_a_step() -> None:
    """Four replicas with 2.5 prompts a second: 0.2 in a step of 20 ms, 0.8 in one of 80 ms, 0.1 in the lead."""
    steps = ReplicaSteps(4.0, 2.5, 0.02, 0.08, 2.5, chunks=3.0, lead=0.01)
    row = (exp(3 * 0.8) - 1) / (1 - exp(-0.8))
    assert steps.row == pytest.approx(row)
    decoding = 1 + exp(-0.1) / (1 - exp(-0.2))
    assert steps.decode_row == pytest.approx(decoding)
    assert steps._replace(lead=None).decode_row == pytest.approx(1 / (1 - exp(-0.2)))
    some = row / (row + decoding)
    mean = 0.02 + some * 0.06
    assert (steps.prompt_step_share, steps.mean) == pytest.approx((some, mean))
    own = 2.5 * mean * 3 / (1 + 2.5 * mean * (3 - 1 / 2.5))
    assert steps.prompt_share == pytest.approx(own)
    assert steps.decode_interval == pytest.approx(mean / (1 - own))


def test_a_replica_has_prompts_that_came_or_were_left_over() -> None:
    """0.05 prompts in a plain step and 0.2 in a longer one, at most 1.5 of which a step runs: 2 or more leave some,
    and behind a part of a prompt 1 or fewer do not.
    """
    steps = ReplicaSteps(4.0, 2.5, 0.02, 0.08, 1.5)
    left = (1 - poisson(0.2, 0) - poisson(0.2, 1)) / (
        poisson(0.2, 0) + poisson(0.2, 1) + 1 - poisson(0.2, 0) - poisson(0.2, 1)
    )
    assert steps.left_over == pytest.approx(left)
    some = steps.prompt_step_share
    none = exp(-0.05) - some * (exp(-0.05) - exp(-0.2))
    assert steps.prompt_share == pytest.approx(1 - none * (1 - some * left))
    full = steps._replace(most=0.1)
    assert full.prompt_share == pytest.approx(2.5 * full.mean / 0.1)  # as many as come, however few a step runs


def test_a_row_of_launches_ends_after_each_with_the_same_probability() -> None:
    """Of rows of 4, leads of 60, 40, 20 and 0 ms with 1/4, 3/16, 9/64 and the rest; the last is lost where it ends."""
    lead, longer = lead_in_row(0.06, 0.1, 0.12, 4.0)
    wanted = 0.06 / 4 + 0.04 * 3 / 16 + 0.02 * 9 / 64
    assert lead == pytest.approx(wanted)
    assert longer == pytest.approx(0.12 - (0.06 - (wanted - 0.06 / 4) / (3 / 4)) / 4)
    assert lead_in_row(0.06, 0.1, 0.1, 4.0) == (0.06, 0.1)
    grown = 0.06 / 4 + 0.09 * 3 / 16 + 0.1 * 9 / 16  # 30 ms more each time, at most a step
    assert lead_in_row(0.06, 0.1, 0.07, 4.0) == pytest.approx((grown, 0.1))


CYCLE = PromptCycle(4.0, 0.8, 2.0, 0.02, 0.08, 0.15, 0.015, 1.2)
"""Four replicas, of which 0.8 requests end in a step of 20 ms; 1.2 prompts are drawn for steps of 80 ms."""


def test_a_cycle_of_prompts_and_decode_steps_is_worked_out_by_hand() -> None:
    """Each replica draws 0.3 of the 1.2 prompts, and more than two with the probability 1 − 1.345 exp(−0.3)."""
    drawn = 1 - exp(-1.2)
    share = (1 - exp(-0.3)) / drawn
    assert CYCLE.prompts == pytest.approx(1.2 / drawn)
    assert CYCLE.prompt_share == pytest.approx(share)
    amid = 0.8 * (1 - share)
    assert CYCLE.ended_amid_prompts == pytest.approx(amid)
    fuller = 1 - 1.345 * exp(-0.3)
    none_left = 1 - (1 - (1 - fuller) ** 4) / drawn
    assert CYCLE.probability_of_no_prompts_left == pytest.approx(none_left)
    assert CYCLE.row == inf  # launched more slowly than the device runs them: never too early
    slow = PromptCycle(4.0, 0.8, 2.0, 0.02, 0.2, 0.15, 0.015, 1.2)
    assert slow.row == pytest.approx(2 + (0.15 - 0.015 - 0.02) / 0.05)
    again = 1 - exp(-amid) * none_left
    assert slow.continue_probability == pytest.approx(again)
    cut = (1 - exp(-1.6) * none_left) * again ** (slow.row - 1)
    assert slow.cut == pytest.approx(cut)
    decoding = cut + (1 - cut) * (2 + exp(-amid) / (1 - exp(-0.8)))
    assert slow.decode_steps == pytest.approx(decoding)
    both = (1 - cut) * exp(-1.6) + cut * exp(-0.8 - amid)
    running = 1 + (1 - both * none_left) * (1 - again ** (slow.row - 1)) / (1 - again)
    assert slow.prompt_steps == pytest.approx(running)
    assert slow.missing_prompts == pytest.approx(1.2 / drawn - 0.8 * decoding / running - amid)
    interval = (decoding * 0.02 + running * 0.2) / (decoding + running * (1 - share))
    assert slow.decode_interval == pytest.approx(interval)
    after_decode, after_prompts = 0.01, 0.185  # half of 20 ms, and 200 ms less the 15 ms in which they come
    found = amid * ((running - 1) * after_prompts + cut * (0.02 + after_decode + 0.2))
    found += ((1 - cut) * amid + 0.8 * (decoding - cut - 2 * (1 - cut))) * (after_decode + 0.02)
    found += 0.8 * ((1 - cut) * (after_decode + 0.2) + after_prompts)
    one = 1 - 1.3 * exp(-0.3)  # more than one prompt
    wait = found / (amid * running + 0.8 * decoding) + (one - 2 / 0.3 * fuller) * 0.2
    assert slow.wait == pytest.approx(wait)


def test_a_launch_shorter_than_the_step_before_it_never_cuts_a_row() -> None:
    equal = PromptCycle(4.0, 0.8, 2.0, 0.02, 0.15, 0.15, 0.015, 1.2)
    assert equal.row == inf and equal.cut == 0.0
    again = equal.continue_probability
    second = 1 - exp(-1.6) * equal.probability_of_no_prompts_left
    assert equal.prompt_steps == pytest.approx(1 + second / (1 - again))


def test_a_reception_is_a_cycle_of_three_kinds_of_steps() -> None:
    """0.3 s of waiting, then for 0.4 of them two steps of 50 ms and three of 70 ms, in which 6 decode."""
    found = Reception(0.3, 0.4, 2.0, 0.05, 3.0, 0.07, 6.0)
    cycle = 0.3 + 0.4 * (0.1 + 0.21)
    assert found.cycle == pytest.approx(cycle)
    assert found.interval_seconds == pytest.approx(cycle / 6)
    assert found.wait == pytest.approx((0.09 + 0.4 * (2 * 0.0025 + 3 * 0.0049)) / (2 * cycle))


def test_some_prompts_wait_for_an_even_part_and_some_for_a_tail() -> None:
    """1.5 s at least, 0.6 of them up to 2 s more, and 0.3 with a tail of 4 s; at 2.3 s and at 4.7 s."""
    tail = WaitTail(1.5, 2.0, 0.3, 4.0, 0.6)
    assert tail.of_all == pytest.approx(1.5 + 0.6 + 1.2)
    even = 0.6 + 0.3 * 2 * (1 - exp(-0.2))
    assert tail.share_beyond(2.3) == pytest.approx(0.6 * even + 0.4 * 0.3 * exp(-0.2))
    late = 0.3 * 2 * (exp(-1.2 / 4) - exp(-3.2 / 4))
    assert tail.share_beyond(4.7) == pytest.approx(0.6 * late + 0.4 * 0.3 * exp(-0.8))
    assert tail.share_beyond(1.49) == 1.0 and tail.share_beyond(1.5) == pytest.approx(0.6 + 0.4 * 0.3)
    at = tail.wait_at(0.95)
    assert tail.share_beyond(at) == pytest.approx(0.05, abs=1e-5)


QUEUE = PromptQueue(4.0, 0.03, 0.05, 2.5, 0.195, engines=3.0, stages=2.0, fixed=0.04)
"""Four prompts a second on each of three engines of two stages: 30 ms, 40 ms with prompts, and 50 ms for each."""


def test_a_queue_of_prompts_between_decode_steps_is_worked_out_by_hand() -> None:
    """Prompts add 4 · 50 ms = a fifth of a second to each second."""
    assert QUEUE.load == pytest.approx(0.312)
    share, plain = QUEUE.with_prompts, 1 - exp(-0.12)
    step = (0.03 + share * 0.04) / 0.8
    assert QUEUE.step == pytest.approx(step)
    longer = 0.07 + 0.05 * 4 * step / share
    assert share == pytest.approx(plain / (exp(-4 * longer) + plain), rel=1e-6)
    left = 0.312 ** sqrt(2 * 8.5) / (2 * 0.688) / 3
    assert QUEUE.left == pytest.approx(left)
    square = (1 - share) * 0.0009 + share * 0.0049
    met = 4 * step
    found = met + 16 * square + 2 * 0.28 * 0.2 * met - 2 * left * step / 0.195 * 2.5 * 0.688
    second = found / (1 - 0.04)
    assert second > met * met and QUEUE.second_moment == pytest.approx(second)
    rest = (square + 2 * 0.07 * 0.05 * met + 0.0025 * second) / (2 * step)
    assert rest < 0.195 / 2
    amid = 1 - 0.03 / step  # the share of the time of prompts on one engine; all three have them less often
    rest = 0.015 + amid ** (sqrt(8) - 1) / amid * (rest - 0.015)
    assert QUEUE.step_remainder == pytest.approx(rest)
    parted = left * step / 0.195 * 2 * 0.688
    behind = 0.1 * (second / met - 1) + left / 4 + parted * 0.195 / (2 * met)
    assert QUEUE.seconds_behind == pytest.approx(behind)
    assert QUEUE.seconds_of_other_prompts == 0.0 > 0.1 * (met - 1)
    decay = QUEUE.decay
    exponent = 0.195 / 2.5 / decay / 3
    assert 0.312 * expm1(exponent) == pytest.approx(exponent)
    tail, varied = QUEUE.tail(0.006, 0.002), 0.002
    longest = decay * (1 + varied * 2 * 0.688 / (0.312 * 0.078))
    queued = behind + varied
    assert tail.least == 0.0 and tail.window == pytest.approx(2 * (rest + 0.006))
    assert tail.share == pytest.approx(min(1.0, queued / longest))
    assert tail.share * tail.mean == pytest.approx(queued)


def test_a_prompt_of_several_steps_waits_for_the_end_of_others() -> None:
    """0.4 prompts fill a step of 60 ms, so that the third step of one has half of that: 20 ms and 20 ms."""
    queue = PromptQueue(2.0, 0.02, 0.1, 0.4, 0.06)
    load = 2 * 0.06 / 0.4
    filled = 1 - exp(-2 * 2 * 0.06)
    ending = load * 0.03 + (1 - load) * filled * 0.02
    assert queue.ending_wait == pytest.approx(ending)
    tail = queue.tail(0.005, 0.0)
    assert tail.least == 0.0
    assert tail.window == pytest.approx(2 * ((1 - load) * 0.01 + ending + 0.005))
    assert tail.share * tail.mean == pytest.approx(queue.left / 2)


PREFILL = PrefillQueue(4.5, 0.2, 0.12, 3.0, 0.44, engines=2.0)
"""4.5 prompts a second on each of two engines: 80 ms and 120 ms for each prompt of a step, at most three."""


def test_a_queue_of_prefill_engines_is_worked_out_by_hand() -> None:
    """A step of p prompts meets 4.5 · (0.08 + 0.12 p) prompts, and one prompt where an engine was idle."""
    prompts = PREFILL.prompts
    mean = 0.08 + 0.12 * prompts
    assert prompts == pytest.approx(4.5 * mean + idle_share(4.5 * mean, 2.0), rel=1e-6) and 1 < prompts < 3
    assert PREFILL.load == pytest.approx(0.66)
    known = 0.0064 + 2 * 0.08 * 0.12 * prompts
    left = 0.66 ** sqrt(2 * 7) / (2 * 0.34) / 2  # of three places on each of two engines
    came = 4.5 * mean / 2 + 4.5**2 * known + idle_share(4.5 * mean, 2.0)
    squares = (came - 2 * left * mean / 0.44 * 3 * 0.34) / (1 - 0.54**2)
    assert prompts * prompts < squares < 3 * prompts
    met = (known + 0.0144 * squares) / mean
    assert PREFILL.steps == pytest.approx((mean, met))
    assert PREFILL.waiting_share == pytest.approx((4.5 * mean / prompts) ** (sqrt(6) - 1))
    arrived = 4.5 * met - 0.5  # half of a prompt per engine is the one that waits
    others = 2 - 2 * poisson(arrived, 0) - poisson(arrived, 1)
    assert PREFILL.even_wait == pytest.approx(met / 2 + others * 0.12)
    tail, varied = PREFILL.tail(0.01, 0.004), 0.004
    queued = left / 4.5 * met / 0.44 + varied
    decay = PREFILL.queue_behind_full_steps.decay * (1 + varied * 2 * 0.34 / (0.66 * 0.44 / 3))
    assert (tail.least, tail.met) == (0.0, PREFILL.waiting_share)
    assert tail.window == pytest.approx(2 * (PREFILL.even_wait + 0.01))
    assert (tail.share, tail.share * tail.mean) == pytest.approx((queued / decay, queued))


def test_squares_of_prompts_are_at_least_those_of_their_mean() -> None:
    """Few prompts on two engines: the arrivals vary less than prompts that are alone."""
    rare = PrefillQueue(1.5, 0.2, 0.12, 3.0, 0.44, engines=2.0)
    prompts, mean = rare.prompts, 0.08 + 0.12 * rare.prompts
    assert rare.steps[1] == pytest.approx((0.0064 + 0.0192 * prompts + 0.0144 * prompts * prompts) / mean)
    assert rare.even_wait == pytest.approx(rare.steps[1] / 2)  # 1.5 · 0.2 + 1 / 2 − 1 is below zero: no others


RUN = FiniteRun(120.0, 30.0, 12.0, 0.2, 0.5, 2.0, 0.7, 0.9, together=4.0, lanes=3.0, cold=6.0, started=5.0, joined=0.3)
"""120 requests of which 30 start together: 12 have a place, and five more start with them, each after 0.2 s."""


def test_the_requests_that_start_together_wait_in_three_groups() -> None:
    """Three run alone, 14 behind them up to 14 · 0.2 − 0.3 s. Places that were taken at once end 12 · 0.3 / 2 s sooner
    than in turn: the last of 13 waits for 25 turns.
    """
    sooner = 0.9 + 12 * 0.3 / 2
    first, second, third = RUN._starting_warm
    assert first == (3 / 120, 0.0, 0.0)
    assert second == pytest.approx((14 / 120, 4 * 0.2 - 0.3, 14 * 0.2 - 0.3))
    assert third == pytest.approx((13 / 120, 12 * 0.5 - sooner, 25 * 0.5 - sooner))
    assert RUN.starting == tuple((share, low + 6, high + 6) for share, low, high in (first, second, third))
    assert RUN.last == pytest.approx(6 + 25 * 0.5 - sooner)
    mean = sum(share * (low + high) / 2 for share, low, high in RUN.starting)
    assert RUN.mean == pytest.approx(mean + 90 / 120 * 2.7)
    assert RUN.seconds(8.0, 5.0) == pytest.approx(3 * 8 + RUN.last + 5)


def test_all_requests_of_later_waves_find_compiled_kernels() -> None:
    waves = RUN._replace(waves=4.0, started=0.0)
    warm = waves._starting_warm
    assert [share for share, _, _ in warm] == pytest.approx([3 / 30, 9 / 30, 18 / 30])
    assert waves.starting == (
        *((share / 4, low + 6, high + 6) for share, low, high in warm),
        *((share * (1 - 1 / 4), low, high) for share, low, high in warm),
    )
    assert waves.seconds(8.0, 5.0) == pytest.approx(4 * (waves.last - 6 + 5) + 6)
    assert waves.mean == pytest.approx(sum(share * (low + high) / 2 for share, low, high in waves.starting))


def test_later_requests_wait_as_in_the_steady_state_up_to_all_others() -> None:
    """Behind 2 s of queue with a mean of 0.7 s of which log 2 is at the median, and no longer than 11 others."""
    assert RUN._longest_of_later == pytest.approx(2 + 11 * 0.2)
    over = 0.7 * (1 - log(2))
    for seconds in (2.1, 2.3, 4.1, 4.2):
        part = 1.0 if seconds >= 4.2 else 0.0 if seconds < 2 + over else 1 - exp(-(seconds - 2 - over) / 0.7)
        assert RUN._share_of_later_within(seconds) == pytest.approx(part), seconds
    late = RUN._replace(above=0.5)
    assert late._share_of_later_within(3.0) == pytest.approx(1 - exp(-(3 - 2 - 0.5 - over) / 0.7))
    tail = RUN._replace(tail=WaitTail(0.0, 0.0, 0.5, 1.5))
    assert tail._share_of_later_within(3.0) == pytest.approx(1 - 0.5 * exp(-1 / 1.5))
    assert tail._share_of_later_within(4.2) == 1.0


def test_alike_requests_start_in_sets_of_the_places() -> None:
    """Twelve places end in turn, every 0.5 s: 18 more are a set of 12 after 6 s and one of 6 after 12 s."""
    alike = RUN._replace(alike=True, started=0.0)
    first, second = alike._starting_warm[2:]
    assert first == pytest.approx((12 / 120, 6.0, 6 + 9 * 0.2))
    assert second == pytest.approx((6 / 120, 12.0, 12 + 3 * 0.2))


def test_rounds_of_equal_requests_end_with_those_that_are_left() -> None:
    """130 requests in rounds of 30: four whole rounds, and a last one of ten, after a third of the first wait."""
    run = RUN._replace(requests=130.0)
    assert run.requests_of_last_round == pytest.approx(10)
    assert run.seconds_of_rounds(7.0, 4.0) == pytest.approx(4 * 7 + (run.last - 6) / 3 + 6 + 4)
