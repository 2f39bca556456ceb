"""Targets, tails and shares at their limits, and seconds of a step with more prompts than one."""

from __future__ import annotations

from math import exp, sqrt

import pytest

from clusterspec.cluster.requests import Target
from clusterspec.cost.formulas.experts import prompts_on_fullest
from clusterspec.cost.serving.explain import serving_headline
from clusterspec.cost.serving.latency import exceeds_capacity
from clusterspec.cost.serving.percentiles import single_gap
from clusterspec.cost.serving.plan_engines import bare_pools
from clusterspec.cost.serving.pools import Pools
from clusterspec.cost.serving.step_times import prompt_step
from clusterspec.cost.serving.targets import (
    TargetResult,
    is_caused_by_chunks,
    keeps_up,
    latency_tail,
    mostly_waits,
    target_excess,
)
from clusterspec.cost.serving.waits import replicas
from clusterspec.cost.serving.waits.replica_steps import seconds_of_step
from clusterspec.cost.serving.waits.replicas import PromptCycle
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.expressions import evaluate
from tests.cost.serving.test_percentiles import SHORT, gaps
from tests.cost.serving.test_targets import plan


def aim(quantity: str, percentile: float, seconds: float = 1.0) -> Target:
    return Target(quantity, percentile, seconds, quantity)


def test_the_tail_is_at_the_highest_percentile_of_what_has_one() -> None:
    found, load = plan("concurrency: 8")
    for targets, at, want in (
        ((), 50.0, None),
        ((), 90.0, 90.0),
        ((aim("ttft", 95.0), aim("tpot", 90.0)), 50.0, 95.0),
        ((aim("ttft", 80.0), aim("tpot", 90.0)), 85.0, 90.0),
        ((aim("itl", 99.0), aim("end_to_end", 99.0)), 60.0, 60.0),
        ((aim("itl", 99.0),), 50.0, None),
    ):
        tail = latency_tail(found, replace(load, targets=targets, percentile=at))
        assert (tail.percentile if tail is not None else None) == want, targets


def test_a_target_is_missed_above_it_and_by_requests_that_wait_without_end() -> None:
    for seconds, grows, quantity, missed, queued in (
        (1.0, False, "ttft", False, False),
        (1.001, False, "ttft", True, False),
        (1.0, True, "ttft", True, True),
        (1.001, True, "ttft", True, False),
        (1.0, True, "end_to_end", True, True),
        (1.0, True, "tpot", False, False),
        (1.0, True, "itl", False, False),
    ):
        found = TargetResult(aim(quantity, 50.0), seconds, *plan("concurrency: 8"), grows)
        assert (found.missed, found.missed_in_queue) == (missed, queued), (seconds, grows, quantity)


def test_a_load_exceeds_the_engines_that_finish_fewer_requests_than_come() -> None:
    found, load = plan("request_rate: 1, load: open")
    served = replace(found, state=found.state._replace(capacity=1.0))
    for rate, over in ((0.9, False), (1.0, False), (1.0001, True), (1.02, True)):
        asked = replace(load, request_rate=rate, output_tokens=500)
        assert exceeds_capacity(served, asked) == over, rate
        assert not exceeds_capacity(served, replace(asked, requests=10)), "a run ends"
        assert keeps_up(replace(served, wait=0.0), asked) == (not over)
    assert not found.queue_grows
    assert replace(found, state=found.state._replace(capacity=0.99)).queue_grows
    assert not exceeds_capacity(served, replace(load, request_rate=None))
    half = replace(served, wait=1.0, ttft_mean=2.0)
    assert not mostly_waits(half) and mostly_waits(replace(half, wait=1.001))
    assert not keeps_up(replace(half, wait=1.001), load)
    aimed = replace(load, targets=(aim("tpot", 50.0, found.tpot),))
    assert keeps_up(replace(half, wait=1.001), aimed) and target_excess(found, aimed) == pytest.approx(0)
    assert not keeps_up(found, replace(load, targets=(aim("tpot", 50.0, found.tpot / 2),)))
    both = replace(load, targets=(aim("tpot", 50.0, found.tpot / 3), aim("ttft", 50.0, 2 * found.ttft)))
    assert target_excess(found, both) == pytest.approx(2.0)
    step = found.decode.total
    assert is_caused_by_chunks(found, aim("itl", 50.0, step)) and not is_caused_by_chunks(found, aim("ttft", 50.0, 9.0))
    assert not is_caused_by_chunks(found, aim("itl", 50.0, 0.99 * step))


def test_prompts_start_after_one_of_the_steps_of_an_interval() -> None:
    """50 / 500 prompts a step are 0.2 in two: of the steps that may hold any, half of all, e^-0.2 have none."""
    found, load = gaps(SHORT)
    for interval, prompts in ((2, 0.2), (4, 0.4)):
        every = replace(load, chunk_tokens=8192, receive_interval=interval)
        quiet = 1 - (1 - exp(-prompts)) / interval
        for share, seconds in ((0.3, 0.02), (1 - 1 / interval, 0.02), (quiet - 0.001, 0.02), (quiet + 0.001, 0.12)):
            assert single_gap(found, every, share) == pytest.approx(seconds), (interval, share)


@pytest.mark.parametrize("load", ["concurrency: 32", "concurrency: 32, requests: 320", "request_rate: 1, load: open"])
def test_the_headline_of_a_plan_gives_its_figures(load: str) -> None:
    found, _ = plan(load)
    terms = {term.name: term for term in serving_headline(found)}
    for name in ("request latency", "output tokens per second", "cache holds"):
        term = terms[name]
        names = {key: figure.value for key, figure in term.inputs}
        assert evaluate(term.formula, names) == pytest.approx(term.value, rel=1e-6), name
    rate = dict(terms["output tokens per second"].inputs)
    if found.lasting is None:
        assert rate["concurrency"].value == found.offered and rate["latency"].value == found.request_latency
    else:
        assert rate["concurrency"].value == 320 and rate["latency"].value == found.lasting
    half = replace(found, lasting=None)  # a run of unknown length is rated as its steady state
    assert dict({term.name: term for term in serving_headline(half)}["output tokens per second"].inputs)[
        "concurrency"
    ].value == pytest.approx(found.offered)


WIDE = """
cluster: {{platform: dgx-h200, nodes: 1}}
workload:
  kind: serve
  model: qwen3-235b-a22b
  precision: fp8
  serving: {{input_tokens: {input}, output_tokens: 500, concurrency: 64, chunk_tokens: 8192}}
layout: {{framework: sglang, tp: 1, attention_dp: 8, ep: 8}}
"""


def wide(lengths: str = "1000") -> Pools:
    found = bare_pools(clean(WIDE.format(input=lengths)))
    assert found is not None
    return found


def test_a_step_lasts_as_long_as_its_fullest_replica_computes() -> None:
    """6 prompts of 1,000 tokens, at most 2 on one replica: as many tokens, on three busy replicas."""
    pools = wide()
    step = prompt_step(pools.decode, 2000.0, 1000.0, 3.0).lasting_after(0.01)
    assert seconds_of_step(pools, 2.0, 6.0, 0.01) == pytest.approx(step)
    alone = prompt_step(pools.decode, 2000.0, 1000.0, 1.0).lasting_after(0.0)
    assert seconds_of_step(pools, 2.0, 1.0, 0.0) == pytest.approx(alone)
    every = prompt_step(pools.decode, 1000.0, 1000.0, 8.0).lasting_after(0.0)
    assert seconds_of_step(pools, 1.0, 80.0, 0.0) == pytest.approx(every)


def test_the_steps_of_a_row_have_more_and_fewer_prompts_than_the_mean() -> None:
    """The mean of two steps, and the mean that the prompts in them see."""
    pools = wide()
    cycle = PromptCycle(8.0, 3.0, 4.0, 0.02, 0.1, 0.05, 0.01, 4.0)
    prompts = 4.0 / (1 - exp(-4.0))
    assert cycle.prompts == pytest.approx(prompts)
    deviation = sqrt(prompts * (1 + 4.0 - prompts))
    few, many = prompts - deviation, prompts + deviation
    assert few > 1
    seconds = [
        seconds_of_step(pools, max(1.0, min(prompts_on_fullest(count / 8, 8), 4.0)), count, 0.02 / cycle.prompt_steps)
        for count in (few, many)
    ]
    mean, met = replicas._seconds_in_row(pools, cycle)
    assert mean == pytest.approx(sum(seconds) / 2)
    assert met == pytest.approx((few * seconds[0] + many * seconds[1]) / (few + many))
    assert mean < met
    small, _ = replicas._seconds_in_row(pools, replace(cycle, drawn=0.01))
    assert small >= prompt_step(pools.decode, 1000.0, 1000.0, 1.0).lasting_after(1.0) * 0.5


def test_the_wait_of_a_cycle_is_that_of_the_other_requests_of_the_loop() -> None:
    pools = wide()
    prompt = prompt_step(pools.prompts, 1000.0, 1000.0, 1.0)
    steps = (prompt._replace(total=0.01, floor=0.0), prompt)
    cycle = replicas.prompt_cycle(pools, 0.1, steps)
    wait = replicas.wait_in_cycle(pools, 0.1, steps, 0.03)
    assert wait == pytest.approx(63 / 64 * (cycle.wait + cycle.met - 0.03))
