"""The hours that the failures of a year take, as a distribution.

Failures of each class come as a Poisson process, so the hours of a year are a compound Poisson sum. Its distribution is
computed on a lattice by the recursion of Panjer (ASTIN Bulletin 12, 1981, pages 22 to 26), and from `MANY` failures on
by the normal limit. A failure that stops the job takes the restart and, evenly distributed, up to one interval of the
checkpoints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from clusterspec.records import dataclass
from clusterspec.summation import sum_of

MANY = 300
"""At this many failures a year or more, the sum of their hours is treated as normally distributed."""
CELLS = 1000
"""Cells of the lattice."""
PIECES = 16
"""Equal parts in which hours that are evenly distributed are put on the lattice."""
REACH = 8.0
"""Standard deviations above the mean at which the lattice ends."""
NORMAL = {0.05: -1.6448536269514722, 0.5: 0.0, 0.95: 1.6448536269514722}
"""Quantiles of the standard normal distribution by probability."""


@dataclass(frozen=True)
class YearlyLoss:
    """``failures`` expected in a year, each of which takes ``fixed`` hours and up to ``spread`` more, all equally
    likely.
    """

    failures: float
    fixed: float
    spread: float = 0.0

    @property
    def mean(self) -> float:
        """Hours of one failure."""
        return self.fixed + self.spread / 2

    @property
    def square(self) -> float:
        """The mean square of the hours of one failure."""
        return self.mean**2 + self.spread**2 / 12


def first_year_factor(ratio: float, half_life: float, burn_in: float, year: float) -> float:
    """Failures in the first year of a new machine over those of a later year; all times in one unit.

    New parts fail ``ratio`` times as often as later, and half of the excess is gone after each ``half_life``. Failures
    during the ``burn_in`` come before the year begins.

    >>> round(first_year_factor(3.0, 30.0, 0.0, 365.25), 3)
    1.237
    """
    excess = half_life / math.log(2) * (1 - 2 ** (-year / half_life)) / year
    return 1 + (ratio - 1) * 2 ** (-burn_in / half_life) * excess


def hours_lost(losses: Sequence[YearlyLoss]) -> tuple[float, dict[float, float]]:
    """The expected hours of a year, and those that 5, 50 and 95 % of the years do not exceed."""
    mean = sum_of(each.failures * each.mean for each in losses)
    deviation = sum_of(each.failures * each.square for each in losses) ** 0.5
    if not deviation:
        return mean, dict.fromkeys(NORMAL, mean)
    if sum_of(each.failures for each in losses) >= MANY:
        return mean, {share: max(0.0, mean + at * deviation) for share, at in NORMAL.items()}
    longest = max(each.fixed + each.spread for each in losses)
    cell = max(mean + REACH * deviation, longest) / CELLS
    reached, total, quantiles = 0, 0.0, {}
    chances = _lattice_probabilities(losses, cell)
    for share in sorted(NORMAL):
        while total + chances[reached] < share and reached < CELLS:
            total += chances[reached]
            reached += 1
        quantiles[share] = reached * cell
    return mean, quantiles


def _lattice_probabilities(losses: Sequence[YearlyLoss], cell: float) -> list[float]:
    """The probability of each multiple of ``cell`` hours, by the recursion of Panjer."""
    rates = [0.0] * (CELLS + 2)
    for each in losses:
        for piece in range(PIECES):
            place = (each.fixed + each.spread * (piece + 0.5) / PIECES) / cell
            below = int(place)
            rates[below] += each.failures / PIECES * (below + 1 - place)
            rates[below + 1] += each.failures / PIECES * (place - below)
    sizes = [(size, size * rate) for size, rate in enumerate(rates) if size and rate]
    chances = [math.exp(-sum_of(rates[1:]))]
    for at in range(1, CELLS + 1):
        chances.append(sum_of(weight * chances[at - size] for size, weight in sizes if size <= at) / at)
    return chances
