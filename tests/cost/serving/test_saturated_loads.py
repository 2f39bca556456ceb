"""Open loads near and above the capacity of their engines."""

from __future__ import annotations

from math import inf

import pytest

from clusterspec.cost.serving.constants import RANGES
from clusterspec.cost.serving.latency import ServingTimes, exceeds_capacity, serving_range
from clusterspec.cost.serving.loads import served_pools
from clusterspec.cost.serving.times import serving_pools, serving_times
from tests.cost.serving.test_waits import design
from tests.effort import telling, thorough

HIGH = RANGES["output_tokens_per_second"][1]
SPLIT = ", chunk_tokens: 8192, disaggregated: {prefill: {tp: 2}, decode: {tp: 2}}"
OUTPUT = 256


def times_at(rate: float, rest: str = "") -> ServingTimes:
    found = serving_times(design(1000, f"request_rate: {rate:.12g}{rest}"))
    assert found is not None
    return found


@pytest.fixture(scope="module", params=["", SPLIT], ids=["one kind of engine", "separate engines"])
def plan(request: pytest.FixtureRequest) -> tuple[str, float]:
    """The rest of a load, and the requests a second of which its full engines are predicted capable."""
    full = times_at(100.0, request.param).output_tokens_per_second / OUTPUT
    assert full < 90
    return request.param, full


FIGURES = ("ttft", "ttft_mean", "tpot", "tpot_mean", "request_latency", "output_tokens_per_second", "offered")


@thorough
def test_a_rate_above_the_capacity_has_the_latencies_of_full_engines(plan: tuple[str, float]) -> None:
    """One figure for each overload: of engines whose places are all taken, which no more load fills further."""
    rest, capacity = plan
    one = times_at(1.001 * capacity, rest)
    for factor in (1.04, HIGH, 1.5, 3.0, 30.0):
        other = times_at(factor * capacity, rest)
        assert other.queue_grows
        for name in FIGURES:
            assert getattr(other, name) == getattr(one, name), (name, factor)


def test_the_latencies_reach_those_of_full_engines_at_the_capacity(plan: tuple[str, float]) -> None:
    """A load within a millionth of the capacity has them to a thousandth; the capacity is what full engines finish."""
    rest, capacity = plan
    full = times_at(2 * capacity, rest)
    assert full.output_tokens_per_second == pytest.approx(capacity * OUTPUT, rel=1e-9)
    served = times_at(capacity * (1 - 1e-6), rest)
    assert not served.queue_grows and times_at(capacity * (1 + 1e-6), rest).queue_grows
    for name in FIGURES:
        assert getattr(served, name) == pytest.approx(getattr(full, name), rel=1e-3), name


def test_the_range_of_a_rate_above_the_capacity_is_that_of_full_engines() -> None:
    """Its low end is a plan that serves the rate, its high end one whose full engines are slower. The queue before them
    has no end, and is in neither.
    """
    capacity = times_at(100.0).output_tokens_per_second / OUTPUT
    near, far = times_at(1.04 * capacity), times_at(3 * capacity)
    ends = [serving_range(each, "ttft") for each in (near, far)]
    assert ends[0][0] < ends[1][0] < far.ttft < ends[0][1] == ends[1][1] == RANGES["ttft"][1] * far.ttft


@telling(1)
@pytest.mark.parametrize("factor", [0.5, 0.97, 1.04, 1.5])
def test_the_requests_in_flight_are_those_that_arrive_or_end_within_a_latency(factor: float) -> None:
    """Little's law on both sides of the capacity, with and without a queue."""
    capacity = times_at(100.0).output_tokens_per_second / OUTPUT
    found = times_at(factor * capacity)
    assert found.offered / found.request_latency == pytest.approx(min(1.0, factor) * capacity, rel=0.01)
    assert found.output_tokens_per_second == pytest.approx(min(1.0, factor) * capacity * OUTPUT, rel=0.01)


@thorough
def test_the_first_token_never_comes_sooner_at_more_load(plan: tuple[str, float]) -> None:
    rest, capacity = plan
    found = [times_at(factor * capacity, rest) for factor in (0.3, 0.7, 0.95, 1.01, 1.05, 1.15, 1.19, 1.21, 1.3, 2.0)]
    for name in ("ttft", "ttft_mean"):
        waits = [getattr(one, name) for one in found]
        assert waits == sorted(waits), name


@thorough
def test_a_load_is_above_the_capacity_from_there_on(plan: tuple[str, float]) -> None:
    rest, capacity = plan
    for factor, over in ((0.9, False), (0.99, False), (0.9999, False), (1.0001, True), (1.01, True), (1.25, True)):
        case = design(1000, f"request_rate: {factor * capacity:.9g}{rest}")
        found = serving_times(case)
        assert found is not None and case.workload is not None and case.workload.serving is not None
        assert exceeds_capacity(found, case.workload.serving) == found.queue_grows == over, factor


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
    assert found.queue_grows == above and (found.state.capacity < inf) == above
    if above:  # the places, and the requests before them
        full = served_pools(pools, found.state)
        assert full.load.request_rate == found.state.capacity
        flight = pools.limit + found.state.rate * (found.state.before_decode + pools.outside + found.place.of_all)
        assert found.offered == pytest.approx(flight, rel=0.01)
    else:
        assert served_pools(pools, found.state) is pools
