"""Percentiles of latencies with a wait for a place, where one of both waits is short or both are alike."""

from __future__ import annotations

from math import exp, log

import pytest

from clusterspec.cost.serving.loads import PlaceWait
from clusterspec.cost.serving.percentiles import LEAST_WAITING, _with_wait_for_place


def without_place(median: float, mean: float, share: float) -> float:
    """A latency at a ``share`` above its median, with an exponential tail."""
    return median + mean * log(0.5 / (1 - share))


@pytest.mark.parametrize("waiting", [0.0, LEAST_WAITING / 2])
def test_nobody_waits_for_a_place_where_fewer_do_than_any_percentile(waiting: float) -> None:
    assert _with_wait_for_place(PlaceWait(waiting, 50.0), 2.0, 3.0, 0.99) == 3.0


@pytest.mark.parametrize(("waiting", "share"), [(0.5, 0.95), (1.0, 0.9), (0.2, 0.99)])
def test_a_wait_for_a_place_alone_has_the_tail_of_those_that_wait(waiting: float, share: float) -> None:
    """Without another wait, a share w exp(-t / m) of the requests waits longer than t."""
    found = _with_wait_for_place(PlaceWait(waiting, 4.0), 2.0, 2.0, share)
    assert found == pytest.approx(2.0 + 4.0 * log(waiting / (1 - share)), rel=1e-4)


@pytest.mark.parametrize("share", [0.75, 0.9, 0.99])
def test_a_short_wait_for_a_place_changes_nothing(share: float) -> None:
    found = without_place(2.0, 5.0, share)
    assert _with_wait_for_place(PlaceWait(1.0, 1e-5), 2.0, found, share) == pytest.approx(found, rel=1e-4)


@pytest.mark.parametrize(
    ("waiting", "tails"),
    [
        (1.0, 3.0),  # beyond three means are exp(-3) (1 + 1 + 3) / 2 of the requests
        (0.5, 2.0),  # exp(-2) (0.5 + 0.5 (1 + 1 + 2)) / 2
        (0.25, 4.0),
    ],
)
def test_two_waits_of_one_mean_add_up(waiting: float, tails: float) -> None:
    beyond = exp(-tails) * ((1 - waiting) + waiting * (2 + tails)) / 2
    found = without_place(1.0, 3.0, 1 - beyond)
    assert _with_wait_for_place(PlaceWait(waiting, 3.0), 1.0, found, 1 - beyond) == pytest.approx(
        1.0 + 3.0 * tails, rel=1e-4
    )
