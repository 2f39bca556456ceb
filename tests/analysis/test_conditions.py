"""Conditions on an estimate: their limits in SI units, their sides, and the metrics that they read."""

from __future__ import annotations

from math import inf

import pytest

from clusterspec.analysis.levers.conditions import (
    METRICS,
    OF_FLEET,
    RELATIVE,
    TARGETS,
    Condition,
    ConditionFault,
    metric_unit,
    parse,
)
from clusterspec.records import replace
from clusterspec.studies import study_text
from tests.effort import each
from tests.settings import SETTINGS

TRAINS = """clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64, tokens: 1T}
layout: {framework: megatron-core, tp: 2}
"""
SERVES = """clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 1000, output_tokens: 100, concurrency: 8, targets: {ttft: TARGET}}
layout: {framework: vllm, tp: 1}
"""


@each(
    ("text", "metric", "at_most", "limit"),
    [
        ("mfu>=0.40", "mfu", False, 0.4),
        ("mfu >= 40%", "mfu", False, 0.4),
        ("exposed<=5%", "exposed", True, 0.05),
        ("time_to_train<=30d", "time_to_train", True, 30 * 86400.0),
        ("step_time <= 8s", "step_time", True, 8.0),
        ("ttft<=500 ms", "ttft", True, 0.5),
        ("memory<=80 GB", "memory", True, 80e9),
        ("power<=12 kW", "power", True, 12e3),
        ("fleet_cost<=20M", "fleet_cost", True, 20e6),
        ("tokens_per_second_per_accelerator>=1500", "tokens_per_second_per_accelerator", False, 1500.0),
        (" slowdown <= 3% ", "slowdown", True, 0.03),
        ("fits", "fits", False, 1.0),
        ("targets", "targets", False, 1.0),
    ],
)
def test_a_condition_has_its_limit_in_si_units(text: str, metric: str, at_most: bool, limit: float) -> None:
    found = parse(text)
    assert (found.text, found.metric, found.at_most, found.baseline) == (text.strip(), metric, at_most, inf)
    assert found.limit == pytest.approx(limit)


@each(
    ("text", "why"),
    [
        ("mfu=0.4", "is not a condition; write `fits`, `targets`, or a metric"),
        ("mfu", "an unquoted `>` itself: quote the condition"),
        ("mfuu>=0.4", "unknown metric `mfuu`; did you mean `mfu`"),
        ("zzzzzz>=1", "unknown metric `zzzzzz`. Metrics: mfu, "),
        ("step_time<=8", "the limit needs a unit, such as `8 s`"),
        ("memory<=8", "such as `8 GB`"),
        ("power<=8", "such as `8 kW`"),
        ("mfu>=high", "write a share, such as `40%` or `0.4`"),
        ("fleet_cost<=much", "write an amount, such as `20M`"),
        ("output_tokens_per_second>=5%", "write a number of tok/s"),
        ("mfu>=inf", "it is not finite"),
    ],
)
def test_an_invalid_condition_says_what_to_write(text: str, why: str) -> None:
    with pytest.raises(ConditionFault) as fault:
        parse(text)
    assert why in str(fault.value)


def test_the_limit_itself_is_admitted_on_both_sides() -> None:
    most, least = parse("mfu<=0.4"), parse("mfu>=0.4")
    assert [most.admits(value) for value in (0.39, 0.4, 0.41)] == [True, True, False]
    assert [least.admits(value) for value in (0.39, 0.4, 0.41)] == [False, True, True]


def test_metrics_of_training_are_those_of_the_plan() -> None:
    plan = study_text(TRAINS, SETTINGS).plan
    step, stored = plan.step_seconds, plan.stored
    assert step is not None and stored is not None and stored.capacity is not None and plan.time_to_train is not None

    def value(text: str) -> float | None:
        return parse(text, baseline=step / 2 if step else None).value(plan)

    assert value("exposed<=1") == pytest.approx(sum(row.exposed for row in plan.communication) / step)
    assert value("headroom>=0") == pytest.approx(1 - stored.total / stored.capacity.value)
    assert value("slowdown<=1") == pytest.approx(1.0)
    assert parse("slowdown<=1").value(plan) is None
    assert value("fits") == 1.0
    elapsed = parse("elapsed<=1d")
    assert replace(elapsed, share=0.5).value(plan) == pytest.approx(2 * plan.time_to_train)
    assert replace(elapsed, share=0.0).value(plan) is None
    goodput, run = value("goodput>=0"), value("run_time<=1d")
    assert goodput is not None and 0.5 < goodput < 1 and run == pytest.approx(plan.time_to_train / goodput)
    power = parse("fleet_power<=1 MW")
    own = power.value(plan)
    assert own is not None and replace(power, of_other_pools=5e3).value(plan) == pytest.approx(own + 5e3)
    assert replace(parse("mfu>=0"), of_other_pools=5e3).value(plan) == plan.mfu
    assert {value(f"{name}<=1{unit}") for name, unit in (("ttft", "s"), ("tpot", "s"), ("rl_step_time", "s"))} == {None}
    assert not parse("ttft<=1s").holds(plan) and value(TARGETS) is None


def test_metrics_of_serving_are_those_of_its_load() -> None:
    for target, met in (("10 s", 1.0), ("1 us", 0.0)):
        plan = study_text(SERVES.replace("TARGET", target), SETTINGS).plan
        assert plan.serving is not None
        assert parse(TARGETS).value(plan) == met
        assert parse(TARGETS).holds(plan) is bool(met)
        assert parse("ttft<=1s").value(plan) == plan.serving.ttft
        assert parse("output_tokens_per_second_per_accelerator>=1").value(plan) == plan.serving.per_accelerator


def test_a_plan_that_does_not_fit_meets_no_condition() -> None:
    plan = study_text(TRAINS.replace("llama-3.1-8b", "llama-3.1-405b"), SETTINGS).plan
    assert plan.fits is False
    assert parse("fits").value(plan) == 0.0
    assert not parse("step_time<=1000000 s").holds(plan)
    assert not Condition("", "fits", at_most=False, limit=1.0, surely=False).holds(plan)


def test_every_metric_has_a_unit() -> None:
    assert {metric_unit(name) for name in METRICS} == {"1", "s", "B", "W", "tok/s", "money"}
    assert (metric_unit(RELATIVE), metric_unit("fits"), metric_unit(TARGETS)) == ("1", None, None)
    assert METRICS.keys() > OF_FLEET.keys()


OPEN_LOAD = """clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 1}}
workload:
  {{kind: serve, model: llama-3.1-70b, serving: {{input_tokens: 2000, output_tokens: 500, request_rate: {rate}}}}}
layout: {{framework: vllm, tp: 8}}
"""


def test_an_endless_queue_meets_no_limit_of_latency() -> None:
    """A load above the predicted capacity has no steady latency, however short that of full engines is."""
    kept, full = (study_text(OPEN_LOAD.format(rate=rate), SETTINGS).plan for rate in (1, 1000))
    assert full.serving is not None
    capacity = full.serving.state.capacity
    near = study_text(OPEN_LOAD.format(rate=f"{1.005 * capacity:.5g}"), SETTINGS).plan
    for metric in ("ttft", "request_latency"):
        condition = parse(f"{metric}<=1000 h")
        assert condition.holds(kept)
        assert near.serving is not None and getattr(near.serving, metric) < 3600, "of full engines"
        assert condition.value(near) == inf and not condition.holds(near)
        assert not parse(f"{metric}<=1000 h").holds(full)
    assert parse("tpot<=1 s").holds(near), "tokens of running requests come as before"
