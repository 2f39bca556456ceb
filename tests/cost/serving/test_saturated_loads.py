"""Open loads near and above the capacity of their engines, which is predicted to some ten percent only."""

from __future__ import annotations

import pytest

from clusterspec.cost.serving.constants import RANGES
from clusterspec.cost.serving.latency import ServingTimes, exceeds_capacity, may_serve, serving_range
from clusterspec.cost.serving.loads import in_flight_at_capacity
from clusterspec.cost.serving.percentiles import latency_at, latency_range
from clusterspec.cost.serving.times import serving_pools, serving_times
from tests.cost.serving.test_waits import design

HIGH = RANGES["output_tokens_per_second"][1]
SPLIT = ", chunk_tokens: 8192, disaggregated: {prefill: {tp: 2}, decode: {tp: 2}}"
OUTPUT = 256


def times_at(rate: float, rest: str = "") -> ServingTimes:
    found = serving_times(design(1000, f"request_rate: {rate:.6g}{rest}"))
    assert found is not None
    return found


@pytest.fixture(scope="module", params=["", SPLIT], ids=["one kind of engine", "separate engines"])
def plan(request: pytest.FixtureRequest) -> tuple[str, float]:
    """The rest of a load, and the requests a second of which its full engines are predicted capable."""
    full = times_at(100.0, request.param).output_tokens_per_second / OUTPUT
    assert full < 90
    return request.param, full


def test_a_rate_a_few_percent_above_the_predicted_capacity_has_the_latencies_of_full_engines(
    plan: tuple[str, float],
) -> None:
    """Engines may be faster by as much as their throughput is uncertain. No queue is added that has no end."""
    rest, capacity = plan
    one, other = times_at(1.04 * capacity, rest), times_at(0.99 * HIGH * capacity, rest)
    assert one.ttft <= other.ttft <= 1.1 * one.ttft
    assert one.ttft_mean <= other.ttft_mean <= 1.1 * one.ttft_mean


def test_a_rate_above_the_high_end_of_the_capacity_has_the_queue() -> None:
    """It grows in proportion to the excess of the rate over the capacity."""
    capacity = times_at(100.0).output_tokens_per_second / OUTPUT
    near, over, twice = (times_at(factor * HIGH * capacity).ttft for factor in (0.99, 1.25, 1.5))
    assert near < over < twice
    assert twice - over == pytest.approx(0.25 / (1.25 - 1 / HIGH) * (over - near), rel=0.1)


def test_the_range_of_a_rate_slightly_above_the_capacity_holds_the_queue_of_slower_engines() -> None:
    capacity = times_at(100.0).output_tokens_per_second / OUTPUT
    found = times_at(1.04 * capacity)
    low, high = serving_range(found, "ttft")
    assert low < found.ttft < high
    assert high > times_at(1.25 * capacity).ttft > 10 * found.ttft


def test_the_range_of_a_percentile_is_that_of_the_percentile_of_plans_with_other_times() -> None:
    """The queue of slower engines is added to the wait of the slowest percent, which is ten times the median or more
    here: it does not grow as often as the median does.
    """
    capacity = times_at(100.0).output_tokens_per_second / OUTPUT
    case = design(1000, f"request_rate: {1.04 * capacity:.6g}")
    found = serving_times(case)
    assert found is not None and found.stretched is not None and case.workload and case.workload.serving
    load = case.workload.serving
    median, (low, high) = serving_range(found, "ttft")[1], latency_range(found, load, "ttft", 99)
    assert low < 0.7 * latency_at(found, load, "ttft", 99) < latency_at(found, load, "ttft", 99) < high
    assert high < 6 * median < median / found.ttft * latency_at(found, load, "ttft", 99)
    ends = [each * latency_at(found.stretched.times_with(each), load, "ttft", 99) for each in (0.7, 1.5)]
    assert low > ends[0] / 2 and high < 2 * ends[1]


@pytest.mark.parametrize("factor", [0.5, 0.97, 1.04, 1.5])
def test_the_requests_in_flight_are_those_that_arrive_or_end_within_a_latency(factor: float) -> None:
    """Little's law on both sides of the capacity, with and without a queue."""
    capacity = times_at(100.0).output_tokens_per_second / OUTPUT
    found = times_at(factor * capacity)
    assert found.offered / found.request_latency == pytest.approx(min(1.0, factor) * capacity, rel=0.01)
    assert found.output_tokens_per_second == pytest.approx(min(1.0, factor) * capacity * OUTPUT, rel=0.01)


def test_the_first_token_never_comes_sooner_at_more_load(plan: tuple[str, float]) -> None:
    rest, capacity = plan
    found = [times_at(factor * capacity, rest) for factor in (0.3, 0.7, 0.95, 1.01, 1.05, 1.15, 1.19, 1.21, 1.3, 2.0)]
    for name in ("ttft", "ttft_mean"):
        waits = [getattr(one, name) for one in found]
        assert waits == sorted(waits), name


def test_a_load_above_the_capacity_is_above_it_with_or_without_its_queue(plan: tuple[str, float]) -> None:
    rest, capacity = plan
    for factor, over, served in (
        (0.9, False, True),
        (0.99, False, True),
        (1.01, True, True),
        (1.1, True, True),
        (1.25, True, False),
    ):
        case = design(1000, f"request_rate: {factor * capacity:.6g}{rest}")
        found = serving_times(case)
        assert found is not None and case.workload is not None and case.workload.serving is not None
        assert exceeds_capacity(found, case.workload.serving) == found.queue_grows == over
        assert may_serve(found, case.workload.serving) == served


@pytest.mark.parametrize(
    ("load", "above"),
    [
        ("request_rate: 25", True),
        ("request_rate: 5", False),
        ("request_rate: 25, requests: 200", False),
        ("concurrency: 2000", False),
    ],
)
def test_only_an_open_load_without_an_end_can_be_above_the_capacity(load: str, above: bool) -> None:
    """A run of stated requests ends, and so does its queue; a loop sends no more than is answered."""
    case = design(1000, load)
    pools, found = serving_pools(case), serving_times(case)
    assert pools is not None and found is not None
    flight = in_flight_at_capacity(pools, found.state)
    assert (flight is not None) == above
    if flight is not None:  # the places, and the requests before them
        assert flight == pytest.approx(pools.limit + found.state.rate * (found.state.before_decode + pools.outside))
