"""Figures that follow from the times of a serving plan, and the ends of their ranges, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.measured_shares import MeasuredShare
from clusterspec.cost.estimate import estimate
from clusterspec.cost.serving import loads
from clusterspec.cost.serving.constants import LOSSES, RANGES
from clusterspec.cost.serving.latency import (
    Highest,
    ServingTimes,
    Stretched,
    loss_factors,
    range_factors,
    serving_range,
)
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.runs import FiniteRun
from clusterspec.cost.serving.state import Steady
from clusterspec.cost.serving.steady import decoding_seconds
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.source import Written
from tests.cluster.resolving import clean
from tests.cost.serving.test_steady import APART, CLOSED, OPEN, STEADY
from tests.effort import each

PLAN = """
cluster: {{platform: dgx-h100, nodes: 1}}
workload: {{kind: serve, model: {model}, serving: {{input_tokens: 1000, output_tokens: 200, {load}}}}}
layout: {{framework: {framework}, tp: 8}}
"""


def plan(load: str = "concurrency: 16", model: str = "llama-3.1-70b", framework: str = "vllm") -> ServingTimes:
    found = estimate(clean(PLAN.format(load=load, model=model, framework=framework))).serving
    assert found is not None
    return found


OWN = Figure(1.0, "1", Written("measured[0]"))
TIMES, ROUTED = plan(), plan(model="qwen3-30b-a3b")
GIVEN = replace(
    TIMES,
    state=STEADY,
    ttft=2.0,
    wait=0.4,
    burst=(-0.1, 0.3),
    typical_prompt=0.75,
    output_tokens_per_second=1200.0,
    accelerators=16.0,
    request_latency=6.0,
    prompt_load=0.5,
    prompt_service=0.05,
    kv_capacity_sequences=41.9,
)
"""A state of 8 sequences, of which 6 are in the time of a token, with prompts of 0.3 s each."""


def test_rates_and_shares_are_those_worked_out_by_hand() -> None:
    assert GIVEN.per_accelerator == 75.0
    assert GIVEN.queue_share == pytest.approx(0.15)
    assert replace(GIVEN, ttft=0.0).queue_share == 0.0
    assert GIVEN.places == 41 and replace(GIVEN, kv_capacity_sequences=42 * (1 - 1e-13)).places == 42
    assert replace(GIVEN, kv_capacity_sequences=42 * (1 - 1e-11)).places == 41
    assert (GIVEN.sequences, GIVEN.decode.total, GIVEN.prefill.total) == (8.0, 0.02, 0.1)
    assert GIVEN.prefill_busy == pytest.approx(0.5 * 0.05 / GIVEN.state.service)
    assert replace(GIVEN, state=STEADY._replace(service=0.0)).prefill_busy == 0.0
    together = replace(GIVEN, starts_together=True)
    assert together.prefill_share == pytest.approx(GIVEN.prompt_time / 6) and GIVEN.prefill_share == STEADY.share


def test_the_first_token_of_a_mean_prompt_is_later_by_what_the_median_lacks() -> None:
    """A quarter of a prompt, and in a steady state 0.1 s of the wait."""
    assert GIVEN.ttft_of_mean_prompt == pytest.approx(2.0 + 0.25 * GIVEN.prompt_time + 0.1)
    of_run = replace(GIVEN, run=FiniteRun(8, 8, 8, 0.1, 0.1, 0.0, 0.0, 0.0))
    assert of_run.median_gap == 0.0
    assert of_run.ttft_of_mean_prompt == pytest.approx(2.0 + 0.25 * GIVEN.prompt_time)


@each(
    ("highest", "whole"),
    [(47.99, 47), (48.0, 48), (48 * (1 - 1e-13), 48), (48 * (1 - 1e-11), 47), (None, None)],
)
def test_the_highest_concurrency_is_found_once_and_told_in_whole_requests(
    highest: float | None, whole: int | None
) -> None:
    asked: list[Pools] = []

    def search(pools: Pools) -> float | None:
        asked.append(pools)
        return highest

    found = replace(GIVEN, highest=Highest(search, CLOSED))
    assert asked == []
    assert [found.most_in_flight, found.max_concurrency] == [whole, highest] and asked == [CLOSED]
    assert replace(GIVEN, highest=None).max_concurrency is None


@each(("offered", "regime"), [(1.0, "alone"), (0.5, "alone"), (1.01, "")])
def test_one_request_in_flight_is_alone(offered: float, regime: str) -> None:
    assert replace(TIMES, offered=offered).regime == regime
    assert replace(TIMES, offered=offered, starts_together=True).regime == (regime or "static")


@each(
    ("changes", "name", "kind"),
    [
        ({}, "tpot", "tpot"),
        ({}, "tpot_mean", "tpot"),
        ({}, "ttft", "ttft"),
        ({"offered": 1.0}, "ttft_mean", "ttft alone"),
        ({"starts_together": True}, "ttft", "ttft static"),
        ({"early": True}, "tpot", "tpot early"),
        ({}, "output_tokens_per_second", "output_tokens_per_second"),
        ({"early": True}, "output_tokens_per_second", "output_tokens_per_second early"),
        (
            {"always_full": True, "own_kernels": True},
            "output_tokens_per_second",
            "output_tokens_per_second offline",
        ),
        ({"always_full": True, "own_kernels": False}, "output_tokens_per_second", "output_tokens_per_second"),
        ({"starts_together": True, "own_kernels": True}, "output_tokens_per_second", "output_tokens_per_second"),
    ],
)
def test_a_figure_has_the_range_of_its_kind(changes: dict[str, Any], name: str, kind: str) -> None:
    times = replace(TIMES, **{"own_kernels": False, **changes})
    assert range_factors(times, name) == RANGES[kind]
    value, (low, high) = getattr(times, name), RANGES[kind]
    assert serving_range(times, name) == [value * low, value * high]


def test_experts_have_ranges_of_their_own() -> None:
    assert range_factors(ROUTED, "tpot") == RANGES["tpot experts recent"] != RANGES["tpot"]
    before = plan(model="qwen3-30b-a3b", framework="vllm, software_year: 2025")
    assert range_factors(before, "tpot") == RANGES["tpot experts"]
    assert (ROUTED.recent, before.recent, before.early) == (True, False, False)
    unknown = plan(model="qwen3-30b-a3b", framework="custom")
    assert range_factors(unknown, "tpot") == RANGES["tpot experts"], "no entry says of which year it is"
    assert range_factors(ROUTED, "ttft") == RANGES["ttft experts recent"]
    assert range_factors(before, "ttft") == RANGES["ttft experts"]
    assert (loss_factors(TIMES), loss_factors(ROUTED)) == (LOSSES[""], LOSSES["experts"])


@each(
    ("tp", "year", "kind"),
    [(8, 2025, "tpot"), (16, 2025, "tpot unmeasured"), (16, 2024, "tpot early"), (16, 2026, "tpot")],
)
def test_a_token_of_an_engine_over_several_domains_is_less_certain(tp: int, year: int, kind: str) -> None:
    text = PLAN.format(load="concurrency: 16", model="llama-3.1-70b", framework=f"vllm, software_year: {year}")
    text = text.replace("nodes: 1", "nodes: 2").replace("tp: 8", f"tp: {tp}")
    found = estimate(clean(text)).serving
    assert found is not None and found.own_kernels and found.one_domain == (tp <= 8)
    assert range_factors(found, "tpot") == RANGES[kind]
    elsewhere = replace(found, own_kernels=False, one_domain=True)
    assert range_factors(elsewhere, "tpot") == RANGES["tpot unmeasured" if year == 2025 else kind]


@each(("seconds", "spread", "measured"), [(1.0, 0.25, True), (1.5, 0.25, False)])
def test_the_time_per_token_that_was_measured_is_as_certain_as_its_measurement(
    seconds: float, spread: float, measured: bool
) -> None:
    share = MeasuredShare(*("", "kernels", "kernels", 0), OWN, TIMES.tpot_mean * seconds, spread)
    times = replace(TIMES, measured=share)
    for name in ("tpot", "tpot_mean"):
        assert range_factors(times, name) == ((0.8, 1.25) if measured else RANGES["tpot"])
    assert range_factors(times, "ttft") == RANGES["ttft"]


def test_an_open_load_has_the_ends_of_plans_whose_times_all_differ() -> None:
    """All times longer by a factor f of steps: the plan at a rate higher by f, whose first token takes f times as long
    here, times f. The range is never narrower than that of the first token.
    """
    asked: list[float] = []

    def at(pools: Pools, factor: float) -> ServingTimes:
        assert pools is OPEN
        asked.append(factor)
        return replace(GIVEN, ttft=2.0 * factor, state=STEADY._replace(rate=99.0))

    found = replace(GIVEN, stretched=Stretched(at, OPEN), offered=4.0)
    low, high = RANGES["tpot open"]
    expected = min(RANGES["ttft"][0], low**2), max(RANGES["ttft"][1], high**2)
    assert range_factors(found, "ttft") == pytest.approx(expected)
    assert asked == [high, low], "the high end still serves the rate"
    range_factors(found, "ttft")
    assert len(asked) == 2, "each end is estimated once"
    assert range_factors(found, "output_tokens_per_second") == RANGES["output_tokens_per_second"]


@each("limit", [1.02, 1.1, 1.2])
def test_the_range_of_an_open_load_ends_where_the_plan_no_longer_serves_it(limit: float) -> None:
    """Plans slower than the upper end of the range are beyond it in any case."""

    def at(pools: Pools, factor: float) -> ServingTimes:
        taken = STEADY._replace(sequences=pools.limit * (1.0 if factor > limit else 0.5), rate=99.0)
        return replace(GIVEN, ttft=2.0 * factor**9, state=taken)

    found = replace(GIVEN, stretched=Stretched(at, OPEN), offered=4.0)
    assert found.stretched is not None
    reached = found.stretched.factor_of_limit(RANGES["tpot open"][1])
    assert reached is not None and limit / 1.005 <= reached <= limit
    low, high = range_factors(found, "ttft")
    assert low == pytest.approx(min(RANGES["ttft"][0], RANGES["tpot open"][0] ** 10))
    assert high == pytest.approx(max(RANGES["ttft"][1], reached**10))


def test_prefill_engines_whose_queue_is_full_end_the_range_of_an_open_load() -> None:
    def at(pools: Pools, factor: float) -> ServingTimes:
        return replace(GIVEN, prompt_load=min(0.98, 0.7 * factor), state=STEADY._replace(rate=99.0))

    apart = Stretched(at, APART).factor_of_limit(1.7)
    assert apart == pytest.approx(1.4, rel=0.005)
    assert Stretched(at, OPEN).factor_of_limit(1.7) is None, "one kind of engine has places"


@each("state", [STEADY._replace(sequences=OPEN.limit, rate=99.0), STEADY._replace(rate=0.5)])
def test_a_plan_that_does_not_serve_its_rate_has_the_ends_of_any(state: Steady) -> None:
    full = replace(GIVEN, state=state)
    stretched = Stretched(lambda pools, factor: full, OPEN)
    assert stretched.factor_of_limit(1.7) is None
    found = replace(GIVEN, stretched=stretched, offered=4.0)
    assert range_factors(found, "ttft")[1] == RANGES["ttft"][1]


def test_a_closed_loop_is_the_run_of_its_requests() -> None:
    """A rank's turn is its time per token × gaps over all sequences, at least what its prompts take."""
    pools = CLOSED._replace(load=replace(CLOSED.load, requests=640), limit=32.0)
    ranks = pools.decode.attention_ranks
    run = loads.finite_run(pools, STEADY, 64.0, 0.5)
    assert (run.requests, run.concurrency, run.places) == (640.0, 64.0, 32.0 * ranks)
    assert (run.queued, run.varied, run.prompt) == (0.5, STEADY.wait, STEADY.before_decode)
    assert run.service == loads._starting_service(pools, 32.0 * ranks)
    each = STEADY.carried / pools.decode.layout.pp / ranks
    assert run.turn == pytest.approx(max(STEADY.full_token * pools.load.gaps / (8 * ranks), each))
    idle = loads.finite_run(pools, STEADY._replace(rate=0.0), 64.0, 0.5)
    assert idle.turn == idle.service
    whole = loads.finite_run(pools, STEADY, 999.0, 0.0)
    assert whole.concurrency == 640.0


def test_decode_engines_complete_the_requests_that_they_hold_however_slow_their_prefill_is() -> None:
    """Of 12 requests at a time on each rank each takes gaps × the time per token with 12; more than the places wait."""
    ranks, gaps = APART.decode.attention_ranks, APART.load.gaps
    pools = APART._replace(limit=12.0)
    for requests, decoding in ((6.0, 6.0), (12.0, 12.0), (90.0, 12.0)):
        expected = decoding * ranks / (gaps * decoding_seconds(pools, decoding))
        assert loads.decoding_rate(pools, requests * ranks) == pytest.approx(expected, rel=1e-9)
    slow = pools._replace(load=replace(pools.load, input_tokens=200 * pools.load.input_tokens, output_tokens=2))
    assert loads.decoding_rate(slow, 12.0 * ranks) > 100 * loads.steady_load(slow)[1].rate, "prefill limits the plan"


def offline(requests: int | None, load: str = "offline") -> Pools:
    return CLOSED._replace(load=replace(CLOSED.load, load=load, concurrency=None, requests=requests), limit=16.0)


def test_an_offline_run_is_its_prompts_and_its_waves() -> None:
    """Of 16 at a time on each rank, 64 requests are four waves, and 72 are four and one of half as many."""
    ranks = CLOSED.decode.attention_ranks
    now = loads.steady_load(offline(64 * ranks))[1]._replace(sequences=16.0)
    prompt, gaps = now.carried / CLOSED.decode.layout.pp / ranks, CLOSED.load.gaps
    whole, half = (decoding_seconds(offline(64 * ranks), each) for each in (16.0, 8.0))
    for requests, decoding in ((64, 4 * whole), (72, 4 * whole + half), (32, 2 * whole)):
        found = loads.offline_run_seconds(offline(requests * ranks), now)
        assert found == pytest.approx(requests * ranks * prompt + gaps * decoding, rel=1e-9)
    for none in (offline(None), offline(64, "closed"), offline(0)):
        assert loads.offline_run_seconds(none, now) is None
    assert loads.offline_run_seconds(APART._replace(load=offline(64).load), now) is None
