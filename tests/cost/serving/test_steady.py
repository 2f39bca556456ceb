"""Steady states and waits of prompts on engines that also decode, with numbers worked out by hand."""

from __future__ import annotations

from math import exp, inf, pi, sqrt

import pytest

from clusterspec.cost.serving import steady
from clusterspec.cost.serving.constants import MOST_LOAD, StepTime
from clusterspec.cost.serving.highest import largest_satisfying
from clusterspec.cost.serving.loads import WALK, full_run_state, open_run, steady_load
from clusterspec.cost.serving.pools import (
    Pools,
    is_open_run,
    most_sequences_with_prompts,
    prompt_seconds,
    prompts_per_step,
)
from clusterspec.cost.serving.state import Steady
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.times import serving_pools
from clusterspec.cost.serving.waits import delays
from clusterspec.cost.serving.waits import prompts as waits
from clusterspec.cost.serving.waits.delays import prompts_of_run, sequences_of_step
from clusterspec.cost.serving.waits.prompts import StepsWithPrompts, mixed_prompt_wait, variation_seconds
from clusterspec.cost.serving.waits.shares import fills_places
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_serving_laws import BASE, MACHINE, PLAN
from tests.effort import each


def pools(load: str, **changes: object) -> Pools:
    """An engine of vLLM on eight H100, whose steps hold prompts of 2,048 tokens with sequences that decode."""
    keys = BASE | {"load": load} | changes
    found = serving_pools(clean(PLAN.format(machine=MACHINE.format(bandwidth=3350, memory=80), **keys)))
    assert found is not None
    return found


CLOSED, OPEN = pools("concurrency: 64, chunk_tokens: 4096"), pools("request_rate: 4, chunk_tokens: 4096")
SPLIT = "disaggregated: {prefill: {replicas: 2, tp: 2}, decode: {tp: 4}}"
APART = pools(f"concurrency: 64, {SPLIT}")
DECODE = StepTime((), 1.0, 0.02, 0.015)
PREFILL = StepTime((), 1.0, 0.1, 0.09)
CHUNKED = StepTime((), 4.0, 0.4, 0.36)
STEADY = Steady(
    *(8.0, 6.0, 4.0, DECODE, PREFILL, 0.3, 0.2, 0.1), *(2.0, 0.05, 0.001, 0.1, 3.0), wait=0.4, loading=0.1, outside=0.2
)
"""8 sequences, of which 4 delay each token of 50 ms by 1 ms each; drafts give two tokens in each step of 20 ms."""


def test_the_times_of_a_state_are_those_worked_out_by_hand() -> None:
    assert not CLOSED.decode.prompts_alone and not CLOSED.has_prefill_engines and APART.has_prefill_engines
    assert STEADY.typical_token == pytest.approx(0.05 + 2 * 0.001)
    assert STEADY.mean_token == 0.05
    assert STEADY._replace(met=7.0).mean_token == pytest.approx(0.05 + 3 * 0.001)
    assert STEADY.full_token == pytest.approx(0.02 / 2 + 8 * 0.001)
    assert STEADY.before_decode == pytest.approx(0.4 + 0.1 + 0.3)
    assert STEADY.requests_in_flight(4) == pytest.approx(8 * 4 + 3 * (0.8 + 0.2))


@pytest.mark.parametrize(
    ("used", "running", "others", "wait"),
    [  # a step of 60 ms with a prompt, of which each has three, and places for two; other prompts add 10 ms
        (0.0, 0.03, 1.0, 0.03 + 0.01),
        (0.0, 0.03, 0.5, 0.5 * 0.04),
        # of half of the places (3 - 1) / 2 more steps: 30 ms; then 0.5^(sqrt(6) - 1) / (2 * 0.5) of it for full steps
        (0.5, 0.01, 1.0, 0.04 + 0.01 + 0.04 * 0.5 ** (sqrt(6) - 1)),
        (0.5, 0.01, 0.5, 0.5 * 0.05 + 0.5 * 0.04 * 0.5 ** (sqrt(6) - 1)),
    ],
)
def test_a_prompt_waits_for_the_running_step_and_for_full_ones(
    used: float, running: float, others: float, wait: float
) -> None:
    steps = StepsWithPrompts(
        plain=0.02, longer=0.06, mixed=0.25, chunks=3.0, together=2.0, used=0.3, other_prompts=0.01
    )
    assert steps.mean == pytest.approx(0.75 * 0.02 + 0.25 * 0.06)
    assert steps.full_wait(used, running, others) == pytest.approx(wait)


def test_few_prompts_of_a_loop_wait_for_the_rest_of_a_step_that_decodes() -> None:
    """A request comes late in the step that follows the end of another: by its overhead, of which the transport varies
    from none to twice its mean. The latest meet the next step of 20 ms.
    """
    least, most = CLOSED.between_requests
    assert CLOSED.outside == pytest.approx((least + most) / 2)
    assert least < 0.01
    assert 0.02 < most < 0.04
    running = (0.02 - CLOSED.outside) + 0.02 * (most - 0.02) / (most - least)
    assert mixed_prompt_wait(CLOSED, (DECODE, PREFILL), 1e-12, 0.08, (64.0, 1.0)) == pytest.approx(63 / 64 * running)
    alone = CLOSED._replace(load=replace(CLOSED.load, concurrency=1))
    assert mixed_prompt_wait(alone, (DECODE, PREFILL), 1e-12, 0.08, (64.0, 1.0)) == 0.0
    # no more wait than the running step and the prompts of the others take, however many prompts begin
    pair = CLOSED._replace(load=replace(CLOSED.load, concurrency=2))
    most = 0.02 + (2 / pair.decode.attention_ranks - 1) * prompt_seconds(pair.decode, PREFILL)
    assert mixed_prompt_wait(pair, (DECODE, PREFILL), 0.9, 0.5, (64.0, 1.0)) == pytest.approx(most)


def test_few_prompts_at_a_rate_wait_for_half_of_a_step_where_the_rank_is_busy() -> None:
    few = OPEN._replace(load=replace(OPEN.load, request_rate=1e-9))
    for busy in (0.0, 0.5, 1.0):
        wait = mixed_prompt_wait(few, (DECODE, PREFILL), 1e-12, 0.08, (64.0, busy))
        assert wait == pytest.approx(busy * 0.01, rel=1e-5)
    static = OPEN._replace(load=replace(OPEN.load, load="static"))  # always busy
    assert mixed_prompt_wait(static, (DECODE, PREFILL), 1e-12, 0.08, (64.0, 0.5)) == pytest.approx(0.01, rel=1e-5)


def test_steps_with_prompts_hold_as_many_as_the_budget_allows() -> None:
    """4,096 tokens less 2,048 or 64 decoded ones, over prompts of 2,048; chunks share a budget with decoded tokens."""
    assert waits.steps_of_one_prompt(CLOSED, PREFILL, 64.0) == pytest.approx((1.0, 4032 / 2048))
    assert waits.steps_of_one_prompt(CLOSED, PREFILL, 2048.0) == (1.0, 1.0)
    small = CLOSED._replace(load=replace(CLOSED.load, chunk_tokens=512))
    assert waits.steps_of_one_prompt(small, CHUNKED, 12.0) == pytest.approx((2048 / 500, 1.0))
    assert waits.steps_of_one_prompt(small, CHUNKED, 600.0) == (2048.0, 1.0)
    half = small._replace(load=replace(small.load, prefix_hit=0.5))
    assert waits.steps_of_one_prompt(half, CHUNKED, 12.0)[0] == pytest.approx(1024 / 500)
    assert waits.steps_of_one_prompt(CLOSED._replace(load=replace(CLOSED.load, chunk_tokens=None)), CHUNKED, 9.0) == (
        1.0,
        1.0,
    )


def test_prompts_lengthen_the_steps_in_which_they_run() -> None:
    """Each of 0.1 prompts a step adds 80 ms; a step holds one, so that a tenth of the steps have one."""
    one = CLOSED._replace(load=replace(CLOSED.load, chunk_tokens=2048))
    found = waits._steps_with_prompts(one, (DECODE, PREFILL), 0.1, 0.08, 64.0)
    assert found[:6] == pytest.approx((0.02, 0.02 + 0.08, 0.1, 1.0, 1.0, 0.1))
    assert found.other_prompts == 0.0
    more = waits._steps_with_prompts(one, (DECODE, PREFILL), 7.0, 0.08, 64.0)  # one in each step at most
    assert more[:6] == pytest.approx((0.02, 0.1, 1.0, 1.0, 1.0, 1.0))
    # with two places at once a Poisson count begins: 1 - exp(-0.1) of the steps have any
    two = waits._steps_with_prompts(CLOSED, (DECODE, PREFILL), 0.1, 0.08, 0.0)
    assert two.mixed == pytest.approx(1 - exp(-0.1)) and two.used == pytest.approx(0.1 / 2)
    assert two.longer == pytest.approx(0.02 + 0.1 * 0.08 / (1 - exp(-0.1)))
    assert two.other_prompts == pytest.approx(0.1 * (0.09 - 0.015))
    # chunks of one prompt in four steps
    small = CLOSED._replace(load=replace(CLOSED.load, chunk_tokens=512))
    four = waits._steps_with_prompts(small, (DECODE, CHUNKED), 0.05, 0.08, 0.0)
    assert four[:6] == pytest.approx((0.02, 0.02 + 0.05 * 0.08 / 0.2, 0.2, 4.0, 1.0, 0.2))


def test_no_prompt_of_a_loop_waits_longer_for_bursts_but_one_of_an_open_load_does() -> None:
    """Bursts of variation 3: 8 more by the cube root of the load; prompts of unequal lengths by the load itself."""
    assert variation_seconds(CLOSED, 0.5, 0.1) == 0.0 == variation_seconds(OPEN, 0.5, 0.1)
    ranks = OPEN.prompts.attention_ranks
    assert ranks == 1 and prompts_per_step(OPEN) == 2
    bursts = OPEN._replace(load=replace(OPEN.load, arrival_cv=3.0))
    # at most one more prompt has a place in the same step, and waits for half of it
    assert variation_seconds(bursts, 0.125, 0.1) == pytest.approx(0.1 * 8 * 0.5 / (2 * 0.875) + 1 / 2 * 0.1)
    fewer = OPEN._replace(load=replace(OPEN.load, arrival_cv=sqrt(1.5)))
    assert variation_seconds(fewer, 0.125, 0.1) == pytest.approx(0.1 * 0.25 / 1.75 + 0.25 / 2 * 0.1)
    even = OPEN._replace(load=replace(OPEN.load, arrival_cv=0.0))  # arrivals at equal intervals wait less
    assert variation_seconds(even, 0.125, 0.1) == pytest.approx(-0.1 * 0.5 / 1.75)
    assert MOST_LOAD < 1


def test_prompts_at_a_rate_are_those_that_arrive_in_a_step_they_lengthen() -> None:
    """4 a second in a step of 20 ms; each of 50 ms brings 0.2 more: 0.08 / (1 - 0.2)."""
    run = OPEN._replace(load=replace(OPEN.load, requests=100, chunk_tokens=2048))
    assert waits.prompts_at_rate(run, 0.02, 0.0) == pytest.approx(0.08)
    assert waits.prompts_at_rate(run, 0.02, 0.001) == pytest.approx(0.08 / (1 - 0.004))
    full = waits.seconds_of_prompts(run, 1.0)
    assert waits.prompts_at_rate(run, 0.02, 9.0) == pytest.approx(0.08 / (1 - 4 * full))
    for none in (OPEN, CLOSED, run._replace(load=replace(run.load, load="closed"))):
        assert waits.prompts_at_rate(none, 0.02, 0.001) == 0.0


def test_the_budget_limits_the_sequences_in_steps_with_prompts() -> None:
    """s sequences take s tokens and s / 255 prompts of 2,048: 4,096 / (1 + 2,048 / 255)."""
    assert most_sequences_with_prompts(CLOSED.load) == pytest.approx(4096 / (1 + 2048 / 255))
    drafted = replace(CLOSED.load, draft_tokens=3, draft_acceptance=0.5, prefix_hit=0.75)
    assert most_sequences_with_prompts(drafted) == pytest.approx(4096 / (4 + 2.5 * 512 / 255))
    assert most_sequences_with_prompts(replace(CLOSED.load, chunk_tokens=1)) == 1.0
    assert most_sequences_with_prompts(replace(CLOSED.load, chunk_tokens=None)) == inf
    assert most_sequences_with_prompts(replace(CLOSED.load, load="offline")) == inf
    assert most_sequences_with_prompts(OPEN.load) == pytest.approx(4096 / (1 + 2048 / 255))


def with_load(one: Pools, **changes: object) -> Pools:
    return one._replace(load=replace(one.load, **changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (CLOSED, (1.0, 1.0)),  # no run
        (with_load(CLOSED, requests=640), (1.0, 1 - 0.05)),  # the last 64 of 640 meet half of the prompts
        (with_load(CLOSED, requests=64), (0.5, 0.5)),
        (with_load(CLOSED, requests=80), (0.5 / 0.8, 1 - 0.4)),
        (with_load(CLOSED, requests=32), (0.5, 0.5)),
        (with_load(CLOSED, requests=640)._replace(limit=32.0), (1.0, 1 - 0.025)),  # places for half of them
        (with_load(CLOSED, requests=640, load="offline", concurrency=None)._replace(limit=32.0), (1.0, 1 - 0.025)),
        (with_load(CLOSED, requests=32, load="offline", concurrency=None)._replace(limit=32.0), (0.5, 0.5)),
        (with_load(CLOSED, requests=None, load="offline", concurrency=None), (1.0, 1.0)),  # without an end
        (OPEN, (1.0, 1.0)),
    ],
)
def test_the_last_requests_of_a_run_meet_fewer_prompts(one: Pools, expected: tuple[float, float]) -> None:
    assert prompts_of_run(one) == pytest.approx(expected)


def test_requests_of_an_open_run_meet_those_that_come_later() -> None:
    """A request that meets 5/12 of the run lasts half as long as the arrivals: 0.375 / (5/12) of it on average."""
    run = with_load(OPEN, requests=120)
    assert prompts_of_run(run, 50.0) == pytest.approx((1.2, 0.9))
    assert prompts_of_run(run, 500.0) == pytest.approx((0.5, 0.5))
    assert is_open_run(run.load) and not is_open_run(OPEN.load) and not is_open_run(CLOSED.load)
    assert not is_open_run(with_load(CLOSED, requests=120).load)
    apart = with_load(pools(f"request_rate: 4, {SPLIT}"), requests=120)
    assert not is_open_run(apart.load) and prompts_of_run(apart, 50.0) == (1.0, 1.0)


def test_own_prompts_delay_no_request_of_a_loop() -> None:
    """Of two sequences, each adding 10 ms a token to 20 ms: t = (30 + sqrt(30² + 4 * 10² * 2)) / 2 ms; at 0 none."""
    delaying = delays.delaying_sequences
    token = (30 + sqrt(30**2 + 4 * 10**2 * 2)) / 2
    assert delaying(CLOSED, 2.0, (0.02, 0.01), 1.0) == pytest.approx((token - 20) / 10)
    assert delaying(with_load(CLOSED, load="offline", concurrency=None), 2.0, (0.02, 0.01), 1.0) == pytest.approx(
        (token - 20) / 10
    )
    half = (25 + sqrt(25**2 + 4 * 5**2 * 2)) / 2  # in a run that meets half of the prompts
    assert delaying(CLOSED, 2.0, (0.02, 0.01), 0.5) == pytest.approx(0.5 * (half - 20) / 5)
    assert delaying(CLOSED, 1.0, (0.02, 1e-9), 1.0) == pytest.approx(0.0, abs=1e-3)  # a lone one is hardly delayed
    assert delaying(CLOSED, 2.0, (0.02, 0.0), 1.0) == 2.0
    assert delaying(OPEN, 2.0, (0.02, 0.01), 0.5) == 1.0
    assert delaying(with_load(CLOSED, load="static"), 2.0, (0.02, 0.01), 0.5) == 2.0


def test_requests_of_a_full_run_share_places_with_prompts() -> None:
    """At 1,000 requests a second 120 requests queue for 20 places: some have a prompt, and none is delayed by its own
    prompt. At 4 a second all have a place.
    """
    run = with_load(OPEN, requests=120)._replace(limit=20.0)
    busy = run._replace(load=replace(run.load, request_rate=1000.0))
    now = steady_load(busy)[1]
    assert fills_places(busy, now) and not fills_places(run._replace(limit=500.0), steady_load(run)[1])
    assert now.sequences + now.rate * now.prompt == pytest.approx(20, rel=0.02)
    assert now.delaying < now.sequences
    turn = open_run(busy, now).turn
    assert turn == pytest.approx(1 / full_run_state(busy).rate, rel=0.02)


def test_alike_requests_of_a_full_run_decode_together() -> None:
    """Where prompts have steps of their own, all others delay the request of the first of 20 prompts, none the last;
    each round takes all prompts and all tokens.
    """
    load = "request_rate: 1000, requests: 120, chunk_tokens: 4096"
    alone = pools(load, output="{mean: 256, p99: 256}", framework="sglang")._replace(limit=20.0)
    now = full_run_state(alone)
    assert alone.equal_requests and now.sequences == 20.0
    step = now.decode.total / now.tokens_per_step
    assert step < now.tpot < step + 0.5 * 20 * now.each_token
    assert open_run(alone, now).turn == pytest.approx(now.full_token * alone.load.gaps / 20)


def test_bursts_bring_more_sequences_at_a_time() -> None:
    assert delays.bunched_sequences(OPEN, 10.0) == 0.0
    bursts = with_load(OPEN, arrival_cv=4.0)
    assert delays.bunched_sequences(bursts, 10.0) == pytest.approx(15 * (10 / 25) ** 0.27)
    assert steady._sequences_met_by_request(bursts, 10.0) == pytest.approx(10 + 15 * (10 / 25) ** 0.27)
    assert steady._sequences_met_by_request(bursts._replace(limit=12.0), 10.0) == 12.0
    for none in (with_load(bursts, output_tokens=1), with_load(bursts, load="closed")):
        assert delays.bunched_sequences(none, 10.0) == 0.0


def test_loops_and_full_plans_have_the_requests_in_flight_that_littles_law_gives() -> None:
    offered, now = steady_load(CLOSED)
    assert offered == 64.0
    assert now.requests_in_flight(CLOSED.decode.attention_ranks) == pytest.approx(64, rel=2e-3)
    batch = with_load(CLOSED, load="static", concurrency=16)
    assert steady_load(batch)[0] == 16.0 and steady_load(batch)[1].sequences == 16.0
    assert steady_load(batch._replace(limit=8.0))[1].sequences == 8.0
    assert steady_load(with_load(batch, concurrency=None))[0] == 1.0
    full = with_load(CLOSED, load="offline", concurrency=None)._replace(limit=20.0)
    assert steady_load(full)[0] == 20.0
    assert steady_load(with_load(full, requests=5))[0] == 5.0
    offered, now = steady_load(OPEN)
    assert now.rate == pytest.approx(4.0, rel=1e-6)
    assert offered == pytest.approx(4 * (now.before_decode + now.outside + 255 * now.tpot), rel=1e-6)


def test_the_largest_load_within_a_limit_is_found() -> None:
    assert largest_satisfying(lambda x: x - 10, 64.0) == pytest.approx(10, abs=1e-3)
    assert largest_satisfying(lambda x: x - 100, 64.0) == 64.0
    assert largest_satisfying(lambda x: x - 64, 64.0) == 64.0
    assert largest_satisfying(lambda x: x - 0.5, 64.0) == 0.0
    assert largest_satisfying(lambda x: x - 1, 64.0) == pytest.approx(1.0, abs=1e-3)


def test_a_mean_walk_of_n_steps_ends_two_thirds_of_its_last_distance_away() -> None:
    """The mean of sqrt(k) over k from 0 to n is 2/3 sqrt(n); a step to either side is sqrt(2 / pi) away on average."""
    mean = sum(sqrt(2 * k / pi) for k in range(10_000)) / 10_000
    assert WALK * sqrt(10_000) == pytest.approx(mean, rel=1e-3)


def test_a_prompt_shorter_than_its_chunk_meets_the_prompts_of_other_ranks_in_one_step() -> None:
    """Of eight ranks, each with s sequences that end after 255 gaps, 7 (1 - exp(-s / 255)) others have a prompt in the
    same step, whatever the chunk leaves unused; prompts of three chunks meet those of three steps.
    """
    wide = {"model": "qwen3-235b-a22b", "framework": "vllm, attention_dp: 8, ep: 8", "tp": 1}
    for input_tokens, chunk, steps in ((2048, 4096, 1), (2048, 16384, 1), (12288, 4096, 3)):
        one = pools(f"concurrency: 64, chunk_tokens: {chunk}", input=input_tokens, **wide)
        one = one._replace(load=replace(one.load, chunk_tokens=chunk))
        decoding = sequences_of_step(one, 4.0)
        busy = 1 + 7 * (1 - exp(-decoding.sequences / 255 * steps))
        expected = prompt_step(one.prompts, float(input_tokens), float(input_tokens), busy, decoding)
        found = steady._prompt_step(one, 4.0, decoding, 0.05)
        assert found.steps == expected.steps and found.total == pytest.approx(expected.total, rel=1e-9)


@each(
    ("sequences", "rate", "prompt", "filled"),
    [
        (19.8, 0.0, 0.5, True),  # 99 % of 20 places
        (19.7, 0.0, 0.5, False),
        (15.8, 8.0, 0.5, True),  # four prompts are computed at any time
        (15.7, 8.0, 0.5, False),
        (11.8, 8.0, 1.0, True),
        (15.8, 2.0, 0.5, False),
    ],
)
def test_sequences_and_prompts_take_the_places(sequences: float, rate: float, prompt: float, filled: bool) -> None:
    run = with_load(OPEN, requests=120)._replace(limit=20.0)
    now = steady_load(run)[1]._replace(sequences=sequences, rate=rate, prompt=prompt)
    assert run.decode.attention_ranks == 1
    assert fills_places(run, now) is filled
    assert not fills_places(with_load(run, requests=None), now), "an endless load has no last request"


@pytest.mark.parametrize(("places", "requests", "most"), [(300, 300, inf), (299, 300, 4096 / (1 + 2048 / 255))])
def test_the_budget_limits_no_sequences_of_a_run_without_later_prompts(places: int, requests: int, most: float) -> None:
    """All 300 requests come at the start; with a place fewer, the last prompt replaces a request that has ended."""
    load = replace(CLOSED.load, requests=requests, concurrency=requests)
    run = CLOSED._replace(load=load, limit=float(places))
    assert run.decode.attention_ranks == 1 and run.most_sequences_with_prompts == pytest.approx(most)


@each(
    ("concurrency", "replicas", "share"),
    [
        (1, 1, 0.0),
        (2, 1, 1 / 2),  # on one engine a request finds all but itself
        (10, 1, 9 / 10),
        (2, 2, 0.0),  # one on each of two engines
        (3, 2, 2 / 3),  # of three, two share an engine
        (6, 2, 5 / 6),
        (6, 4, 2 / 3),
        (3, 4, 0.0),
    ],
)
def test_requests_of_a_loop_share_engines_as_far_as_they_are_more(
    concurrency: int, replicas: int, share: float
) -> None:
    one = CLOSED._replace(
        load=replace(CLOSED.load, concurrency=concurrency), decode=replace(CLOSED.decode, replicas=replicas)
    )
    assert one.share_with_others == pytest.approx(share)


@each(
    ("load", "requests", "concurrency", "at_once"),
    [
        ("offline", 100, None, True),
        ("closed", 100, 100, True),
        ("closed", 100, 99, False),
        ("closed", 100, None, False),
        ("closed", None, 100, False),
        ("open", 100, 100, False),
    ],
)
def test_a_run_sends_all_requests_at_once_if_a_loop_has_as_many_in_flight(
    load: str, requests: int | None, concurrency: int | None, at_once: bool
) -> None:
    one = replace(CLOSED.load, load=load, requests=requests, concurrency=concurrency)
    assert CLOSED._replace(load=one).sent_at_once is at_once


def test_a_wave_has_places_for_all_requests_and_no_prefill_engines() -> None:
    places = int(CLOSED.limit * CLOSED.decode.attention_ranks)
    for requests, one in ((places - 1, True), (places, True), (places + 1, False)):
        assert CLOSED._replace(load=replace(CLOSED.load, load="offline", requests=requests)).in_one_wave is one
    apart = APART._replace(load=replace(APART.load, load="offline", requests=1))
    assert apart.sent_at_once and not apart.in_one_wave


def test_few_requests_of_a_loop_share_the_steps_of_attention_replicas_in_stages() -> None:
    """Two replicas in two stages: with a request each both decode in the same steps, of one sequence a replica; with
    four each a step has two. At a rate, a step has half of a replica's sequences, one of both together at least.
    """
    loop, rate = pools("load: closed, concurrency: 4"), pools("load: open, request_rate: 1")
    for one, expected in ((loop, (0.5, 0.75, 1.0, 2.0)), (rate, (0.5, 0.5, 0.5, 2.0))):
        cut = replace(one.decode, layout=replace(one.decode.layout, attention_dp=2, pp=2))
        found = [steady._sequences_of_stage(one._replace(decode=cut), count) for count in (0.5, 0.75, 1.0, 4.0)]
        assert found == [pytest.approx(value) for value in expected]
