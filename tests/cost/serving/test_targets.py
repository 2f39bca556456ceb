"""Percentiles of the times of serving plans: laws, and numbers worked out by hand."""

from __future__ import annotations

import math

import pytest

from clusterspec.cluster.model import Serving
from clusterspec.cost.serving.explain import (
    latency_tail,
    missed_targets,
    range_factors,
    tpot_percentile,
    ttft_percentile,
)
from clusterspec.cost.serving.times import ServingTimes
from clusterspec.studies.study import study_text
from tests.settings import SETTINGS


def plan(load: str) -> tuple[ServingTimes, Serving]:
    text = (
        "clusterspec: 1\ncluster: {platform: dgx-h100, nodes: 1}\n"
        "workload: {kind: serve, model: llama-3.1-70b, "
        f"serving: {{input_tokens: 2000, output_tokens: 500, {load}}}}}\n"
        "layout: {framework: vllm, tp: 8}\n"
    )
    one = study_text(text, SETTINGS)
    assert one.plan.serving is not None and one.design.workload is not None
    assert one.design.workload.serving is not None
    return one.plan.serving, one.design.workload.serving


def test_at_the_median_the_times_are_those_of_the_estimate() -> None:
    found, load = plan("concurrency: 32, targets: {ttft: 1 s}")
    assert (ttft_percentile(found, load), tpot_percentile(found, load)) == (found.ttft, found.tpot)


def test_waits_of_a_steady_state_have_an_exponential_tail() -> None:
    found, load = plan("concurrency: 32, targets: {ttft: 1 s, percentile: 95}")
    assert ttft_percentile(found, load) == pytest.approx(found.ttft + found.wait * math.log(0.5 / 0.05))


def test_the_slowest_requests_of_a_run_are_the_last_of_its_burst() -> None:
    found, load = plan("concurrency: 32, requests: 320, targets: {ttft: 1 s, percentile: 99}")
    # A tenth of the requests start together. The last of them waits twice their mean, ten times that of the run.
    burst = 0.9 * 2 * (found.ttft_mean - found.ttft) / 0.1
    assert ttft_percentile(found, load) == pytest.approx(found.ttft + found.wait * math.log(0.5 / 0.01) + burst)
    _, below = plan("concurrency: 32, requests: 320, targets: {ttft: 1 s, percentile: 85}")
    assert ttft_percentile(found, below) == pytest.approx(found.ttft + found.wait * math.log(0.5 / 0.15))


def test_a_higher_percentile_is_never_faster() -> None:
    at = [
        ttft_percentile(*plan(f"concurrency: 32, requests: 320, targets: {{percentile: {p}}}"))
        for p in (50, 80, 95, 99, 100)
    ]
    assert at == sorted(at) and math.isfinite(at[-1])


def test_missed_targets_are_named() -> None:
    assert missed_targets(*plan("concurrency: 1")) == ()
    assert missed_targets(*plan("concurrency: 1, targets: {ttft: 1 ms, tpot: 1 ms}")) == ("ttft", "tpot")
    assert missed_targets(*plan("concurrency: 1, targets: {ttft: 10 s, tpot: 1 ms}")) == ("tpot",)


def test_the_range_of_a_percentile_widens_from_that_of_the_median_to_that_of_the_99th() -> None:
    assert latency_tail(*plan("concurrency: 32, targets: {ttft: 1 s}")) is None
    found, load = plan("concurrency: 32, targets: {percentile: 99}")
    last = latency_tail(found, load)
    assert last is not None and (last.ttft, last.tpot) == (ttft_percentile(found, load), tpot_percentile(found, load))
    assert last.ttft_range == pytest.approx((0.70 * last.ttft, 7.3 * last.ttft))
    assert last.tpot_range == pytest.approx((0.84 * last.tpot, 1.34 * last.tpot))
    ends = [range_factors(found, "ttft")[1]]
    for percentile in (51, 75, 90, 95, 99, 99.9):
        at = latency_tail(*plan(f"concurrency: 32, targets: {{percentile: {percentile}}}"))
        assert at is not None
        ends.append(at.ttft_range[1] / at.ttft)
    assert ends == sorted(ends)
