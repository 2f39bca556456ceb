"""The most requests in flight within the targets: whole, and the same wherever they are printed."""

from __future__ import annotations

import pytest

from clusterspec.analysis.levers.boundaries import solve
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.cost.serving.targets import meets_targets
from clusterspec.cost.serving.times import serving_times
from clusterspec.studies import study_text
from tests.effort import sampled, thorough
from tests.settings import SETTINGS

SPEC = """clusterspec: 1
cluster: {{platform: dgx-h100, nodes: 1}}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {{input_tokens: 1000, output_tokens: 200, {load}}}
layout: {{framework: vllm, tp: 2{layout}}}
"""


def text(load: str, layout: str = "") -> str:
    return SPEC.format(load=load, layout=layout)


def planned(load: str, layout: str = "") -> tuple[ServingTimes, bool]:
    """The times at a load, and whether it meets its targets with its requests in the caches."""
    design = study_text(text(load, layout), SETTINGS).design
    found = serving_times(design)
    assert found is not None and design.workload is not None and design.workload.serving is not None
    return found, found.offered <= found.kv_capacity_sequences and meets_targets(found, design.workload.serving)


@pytest.mark.parametrize(
    ("targets", "layout"),
    sampled(
        [
            ("tpot: 12 ms", ""),
            ("tpot: 30 ms, percentile: 90", ""),
            ("ttft: {p95: 400 ms}, itl: {p99: 200 ms}", ""),
            ("ttft: 150 ms", ""),
            ("end_to_end: 4 s", ", attention_dp: 2"),
            ("ttft: 1 h", ""),
        ],
        6,
    ),
)
def test_the_most_requests_within_the_targets_meet_them_and_one_more_does_not(targets: str, layout: str) -> None:
    """`estimate` has the number that `solve` finds, and a plan with it is judged the same."""
    most = planned(f"concurrency: 8, targets: {{{targets}}}", layout)[0].max_concurrency
    assert most is not None and most == round(most) > 1
    at = [planned(f"concurrency: {round(most) + more}, targets: {{{targets}}}", layout)[1] for more in (0, 1)]
    assert at == [True, False]
    found = solve(
        study_text(text(f"concurrency: 8, targets: {{{targets}}}", layout), SETTINGS), "concurrency", "targets"
    )
    assert found.value == most


@thorough
def test_the_concurrency_of_an_open_load_is_that_of_the_highest_rate_within_the_targets() -> None:
    """The plan at the rate that `solve` finds has as many requests in flight, whichever rate the spec has."""
    targets = "targets: {ttft: {p90: 500 ms}, tpot: 30 ms}"
    first, second = (planned(f"request_rate: {rate}, {targets}")[0].max_concurrency for rate in (1, 500))
    assert first is not None and first == pytest.approx(second, rel=1e-3)
    rate = solve(study_text(text(f"request_rate: 1, {targets}"), SETTINGS), "request_rate", "targets").value
    assert isinstance(rate, float)
    assert planned(f"request_rate: {rate:.6g}, {targets}")[0].offered == pytest.approx(first, rel=0.02)
    full = planned("request_rate: 1, targets: {tpot: 1 h}")[0].max_concurrency
    over = planned("request_rate: 10000, targets: {tpot: 1 h}")[0]
    assert full is not None and over.queue_grows and full <= over.state.requests_in_flight(4)


def test_a_target_that_one_request_misses_leaves_none() -> None:
    for load in ("concurrency: 8", "request_rate: 1", "concurrency: 8, load: static", "load: offline"):
        assert planned(f"{load}, targets: {{tpot: 1 us}}")[0].max_concurrency == 0, load
