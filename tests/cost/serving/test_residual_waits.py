"""Waits behind running services, whose distributions are known in closed form."""

from __future__ import annotations

from math import exp

import pytest

from clusterspec.cost.serving.waits.residual import RunningServices, quantile_behind_services


def test_who_waits_is_behind_the_services_that_run_for_most_of_the_time() -> None:
    """Services of 1 s and 9 s, half of them each: a long one runs in 90 % of the busy time. The mean rest is 82 / 20 s.

    A fifth waits, for 0.82 s on average: exactly the rest of a service. Half of those behind long ones wait for 4.5 s.
    """
    services = [(1.0, 0.5), (9.0, 0.5)]

    def waits(share: float, wait: float = 0.82) -> float:
        return quantile_behind_services([(10.0 + wait, 1.0)], wait, services, 0.2, share)

    assert waits(0.5) == pytest.approx(10.0)
    assert waits(1 - 0.2 * 0.9 / 2) == pytest.approx(14.5)
    assert waits(1 - 0.2 * (0.1 / 2 + 0.9 * 8.5 / 9)) == pytest.approx(10.5)
    assert waits(1.0) == pytest.approx(19.0)
    assert waits(0.99, 1.64) > 19.0, "twice the wait: others are served before"


@pytest.mark.parametrize(
    ("over", "beyond"),
    [  # of the residual time of each service: 1 s of it a quarter of the time, 2 s and 4 s as often
        (0.0, 1.0),
        (0.5, 0.25 * 0.5 + 0.25 * 0.75 + 0.5 * 0.875),
        (1.0, 0.25 * 0.5 + 0.5 * 0.75),
        (3.0, 0.5 * 0.25),
        (4.0, 0.0),
        (5.0, 0.0),
    ],
)
def test_the_rest_of_a_service_is_any_part_of_it(over: float, beyond: float) -> None:
    running = RunningServices.of([(4.0, 0.5), (1.0, 0.25), (2.0, 0.25)], 0.0)
    assert running.share_beyond(over) == pytest.approx(beyond)


def test_an_exponential_time_follows_the_rest_of_each_service() -> None:
    """Mean 2 s after services of 1 s and 4 s: at 3 s the first has ended, the second leaves more a quarter of the time.

    An even part of s seconds ends at u; the exponential time lasts for more than 3 - u with exp(-(3 - u) / 2).
    """
    running = RunningServices.of([(1.0, 0.4), (4.0, 0.6)], 2.0)
    first = 2.0 * (exp(-1.0) - exp(-1.5)) / 1.0
    second = 0.25 + 2.0 * (1.0 - exp(-1.5)) / 4.0
    assert running.share_beyond(3.0) == pytest.approx(0.4 * first + 0.6 * second)


def test_a_vanishing_time_after_the_service_changes_nothing() -> None:
    services = [(1e-3, 0.5), (5.0, 0.5)]
    bare, followed = (RunningServices.of(services, further) for further in (0.0, 1e-12))
    for over in (0.0, 5e-4, 1.0, 4.9, 6.0):
        assert followed.share_beyond(over) == pytest.approx(bare.share_beyond(over), abs=1e-9)
