"""Quantiles of the times of requests, and the zeros of rising functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import erf, exp, inf, lgamma, log, log1p, sqrt

from clusterspec.cluster.requests import Lengths, Serving
from clusterspec.standard import recent

PARTS = 24
"""Parts of a distribution of lengths; the last has the longest 1/576 of the requests."""
HALVINGS, NARROW = 40, 1e-8
"""The most bisection steps of a quantile, and the relative width at which they end."""
LEAST = 5e-324
"""The least positive number."""
TERMS, CLOSE = 400, 1e-9
"""Terms of a continued fraction, and the relative change at which it ends."""


def lengths_in_parts(lengths: Lengths) -> list[tuple[float, float]]:
    """The middle lengths of `PARTS` parts of a distribution, each with its share; the longest in the smallest."""
    edges = [1 - (1 - place / PARTS) ** 2 for place in range(PARTS + 1)]
    middle = log(lengths.mean) - lengths.log_deviation**2 / 2
    most = lengths.most or inf
    return [
        (max(1.0, min(most, exp(middle + lengths.log_deviation * normal_quantile((low + high) / 2)))), high - low)
        for low, high in pairwise(edges)
    ]


@recent(64)
def length_in_progress(lengths: Lengths) -> float:
    """The mean length in tokens of the outputs in progress at a time: the mean square of the lengths over their mean,
    since an output of twice the length is in progress for twice as long.

    >>> round(length_in_progress(Lengths(1000, 4000, None))), round(length_in_progress(Lengths(1000, 4000, 4000)))
    (1636, 1523)
    """
    deviation, most = lengths.log_deviation, float(lengths.most or inf)

    def moment(order: int) -> float:
        whole = float(lengths.mean) ** order * exp(order * (order - 1) / 2 * deviation * deviation)
        if most == inf or not deviation:
            return whole
        below = log(most / lengths.mean) / deviation + deviation / 2
        return whole * _normal_share(below - order * deviation) + most**order * (1 - _normal_share(below))

    return moment(2) / moment(1)


def decoded_tokens(load: Serving) -> float:
    """Mean tokens that the requests in progress have output so far: half of their outputs. Long outputs are in progress
    more often, unless all requests start together.
    """
    varied = load.output_lengths if load.load != "static" else None
    return (length_in_progress(varied) if varied else float(load.output_tokens)) / 2


@recent(64)
def longest_over_mean(lengths: Lengths, count: float) -> float:
    """The mean of the longest of ``count`` lengths of a distribution, over the mean length.

    >>> some = Lengths(1000, 3000, None)
    >>> round(longest_over_mean(some, 1.0), 2), round(longest_over_mean(some, 8.0), 2)
    (1.0, 1.95)
    """
    found = below = reached = 0.0
    for length, share in lengths_in_parts(lengths):
        reached = min(1.0, reached + share)
        found += length * (reached**count - below)
        below = reached**count
    return found / lengths.mean


@lru_cache(maxsize=256)  # every plan of a search asks for the same shares
def normal_quantile(share: float) -> float:
    """The value that a standard normal variable does not exceed with a probability between 0 and 1.

    >>> round(normal_quantile(0.99), 6), normal_quantile(0.5)
    (2.326348, 0.0)
    """
    low, high = -8.0, 8.0
    for _ in range(HALVINGS + 10):
        middle = (low + high) / 2
        if middle in (low, high) or _normal_share(middle) == share:
            return middle
        low, high = (middle, high) if _normal_share(middle) < share else (low, middle)
    return (low + high) / 2


def _normal_share(value: float) -> float:
    return (1 + erf(value / sqrt(2))) / 2


ENOUGH, MOST_TERMS = 1e-12, 2000
"""A series ends at a term that is this share of its sum, or after so many."""


def poisson_quantile(mean: float, share: float) -> int:
    """The count that a Poisson variable does not exceed with probability ``share``.

    >>> poisson_quantile(0.02, 0.99), poisson_quantile(0.005, 0.99), poisson_quantile(2.0, 0.5)
    (1, 0, 2)
    """
    count, term = 0, exp(-mean)
    total = term
    while total < share and count < mean + 20 * sqrt(mean) + 20:
        count += 1
        term *= mean / count
        total += term
    return count


def clustered_quantile(mean: float, size: float, share: float) -> int:
    """The count that clusters at random, ``mean`` events in all, do not exceed with probability ``share``.

    A cluster has ``size`` events on average, and one more always with the same probability. With a size of 1 it is
    `poisson_quantile`.

    Source: Johnson, Kemp and Kotz, Univariate discrete distributions, 2005, section 9.7 (Polya-Aeppli).

    >>> clustered_quantile(2.0, 1.0, 0.5), clustered_quantile(0.1, 4.0, 0.97), clustered_quantile(0.1, 4.0, 0.99)
    (2, 0, 4)
    """
    if size <= 1:
        return poisson_quantile(mean, share)
    clusters, more = mean / size, 1 - 1 / size
    before, now = 0.0, exp(-clusters)
    count, total, most = 0, now, 20 * size * (clusters + sqrt(clusters) + 1)
    while total < share and count < most:
        count += 1
        first = clusters * (1 - more) + 2 * more * (count - 1)
        before, now = now, (first * now - more * more * (count - 2) * before) / count
        total += now
    return count


def gamma_share(value: float, shape: float) -> float:
    """The probability that a gamma variable of a shape, with a scale of 1, is at most ``value``.

    Source: NIST Digital Library of Mathematical Functions, 8.11.4.

    >>> round(gamma_share(1.0, 1.0), 9) == round(1 - exp(-1), 9), round(gamma_share(0.25, 0.5), 6)
    (True, 0.5205)
    """
    if value <= 0:
        return 0.0
    term = total = 1 / shape
    count = 0
    while term > ENOUGH * total and count < MOST_TERMS:
        count += 1
        term *= value / (shape + count)
        total += term
    return min(1.0, total * exp(shape * log(value) - value - lgamma(shape)))


def compound_share(value: float, mean: float, spread: float) -> float:
    """The probability that a count of Poisson events, each of a size with mean 1, sums to at most ``value``.

    ``spread`` is one plus the squared variation of the sizes. By the normal limit of the cube root of a gamma variable
    (Wilson and Hilferty, Proc. Nat. Acad. Sci. 17, 1931).
    """
    if value < 0:
        return 0.0
    ninth = spread / (9 * mean)
    return _normal_share(((value / mean) ** (1 / 3) - 1 + ninth) / sqrt(ninth))


ALL_AT_THE_ENDS = 1e-9
"""A beta variable with a parameter below this is 0 or 1, with the probabilities that its mean gives."""


def beta_share(value: float, first: float, second: float) -> float:
    """The probability that a beta variable with the parameters ``first`` and ``second`` is at most ``value``.

    Source: NIST Digital Library of Mathematical Functions, 8.17.22, by the method of Lentz (Applied Optics 15, 1976).

    >>> round(beta_share(0.25, 1.0, 1.0), 9), round(beta_share(0.5, 2.0, 1.0), 9), round(beta_share(0.5, 0.5, 0.5), 9)
    (0.25, 0.25, 0.5)
    """
    if value <= 0 or value >= 1:
        return float(value >= 1)
    if min(first, second) < ALL_AT_THE_ENDS:
        return second / (first + second)
    if value > (first + 1) / (first + second + 2):
        return 1 - beta_share(1 - value, second, first)
    front = lgamma(first + second) - lgamma(first) - lgamma(second) + first * log(value) + second * log1p(-value)
    return exp(front) / (first * _beta_fraction(value, first, second))


def _beta_fraction(value: float, first: float, second: float) -> float:
    """The continued fraction of `beta_share`, the denominator of its first term."""
    found, above, below = 1.0, 1.0, 0.0
    for place in range(1, TERMS):
        half, at = place // 2, first + place
        if place % 2:
            term = -(first + half) * (first + second + half) * value / ((at - 1) * at)
        else:
            term = half * (second - half) * value / ((at - 1) * at)
        above, below = 1 + term / above, 1 / (1 + term * below)
        found *= above * below
        if abs(above * below - 1) < CLOSE:
            break
    return found


def quantile_of_sums(parts: list[tuple[float, float]], wait: float, share: float) -> float:
    """The quantile of a wait plus one of several times, drawn with the given shares.

    The wait has an exponential tail that is ``wait`` at the median, as in `wait_above_median`; the times contain it.
    """
    least = wait * (1 - log(2))

    def share_within(seconds: float) -> float:
        found = 0.0
        for value, part in parts:
            over = seconds - value + wait
            if over >= least:
                found += part * (1 - exp(-(over - least) / wait) if wait else 1.0)
        return found

    low = min(value for value, _ in parts) - wait
    return smallest_reaching(share_within, share, low, max(value for value, _ in parts) + wait)


def smallest_reaching(
    within: Callable[[float], float], share: float, low: float, high: float, halvings: int = HALVINGS
) -> float:
    """The smallest value for which a rising function reaches ``share``, from ``low``."""

    def excess(value: float) -> float:
        return within(value) - share or LEAST  # a value that reaches it exactly is no longer below

    step, above, below = high - low or abs(high) or 1.0, excess(high), -inf
    for _ in range(HALVINGS):
        if above > 0:
            break
        low, high, step, below = high, high + step, 2 * step, above
        above = excess(high)
    return bisected_interval(excess, (low, below), (high, above), halvings, NARROW)[1]


def secant_part(taken: float, gained: float, ends: tuple[float, float]) -> float:
    """The fraction of the difference between a function and its argument by which the argument moves toward their
    equality, within ``ends``; the last step of ``taken`` reduced the difference by ``gained``.

    >>> secant_part(1.0, 0.5, (1.0, 4.0)), secant_part(0.0, 0.0, (1.0, 4.0)), secant_part(1.0, -0.5, (0.1, 1.0))
    (2.0, 1.0, 1.0)
    """
    low, high = ends
    if not taken or not gained:
        return 1.0
    return max(low, min(high, taken / gained)) if taken / gained > 0 else high


MOST_PART = 16.0
"""The largest step to a fixed point that is not enclosed yet, as a multiple of the difference there."""
STEPS = 80
"""The most steps to a fixed point."""


def first_fixed_point(function: Callable[[float], float], near: float, most: float, close: float) -> float:
    """The first argument that equals a rising function of it, within ``close`` of itself; ``most`` if the function is
    larger everywhere below. The search starts at ``near``.

    It follows the secant through the last two points. The first fixed point of a convex function lies beyond the fixed
    point of each earlier secant. A concave function has only one, which the points enclose.

    >>> round(first_fixed_point(lambda x: 1 + x / 2, 0.001, 9.0, 1e-9), 6)
    2.0
    >>> first_fixed_point(lambda x: x + 1, 0.001, 9.0, 1e-9)
    9.0
    """
    low, high, value, former = 0.0, inf, near, (0.0, inf)
    for number in range(STEPS + 1):
        missing = function(value) - value
        if abs(missing) <= close * value or (missing > 0 and value >= most) or number == STEPS:
            break
        low, high = (value, high) if missing > 0 else (low, value)
        if low >= high * (1 - close):  # the function jumps
            return low
        ends, slow = (1.0, MOST_PART) if high == inf else (0.0, inf), abs(missing) > abs(former[1]) / 2
        part = secant_part(value - former[0], former[1] - missing, ends) if number else 1.0
        former, value = (value, missing), min(most, value + part * missing)
        if not low < value < high or (slow and low and high < inf):
            value = (low + high) / 2
    return value


Point = tuple[float, float]
"""An argument, and the value of a function there; infinite if only the sign of the value is known."""
NEAR = 0.05
"""Offset of a trial value from the presumed zero, to enclose it, as a share of the last interval of a bisection."""


def bisected_interval(
    function: Callable[[float], float], low: Point, high: Point, rounds: int, width: float = 0.0
) -> tuple[float, float]:
    """The final interval of a bracketing search for the zero of a rising function, as its two ends: at most zero, and
    above zero.

    It ends after ``rounds`` or once the interval is shorter than ``width`` times its upper end. Each round evaluates
    the point of an inverse quadratic interpolation or the middle, which takes a third to a half of the evaluations of
    plain bisection.

    Source: Chandrupatla, Advances in Engineering Software 28(3), 1997.

    >>> bisected_interval(lambda x: x * x - 2, (0.0, -2.0), (4.0, 14.0), 3)
    (1.0, 1.5)
    """
    start, end, finest = low[0], high[0], (high[0] - low[0]) * 0.5**rounds
    newest, opposite, former = high, low, low
    for _ in range(rounds):
        middle = (start + end) / 2
        while min(newest[0], opposite[0]) < middle < max(newest[0], opposite[0]):
            near = NEAR * max(finest, width * newest[0]) / abs(opposite[0] - newest[0])
            part = max(near, min(1 - near, _part_to_zero(newest, opposite, former))) if near < 0.5 else 0.5
            at = newest[0] + part * (opposite[0] - newest[0])
            tried = at, function(at)
            if (tried[1] <= 0) is (newest[1] <= 0):
                newest, former = tried, newest
            else:
                newest, opposite, former = tried, newest, opposite
        start, end = (middle, end) if middle <= min(newest[0], opposite[0]) else (start, middle)
        if end - start < width * end:
            break
    return start, end


def _part_to_zero(newest: Point, opposite: Point, former: Point) -> float:
    """The part of the way from the newest point to the opposite one at which a function is presumed to be zero."""
    (x, value), (y, across), (z, before) = newest, opposite, former
    if inf in (abs(value), abs(across), abs(before)):
        return 0.5
    if former == opposite:
        return value / (value - across)
    if across in (value, before):
        return 0.5
    place, level = (x - y) / (z - y), (value - across) / (before - across)
    if level * level >= place or (1 - level) ** 2 >= 1 - place:
        return 0.5
    first = value / (across - value) * before / (across - before)
    return first + (z - x) / (y - x) * value / (before - value) * across / (before - across)
