"""Laws of load on engines with attention replicas, pipelines, token budgets and separate prefill."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest

from clusterspec.cost.estimate import estimate
from clusterspec.cost.serving import loads
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.preemption import computed_again, preemption, preemption_at_capacity
from clusterspec.cost.serving.runs import OpenRun
from clusterspec.cost.serving.times import serving_pools
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_steady import OPEN, STEADY
from tests.effort import sampled, telling

PLAN = """
cluster: {{platform: {platform}, nodes: {nodes}}}
workload:
  kind: serve
  model: {model}
  {precision}
  serving: {{input_tokens: {input}, output_tokens: {output}, {load}}}
layout: {{framework: {layout}}}
"""
REPLICAS = "sglang, tp: 1, attention_dp: 2, ep: 2"
EIGHT = "sglang, tp: 1, attention_dp: 8, ep: 8"
FP8 = "precision: fp8\n  parameter_precision: fp8"


def times(model: str, layout: str, load: str, **changes: object) -> ServingTimes:
    keys: dict[str, object] = {"platform": "dgx-h100", "nodes": 1, "precision": "", "input": 1000, "output": 200}
    found = estimate(clean(PLAN.format(model=model, layout=layout, load=load, **keys | changes))).serving
    assert found is not None
    return found


@pytest.mark.parametrize("stages", [1, 4])
@pytest.mark.parametrize("interval", [1, 30])
def test_a_rate_that_replicas_serve_with_ease_leaves_their_places_free(stages: int, interval: int) -> None:
    """Prompts of 9,260 tokens and answers of 15: at 0.2 a second, 2.8 tokens a second and a few ms of each are busy."""
    load = f"request_rate: 0.2, chunk_tokens: 16384, receive_interval: {interval}"
    layout = f"{REPLICAS}, pp: {stages}" if stages > 1 else "sglang, tp: 1, attention_dp: 8, ep: 8"
    found = times("qwen3-235b-a22b", layout, load, input=9260, output=15, precision="" if stages > 1 else FP8)
    assert found.sequences < 0.5
    assert found.tpot < 2 * found.decode.total
    assert found.output_tokens_per_second == pytest.approx(0.2 * 15, rel=0.01)


@pytest.mark.parametrize("layout", [REPLICAS, "sglang, tp: 2, ep: 2", "vllm, tp: 1, attention_dp: 2, ep: 2"])
def test_every_answer_of_full_engines_costs_its_prompt(layout: str) -> None:
    """Twice the new tokens of a prompt, with answers of equal lengths: fewer answers a second."""
    found = [
        times("gpt-oss-120b", f"{layout}, dp: 1", f"load: offline, prefix_hit: {hit}", input=8000, output=50)
        for hit in (0.8, 0.6, 0.2)
    ]
    rates = [each.output_tokens_per_second for each in found]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 1.5 * rates[1] > 2 * rates[2]
    assert all(each.carried_prefill > 0 for each in found)


def test_accepted_drafts_never_slow_full_replicas() -> None:
    load = "load: offline, prefix_hit: 0.7, chunk_tokens: 2048, speculative: {{tokens: 2, acceptance: {0}}}"
    layout = "sglang, tp: 1, attention_dp: 4, ep: 4, pp: 2"
    found = [times("gpt-oss-120b", layout, load.format(each), input=11396, output=763) for each in (0.0, 0.4, 0.6, 1.0)]
    rates = [each.output_tokens_per_second for each in found]
    assert rates == sorted(rates)


RUNS = ("requests: 200, receive_interval: 30", "requests: 200", "receive_interval: 30")


@pytest.mark.parametrize(("layout", "input_tokens"), [("sglang, tp: 1", 9000), ("sglang, tp: 1, pp: 4", 128)])
def test_requests_beyond_the_places_of_a_loop_cost_no_throughput(layout: str, input_tokens: int) -> None:
    """Prompts of short answers take most of the time; the other requests wait for a place as Little's law says."""
    plans = [
        times("llama-3.1-8b", layout, f"concurrency: {number}, max_sequences: 256", input=input_tokens, output=3)
        for number in (2048, 4096, 8192, 16384)
    ]
    for few, many in pairwise(plans):
        assert many.output_tokens_per_second >= few.output_tokens_per_second * (1 - 1e-3)
        assert many.ttft > few.ttft
    state, last = plans[-1].state, plans[-1]
    assert last.offered == pytest.approx(state.rate * last.request_latency, rel=1e-3)


@pytest.mark.parametrize("output", [4, 20, 200])
@pytest.mark.parametrize("requests", [16, 64, 256])
def test_drafts_that_are_never_accepted_are_never_faster_on_replicas(output: int, requests: int) -> None:
    """A prompt fills the 1,024 tokens of a replica in a step: the fullest one takes as many steps as it has prompts."""
    plain, drafted = (
        times(
            "qwen3-235b-a22b",
            EIGHT,
            f"concurrency: {requests}{more}",
            platform="dgx-h200",
            precision=FP8,
            output=output,
        )
        for more in ("", ", speculative: {tokens: 3, acceptance: 0}")
    )
    assert drafted.tpot >= plain.tpot
    assert drafted.output_tokens_per_second <= plain.output_tokens_per_second


@telling(2)
@pytest.mark.parametrize("more", RUNS)
@pytest.mark.parametrize("layout", ["trt-llm, tp: 2, pp: 4", "sglang, tp: 2"])
def test_more_arrivals_never_shorten_the_wait_for_reception(more: str, layout: str) -> None:
    found = [times("gemma-3-27b", layout, f"request_rate: {each}, {more}") for each in (1, 3, 6, 9.5)]
    waits = [each.ttft_mean for each in found]
    assert all(later >= sooner * (1 - 2e-3) for sooner, later in pairwise(waits))
    interval = 29 / 2 * found[-1].decode.total  # half of an interval of 30 steps, after the running one
    assert found[-1].wait > (interval / 2 if "interval" in more else 0)


@pytest.mark.parametrize("side", ["{replicas: 2, tp: 1, attention_dp: 2, ep: 2}", "{replicas: 4, tp: 1, ep: 1}"])
@pytest.mark.parametrize("framework", ["sglang", "trt-llm"])
def test_more_requests_never_shorten_the_wait_for_short_prompts_on_separate_engines(side: str, framework: str) -> None:
    """With 115 new tokens a step holds many prompts; those that came during a step wait for the one formed before."""
    split = f"disaggregated: {{prefill: {side}, decode: {{replicas: 4, tp: 1, ep: 1}}}}"
    found = [
        times("qwen3-30b-a3b", framework, f"concurrency: {each}, prefix_hit: 0.7, {split}", input=384, output=17)
        for each in (10, 50, 200, 400, 1000, 2000)
    ]
    waits = [each.ttft for each in found]
    assert waits == sorted(waits)


@pytest.mark.parametrize("acceptance", [0.0, 0.4, 0.6, 0.8])
def test_requests_with_a_budget_of_tokens_follow_from_littles_law(acceptance: float) -> None:
    """18 requests on two engines whose steps hold 2,048 tokens, nearly all of them of prompts."""
    load = f"concurrency: 18, chunk_tokens: 2048, speculative: {{tokens: 2, acceptance: {acceptance}}}"
    found = times("gemma-3-27b", "vllm, tp: 8", load, platform="dgx-b200", nodes=2, input=25387, output=191)
    assert found.output_tokens_per_second / 191 * found.request_latency == pytest.approx(18, rel=1e-3)
    assert found.state.rate * found.request_latency == pytest.approx(18, rel=0.02)


def test_a_mean_wait_at_a_rate_does_not_depend_on_how_few_tokens_follow() -> None:
    """Prompts of 27,481 tokens take 0.56 s; at one in three seconds on each of two engines few meet another."""
    found = [
        times(
            "gemma-3-27b", "vllm, tp: 8", "request_rate: 0.664, chunk_tokens: 2048", nodes=2, input=27481, output=each
        )
        for each in (2, 3, 5, 20, 200)
    ]
    assert all(each.wait < each.prompt_time * 0.664 / 2 for each in found)
    latencies = [each.request_latency for each in found]
    assert latencies == sorted(latencies)


@pytest.mark.parametrize("layout", ["sglang, tp: 1, attention_dp: 8, ep: 8", "vllm, tp: 8, ep: 8", "sglang, tp: 8"])
def test_a_run_at_a_higher_rate_never_waits_less(layout: str) -> None:
    found = [
        times("qwen3-235b-a22b", layout, f"request_rate: {each}, requests: 200", platform="dgx-h200", input=7335)
        for each in sampled((0.5, 1.0, 1.5, 2.5, 3.0, 6.0, 12.0, 50.0), 16)
    ]
    waits = [each.ttft_mean for each in found]
    assert waits == sorted(waits)


def test_accepted_drafts_never_make_prompts_of_a_run_queue() -> None:
    """Nine prompts a second on an engine that computes 23 in full steps, however few requests decode together with
    them.
    """
    load = "request_rate: 9.2, requests: 50, chunk_tokens: 16384, speculative: {{tokens: 2, acceptance: {0}}}"
    found = [
        times("qwen3-235b-a22b", "trt-llm, tp: 8", load.format(each), platform="dgx-b200", input=2070, output=30)
        for each in (0.0, 0.4, 0.8, 1.0)
    ]
    latencies = [each.request_latency for each in found]
    assert latencies == sorted(latencies, reverse=True)


@pytest.mark.parametrize("requests", [100, 130, 139, 140, 141, 147])
def test_memory_that_rises_with_the_requests_holds_those_of_the_fullest_engine(requests: int) -> None:
    """Four engines, of which some have one request more: none waits for a place."""
    load = f"concurrency: {requests}, requests: {2 * requests}"
    layout = "sglang, tp: 1, attention_dp: 1, ep: 1, pp: 4"
    found = times("deepseek-v3", layout, load, platform="gb200-nvl72", nodes=4, input=14935, output=3144)
    assert found.queued == 0


OFFLINE = "load: offline, max_sequences: 100"


def test_the_last_of_equal_requests_decode_in_a_wave_of_their_own() -> None:
    """Of 250 requests on 100 places 50 are left after two waves of 199 steps: a half-empty wave, not half as long."""
    steady, run = (times("llama-3.1-8b", "vllm, tp: 8", f"{OFFLINE}{more}") for more in ("", ", requests: 250"))
    full, half = (
        times("llama-3.1-8b", "vllm, tp: 8", f"load: static, concurrency: {each}").decode.total for each in (100, 50)
    )
    assert half > 0.55 * full
    prompt = 200 / steady.output_tokens_per_second - 199 * full / 100
    assert run.lasting is not None
    assert run.lasting == pytest.approx(250 * prompt + 199 * (2 * full + half), rel=0.02)
    assert run.output_tokens_per_second == pytest.approx(250 * 200 / run.lasting)


@pytest.mark.parametrize("layout", ["vllm, tp: 8", REPLICAS, "sglang, tp: 2, ep: 2", "trt-llm, tp: 2, pp: 2"])
def test_a_long_run_of_full_engines_has_their_throughput(layout: str) -> None:
    steady, run, short = (
        times("qwen3-30b-a3b", layout, f"{OFFLINE}{more}") for more in ("", ", requests: 1000000", ", requests: 40")
    )
    assert run.output_tokens_per_second == pytest.approx(steady.output_tokens_per_second, rel=0.01)
    assert short.output_tokens_per_second < steady.output_tokens_per_second


def test_requests_that_fill_their_waves_are_served_sooner_than_fewer_that_do_not() -> None:
    """A wave of one request takes more than half of a full one: 200 on 100 places do not end twice as late as 101."""
    few, full = (
        times("llama-3.1-8b", "vllm, tp: 8", f"{OFFLINE}, requests: {number}").lasting for number in (101, 200)
    )
    assert few is not None and full is not None
    assert few < full < 1.75 * few


FULL = ", memory_fraction: 0.35"
"""Of 80 GB, 28: a cache of so few tokens that requests lack space in it, not places."""


def full_cache(framework: str, load: str, output: int = 1000) -> tuple[Pools, ServingTimes]:
    """A cache that some tens of requests of 1,000 tokens fill."""
    keys = {"platform": "dgx-h100", "nodes": 1, "precision": "", "input": 1000, "output": output}
    design = clean(PLAN.format(model="llama-3.1-8b", layout=f"{framework}, tp: 1, dp: 1", load=load + FULL, **keys))
    pools, found = serving_pools(design), estimate(design).serving
    assert pools is not None and found is not None
    return pools, found


def test_a_full_cache_computes_as_many_tokens_again_as_come() -> None:
    """Outputs as long as prompts: at most 0.22 of the places wait after their first token. With half as many more
    requests than places, 0.22 of 0.72 of the wait; with 0.11 more, half of the wait and half of the tokens again."""
    pools, _ = full_cache("vllm", "concurrency: 400")
    assert preemption(pools, 1.5 * pools.limit) == pytest.approx((0.22 / 0.72, 1000))
    assert preemption(pools, 1.11 * pools.limit) == pytest.approx((0.22 / 0.33, 500))
    assert preemption(pools, pools.limit) == (0.0, 0.0)
    short, _ = full_cache("vllm", "concurrency: 400", output=125)
    most = 0.22 / 8**0.75
    assert preemption(short, 2 * short.limit) == pytest.approx((most / (1 + most), 125))


def test_engines_that_reserve_outputs_preempt_none() -> None:
    pools, found = full_cache("trt-llm", "concurrency: 400")
    assert pools.limit < 100
    assert preemption(pools, 400.0) == (0.0, 0.0) and found.preempted == 0


def test_engines_that_keep_space_for_output_retract_a_third_as_many() -> None:
    """With half as many more requests than places, 0.075 of 0.575 of the wait is after the first token, of few
    requests: the median time per token has none of it.
    """
    pools, found = full_cache("sglang", "concurrency: 400")
    assert preemption(pools, 1.5 * pools.limit) == pytest.approx((0.075 / 0.575, 0.0))
    assert found.preempted == 0 and found.tpot_mean > found.tpot


def test_tokens_computed_again_lengthen_the_time_between_the_ends_of_requests() -> None:
    """By Little's law 400 in flight take 400 times as long as from one end to the next."""
    pools, found = full_cache("vllm", "concurrency: 400")
    again = computed_again(pools, found.state, 1000.0)
    assert again == pytest.approx(found.carried_prefill)  # as many tokens as the prompt has, with the same others
    assert found.request_latency / 400 == pytest.approx(1 / found.state.rate + again, rel=0.01)
    assert found.tpot_mean > found.state.mean_token + found.preempted / 1000
    more = full_cache("vllm", "concurrency: 800")[1]
    assert more.output_tokens_per_second == pytest.approx(found.output_tokens_per_second, rel=0.01)


def test_more_requests_without_a_place_wait_longer_before_their_first_token_and_not_less_after_it() -> None:
    loads = [full_cache("vllm", f"concurrency: {number}")[1] for number in (40, 60, 80, 120, 240, 480)]
    for few, many in pairwise(loads):
        assert many.ttft >= few.ttft and many.preempted >= few.preempted


def test_a_rate_above_the_capacity_is_served_as_a_loop_that_fills_the_caches() -> None:
    """The same requests run in both and compute the same tokens again; what differs is where the others wait.

    By Little's law full places end a request in as many seconds as from one end to the next without preemption, and
    1,000 tokens of each are computed again.
    """
    pools, full = full_cache("vllm", "request_rate: 100")
    loop = full_cache("vllm", "concurrency: 4000")[1]
    assert full.queue_grows and full.state.rate == pytest.approx(loop.state.rate, rel=2e-3)
    again = computed_again(pools, full.state, 1000.0)
    served = 1 / (1 / full.state.capacity + again)
    assert full.output_tokens_per_second == pytest.approx(1000 * served, rel=1e-3)
    assert full.output_tokens_per_second == pytest.approx(loop.output_tokens_per_second, rel=5e-3)
    assert full.tpot_mean == pytest.approx(loop.tpot_mean, rel=0.02)
    assert full.offered == pytest.approx(full.request_latency * served, rel=1e-3)
    assert full.ttft < 10.0 and loop.ttft > 100.0
    waited = 0.22 * pools.limit * (1 / full.state.rate + again)
    cache = preemption_at_capacity(pools, full.state)
    assert cache.waited == pytest.approx(waited) and cache.again == pytest.approx(again)


@pytest.mark.parametrize(("framework", "started"), [("sglang", 0.075), ("trt-llm", 0.0)])
def test_a_rate_above_the_capacity_of_engines_that_compute_nothing_again_has_the_rate_of_full_places(
    framework: str, started: float
) -> None:
    pools, full = full_cache(framework, "request_rate: 100")
    assert full.queue_grows and full.preempted == 0
    assert preemption_at_capacity(pools, full.state) == pytest.approx((started * pools.limit / full.state.rate, 0.0))
    assert full.output_tokens_per_second == pytest.approx(1000 * full.state.capacity, rel=1e-3)


@pytest.mark.parametrize(
    ("share", "rate", "requests", "waiting", "walk"),
    [
        # 10 requests/s of 4 s are 40 in flight, so that 160 of 200 come later: a walk of 160 arrivals over 50 places is
        # 2/3 · sqrt(2/π) · sqrt(160) - 0.5826 · sqrt(50) = 6.7284 - 4.1196 turns of 0.1 s
        (0.25, 10.0, 200.0, 0.25 * 160 / 200, 0.1 * 2.6088),
        (0.25, 20.0, 200.0, 0.25 * 150 / 200, 0.1 * 2.3951),  # no more than the 50 places are in flight
        (0.25, 10.0, 60.0, 0.25 * 20 / 60, 0.0),  # a run of few requests does not fill the places
        (0.25, 10.0, 40.0, 0.0, inf),
        (0.0, 10.0, 200.0, 0.0, inf),
    ],
)
def test_requests_after_the_first_in_flight_may_find_all_places_taken(
    share: float, rate: float, requests: float, waiting: float, walk: float
) -> None:
    load, now = replace(OPEN.load, output_tokens=101), STEADY._replace(prompt=0.5, tpot=0.035)
    assert (load.gaps, load.arrival_cv, now.mean_token) == (100, 1.0, 0.035)
    given = OpenRun(requests, rate, 50.0, 0.1, 0.5)
    run = loads._with_places_taken_at_times(given, load, now, loads.PlaceWait(share, 2.0))
    assert run.waiting == pytest.approx(waiting)
    assert run.placed_walk == pytest.approx(walk, abs=2e-5)
    assert run.placing == (2.0 if waiting else 0.0)
