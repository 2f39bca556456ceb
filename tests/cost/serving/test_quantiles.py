"""Quantiles and zeros, for distributions whose values are known in closed form."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log, sqrt

import pytest

from clusterspec.cluster.requests import Lengths
from clusterspec.cost.serving.loads import WALK
from clusterspec.cost.serving.quantiles import (
    PARTS,
    Point,
    _part_to_zero,
    beta_share,
    bisected_interval,
    clustered_quantile,
    compound_share,
    first_fixed_point,
    lengths_in_parts,
    normal_quantile,
    poisson_quantile,
    quantile_of_sums,
    secant_part,
    smallest_reaching,
)


@pytest.mark.parametrize(
    ("share", "value"), [(0.0227501, -2.0), (0.1586553, -1.0), (0.5, 0.0), (0.8413447, 1.0), (0.9986501, 3.0)]
)
def test_a_standard_normal_variable_has_its_tabulated_quantiles(share: float, value: float) -> None:
    assert normal_quantile(share) == pytest.approx(value, abs=2e-6)


@pytest.mark.parametrize(
    ("mean", "share", "count"),
    [  # with mean 1: 0.3679, 0.7358, 0.9197, 0.9810; with mean 3: 0.0498, 0.1991, 0.4232, 0.6472
        (1.0, 0.367, 0),
        (1.0, 0.369, 1),
        (1.0, 0.735, 1),
        (1.0, 0.737, 2),
        (1.0, 0.980, 3),
        (3.0, 0.049, 0),
        (3.0, 0.42, 2),
        (3.0, 0.43, 3),
        (3.0, 0.65, 4),
    ],
)
def test_a_poisson_variable_has_its_tabulated_quantiles(mean: float, share: float, count: int) -> None:
    assert poisson_quantile(mean, share) == count


def test_lengths_in_parts_have_all_requests_and_no_length_beyond_the_cut() -> None:
    """The first of 24 parts has 1 − (23 / 24)² = 47 / 576 of the requests, the last 1 / 576."""
    parts = lengths_in_parts(Lengths(1000, 3000, None))
    assert len(parts) == PARTS == 24
    assert [share * 576 for _, share in parts] == pytest.approx(range(47, 0, -2))
    assert [length for length, _ in parts] == sorted(length for length, _ in parts)
    assert sum(length * share for length, share in parts) == pytest.approx(1000, rel=0.01)
    assert max(length for length, _ in lengths_in_parts(Lengths(1000, 3000, 2500))) == 2500
    assert {round(length, 6) for length, _ in lengths_in_parts(Lengths(1, 1, None))} == {1.0}


def test_a_sum_of_poisson_events_is_about_normal_where_there_are_many() -> None:
    """10,000 events of size 1: mean 10,000, standard deviation 100; of variable sizes √2 times that."""
    assert compound_share(-1e-9, 10.0, 1.0) == 0.0
    for spread, deviation in ((1.0, 100.0), (2.0, 100 * sqrt(2))):
        for away, share in ((-1.0, 0.1587), (0.0, 0.5), (2.0, 0.9772)):
            assert compound_share(1e4 + away * deviation, 1e4, spread) == pytest.approx(share, abs=5e-3)


@pytest.mark.parametrize(
    ("value", "first", "second", "share"),
    [
        (0.3, 3.0, 1.0, 0.027),  # x³
        (0.3, 1.0, 3.0, 0.657),  # 1 − (1 − x)³
        (0.25, 2.0, 2.0, 0.15625),  # 3 x² − 2 x³
        (0.75, 2.0, 2.0, 0.84375),
        (0.1, 3.0, 2.0, 0.0037),  # 4 x³ − 3 x⁴
        (0.25, 0.5, 0.5, 1 / 3),  # 2 / π · asin √x
        (0.0, 2.0, 2.0, 0.0),
        (1.0, 2.0, 2.0, 1.0),
        (1.5, 2.0, 2.0, 1.0),
        (0.5, 1e-10, 3e-10, 0.75),
    ],
)
def test_a_beta_variable_has_its_closed_forms(value: float, first: float, second: float, share: float) -> None:
    assert beta_share(value, first, second) == pytest.approx(share, rel=1e-7)


def test_a_quantile_of_sums_is_that_of_one_shifted_exponential() -> None:
    """A wait of 2 s at the median has a tail of mean 2 s from 2 · (1 − ln 2) = 0.61 s on, within a time of 10 s."""
    for share in (0.5, 0.9, 0.99):
        wanted = 10 - 2 + 2 * (1 - log(2)) - 2 * log(1 - share)
        assert quantile_of_sums([(10.0, 1.0)], 2.0, share) == pytest.approx(wanted)
    assert quantile_of_sums([(10.0, 1.0)], 2.0, 0.5) == pytest.approx(10)
    assert quantile_of_sums([(1.0, 0.6), (5.0, 0.4)], 0.0, 0.5) == pytest.approx(1)
    assert quantile_of_sums([(1.0, 0.6), (5.0, 0.4)], 0.0, 0.7) == pytest.approx(5)


def test_the_smallest_value_is_found_inside_and_beyond_the_given_ends() -> None:
    for wanted, low, high in ((3.0, 0.0, 4.0), (3.0, 0.0, 1.0), (300.0, 0.0, 1.0), (3.0, 0.0, 0.0), (5.0, 2.0, 2.0)):
        assert smallest_reaching(lambda x, w=wanted: x / w, 1.0, low, high) == pytest.approx(wanted, rel=1e-6)  # type: ignore[misc]
    assert smallest_reaching(lambda x: x, 0.3, 0.0, 1.0, 2) == 0.5
    assert smallest_reaching(lambda x: x, 0.3, 0.0, 1.0, 4) == 0.3125
    assert smallest_reaching(lambda x: x, 1.0, 0.0, 1.0) == 1.0
    assert smallest_reaching(lambda x: (x >= 0.3) / 2 + (x >= 0.7) / 2, 0.5, 0.0, 1.0) == pytest.approx(0.3)  # a level


def test_the_quantile_of_a_continuous_distribution_takes_few_evaluations() -> None:
    """That of an exponential variable, by interpolation; halvings alone would take 27 to one in 10⁸."""
    tried: list[float] = []

    def within(value: float) -> float:
        tried.append(value)
        return 1 - exp(-value)

    assert smallest_reaching(within, 0.99, 0.0, 10.0) == pytest.approx(log(100), rel=2e-8)
    assert len(tried) <= 16


@pytest.mark.parametrize(
    ("taken", "gained", "part"),
    [
        (1.0, 0.5, 2.0),
        (3.0, 2.0, 1.5),
        (1.0, 0.1, 4.0),
        (1.0, 4.0, 0.5),
        (-1.0, -0.5, 2.0),
        (1.0, -1.0, 4.0),
        (0, 1, 1),
    ],
)
def test_a_secant_step_is_the_last_step_over_its_gain(taken: float, gained: float, part: float) -> None:
    assert secant_part(taken, gained, (0.5, 4.0)) == part
    assert secant_part(1.0, 0.0, (0.5, 4.0)) == 1.0


@pytest.mark.parametrize(
    ("function", "wanted", "steps"),
    [
        (lambda x: 1 + x / 2, 2.0, 4),
        (lambda x: 2 + x * x / 10, 5 - sqrt(5), 8),  # the first of 5 ± √5
        (lambda x: 8 * sqrt(x + 1), 32 + sqrt(1088), 9),  # x² = 64 x + 64
        (lambda x: 10 + 0.99 * x, 100.0, 5),  # beyond the largest argument
        (lambda x: 0.0005, 0.0005, 3),  # below the first
        (lambda x: 3.0 + (x > 5) * 4, 3.0, 4),
        (lambda x: 1 + 0.9 * x - (x > 6) * 4, 6.0, 40),  # it falls from above its argument to below
    ],
)
def test_the_first_fixed_point_of_a_function_takes_few_evaluations(
    function: Callable[[float], float], wanted: float, steps: int
) -> None:
    tried: list[float] = []

    def counted(x: float) -> float:
        tried.append(x)
        return function(x)

    found = first_fixed_point(counted, 0.001, 100.0, 1e-7)
    assert found == pytest.approx(wanted, rel=1e-6) and found in tried
    assert len(tried) <= steps


def line(x: float) -> Point:
    return x, 2 * (x - 3)


def test_the_zero_of_a_line_and_of_an_inverse_parabola_is_presumed_exactly() -> None:
    """From (8, 10) to (0, −6) the zero of 2 (x − 3) is 5 / 8 of the way; x = y² + 6 y + 5 is 5 at y = 0."""
    assert _part_to_zero(line(8), line(0), line(0)) == pytest.approx(5 / 8)
    assert _part_to_zero(line(4), line(0), line(8)) == pytest.approx(1 / 4)
    newest, opposite, former = ((y * y + 6 * y + 5, y) for y in (0.5, -0.5, 1.0))
    wanted = (newest[0] - 5) / (newest[0] - opposite[0])
    assert _part_to_zero(newest, opposite, former) == pytest.approx(wanted)
    for other in ((1.0, inf), (1.0, -inf)):
        assert _part_to_zero((2.0, 1.0), other, (3.0, 2.0)) == 0.5
    assert _part_to_zero((2.0, 1.0), (1.0, -1.0), (3.0, -1.0)) == 0.5  # two points of one height: no parabola


def test_a_bracketing_search_encloses_the_zero_and_needs_fewer_calls_than_halving() -> None:
    calls = []

    def rising(x: float) -> float:
        calls.append(x)
        return exp(x) - 20

    start, end = bisected_interval(rising, (0.0, -19.0), (8.0, exp(8) - 20), 30)
    assert start <= log(20) <= end and end - start == pytest.approx(8 / 2**30)
    assert len(calls) < 20
    start, end = bisected_interval(rising, (0.0, -19.0), (8.0, exp(8) - 20), 30, 0.1)
    assert start <= log(20) <= end and 0.01 * end < end - start < 0.1 * end
    assert bisected_interval(lambda x: x - 1, (0.0, -1.0), (8.0, inf), 3) == (1.0, 2.0)


def test_a_random_walk_of_prompts_waits_two_thirds_of_its_mean_distance() -> None:
    assert pytest.approx(0.5319230, abs=1e-6) == WALK


def test_a_share_that_no_count_reaches_ends_after_twenty_deviations() -> None:
    """4 + 20 x 2 + 20 events at random; one cluster of 2: 20 x 2 x (1 + 1 + 1)."""
    assert poisson_quantile(4.0, 1.5) == 64
    assert clustered_quantile(2.0, 2.0, 1.5) == 120
