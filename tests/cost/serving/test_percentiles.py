"""Quantiles, runs of a stated number of requests, and latencies at percentiles, worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from math import comb, erf, exp, hypot, log, sqrt
from operator import add
from random import Random

import pytest

from clusterspec.cluster.requests import ExpertLoad, Lengths, Serving
from clusterspec.cost.serving import quantiles
from clusterspec.cost.serving.constants import RANGES, TAILS, Part, StepTime
from clusterspec.cost.serving.highest import largest_satisfying
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.parts.balance import placed_experts, slots_hit, token_shares
from clusterspec.cost.serving.percentiles import _prompts_in_step as prompts_in_step
from clusterspec.cost.serving.percentiles import (
    _several_prompts,
    latency_at,
    latency_factors,
    latency_range,
    prompt_burst_factor,
    single_gap,
)
from clusterspec.cost.serving.quantiles import clustered_quantile, gamma_share, poisson_quantile
from clusterspec.cost.serving.runs import FiniteRun, OpenRun, wait_in_growing_queue
from clusterspec.cost.serving.state import WaitTail
from clusterspec.cost.serving.waits.shares import PromptShares
from clusterspec.records import replace
from tests.cost.serving.test_targets import plan
from tests.effort import each, telling, thorough

ONE_SIGMA = 0.8413447460685429
"""The probability that a normal variable is at most one standard deviation above its mean."""
LN2 = log(2)
EVEN = Lengths(mean=100, p99=100, most=None)
BURST = FiniteRun(100.0, 20.0, 10.0, 0.1, 0.5, 3.0, 0.0, 1.0)
"""20 of 100 requests start together. Ten have a place: one runs alone, the others wait 0.1 to 0.9 s. The places are
free again after 1 s and half of 10 × (0.5 - 0.1) s, 3 s; by one in 0.5 s the tenth ends 2 s after that is counted, the
twentieth 7 s. 80 wait 3 s."""
WAVE = FiniteRun(100.0, 10.0, 10.0, 0.1, 0.1, 0.0, 2.0, 0.0)
"""Ten of 100 requests wait 0 to 0.9 s, the prompts of all others; 90 on average 2 s."""
MANY = FiniteRun(1e12, 100.0, 100.0, 0.1, 0.1, 0.0, 0.2, 0.0)
"""Few of many requests start together; the others have an exponential tail that has a mean of 0.2 s at its median."""
ARRIVING = OpenRun(200.0, 10.0, 50.0, 0.2, 0.5)
"""Ten a second, of which five a second end once 50 places are taken."""
LEFT = PromptShares(share=0.2, longer=11.0, chunks=4.0, spread=0.0, bunching=0.0, gained=1.0)
"""A step takes 3 times one without prompts on average, steps with prompts 11/15 of the time. A prompt waits 5.5 steps:
11/15 × (4 + 5.5) are left behind it, of which all steps meet 0.2 × (5.5 + 2): 3 × 5.4667 = 16.4 more in the end."""
LEFT_FIRST = 31 * (11 / 15 - 1 / 5)
"""What 31 steps have in addition to 0.2 each, if all are as the first."""
UNIFORM = PromptShares(share=0.5, longer=1.0, chunks=25.0, spread=0.0, bunching=0.0, gained=1.0)
"""The share of 100 steps has the mean 1/2 and the variance 1/12 of a beta variable with the parameters 1 and 1."""


def test_the_median_of_requests_that_stay_in_step_is_not_their_mean() -> None:
    """Of endless requests half wait no longer than the mean of 0.2 s, and 0.05 s more where the median is above it."""
    above = MANY._replace(above=0.05)
    assert (MANY.wait_at(0.5), above.wait_at(0.5)) == pytest.approx((0.2, 0.25))
    assert above.mean == MANY.mean


def test_kernels_compile_in_the_first_of_several_waves_alone() -> None:
    """Twice ten: 0 and 0.1 to 0.9 s, 0.45 s on average, the first ten 5 s later; half of all wait at most 0.9 s."""
    run = FiniteRun(20.0, 10.0, 10.0, 0.1, 0.1, 0.0, 0.0, 0.0, cold=5.0, waves=2.0)
    assert run.mean == pytest.approx(0.45 + 5.0 / 2)
    assert run.wait_at(0.5) == pytest.approx(0.9)
    assert run.wait_at(1.0) == pytest.approx(5.9)
    assert run.seconds(0.0, 2.0) == pytest.approx(2 * (0.9 + 2.0) + 5.0)
    assert run._replace(waves=1.0, requests=10.0).mean == pytest.approx(0.45 + 5.0)


def test_requests_that_start_without_a_lasting_place_wait_for_prompts_alone() -> None:
    """Four of the ten of `BURST` without a place start with the first ten: 13 wait 0.1 to 1.3 s, six others 2 to 5 s:
    sixteen ends at 0.5 s, less 3 s."""
    run = BURST._replace(started=4.0)
    assert run.mean == pytest.approx(0.13 * 0.7 + 0.06 * 3.5 + 0.8 * 3.0)
    assert run.mean < BURST.mean
    assert run._replace(started=100.0).last == pytest.approx(1.9)  # all twenty start


def test_prompts_are_left_on_fewer_of_more_engines() -> None:
    """All of seven have prompts for 11/15 cubed of the requests; of 10^4 none, so that each meets the share of all."""
    found = [LEFT._replace(engines=float(number)).mean(31) for number in (1, 2, 7, 10_000)]
    assert found == sorted(found, reverse=True)
    busy = (11 / 15) ** 3
    left = 3 * (busy * (4 + 5.5 / 7) - 0.2 * (5.5 / 7 * busy * 15 / 11 + 2))
    first = 31 * (busy - 0.2)
    assert found[2] == pytest.approx(0.2 + 1 / (1 / left + 1 / first) / 31)
    assert found[-1] == pytest.approx(0.2)


@thorough
def test_the_mean_wait_of_arrivals_is_that_of_each_of_them() -> None:
    """Over arrivals in all orders of places taken and of prompts behind: `mean` sums them in closed form."""
    draw = Random(1)
    for _ in range(40):
        rate, places = draw.uniform(1, 20), draw.uniform(2, 50)
        run = OpenRun(
            *(draw.uniform(1, 200), rate, places, draw.uniform(0, 3) / rate, draw.random()),
            *(draw.uniform(0, 3) / rate, draw.uniform(0, places / rate)),
        )
        numbers = [(at + 0.5) / 2000 * run.requests for at in range(2000)]
        waits = [wait_in_growing_queue(run.queue_wait(number), run.varied) for number in numbers]
        assert run.mean == pytest.approx(sum(waits) / 2000, rel=2e-3)


FIGURES: list[tuple[Callable[[], object], object]] = [
    (lambda: quantiles.normal_quantile(ONE_SIGMA), 1.0),
    (lambda: quantiles.normal_quantile(1 - ONE_SIGMA), -1.0),
    # Poisson of mean 3: e^-3 = 0.0498, with 3 e^-3 0.199, with 4.5 e^-3 0.423, with 4.5 e^-3 0.647, then 0.815
    (lambda: [quantiles.poisson_quantile(3.0, share) for share in (0.04, 0.06, 0.4, 0.5, 0.7)], [0, 1, 2, 3, 4]),
    # a sum of four events of one size: the cube root of its value over 4 has the mean 35/36 and the variance 1/36
    (lambda: quantiles.compound_share(4 * (35 / 36) ** 3, 4.0, 1.0), 0.5),
    (lambda: quantiles.compound_share(4 * (41 / 36) ** 3, 4.0, 1.0), ONE_SIGMA),
    (lambda: quantiles.compound_share(2 * (8 / 9 - 1 / 3) ** 3, 2.0, 2.0), 1 - ONE_SIGMA),
    (lambda: quantiles.compound_share(-0.1, 2.0, 2.0), 0.0),
    (lambda: [quantiles.beta_share(at, 2.0, 2.0) for at in (0.25, 0.75)], [0.15625, 0.84375]),  # 3 x^2 - 2 x^3
    (lambda: [quantiles.beta_share(at, 0.5, 0.5) for at in (0.25, 0.75)], [1 / 3, 2 / 3]),  # 2 / pi asin of the root
    (lambda: [quantiles.beta_share(0.5, 1e-200, 3e-200), quantiles.beta_share(0.5, 1e-8, 3e-8)], [0.75, 0.75]),
    (lambda: [quantiles.beta_share(at, 300.0, 1.0) for at in (0.0, 0.99, 1.0)], [0.0, 0.99**300, 1.0]),
    (lambda: LEFT.mean(31.0), 0.2 + 1 / (1 / 16.4 + 1 / LEFT_FIRST) / 31),
    (lambda: LEFT._replace(spread=1.0).mean(31.0), 0.2 + 1 / (1 / 24 + 1 / LEFT_FIRST) / 31),
    (lambda: LEFT._replace(bunching=1.0).mean(31.0), 0.2 + 1 / (1 / 25.2 + 1 / LEFT_FIRST) / 31),
    (lambda: LEFT._replace(gained=2.0).mean(62.0) - LEFT.mean(31.0), 0.0),
    (lambda: [round(UNIFORM.prompt_share_at(share, [(101.0, 1.0)]), 4) for share in (0.1, 0.5, 0.9)], [0.1, 0.5, 0.9]),
    # half of the requests have 100 steps, the others 200: parameters 2 and 2, 3 x^2 - 2 x^3
    (lambda: round(UNIFORM.prompt_share_at((0.25 + 0.15625) / 2, [(101.0, 0.5), (201.0, 0.5)]), 4), 0.25),
    # the same of the two fifths of the requests that have more than one token
    (lambda: round(UNIFORM.prompt_share_at((0.25 + 0.15625) / 2, [(101.0, 0.2), (201.0, 0.2)]), 4), 0.25),
    # of 24 parts the first has 1 - (23/24)² and the last (1/24)² of the requests
    (lambda: [part for _, part in quantiles.lengths_in_parts(EVEN)][:: quantiles.PARTS - 1], [47 / 576, 1 / 576]),
    (lambda: [length for length, _ in quantiles.lengths_in_parts(EVEN)], [100.0] * 24),
    (lambda: max(each for each, _ in quantiles.lengths_in_parts(Lengths(100, 400, 300))), 300.0),
    (lambda: min(each for each, _ in quantiles.lengths_in_parts(Lengths(2, 20, None))), 1.0),
    # half of the requests wait one median more than a quarter: 10 s, then 2 s × ln 2 for each halving of those above
    (lambda: [quantiles.quantile_of_sums([(10.0, 1.0)], 2.0, 1 - 0.5**n) for n in (1, 2, 3)],
     [10.0, 10 + 2 * LN2, 10 + 4 * LN2]),
    (lambda: [quantiles.quantile_of_sums([(3.0, 0.3), (1.0, 0.5), (9.0, 0.2)], 0.0, at) for at in (0.4, 0.5, 0.6, 0.9)],
     [1.0, 1.0, 3.0, 9.0]),
    # the shares of beta variables of whole parameters are those of binomial ones
    *(
        (
            partial(quantiles.beta_share, at, first, second),
            sum(comb(first + second - 1, hit) * at**hit * (1 - at) ** (first + second - 1 - hit)
                for hit in range(first, first + second)),
        )
        for first, second in ((1, 5), (3, 4), (12, 2), (30, 40)) for at in (0.05, 0.3, 0.45, 0.9)
    ),
    (lambda: [quantiles.beta_share(at, 0.0, 1.0) for at in (-0.1, 0.0, 0.5, 1.0)], [0.0, 0.0, 1.0, 1.0]),
    # one time of 5 s with a wait of 2 s at the median
    (lambda: [quantiles.quantile_of_sums([(5.0, 1.0)], 2.0, share) for share in (0.25, 0.5, 0.75)],
     [5 + 2 * log(0.5 / 0.75), 5.0, 5 + 2 * LN2]),
    (lambda: [quantiles.quantile_of_sums([(1.0, 0.3), (4.0, 0.7)], 0.0, share) for share in (0.2, 0.4)], [1.0, 4.0]),
    (lambda: [largest_satisfying(partial(add, -zero), 8.0) for zero in (0.9, 1.0, 2.75, 7.5, 9.0)],
     [0.0, 1.0, 2.75, 7.5, 8.0]),
    (lambda: quantiles.smallest_reaching(lambda value: value / 10, 0.5, 0.0, 1.0), 5.0),
    (lambda: quantiles.smallest_reaching(lambda value: value / 10, 0.5, 2.0, 2.0), 5.0),
    (lambda: BURST.starting, ((0.01, 0.0, 0.0), (0.09, 0.1, 0.9), (0.1, 2.0, 7.0))),
    # four prompts end with each step after the first, which is that of one prompt of each of three ranks; 2 s late
    # alike: five of each ten end 0.1 s apart, one set of ten every 5 s
    (lambda: BURST._replace(alike=True).starting, ((0.01, 0.0, 0.0), (0.09, 0.1, 0.9), (0.1, 5.0, 5.9))),
    (lambda: BURST._replace(alike=True, concurrency=25.0).starting[2:], ((0.1, 5.0, 5.9), (0.05, 10.0, 10.4))),
    (lambda: BURST._replace(alike=True, concurrency=25.0).last, 10.4),
    (lambda: BURST._replace(together=4.0).starting[1], (0.09, 0.4, 0.9)),
    (lambda: BURST._replace(together=40.0, lanes=3.0).starting[:2], ((0.03, 0.0, 0.0), (0.07, 0.7, 0.7))),
    (lambda: BURST._replace(lanes=30.0).starting[:2], ((0.1, 0.0, 0.0), (0.0, 0.0, 0.0))),
    (lambda: BURST._replace(cold=2.0).starting, ((0.01, 2.0, 2.0), (0.09, 2.1, 2.9), (0.1, 4.0, 9.0))),
    (lambda: BURST._replace(cold=2.0).mean - BURST.mean, 0.2 * 2),
    (lambda: BURST.mean, 0.1 * 0.45 + 0.1 * 4.5 + 0.8 * 3.0),
    (lambda: (BURST.last, WAVE.last), (7.0, 0.9)),
    (lambda: [BURST.wait_at(share) for share in (0.01, 0.055, 0.1, 0.12, 0.5, 0.96, 1.0)],
     [0.0, 0.5, 0.9, 3.0, 3.0, 5.0, 7.0]),
    (lambda: BURST.seconds(4.0, 6.0), 80 / 20 * 4 + 7 + 6),
    (lambda: WAVE.wait_at(0.1 + 0.9 * 0.75), 2.0),  # no longer than on average
    (lambda: MANY.wait_at(0.75), 0.2 * (1 - LN2) + 0.2 * log(4)),
    (lambda: MANY._replace(places=10.0).wait_at(0.999), 0.9),  # nine other prompts run
    (lambda: WAVE._replace(service=0.0, varied=0.0).wait_at(0.5), 0.0),
    (lambda: [ARRIVING.wait_at(share) for share in (0.25, 0.5)],
     [0.5 * (1 - LN2 - log(0.75)), 3.75 + sqrt(3.75**2 + 0.5**2)]),
    (lambda: ARRIVING.wait_at(1.0), 8.75 + hypot(8.75, 0.5 * (1 - LN2 + 6 * log(10)))),
    # a place is free again 10 s after it was taken: those of the second 50 wait 5 s, of the third 10 s
    (lambda: [ARRIVING._replace(alike=True).queue_wait(at) for at in (50.0, 50.5, 100.0, 100.5, 150.0, 200.0)],
     [0.0, 5.0, 5.0, 10.0, 10.0, 15.0]),
    (lambda: (ARRIVING.last, ARRIVING.queue_wait(50.0), ARRIVING.queue_wait(51.0)), (17.5, 0.0, 2.6)),
    (lambda: (ARRIVING._replace(turn=0.05).mean, ARRIVING._replace(requests=40.0).mean), (0.5, 0.5)),
    (lambda: ARRIVING.seconds(10.0), 199 / 10 + 17.5 + 10),
    # an expert has the tokens of its count, and each token once at most; the others share what is left
    (lambda: token_shares(ExpertLoad(counts=(4.0, 1.0, 1.0)), 3, 1), (2 / 3, 1 / 6, 1 / 6)),
    (lambda: token_shares(ExpertLoad(counts=(2.0, 1.0, 1.0)), 3, 2), (1.0, 0.5, 0.5)),
    (lambda: token_shares(ExpertLoad(counts=(0.0, 0.0)), 2, 1), (0.0, 0.0)),
    (lambda: token_shares(ExpertLoad(alpha=1.0), 3, 1), (6 / 11, 3 / 11, 2 / 11)),
    # three experts on two ranks lie two and one; a ratio has a rank's share of all as its limit
    (lambda: placed_experts(ExpertLoad(counts=(3.0, 2.0, 1.0)), 3, 1, 2, 0).fullest, 5 / 3),
    (lambda: placed_experts(ExpertLoad(counts=(0.0, 0.0)), 2, 1, 2, 0).fullest, 1.0),
    (lambda: sorted(placed_experts(ExpertLoad(ratio=9.0), 4, 3, 2, 1).slots), [0.375, 0.375, 0.75, 0.75, 0.75]),
    (lambda: placed_experts(ExpertLoad(ratio=9.0), 4, 3, 2, 1).fullest, 2.0),
    (lambda: slots_hit((1.0, 1.5, 0.5, 0.0), 3), 2 + 7 / 8),
]  # fmt: skip


def flat(found: object) -> list[float]:
    """The numbers of a value or of nested tuples and lists."""
    return [each for one in found for each in flat(one)] if isinstance(found, list | tuple) else [float(str(found))]


@each("at", range(len(FIGURES)))
def test_quantiles_runs_and_shares_are_those_worked_out_by_hand(at: int) -> None:
    found, wanted = FIGURES[at]
    assert flat(found()) == pytest.approx(flat(wanted), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("power", [1, 3, 7])
def test_a_bisection_ends_with_the_interval_of_one_that_tries_every_middle(power: int) -> None:
    draw = Random(power)
    for rounds in (1, 5, 20):
        zero, high = draw.uniform(0.1, 3.0), 4.0

        def excess(value: float, zero: float = zero) -> float:
            return value**power - zero**power

        start, end = 0.0, high
        for _ in range(rounds):
            middle = (start + end) / 2
            start, end = (middle, end) if excess(middle) <= 0 else (start, middle)
        found = quantiles.bisected_interval(excess, (0.0, excess(0.0)), (high, excess(high)), rounds)
        assert found == (start, end)


FOUND, LOAD = plan("concurrency: 32")
OPEN = plan("request_rate: 1, load: open")[1]
STEP = StepTime.of((Part("step", lambda x: x, {"x": 0.02}, {}),))


def gaps(load: Serving, chunks: float = 1.0, **state: object) -> tuple[ServingTimes, Serving]:
    """A decode step takes 20 ms, a prompt lengthens one by 100 ms; 50 sequences of 501 tokens."""
    whole = StepTime.of((Part("step", lambda x: x, {"x": 0.5 / chunks}, {}),), chunks)
    given = {"decode": STEP, "prefill": whole, "carried": 0.1, "sequences": 50.0, "tokens_per_step": 1.0} | state
    found = replace(FOUND, state=FOUND.state._replace(**given), output_tokens=501.0)  # type: ignore[arg-type]
    return found, replace(load, output_tokens=501, chunk_tokens=None)


SHORT = replace(LOAD, input_tokens=1000)
"""Prompts of 1,000 tokens; a step has the tokens of as many as ``chunk_tokens`` hold."""


def test_a_gap_is_a_step_and_the_prompts_that_begin_in_it() -> None:
    """50 / 500 prompts a step: none in e^-0.1 = 90.5 %, one at most in 99.5 %, two at most in 99.98 %."""
    found, load = gaps(SHORT)
    many = replace(load, chunk_tokens=8192)
    for share, prompts in ((0.90, 0), (0.91, 1), (0.995, 1), (0.996, 2)):
        assert single_gap(found, many, share) == pytest.approx(0.02 + 0.1 * prompts)
        assert single_gap(found, replace(load, chunk_tokens=1999), share) == pytest.approx(0.02 + 0.1 * min(1, prompts))
    # of two pipeline stages each takes half; two ranks whose steps wait for each other have twice the prompts of half
    assert single_gap(replace(found, stages=(1, 2)), many, 0.95) == pytest.approx(0.02 + 0.1 / 2)
    assert single_gap(replace(found, coupled_ranks=2), many, 0.95) == pytest.approx(0.02 + 0.1 / 2)
    assert single_gap(replace(found, coupled_ranks=2), many, 0.985) == pytest.approx(0.02 + 2 * 0.1 / 2)
    # drafts end requests in half as many steps
    drafted, _ = gaps(SHORT, tokens_per_step=2.0)
    assert single_gap(drafted, many, 0.85) == pytest.approx(0.02 + 0.1)
    # requests of an open load in bursts meet the prompts of 70 sequences, 0.14 a step: none in e^-0.14 = 86.9 %
    bursts, _ = gaps(SHORT, delaying=70.0)
    assert single_gap(bursts, many, 0.88) == pytest.approx(0.02)
    bursts = replace(bursts, shares=PromptShares(0.1, 6.0, 1.0, 0.0, 3.0, 1.0))
    for share, prompts in ((0.86, 0), (0.88, 1)):
        assert single_gap(bursts, many, share) == pytest.approx(0.02 + 0.1 * prompts)
    # a prompt of 0.5 s in five chunks runs in half of the steps, each longer by 0.1 - 0.02 s
    chunked, load = gaps(SHORT, chunks=5.0)
    assert [single_gap(chunked, load, share) for share in (0.49, 0.51)] == pytest.approx([0.02, 0.1])
    assert single_gap(replace(chunked, prompts_alone=True), load, 0.95) == pytest.approx(0.12)
    # the first gap of 500 has the transfer of the cache
    joined = replace(found, joining=0.3)
    assert [single_gap(joined, many, share) for share in (0.9, 0.999)] == pytest.approx([0.02, 0.32])
    for none in (replace(many, load="static"), replace(many, load="open")):
        assert (single_gap(found, none, 0.95) == 0.02) is (none.load == "static")
    assert single_gap(gaps(SHORT, carried=0.0)[0], many, 0.999) == 0.02


def test_the_mean_gap_of_an_open_load_differs_by_the_prompts_during_an_output() -> None:
    """50 prompts of 0.1 s begin in the 500 gaps of a request, 10 ms a gap: ± 1 / 3 / sqrt(50) in the cube root."""
    found, load = gaps(replace(OPEN, input_tokens=1000))
    found = replace(found, tpot=0.03, tpot_mean=0.03)
    ninth = 1 / (9 * 50)
    prompts = 50 * (1 - ninth + sqrt(ninth)) ** 3
    assert latency_at(found, load, "tpot", 100 * ONE_SIGMA) == pytest.approx(0.02 + prompts * 0.1 / 500, rel=1e-6)
    two = replace(found, stages=(1, 2))
    assert latency_at(two, load, "tpot", 100 * ONE_SIGMA) == pytest.approx(0.025 + prompts * 0.05 / 500, rel=1e-6)
    assert latency_at(found, gaps(SHORT)[1], "tpot", 95) == 0.03, "equal requests of a loop share their steps"


def test_waits_of_a_loop_differ_by_the_root_of_the_sequences_and_those_of_an_open_load_by_their_mean() -> None:
    """ln(0.5 / 0.05) = ln 10 medians above the median at the 95th percentile, where the distribution is not known."""
    found, load = gaps(SHORT, wait=2.0, prompt=0.1, sequences=25.0)
    found = replace(found, ttft=3.0, wait=2.0, queued=0.2, burst=(0.0, 0.0), state=found.state._replace(tail=None))
    for wait, queued, tail in ((2.0, 0.2, 0.5), (2.0, 1.9, 0.1), (0.3, 0.2, 0.1)):
        at = replace(found, wait=wait, queued=queued)
        assert latency_at(at, load, "ttft", 95) == pytest.approx(3 + tail * log(10)), (wait, queued)
    assert latency_at(gaps(SHORT, sequences=0.5, prompt=0.1)[0], load, "ttft", 50) == FOUND.ttft
    few, _ = gaps(SHORT, sequences=0.25, prompt=0.1)
    few = replace(few, ttft=3.0, wait=2.0, queued=0.0, burst=(0.0, 0.0), state=few.state._replace(tail=None))
    assert latency_at(few, load, "ttft", 95) == pytest.approx(3 + 0.1 * log(10)), "at least one"
    # the median wait of an open load is 0.5 s shorter than its mean, which has the tail from the 90th percentile on
    opened = replace(found, burst=(-0.5, 0.0))
    open_load = replace(load, load="open", concurrency=None, request_rate=1.0)
    assert latency_at(opened, open_load, "ttft", 95) == pytest.approx(3 + 0.5 + 2 * log(10))
    half = 1 - log(0.5 / 0.3) / log(0.5 / 0.1)
    assert latency_at(opened, open_load, "ttft", 70) == pytest.approx(3 + 0.5 + 2 * log(0.5 / 0.3) - 0.5 * half)


def test_prompts_of_varied_lengths_take_times_in_proportion() -> None:
    """Nobody waits: the time to first token at a percentile is that of the prompt, whose lengths are log-normal."""
    lengths = Lengths(mean=1000, p99=4000, most=None)
    found, load = gaps(SHORT, prompt=0.4, wait=0.0)
    found = replace(found, ttft=1.0, wait=0.0, burst=(0.0, 0.0), typical_prompt=lengths.median_over_mean)
    found = replace(found, state=found.state._replace(tail=WaitTail(0.0, 0.0, 0.0, 0.0)))
    varied = replace(load, input_lengths=lengths)
    longest = max(length for length, _ in quantiles.lengths_in_parts(lengths)) / 1000
    assert latency_at(found, varied, "ttft", 99.9) == pytest.approx(1 + 0.4 * (longest - lengths.median_over_mean))
    assert latency_at(found, varied, "ttft", 51) == pytest.approx(1.0, abs=0.03)
    # ... and the outputs as well: 1 s and as many gaps of 20 ms as the longest output has
    outputs = replace(load, output_lengths=Lengths(mean=501, p99=501, most=None))
    assert latency_at(replace(found, tpot=0.02), outputs, "end_to_end", 99) == pytest.approx(1 + 500 * 0.02)
    assert latency_at(replace(found, tpot=0.02), load, "end_to_end", 99) == pytest.approx(1 + 500 * 0.02)


@pytest.mark.parametrize(("percentile", "part"), [(50.0, 0.0), (100 - 50 / sqrt(50), 0.5), (99.0, 1.0), (99.9, 1.0)])
def test_the_ends_of_a_range_move_by_the_tail_of_the_waits(percentile: float, part: float) -> None:
    """50 / sqrt(50) percent of the requests take longer where the tail is half of that of the 99th percentile."""
    found = replace(FOUND, offered=32.0)
    for quantity in ("ttft", "tpot"):
        (low, high), (least, most) = RANGES[quantity], TAILS[quantity]
        wanted = low ** (1 - part) * least**part, high ** (1 - part) * most**part
        ends = latency_factors(found, quantity, percentile)
        assert ends == pytest.approx((min(low, wanted[0]), max(high, wanted[1])))  # no narrower than at the median
    first, whole = (latency_at(found, LOAD, each, percentile) for each in ("ttft", "end_to_end"))
    (low, high), (least, most) = (latency_factors(found, each, percentile) for each in ("ttft", "tpot"))
    assert latency_range(found, LOAD, "end_to_end", percentile) == pytest.approx(
        (first * low + (whole - first) * least, first * high + (whole - first) * most)
    )
    assert latency_range(found, LOAD, "itl", percentile) == pytest.approx(
        tuple(single_gap(found, LOAD, percentile / 100) * end for end in (least, most))
    )


def test_the_steps_without_prompts_are_those_of_a_poisson_count() -> None:
    """Of prompts of varied lengths: e^-0.1 of the steps have none."""
    found, load = gaps(SHORT)
    varied = replace(load, input_lengths=Lengths(mean=1000, p99=4000, most=None), chunk_tokens=64000)
    assert single_gap(found, varied, exp(-0.1) - 1e-6) == pytest.approx(0.02)
    assert single_gap(found, varied, exp(-0.1) + 1e-3) > 0.021


@thorough
def test_long_outputs_are_met_more_often_than_short_ones() -> None:
    """Mean 2,000 and p99 10,000: ln 5 = 2.326 s - s²/2 gives s = 0.8454, so their mean square over their mean is
    2,000 e^0.7147 = 4,087.
    """
    lengths = Lengths(mean=2000, p99=10000, most=None)
    assert quantiles.length_in_progress(lengths) == pytest.approx(4087, rel=1e-3)
    assert quantiles.length_in_progress(EVEN) == 100
    draw, cut = Random(3), 6000
    for most in (None, cut):
        found = [min(draw.lognormvariate(log(2000) - 0.8454**2 / 2, 0.8454), most or 1e9) for _ in range(200_000)]
        met = sum(each * each for each in found) / sum(found)
        assert quantiles.length_in_progress(Lengths(2000, 10000, most)) == pytest.approx(met, rel=0.02)
    load = replace(LOAD, output_tokens=2000, output_lengths=lengths)
    assert quantiles.decoded_tokens(load) == pytest.approx(4087 / 2, rel=1e-3)
    assert quantiles.decoded_tokens(replace(load, output_lengths=None)) == 1000
    assert quantiles.decoded_tokens(replace(load, load="static")) == 1000  # all start and stop together


def simulated_work(lengths: Lengths, prompts: float, steps: int) -> list[float]:
    """The work of the prompts of each step, sorted: a Poisson count of log-normal lengths, over their mean."""
    draw, found = Random(7), []
    for _ in range(steps):
        work, passed = 0.0, draw.expovariate(1.0)
        while passed < prompts:
            work += draw.lognormvariate(-(lengths.log_deviation**2) / 2, lengths.log_deviation)
            passed += draw.expovariate(1.0)
        found.append(work)
    return sorted(found)


@telling(1)
@pytest.mark.parametrize("prompts", [0.05, 0.5, 2.0, 6.0])
def test_the_work_of_prompts_in_a_step_is_that_of_simulated_steps(prompts: float) -> None:
    """Also around two prompts per step, where steps with several have more of them than all steps on average."""
    lengths = Lengths(mean=1000, p99=3000, most=None)
    load = replace(gaps(SHORT)[1], input_tokens=1000, input_lengths=lengths)
    drawn = simulated_work(lengths, prompts, 20_000)
    for share in (0.5, 0.9, 0.97, 0.99):
        told = prompts_in_step(load, prompts, share)
        assert told == pytest.approx(drawn[int(share * len(drawn))], rel=0.05), share


def test_equal_prompts_in_a_step_are_as_many_as_a_poisson_count() -> None:
    """Steps with several of 0.01 prompts on average have two, less often three: 2.0033 on average."""
    assert _several_prompts(0.01, 1.0)[0] == pytest.approx(2 + 0.01 / 3, abs=1e-4)
    # 2 on average: 0.594 of the steps have several, with (2 - 0.271) / 0.594 = 2.911, and squares of 5.729 / 0.594
    mean, spread = _several_prompts(2.0, 1.0)
    several = 1 - 3 * exp(-2)
    assert mean == pytest.approx((2 - 2 * exp(-2)) / several)
    assert spread * mean == pytest.approx((2 + 4 - 2 * exp(-2)) / several - mean**2)


def test_a_full_plan_produces_no_less_at_a_higher_rate() -> None:
    """Requests that wait for a place keep none: they lengthen the wait, and not the time in places. Above the capacity
    the latencies are those of full engines.
    """
    times = [plan(f"request_rate: {rate}, max_sequences: 64")[0] for rate in (1, 2, 3, 4, 5, 6, 8, 12, 24)]
    rates = [each.output_tokens_per_second for each in times]
    assert all(after > 0.98 * before for before, after in pairwise(rates)), rates
    assert all(after.ttft > before.ttft for before, after in pairwise(times) if not after.queue_grows)
    assert all(after.ttft >= before.ttft for before, after in pairwise(times))
    assert rates[-1] < 24 * 500, "the last rate is above what the plan can serve"


def test_clusters_of_one_are_a_poisson_count_and_larger_ones_are_rarer_and_longer() -> None:
    """Half of the clusters of two on average have one event: none with e^-0.05, one with 0.025 · e^-0.05."""
    for mean in (0.005, 0.02, 2.0, 30.0):
        for share in (0.5, 0.9, 0.99):
            assert clustered_quantile(mean, 1.0, share) == poisson_quantile(mean, share)
    none, one = exp(-0.05), 0.025 * exp(-0.05)
    two = (0.05 * 0.25 + 0.025**2 / 2) * exp(-0.05)
    found = [clustered_quantile(0.1, 2.0, at) for at in (none - 1e-6, none + 1e-6, none + one + 1e-6)]
    assert found == [0, 1, 2]
    assert clustered_quantile(0.1, 2.0, none + one + two + 1e-6) == 3
    assert poisson_quantile(0.1, none - 1e-6) == 1, "at random more steps have an event"


def test_a_gamma_variable_of_shape_a_half_is_half_a_squared_normal_one() -> None:
    for value in (0.01, 0.25, 1.0, 4.0):
        assert gamma_share(value, 0.5) == pytest.approx(erf(sqrt(value)))
        assert gamma_share(value, 1.0) == pytest.approx(1 - exp(-value))
    assert gamma_share(0.0, 0.5) == 0.0


def test_prompts_of_bursts_follow_each_other_within_a_step() -> None:
    """At a variation of 2 one rank has times between prompts of shape 1/4, four ranks of shape 1, which is random."""
    times, load = plan("request_rate: 5, arrivals: {process: gamma, cv: 2}")
    own = times.sequences / (load.gaps * times.state.tpot)
    shape = 5 / own / 4
    wanted = exp(-own * 0.1) / (1 - gamma_share(shape * own * 0.1, shape))
    assert prompt_burst_factor(times, load, 0.1) == pytest.approx(max(1.0, wanted))
    for changes in ({"arrival_cv": 1.0}, {"arrival_cv": 0.5}, {"load": "closed"}):
        assert prompt_burst_factor(times, replace(load, **changes), 0.1) == 1.0
    more = [prompt_burst_factor(times, replace(load, arrival_cv=cv), 0.1) for cv in (1.0, 2.0, 4.0, 8.0)]
    assert more == sorted(more) and more[-1] > 2
