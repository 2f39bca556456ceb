"""The tool that tries laws of serving plans on plans drawn at random."""

from __future__ import annotations

import pytest

from clusterspec.cost.serving.latency import ServingTimes
from tests.designs import changed
from tools.serving_laws import laws
from tools.serving_laws.plans import DrawnPlan, drawn_plans, times_of


@pytest.fixture(scope="module")
def plan() -> DrawnPlan:
    return next(drawn_plans(1, seed=5))


def test_a_seed_draws_one_set_of_plans(plan: DrawnPlan) -> None:
    assert next(drawn_plans(1, seed=5)) == plan
    assert next(drawn_plans(1, seed=6)) != plan


def test_a_drawn_plan_serves_less_than_its_highest_rate_and_not_more(plan: DrawnPlan) -> None:
    below, above = (times_of(plan.loaded(load="open", request_rate=share * plan.highest)) for share in (0.9, 1.1))
    assert below is not None and above is not None
    assert (below.queue_grows, above.queue_grows) == (False, True)


def test_times_that_fall_with_every_load_break_the_laws_of_waits(plan: DrawnPlan) -> None:
    seconds, real = iter(range(1000, 0, -1)), times_of(plan.loaded(load="closed", concurrency=1))
    assert real is not None and not real.queue_grows
    names = ("ttft", "ttft_mean", "tpot", "output_tokens_per_second", "kv_capacity_sequences")

    def shorter_times(spec: object) -> ServingTimes:
        return changed(real, dict.fromkeys(names, float(next(seconds))))

    found = {name for name, _ in laws.broken_laws(plan, shorter_times, 0.0)}
    assert found == {
        "more load: ttft falls",
        "more load: ttft_mean falls",
        "more in flight: throughput falls",
        "more memory: concurrency falls",
    }
