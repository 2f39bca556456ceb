"""The waits of prompts that have steps of their own, in the limits in which they can be worked out by hand."""

from __future__ import annotations

from math import exp, log

import pytest

from clusterspec.cluster.model import Design
from clusterspec.cost.serving.constants import StepTime
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.pools import Pools, prompts_of_step, prompts_per_step
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.cost.serving.times import serving_pools, serving_times
from clusterspec.cost.serving.waits.prefill import PrefillQueue, separate_prompt_wait, wait_for_received_prompts
from clusterspec.cost.serving.waits.prompts import (
    mixed_prompt_wait,
    seconds_of_prompts,
    steps_of_prompts,
    unreceived_wait,
)
from tests.cluster.resolving import clean
from tests.cost.serving.test_serving_laws import BASE, MACHINE, PLAN
from tests.effort import telling


def design(prompt: int, load: str) -> Design:
    keys = BASE | {"framework": "sglang", "input": prompt, "load": load}
    return clean(PLAN.format(machine=MACHINE.format(bandwidth=3350, memory=80), **keys))


def pools(prompt: int, load: str) -> Pools:
    """The engines of SGLang, whose steps have prompts alone or sequences that decode."""
    found = serving_pools(design(prompt, load))
    assert found is not None and found.decode.prompts_alone
    return found


CARRIED = 0.1
"""Seconds of a prompt."""


def steps_of(one: Pools) -> tuple[StepTime, StepTime]:
    """A step that decodes 64 sequences of 1,000 tokens, in the places of both kinds."""
    step = decode_step(one.decode, 64.0, 1000.0)
    return step, step


def waited(one: Pools, prompts: float, busy: float = 1.0) -> float:
    return mixed_prompt_wait(one, steps_of(one), prompts, CARRIED, (64.0, busy))


@pytest.mark.parametrize(
    ("prompt", "hit", "taken", "prompts"),
    [
        (4000, 0.0, 0.0, 2.048),
        (4000, 0.0, 4192.0, 1.0),
        (100, 0.0, 192.0, 80.0),
        (4000, 0.5, 0.0, 4.096),
        (9000, 0.0, 0.0, 1.0),
    ],
)
def test_the_budget_of_a_step_is_shared_by_what_prompts_compute(
    prompt: int, hit: float, taken: float, prompts: float
) -> None:
    """8,192 tokens of a step less those taken, over the tokens of a prompt that are not in the cache."""
    one = pools(prompt, f"concurrency: 64, prefix_hit: {hit}" if hit else "concurrency: 64")
    assert prompts_of_step(one, taken) == pytest.approx(prompts)
    assert prompts_per_step(one) == max(1, int(prompts)) or taken


def test_prompts_share_steps_up_to_the_budget_of_one() -> None:
    """8,192 tokens: two prompts of 4,000, 81 of 100. A step has one prompt at least."""
    few, many = pools(4000, "concurrency: 64"), pools(100, "concurrency: 64")
    assert (prompts_per_step(few), prompts_per_step(many)) == (2, 81)
    for one in (few, many):
        assert seconds_of_prompts(one, 0.1) == seconds_of_prompts(one, 1.0) < seconds_of_prompts(one, 64.0)
        for prompts in (1e-3, 0.5, 3.0):
            steps, each = steps_of_prompts(one, prompts, 0.0)
            assert steps == pytest.approx(max(1 - exp(-prompts), prompts / prompts_per_step(one)))
            assert each == pytest.approx(seconds_of_prompts(one, prompts / steps))


def test_a_prompt_of_a_closed_loop_waits_for_a_step_that_decodes_or_one_of_prompts() -> None:
    """Where hardly any begin, for the rest of the step that began before it came, or half of it; where many do, for one
    of either kind in turn, and for those that run together with it."""
    one = pools(100, "concurrency: 64")
    plain, late = steps_of(one)[0].total, one.outside
    others = 63 / 64
    assert waited(one, 1e-9) == pytest.approx(others * max(plain / 2, plain - late), rel=1e-6)
    group = 30 * CARRIED
    running = (max(plain / 2, plain - late) + max(group / 2, group - late)) / 2
    beside = seconds_of_prompts(one, 31.0) - seconds_of_prompts(one, 1.0)
    assert waited(one, 30.0) == pytest.approx(others * (running + beside))
    full = pools(4000, "concurrency: 64")
    most, plain, late = prompts_per_step(full), steps_of(full)[0].total, full.outside
    running = (max(plain / 2, plain - late) + max(group / 2, group - late)) / 2
    beside = (31 / most + 1) / 2 * seconds_of_prompts(full, most) - seconds_of_prompts(full, 1.0)
    assert waited(full, 30.0) == pytest.approx(others * (running + beside))
    assert waited(full, 0.0) == waited(pools(100, "concurrency: 1"), 0.5) == 0.0


def test_a_prompt_of_an_open_load_waits_where_it_finds_the_engine_busy() -> None:
    """Half of a step that decodes, where hardly any other begins: Poisson arrivals see the mean of the time. Where more
    do, also for those that came while the same step ran, as many before it as after it.
    """
    one = pools(100, "request_rate: 1")
    plain = steps_of(one)[0].total
    for busy in (0.0, 0.25, 1.0):
        assert waited(one, 1e-9, busy) == pytest.approx(busy * plain / 2, abs=1e-9)
    one_each, rate = seconds_of_prompts(one, 1.0), 0.02
    steps, each = steps_of_prompts(one, rate, plain)
    cycle = plain + steps * each
    running = (plain * plain + steps * each * each) / 2 / cycle
    beside = seconds_of_prompts(one, 1 + 2 * running * rate / cycle) - one_each
    assert waited(one, rate) == pytest.approx(running + beside)
    assert each == seconds_of_prompts(one, rate / steps) == pytest.approx(one_each, rel=1e-5)
    assert [waited(one, prompts) for prompts in (0.1, 1.0, 5.0)] == sorted(
        waited(one, each) for each in (0.1, 1.0, 5.0)
    )


INTERVAL = ", receive_interval: 30"


def test_an_engine_that_receives_requests_after_30_steps_makes_a_prompt_wait_for_half_of_them() -> None:
    """In a closed loop a request comes after one of 30 steps: 0 to 29 more follow the running one, 14.5 on average.

    At a rate the 30 steps count as one, and with many prompts those of all 30 run together.
    """
    once, every = pools(100, "concurrency: 64"), pools(100, f"concurrency: 64{INTERVAL}")
    plain = steps_of(once)[0].total
    assert waited(every, 1e-9) - waited(once, 1e-9) == pytest.approx(63 / 64 * 14.5 * plain, rel=1e-6)
    group, late = 30 * CARRIED, once.outside
    after_last = max(group / 2, group - late) / 60  # of 30 steps one is the last; then prompts run in every other case
    running = 59 / 60 * (max(plain / 2, plain - late) + 14.5 * plain) + after_last
    beside = seconds_of_prompts(every, 31.0) - seconds_of_prompts(every, 1.0)
    assert waited(every, 1.0) == pytest.approx(63 / 64 * (running + beside))
    at_rate = pools(100, f"request_rate: 1{INTERVAL}")
    assert waited(at_rate, 1e-9, 0.5) == pytest.approx(0.5 * 30 * plain / 2, rel=1e-6)
    assert waited(pools(100, f"concurrency: 1{INTERVAL}"), 0.5) == 0.0


@telling(1)
@pytest.mark.parametrize("load", ["concurrency: 64", "concurrency: 64, requests: 640", "request_rate: 4"])
def test_a_longer_interval_never_shortens_the_time_to_first_token(load: str) -> None:
    found = [serving_times(design(1000, f"{load}, receive_interval: {each}")) for each in (1, 2, 10, 30, 100)]
    times = [each.ttft for each in found if each is not None]
    assert times == sorted(times) and times[-1] > 3 * times[0]
    stated = serving_times(design(1000, load))
    assert stated is not None and stated.ttft == times[0]


def test_prompts_of_separate_engines_wait_until_the_decode_engine_has_received_them() -> None:
    """With 62.9 sequences, 9 more steps; an engine that hardly ever decodes receives a request at once."""
    split = ", receive_interval: 10, disaggregated: {prefill: {tp: 1}, decode: {tp: 1}}"
    one = serving_pools(design(1000, f"concurrency: 64{split}"))
    assert one is not None and one.has_prefill_engines
    assert unreceived_wait(one, 0.02, 62.9) == pytest.approx(63 / 64 * 4.5 * 0.02)
    assert unreceived_wait(one, 0.02, 0.01) == pytest.approx(63 / 64 * 4.5 * 0.02 * (1 - exp(-0.01)))
    assert wait_for_received_prompts(one, 0.09, 10.0, 0.02) == pytest.approx(0.018)  # half of 1.8 prompts, 20 ms each
    found = [serving_times(design(1000, f"concurrency: 2{split.replace('10', each)}")) for each in ("1", "10")]
    plain, late = (each for each in found if each is not None)
    decoding = 1 - exp(-late.sequences)
    assert late.ttft - plain.ttft == pytest.approx(0.5 * 4.5 * late.decode.total * decoding, rel=0.05)


SPLIT = ", chunk_tokens: 8192, disaggregated: {prefill: {tp: 1}, decode: {tp: 1}}"


def test_a_prompt_waits_for_the_step_that_its_prefill_engine_formed_before_it_came() -> None:
    """Half of the running step, and the next one if it is formed, but for its launch, which follows the running one."""
    one = serving_pools(design(1000, f"request_rate: 2{SPLIT}"))
    assert one is not None and one.prompts.forms_steps_ahead and prompts_per_step(one) == 8
    step, rate = 0.2, 0.1  # so few that a step holds one prompt
    launching, busy = one.prompts.launch_floor(1000.0), rate * step / (rate * step + exp(-rate * step))
    assert launching < step
    formed = (1 - exp(-rate * launching)) / (1 - exp(-rate * launching) + exp(-rate * step))
    expected = busy * (step / 2 + formed * (step - launching))
    assert separate_prompt_wait(one, rate, (step, 1e-9)) == pytest.approx(expected)
    full = serving_pools(design(1000, f"request_rate: 2{SPLIT.replace('8192', '1000')}"))
    assert full is not None and prompts_per_step(full) == 1  # of which none is left in a step that was formed
    assert separate_prompt_wait(full, rate, (step, step)) == pytest.approx(rate * step / (1 - rate * step) * step / 2)
    stages = serving_pools(design(1000, f"request_rate: 2{SPLIT.replace('{tp: 1}', '{tp: 1, pp: 2}', 1)}"))
    assert stages is not None and not stages.prompts.forms_steps_ahead and stages.decode.forms_steps_ahead


def test_a_prompt_waits_only_where_every_prefill_engine_runs_a_step() -> None:
    """Steps of one prompt, 0.1 s each, on engines that are half busy: one server waits 0.05 s in the mean. Of three
    the share 0.5 ** (√8 − 1) waits, 0.1 / 6 s for one of three ends (0.1 / 2 / 3 (1 − 0.5) of all steps).
    """
    one, three = (PrefillQueue(5.0, 0.1, 0.1, 1.0, 0.1, engines).tail(0.0, 0.0) for engines in (1.0, 3.0))
    assert one.of_all == pytest.approx(0.05)
    assert three.of_all == pytest.approx(0.5 ** (8**0.5 - 1) * 0.1 / 2 / (3 * (1 - 0.5)))
    found = [
        PrefillQueue(5.0, 0.1, 0.02, 8.0, 0.24, float(each)).tail(0.0, 0.0).wait_at(0.99) for each in (1, 2, 4, 8, 300)
    ]
    assert found == sorted(found, reverse=True)


def test_prompts_that_come_during_a_step_share_the_next_one() -> None:
    """0.2 s and 0.1 s for each further prompt, two a second: n = 2 (0.1 + 0.1 n) + exp(-2 (0.1 + 0.1 n)), n = 1.107. A
    step lasts 0.21 s, and half of it is the rest that a prompt finds; those that came with it add 0.1 s each.
    """
    queue = PrefillQueue(2.0, 0.2, 0.1, 100.0, 10.1)
    n = queue.prompts
    assert n == pytest.approx(0.2 + 0.2 * n + exp(-0.2 - 0.2 * n)) and n == pytest.approx(1.0746, abs=1e-3)
    mean, met = queue.steps
    assert mean == pytest.approx(0.1 + 0.1 * n) and met > mean
    assert queue.even_wait == pytest.approx(met / 2 + 2.0 * met * 0.1)
    assert queue.waiting_share == pytest.approx(2.0 * mean / n)
    rates = [PrefillQueue(each, 0.2, 0.1, 4.0, 0.5).tail(0.0, 0.0).of_all for each in (0.1, 1.0, 2.0, 4.0, 6.0, 7.5)]
    assert rates == sorted(rates)


def test_the_wait_of_a_full_loop_varies_by_the_number_that_is_elsewhere() -> None:
    """Of 32 requests whose prompts wait nearly always, the 99th percentile is close to the median."""
    split = ", chunk_tokens: 8192, disaggregated: {prefill: {tp: 1}, decode: {tp: 1, replicas: 3}}"
    study = design(16000, f"concurrency: 32{split}")
    one, found = serving_pools(study), serving_times(study)
    assert one is not None and found is not None and found.varied is not None
    elsewhere = 3 * found.sequences + found.state.rate * found.state.outside
    assert found.varied == pytest.approx(2.326 / log(50) * elsewhere**0.5 * found.state.service)
    assert found.wait > 10 * found.varied
    late = latency_at(found, one.load, "ttft", 99)
    assert found.ttft < late == pytest.approx(found.ttft + 2.326 * elsewhere**0.5 * found.state.service)


def test_a_prompt_finds_a_step_on_any_of_the_ranks_of_its_prefill_engine() -> None:
    """Two ranks end a step together: an engine is idle where both are, with 1 - 0.1 * step / 2 each."""
    split = SPLIT.replace("{tp: 1}", "{tp: 1, attention_dp: 2}", 1)
    one = serving_pools(design(1000, f"request_rate: 2{split}"))
    assert one is not None and one.prompts.attention_ranks == 2
    step, rate = prompt_step(one.prompts, 1000.0, 1000.0, 1.0).total, 0.1  # so few that a step holds one prompt
    launching, busy = one.prompts.launch_floor(1000.0), 1 - (1 - rate * step / 2) ** 2
    formed = (1 - exp(-rate * min(step, launching))) / (1 - exp(-rate * min(step, launching)) + exp(-rate * step))
    expected = busy * (step / 2 + formed * step)
    assert separate_prompt_wait(one, rate, (step, 1e-9)) == pytest.approx(expected)
    longer = separate_prompt_wait(one, rate, (step / 2, 1e-9)) - step / 2
    assert longer == pytest.approx(expected), "a prompt of half a step waits for the other half"


@pytest.mark.parametrize("load", ["request_rate: 0.0{0:02}", "concurrency: {0}", "concurrency: {0}, requests: {0}0"])
@pytest.mark.parametrize("ranks", ["tp: 1, replicas: 2", "tp: 1, attention_dp: 2"])
def test_more_load_never_shortens_the_time_to_first_token_of_separate_engines(load: str, ranks: str) -> None:
    """The rates are below the capacity: the two places of the decode engine serve 0.26 a second."""
    split = f", chunk_tokens: 8192, disaggregated: {{prefill: {{{ranks}}}, decode: {{tp: 1}}}}"
    found = [serving_times(design(1000, load.format(each) + split)) for each in (1, 2, 4, 8, 12, 16, 20)]
    times = [each.ttft_mean for each in found if each is not None]
    assert len(times) == 7 and times == sorted(times) and times[-1] > times[0]


def test_the_tail_of_a_queue_of_single_prompts_is_that_of_a_server_at_half_load() -> None:
    """Steps of 0.5 s at load 0.5: a mean of 0.5 x 0.5 / 2 (1 - 0.5) = 0.25 s, and a tail that falls by e in 0.5 / t of
    0.5 (exp(t) - 1) = t, t = 1.25643: 0.39795 s, in which 0.25 / 0.39795 of the prompts wait.
    """
    queue = PrefillQueue(1.0, 0.5, 0.5, 1.0, 0.5)
    even, late = queue.tail(0.0, 0.0), queue.tail(0.3, 0.0)
    assert (even.least, even.window, even.met) == (0.0, 0.0, 0.5)
    assert (even.share, even.mean) == pytest.approx((0.62822, 0.39795), rel=1e-4)
    assert late.window == 0.6 and (late.share, late.mean) == (even.share, even.mean)
    # an irregular 0.1 s: the queue has 0.35 s, and its tail is longer by 1 + 0.1 x 2 (1 - 0.5) / (0.5 x 0.5) = 1.4
    varied = queue.tail(0.0, 0.1)
    assert (varied.mean, varied.share * varied.mean) == pytest.approx((1.4 * even.mean, 0.35))
    assert PrefillQueue(1.9, 0.5, 0.5, 1.0, 0.5).tail(0.0, 0.0).share <= 1.0
