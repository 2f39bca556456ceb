"""The waits of runs with an end, of records with small numbers."""

from __future__ import annotations

from math import inf, log

import pytest

from clusterspec.cost.serving.runs import MOST_SETS, FiniteRun, OpenRun, smooth_minimum
from tests.designs import changed
from tests.effort import each

ALIKE = FiniteRun(100.0, 25.0, 10.0, 0.1, 0.5, 0.0, 0.0, 0.0, alike=True)
"""100 equal requests, 25 in flight, of which 10 run at once: a prompt each 0.1 s, an end each 0.5 s."""


@each(
    ("changes", "sets"),
    [
        # the second ten wait for the ends of the first ten, 5 s; the last five for two such rounds
        ({}, [(0.1, 5.0, 5.9), (0.05, 10.0, 10.4)]),
        ({"lanes": 3.0}, [(0.1, 5.0, 5.7), (0.05, 10.0, 10.2)]),  # the first prompts of three engines run at once
        ({"concurrency": 20.0}, [(0.1, 5.0, 5.9)]),
        ({"concurrency": 21.0}, [(0.1, 5.0, 5.9), (0.01, 10.0, 10.0)]),
        ({"concurrency": 10.0}, []),
        ({"waves": 2.0}, [(0.2, 5.0, 5.9), (0.1, 10.0, 10.4)]),  # of 50 requests
    ],
)
def test_equal_requests_wait_for_whole_sets(changes: dict[str, float], sets: list[tuple[float, float, float]]) -> None:
    found = changed(ALIKE, changes)._later_sets
    assert [pytest.approx(one) for one in sets] == list(found)


def test_the_last_of_many_sets_holds_all_that_are_left() -> None:
    """One place, and one request more than there are sets: the last two of them end in 0.5 s each."""
    run = ALIKE._replace(places=1.0, requests=1000.0, concurrency=MOST_SETS + 2.0)
    found = run._later_sets
    assert len(found) == MOST_SETS
    assert found[-2] == pytest.approx((1e-3, (MOST_SETS - 1) * 0.5, (MOST_SETS - 1) * 0.5))
    assert found[-1] == pytest.approx((2e-3, MOST_SETS * 0.5, MOST_SETS * 0.5 + 2 * 0.5))
    assert sum(share for share, _, _ in found) == pytest.approx((MOST_SETS + 1) / 1000)


@each(
    ("share", "wait"),
    [(0.5, 0.0), (0.75, 0.0), (0.875, 2 * log(2)), (0.9, 2 * log(2.5)), (0.975, 2 * log(10))],
)
def test_a_quarter_of_the_requests_waits_for_a_place_with_an_exponential_tail(share: float, wait: float) -> None:
    run = OpenRun(200.0, 10.0, 50.0, 0.1, 0.5, waiting=0.25, placing=2.0)
    assert run._wait_for_place(share) == pytest.approx(wait)
    short = run._replace(placed_walk=0.5)
    of_walk = 0.5 * 2.3 * share**1.3
    assert short._wait_for_place(share) == pytest.approx(smooth_minimum(wait, of_walk) if wait else 0.0)


@each(
    ("rate", "turn", "service", "added", "lag"),
    [
        (10.0, 0.2, 0.0, 0.1, 0.0),
        (10.0, 0.05, 0.25, 0.0, 0.15),
        (4.0, 0.2, 0.25, 0.0, 0.0),
        (5.0, 0.25, 0.3, 0.05, 0.1),
    ],
)
def test_a_queue_grows_by_what_ends_and_prompts_take_longer_than_arrivals(
    rate: float, turn: float, service: float, added: float, lag: float
) -> None:
    run = OpenRun(200.0, rate, 50.0, turn, 0.0, service, sooner=2.0)
    assert [run.added_interval, run.lag] == pytest.approx([added, lag])
    assert run.unqueued_requests == pytest.approx(25.0 + (2.0 / added if added else 0.0))


def test_irregular_waits_are_those_for_prompts_and_for_places() -> None:
    run = OpenRun(200.0, 10.0, 50.0, 0.1, 0.5, waiting=0.25, placing=2.0)
    assert run.irregular == 0.5 + 0.25 * 2.0
    assert run._replace(placed_walk=0.5).irregular == pytest.approx(0.5 + smooth_minimum(0.5, 0.5))
    assert run._replace(waiting=0.0).irregular == 0.5
    assert smooth_minimum(0.5, 0.5) < 0.5 < smooth_minimum(0.501, inf)


def test_waves_and_rounds_add_up_to_a_run() -> None:
    """64 requests in flight with a place each start within 6.3 s; a wave ends 20 s behind its last start."""
    run = FiniteRun(192.0, 64.0, 64.0, 0.1, 1.0, 0.0, 0.0, 0.0, cold=2.0)
    assert run.last == pytest.approx(8.3)
    assert run.seconds(20.0, 18.0) == pytest.approx(2 * 20 + 8.3 + 18)
    assert run._replace(waves=3.0).seconds(20.0, 18.0) == pytest.approx(3 * (6.3 + 18) + 2)
    assert run.seconds_of_rounds(20.0, 18.0) == pytest.approx(2 * 20 + 6.3 + 2 + 18)
    half = run._replace(requests=160.0)
    assert half.requests_of_last_round == 32
    assert half.seconds_of_rounds(20.0, 18.0) == pytest.approx(2 * 20 + 6.3 / 2 + 2 + 18)
