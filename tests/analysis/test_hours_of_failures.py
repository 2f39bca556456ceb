"""Hours lost to failures in a year: the distributions of their sums, worked out by hand."""

from __future__ import annotations

from math import exp, factorial, sqrt

import pytest

from clusterspec.analysis.failures.lost_hours import CELLS, PIECES, YearlyLoss, _lattice_probabilities, hours_lost


def test_failures_of_equal_hours_are_a_poisson_number() -> None:
    """0.7 a year of two cells each."""
    chances = _lattice_probabilities([YearlyLoss(0.7, 2.0)], 1.0, 0.0)
    assert len(chances) == CELLS + 1
    for number in range(6):
        assert chances[2 * number] == pytest.approx(exp(-0.7) * 0.7**number / factorial(number))
        assert chances[2 * number + 1] == pytest.approx(0.0, abs=1e-15)


def test_rates_that_vary_make_a_negative_binomial_number() -> None:
    """A variance of 1 / 2 is a gamma factor of shape 2: (k + 1) p² (1 − p)^k with 1 − p = 0.4 / 1.4."""
    chances = _lattice_probabilities([YearlyLoss(0.5, 3.0), YearlyLoss(0.3, 3.0)], 1.0, 0.5)
    stays = 0.4 / 1.4
    for number in range(5):
        assert chances[3 * number] == pytest.approx((number + 1) * (1 - stays) ** 2 * stays**number)


def test_two_kinds_of_failures_add_up() -> None:
    """One of two cells and one of three, 0.2 and 0.3 a year: five cells are one of each."""
    chances = _lattice_probabilities([YearlyLoss(0.2, 2.0), YearlyLoss(0.3, 3.0)], 1.0, 0.0)
    none = exp(-0.5)
    assert chances[:6] == pytest.approx([none, 0.0, 0.2 * none, 0.3 * none, 0.02 * none, 0.06 * none])


def test_hours_between_two_cells_are_shared_by_them() -> None:
    """A failure of 2.25 cells is one of two cells for three quarters, and of three cells for one quarter."""
    chances = _lattice_probabilities([YearlyLoss(0.4, 2.25)], 1.0, 0.0)
    none = exp(-0.4)
    assert chances[:4] == pytest.approx([none, 0.0, 0.3 * none, 0.1 * none])


def test_hours_that_are_spread_evenly_fall_into_all_cells_between() -> None:
    """Each piece lies amid a cell; half of the first one is no loss."""
    chances = _lattice_probabilities([YearlyLoss(0.5, 0.0, float(PIECES))], 1.0, 0.0)
    each_cell = 0.5 / PIECES
    none = exp(-0.5 + each_cell / 2)
    assert chances[0] == pytest.approx(none) and chances[1] == pytest.approx(each_cell * none)


def test_quantiles_of_few_failures_are_those_of_their_number() -> None:
    """Two a year of 5 hours each: none with 0.135, up to two with 0.677, up to five with 0.983, and four with 0.947."""
    mean, quantiles = hours_lost([YearlyLoss(2.0, 5.0)])
    assert mean == pytest.approx(10.0)
    cell = (10 + 8 * sqrt(2 * 25)) / CELLS
    assert quantiles[0.05] == 0.0
    assert quantiles[0.5] == pytest.approx(10.0, abs=2 * cell)
    assert quantiles[0.95] == pytest.approx(25.0, abs=6 * cell)
