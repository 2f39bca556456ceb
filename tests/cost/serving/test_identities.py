"""What the figures of a serving plan say of each other: Little's law, and the parts of each time, for every load."""

from __future__ import annotations

from functools import cache

import pytest

from clusterspec.cluster.requests import Serving
from clusterspec.cost.serving.constants import RANGES
from clusterspec.cost.serving.engine import Decoding
from clusterspec.cost.serving.latency import ServingTimes, range_factors, serving_range
from clusterspec.cost.serving.percentiles import latency_factors
from clusterspec.cost.serving.runs import FiniteRun, OpenRun
from clusterspec.cost.serving.steady import decoding_seconds
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.times import serving_pools, serving_times
from tests.cluster.resolving import clean
from tests.effort import each, thorough

DRAFTS = "speculative: {tokens: 3, acceptance: 0.5, method: ngram}"

PLAN = """
cluster: {{platform: dgx-h100, nodes: 2}}
workload: {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 2000, output_tokens: 101, {load}}}}}
layout: {{framework: {framework}, {layout}}}
"""
APART = "disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 2, tp: 4}}"
PLANS = {  # load, layout, framework; engines that run prompts, engines that decode, their stages, accelerators in use
    "closed": ("concurrency: 40", "tp: 8", "vllm", 2, 2, 1, 16),
    "closed, in stages": ("concurrency: 40", "tp: 4, pp: 2", "vllm", 2, 2, 2, 16),
    "closed, prompts alone": ("concurrency: 40", "tp: 4", "sglang", 4, 4, 1, 16),
    "open": ("load: open, request_rate: 3", "tp: 8", "vllm", 2, 2, 1, 16),
    "drafts": (f"concurrency: 40, {DRAFTS}", "tp: 8", "vllm", 2, 2, 1, 16),
    "cached": ("concurrency: 40, prefix_hit: 0.75", "tp: 8", "vllm", 2, 2, 1, 16),
    "chunks": ("concurrency: 40, chunk_tokens: 512", "tp: 8", "vllm", 2, 2, 1, 16),
    "offline": ("load: offline", "tp: 8", "vllm", 2, 2, 1, 16),
    "static": ("load: static, concurrency: 32", "tp: 8", "vllm", 2, 2, 1, 16),
    "run": ("concurrency: 40, requests: 200", "tp: 8", "vllm", 2, 2, 1, 16),
    "open run": ("load: open, request_rate: 6, requests: 200", "tp: 8", "vllm", 2, 2, 1, 16),
    "apart": (f"concurrency: 12, {APART}", "tp: 8", "vllm", 1, 2, 1, 16),
    "token of prefill": (
        f"concurrency: 12, {APART[:-1]}, transfer: {{first_token: prefill}}}}", "tp: 8", "vllm", 1, 2, 1, 16,
    ),
}  # fmt: skip
GAPS = 100
"""Between 101 output tokens."""


@cache
def plan(name: str) -> tuple[ServingTimes, Serving]:
    load, layout, framework, *_ = PLANS[name]
    design = clean(PLAN.format(load=load, layout=layout, framework=framework))
    found, pools = serving_times(design), serving_pools(design)
    assert found is not None and pools is not None
    return found, pools.load


@each("name", PLANS)
def test_a_steady_state_ends_as_many_requests_as_its_sequences_gain_tokens(name: str) -> None:
    found, load = plan(name)
    state, (*_, prompts, decoding, stages, accelerators) = found.state, PLANS[name]
    gained = 2.5 if name == "drafts" else 1.0
    assert (state.tokens_per_step, found.stages[1], found.accelerators) == (gained, stages, accelerators)
    assert state.each_token == pytest.approx(state.carried / stages / GAPS)
    assert state.tpot == pytest.approx(state.decode.total / gained + state.delaying * state.each_token)
    assert state.rate == pytest.approx(state.sequences * decoding / GAPS / state.tpot)
    assert state.share == pytest.approx(state.rate / decoding * state.carried / stages)
    assert found.prompt_load == pytest.approx(state.rate * state.service / prompts)
    assert found.sequences <= found.kv_capacity_sequences / decoding * (1 + 1e-9)
    assert found.kv_bytes_per_token == 80 * 2 * 8 * 128 * 2
    assert found.prefix_hit == load.prefix_hit == (0.75 if name == "cached" else 0.0)
    if name in ("closed", "closed, prompts alone", "drafts", "cached"):  # requests wait, run a prompt, decode or travel
        around = state.wait + state.prompt + found.overhead + GAPS * state.tpot
        assert state.rate * around == pytest.approx(40, rel=1e-3)
    if name == "open":
        assert state.rate == pytest.approx(3, rel=1e-6)


@each("name", PLANS)
def test_a_request_takes_its_wait_its_prompt_and_its_gaps(name: str) -> None:
    found, load = plan(name)
    early, delay = found.burst
    travel = found.handoff if name == "apart" else 0.0
    half = 0.5 * found.state.tpot if name == "apart" else 0.0
    first = found.wait + early + found.prompt_time + travel + found.overhead + half
    assert found.ttft == pytest.approx(first)
    assert found.ttft_mean == pytest.approx(first - early + delay)
    assert found.queue_share == pytest.approx((found.wait + early) / found.ttft)
    joined = found.handoff + 0.5 * found.state.tpot if name == "token of prefill" else 0.0
    assert found.joining == pytest.approx(joined)
    assert found.tpot_mean == pytest.approx(found.state.mean_token + joined / GAPS)
    assert (found.state.met is None) is not name.startswith("open")
    assert (found.state.mean_token == found.state.tpot) is not name.startswith("open")
    assert found.tpot == pytest.approx(
        found.state.tpot + joined / GAPS + (found.decoding_sequences - found.state.delaying) * found.state.each_token
    )
    in_run = 0.0 if found.run is not None else early
    assert found.request_latency == pytest.approx(found.ttft - in_run + GAPS * found.tpot_mean)
    if found.lasting is None:
        served = found.offered / found.request_latency
    else:
        assert load.requests == 200
        served = 200 / found.lasting
    assert found.output_tokens_per_second == pytest.approx(101 * served, rel=1e-3)
    if name in ("open", "closed"):
        expected = 3 * found.request_latency if name == "open" else 40
        assert found.offered == pytest.approx(expected)


def test_a_run_has_the_places_and_the_prompts_of_its_engines() -> None:
    """40 requests start together on two engines; of those that arrive six a second, all have a place."""
    found, _ = plan("run")
    run = found.run
    assert isinstance(run, FiniteRun)
    assert (run.requests, run.concurrency, run.varied) == (200, 40, found.state.wait)
    # steps of 8,192 tokens, of which 10 decode: half of the 20 requests of each engine; the rest are prompts of 2,000
    pools = serving_pools(clean(PLAN.format(load=PLANS["run"][0], layout="tp: 8", framework="vllm")))
    assert pools is not None
    step = prompt_step(pools.prompts, 8182.0, 2000.0, 1.0, Decoding(10.0, 2000 + 101 / 2, 1.0))
    assert run.service == pytest.approx(step.lasting_seconds / (8182 / 2000) / 2)
    assert run.service < found.state.service / 2  # of one prompt with all sequences
    assert run.prompt == pytest.approx(found.state.wait + found.prompt_time)
    # of the 8,192 tokens of a step each sequence takes one, and a hundredth of its next prompt
    assert run.places == pytest.approx(2 * 8192 / (1 + 2000 / GAPS))
    assert found.burst[1] + found.wait == pytest.approx(run.mean)
    assert found.burst[0] + found.wait == pytest.approx(run.wait_at(0.5))
    arriving = plan("open run")[0].run
    assert isinstance(arriving, OpenRun)
    assert (arriving.requests, arriving.rate, arriving.last) == (200, 6, 0)
    # the last request meets no later prompts, and those decode with it whose number falls evenly to none
    last, _ = plan("open run")
    pools = serving_pools(clean(PLAN.format(load=PLANS["open run"][0], layout="tp: 8", framework="vllm")))
    assert pools is not None
    beside = arriving.requests_with_last(GAPS * last.tpot_mean, GAPS * last.decode.total)
    sooner = GAPS * (last.tpot_mean - decoding_seconds(pools, beside / 2))
    assert sooner > 0.2
    assert last.lasting == pytest.approx(199 / 6 + last.request_latency - sooner, rel=2e-3)


def test_a_plan_whose_times_are_all_longer_is_the_same_plan_at_a_higher_rate_in_slower_time() -> None:
    """A plan that is slower by a half serves 2 requests a second as the plan itself serves 3, in longer seconds."""
    loads = {rate: f"load: open, request_rate: {rate}" for rate in (2, 3)}
    fast, slow = (
        serving_times(clean(PLAN.format(load=load, layout="tp: 8", framework="vllm"))) for load in loads.values()
    )
    assert fast is not None and fast.stretched is not None and slow is not None
    for name in ("ttft", "tpot", "ttft_mean"):
        assert fast.stretched.seconds(name, 1.5) == pytest.approx(1.5 * getattr(slow, name), rel=1e-9)


@thorough
def test_the_range_of_an_open_load_widens_as_it_nears_the_limit_of_the_plan() -> None:
    ends, slower = [], []
    for rate in (8, 12, 16, 17.5):
        found = serving_times(
            clean(PLAN.format(load=f"load: open, request_rate: {rate}", layout="tp: 8", framework="vllm"))
        )
        assert found is not None
        low, high = range_factors(found, "ttft")
        assert low <= RANGES["ttft"][0] and high >= RANGES["ttft"][1]
        ends.append(high / low)
        assert found.stretched is not None
        slower.append(found.stretched.seconds("ttft", RANGES["tpot open"][1]) / found.ttft)
        assert high == max(RANGES["ttft"][1], slower[-1])
        assert serving_range(found, "ttft") == [found.ttft * low, found.ttft * high]
        assert range_factors(found, "output_tokens_per_second") == RANGES["output_tokens_per_second"]
        after = latency_factors(found, "ttft", 99)
        assert after[0] <= low and after[1] >= high
    assert slower[0] < slower[1] < slower[2] / 1.4 < slower[3] / 2
    assert ends == sorted(ends)
    assert ends[-1] > 1.4 * ends[0]  # with 17.5 a second a plan whose steps are slower by a fifth is nearly full
    assert plan("closed")[0].stretched is None  # the loop waits for the plan
