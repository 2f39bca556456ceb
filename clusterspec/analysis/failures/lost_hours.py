"""The hours that the failures of a year take, as a distribution.

Failures of each class arrive as a Poisson process, so the hours of a year are a compound Poisson sum. Its distribution
is computed on a lattice by the recursion of Panjer (ASTIN Bulletin 12, 1981, pages 22 to 26), and from `MANY` failures
on by the normal limit. Where the rates themselves are uncertain, all of them vary together by a factor with a gamma
distribution: the number of failures is then negative binomial, for which the same recursion holds, and from `MANY`
failures on the hours are close to a gamma distribution (quantiles by Wilson and Hilferty, PNAS 17, 1931). A failure
that stops the job takes the restart and, evenly distributed, up to one interval of the checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from clusterspec.records import dataclass
from clusterspec.standard import sum_of

MANY = 300
"""At this many failures a year or more, the sum of their hours is treated as normally distributed."""
CELLS = 1000
"""Cells of the lattice."""
PIECES = 16
"""Number of equal parts by which uniformly distributed hours are approximated on the lattice."""
REACH = 8.0
"""Standard deviations above the mean at which the lattice ends."""
NORMAL = {0.05: -1.6448536269514722, 0.5: 0.0, 0.95: 1.6448536269514722}
"""Quantiles of the standard normal distribution by probability."""


@dataclass(frozen=True)
class YearlyLoss:
    """The ``failures`` expected per year. Each takes ``fixed`` hours, plus between 0 and ``spread`` hours with uniform
    distribution.
    """

    failures: float
    fixed: float
    spread: float = 0.0

    @property
    def mean(self) -> float:
        """Hours of one failure."""
        return self.fixed + self.spread / 2

    @property
    def mean_square_hours(self) -> float:
        """The mean square of the hours of one failure."""
        return self.mean**2 + self.spread**2 / 12


def first_year_factor(ratio: float, half_life: float, burn_in: float, year: float) -> float:
    """The ratio of failures in the first year of a new machine to failures in a later year; all times are in one unit.

    New parts fail ``ratio`` times as often as later, and half of the excess is gone after each ``half_life``. Failures
    during the ``burn_in`` come before the year begins.

    >>> round(first_year_factor(3.0, 30.0, 0.0, 365.25), 3)
    1.237
    """
    excess = half_life / math.log(2) * (1 - 2 ** (-year / half_life)) / year
    return 1 + (ratio - 1) * 2 ** (-burn_in / half_life) * excess


def rate_variance(yearly: float, low: float, high: float) -> float:
    """The variance of a rate over the square of its mean, where 5 % of rates are below ``low`` and 5 % above ``high``.

    The rate is taken as log-normal; with a low end of 0, by the distance of the high end from the mean.

    >>> round(rate_variance(1.0, 0.5, 2.0), 3), rate_variance(1.0, 1.0, 1.0)
    (0.194, 0.0)
    """
    if not yearly or high <= low:
        return 0.0
    spread = math.log(high / low) / 2 if low else math.log(max(1.0, high / yearly))
    return math.exp((spread / NORMAL[0.95]) ** 2) - 1


def hours_lost(losses: Sequence[YearlyLoss], variance: float = 0.0) -> tuple[float, dict[float, float]]:
    """The expected hours lost per year, and their 5th, 50th and 95th percentile over years. ``variance`` applies to the
    common factor of the rates, whose mean is 1.
    """
    mean = sum_of(each.failures * each.mean for each in losses)
    deviation = (sum_of(each.failures * each.mean_square_hours for each in losses) + variance * mean**2) ** 0.5
    if not deviation:
        return mean, dict.fromkeys(NORMAL, mean)
    if sum_of(each.failures for each in losses) >= MANY:
        return mean, {share: _hours_quantile(mean, deviation, at, gamma=variance > 0) for share, at in NORMAL.items()}
    longest = max(each.fixed + each.spread for each in losses)
    cell = max(mean + REACH * deviation, longest) / CELLS
    reached, total, quantiles = 0, 0.0, {}
    chances = _lattice_probabilities(losses, cell, variance)
    for share in sorted(NORMAL):
        while total + chances[reached] < share and reached < CELLS:
            total += chances[reached]
            reached += 1
        quantiles[share] = reached * cell
    return mean, quantiles


def _hours_quantile(mean: float, deviation: float, at: float, *, gamma: bool) -> float:
    """A quantile ``at`` standard deviations of the normal distribution, or of the gamma distribution."""
    if not gamma:
        return max(0.0, mean + at * deviation)
    ninth = (deviation / mean) ** 2 / 9
    return mean * max(0.0, 1 - ninth + at * math.sqrt(ninth)) ** 3


def _lattice_probabilities(losses: Sequence[YearlyLoss], cell: float, variance: float) -> list[float]:
    """The probability of each multiple of ``cell`` hours, by the recursion of Panjer."""
    rates = [0.0] * (CELLS + 2)
    for each in losses:
        for piece in range(PIECES):
            place = (each.fixed + each.spread * (piece + 0.5) / PIECES) / cell
            below = int(place)
            rates[below] += each.failures / PIECES * (below + 1 - place)
            rates[below + 1] += each.failures / PIECES * (place - below)
    counted, shrunk = sum_of(rates[1:]), 1 + variance * sum_of(rates[1:])
    first = shrunk ** (-1 / variance) if variance else math.exp(-counted)
    sizes = [(size, size * rate / shrunk, variance * rate / shrunk) for size, rate in enumerate(rates) if size and rate]
    chances = [first]
    for at in range(1, CELLS + 1):
        terms = (
            chances[at - size] * (weight / at + more * (1 - size / at)) for size, weight, more in sizes if size <= at
        )
        chances.append(sum_of(terms))
    return chances
