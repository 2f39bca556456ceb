"""Tables of seconds over link rates, and the interpolation in them.

A table is over the scale-up bandwidth and the rate of the NICs, or their ratio: the curve has a kink where another tier
becomes the slowest. Points are added where the error in the middle of a cell is large. Interpolation is linear in the
logarithms.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import pairwise, product
from math import exp, expm1, log, sqrt

from clusterspec.records import replace
from clusterspec.results.survival import Curve
from clusterspec.standard import sum_of

Rates = tuple[float, float, float]
"""A scale-up bandwidth, a NIC rate (B/s each way) and an oversubscription."""
Seconds = Callable[[float, float, float], float]
"""Seconds at a scale-up bandwidth, a NIC rate (B/s each way) and an oversubscription."""
SCALE_UP_SCAN = 13
RATIOS = 3
SCAN = 44
"""Initial points of a curve, before redundant ones are dropped."""
TOLERANCE = 0.006
"""The relative error that dropping points may cause on the scanned line."""
TAPER_POINTS = 5
CHECKS = 16
"""Number of positions at which a table is checked, in addition to the middles of its cells."""
ENOUGH = 0.015
"""The relative error in the middle of a cell above which a point is added."""
SOUND = 0.02
"""The relative error of a table above which the other kind of table is tried."""
ROUNDS = 6
SAME = 0.002
HALVINGS = 14
"""Steps of the bisection for the share of the traffic that crosses a level."""


def tabulated_curve(
    seconds: Seconds, present: Rates, span: float, tapers: tuple[float, float]
) -> tuple[Curve, float, int]:
    """A curve around the rates of a spec (exact at these rates), its largest relative interpolation error, and the
    number of positions checked.

    The table has a kink. If two tiers compete, the kink is at a fixed ratio of their rates; if neither rate limits the
    tier inside, it is at a fixed NIC rate. The table's axis is the ratio or the NIC rate, whichever gives the lower
    error.
    """
    bandwidth, nic, taper = present
    crossing, z = _taper_points(seconds, bandwidth, nic, tapers)
    z = z if len(z) == 1 else tuple(sorted({*z, log(taper)}))
    own = log(nic / max(1.0, taper * crossing))
    least = nic / span / max(1.0, tapers[1] * crossing)
    x = sorted({*_needed_bandwidths(seconds, bandwidth, span, nic, least), log(bandwidth)})
    ends = (x[0], log(bandwidth), x[-1])
    found: list[tuple[float, Curve, int]] = []
    for ratio in (True, False):
        logs = cache(lambda a, b, taper: log(seconds(exp(a), exp(a + b if ratio else b), exp(taper))))  # noqa: B023
        low, high, here = log(least), log(nic * span), own - log(bandwidth) if ratio else own
        if ratio:
            low, high = low - log(bandwidth * span), high - log(bandwidth / span)
        y = sorted({here, *(point for at in ends for one in z for point in _needed_rates(logs, at, one, low, high))})
        axes, missed, tried = _refined_axes(logs, (list(x), y, list(z)))
        tables = tuple(tuple(tuple(logs(a, b, taper) for b in axes[1]) for a in axes[0]) for taper in axes[2])
        curve = _reduced_curve(
            Curve(tuple(axes[0]), tuple(axes[1]), tuple(axes[2]), crossing > 0, ratio, tables, crossing)
        )
        error = largest_error((curve,), seconds, present, span, tapers)
        found.append((max(missed, error), curve, tried + CHECKS))
        if found[-1][0] <= SOUND:
            break
    worst, curve, checked = min(found, key=lambda each: each[0])
    return curve, worst, checked


Axes = tuple[list[float], list[float], list[float]]
"""The points of a table: scale-up bandwidths, NIC rates or ratios to them, oversubscriptions, as logarithms."""


def _refined_axes(logs: Seconds, axes: Axes) -> tuple[Axes, float, int]:
    """The axes with points added until interpolation is accurate in the middle of each cell, the largest remaining
    relative error, and the number of positions tried.
    """
    open_, held, tried = list(product(*map(_intervals_between_points, axes))), 0.0, 0
    for last in (*[False] * ROUNDS, True):
        missed: list[tuple[Cell, int]] = []
        for cell in open_:
            middle = [(low + high) / 2 for low, high in cell]
            true, tried = logs(*middle), tried + 1
            off = abs(expm1(sum_of(logs(*corner) for corner in product(*cell)) / 8 - true))
            if off > ENOUGH and not last:
                offs = [abs(_interpolated_along(logs, cell, middle, number) - true) for number in range(3)]
                missed.append((cell, offs.index(max(offs))))
            else:
                held = max(held, off)
        for cell, axis in missed:
            axes[axis].append(sum(cell[axis]) / 2)
        axes = tuple(sorted(set(points)) for points in axes)  # type: ignore[assignment]
        open_ = [part for cell, _ in missed for part in _parts_of_cell(cell, axes)]
    return axes, held, tried


Cell = tuple[tuple[float, float], ...]
"""The ends of a cell on each axis of a table."""


def _parts_of_cell(cell: Cell, axes: Axes) -> Iterator[Cell]:
    """The cells into which the points of the axes divide a cell."""
    inside = (
        [point for point in points if low <= point <= high] for (low, high), points in zip(cell, axes, strict=True)
    )
    return product(*map(_intervals_between_points, inside))


def _intervals_between_points(points: list[float]) -> list[tuple[float, float]]:
    """The intervals between points; one point is an interval without width."""
    return list(pairwise(points)) if len(points) > 1 else [(points[0], points[0])]


def _interpolated_along(logs: Seconds, cell: Cell, middle: list[float], axis: int) -> float:
    """The middle of a cell interpolated along one axis alone."""
    low, high = ([*middle[:axis], end, *middle[axis + 1 :]] for end in cell[axis])
    return (logs(*low) + logs(*high)) / 2


def _evenly_spaced_rates(bandwidth: float, nic: float, span: float, tapers: tuple[float, float]) -> Iterator[Rates]:
    """Rates that fill the range evenly."""
    for number in range(CHECKS):
        place = [(0.5 + number * step) % 1.0 for step in (0.7548776662, 0.5698402909, 0.3819660113)]
        yield bandwidth * span ** (2 * place[0] - 1), nic * span ** (2 * place[1] - 1), tapers[1] ** place[2]


def _error_at(curves: Sequence[Curve], seconds: Seconds, at: Rates) -> float:
    """The relative error of an interpolation at a position."""
    true = seconds(*at)
    return abs(fastest_seconds(curves, *at) / true - 1) if true else 0.0


def _evenly_spaced(low: float, high: float, points: int) -> tuple[float, ...]:
    return tuple(low + (high - low) * number / (points - 1) for number in range(points))


def needs_tables_by_taper(seconds: Seconds, present: Rates, tapers: tuple[float, float]) -> bool:
    """Whether oversubscription has an effect other than dividing the NIC rate, so that a curve needs a table for each
    oversubscription.
    """
    return len(_taper_points(seconds, present[0], present[1], tapers)[1]) > 1


def largest_error(
    curves: Sequence[Curve], seconds: Seconds, present: Rates, span: float, tapers: tuple[float, float]
) -> float:
    """The largest relative error of the fastest of the given curves, over positions that fill the range."""
    checked = _evenly_spaced_rates(present[0], present[1], span, tapers)
    return max(_error_at(curves, seconds, at) for at in checked)


def _taper_points(
    seconds: Seconds, bandwidth: float, nic: float, tapers: tuple[float, float]
) -> tuple[float, tuple[float, ...]]:
    """The share of traffic that crosses the oversubscribed level, if the only effect is to divide this traffic's rate;
    otherwise the oversubscriptions at which tables are needed. The share is 0 if there is no effect.
    """
    most = tapers[1]
    tried = [(bandwidth, nic * factor) for factor in (0.3, 1.0, 3.0)]
    plain = [(seconds(up, rate, most), seconds(up, rate / most, 1.0), seconds(up, rate, 1.0)) for up, rate in tried]
    if all(abs(one / other - 1) < SAME for one, _, other in plain if other):
        return 0.0, (0.0,)
    crossing = _crossing_share(seconds, *tried[0], most)
    tapered = [(up, rate, taper) for up, rate in tried for taper in (most, sqrt(most), sqrt(sqrt(most)))]
    pairs = [
        (seconds(up, rate, taper), seconds(up, rate / max(1.0, taper * crossing), 1.0)) for up, rate, taper in tapered
    ]
    if all(abs(one / other - 1) < SAME for one, other in pairs if other):
        return crossing, (0.0,)
    return 0.0, _evenly_spaced(0.0, log(most), TAPER_POINTS)


def _crossing_share(seconds: Seconds, bandwidth: float, nic: float, taper: float) -> float:
    """The share of traffic for which an oversubscription has the same effect as a lower NIC rate, found by
    bisection.
    """
    wanted, low, high = seconds(bandwidth, nic, taper), 0.0, 1.0
    if seconds(bandwidth, nic / taper, 1.0) <= wanted * (1 + SAME / 10):
        return 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        slower = seconds(bandwidth, nic / max(1.0, taper * middle), 1.0) > wanted
        low, high = (low, middle) if slower else (middle, high)
    return (low + high) / 2


def _needed_bandwidths(seconds: Seconds, bandwidth: float, span: float, nic: float, least: float) -> list[float]:
    """Logarithms of the scale-up bandwidths at which a table needs points. Between them linear interpolation is within
    the tolerance for each of several rate ratios.

    The points are evenly spaced where a part of the time depends on one rate only.
    """
    points = _evenly_spaced(log(bandwidth / span), log(bandwidth * span), SCALE_UP_SCAN)
    ratios = _evenly_spaced(log(least / (bandwidth * span)), log(nic * span / (bandwidth / span)), RATIOS)
    found: set[float] = set()
    for ratio in ratios:
        value = cache(lambda number: log(seconds(exp(points[number]), exp(points[number] + ratio), 1.0)))  # noqa: B023
        found |= {points[number] for number in _needed_numbers(value, len(points))}
    return sorted(found)


def _needed_rates(logs: Seconds, bandwidth: float, taper: float, low: float, high: float) -> list[float]:
    """Rates or ratios between which linear interpolation is within the tolerance. All arguments are logarithms."""
    points = _evenly_spaced(low, high, SCAN)
    value = cache(lambda number: logs(bandwidth, points[number], taper))
    return [points[number] for number in _needed_numbers(value, len(points))]


def _needed_numbers(value: Callable[[int], float], count: int) -> list[int]:
    """The indices of points between which linear interpolation of a value is within the tolerance, checked at the
    quarters of each interval.
    """
    kept = {0, count - 1}
    open_ = [(0, count - 1)]
    while open_:
        first, last = open_.pop()
        worst, where = TOLERANCE, 0
        for number in {first + (last - first) * quarter // 4 for quarter in (1, 2, 3)} - {first}:
            share = (number - first) / (last - first)
            off = abs(value(first) + share * (value(last) - value(first)) - value(number))
            if off > worst:
                worst, where = off, number
        if where:
            kept.add(where)
            open_ += [(first, where), (where, last)]
    return sorted(kept)


def _reduced_curve(curve: Curve) -> Curve:
    """The curve without axes that have no effect."""
    rows = [row for table in curve.tables for row in table]
    if all(abs(row[0] - value) < SAME / 2 for row in rows for value in row):
        tables = tuple(tuple((row[0],) for row in table) for table in curve.tables)
        return replace(curve, y=curve.y[:1], tables=tables)
    return curve


def fastest_seconds(curves: Sequence[Curve], bandwidth: float, nic: float, taper: float) -> float:
    """The seconds of the fastest of the given curves, as `interpolated_seconds` gives them."""
    return min(interpolated_seconds(curve, bandwidth, nic, taper) for curve in curves)


def interpolated_seconds(curve: Curve, bandwidth: float, nic: float, taper: float) -> float:
    """The seconds of a curve at a scale-up bandwidth, a NIC rate (B/s each way) and an oversubscription."""
    rate = network_rate(curve, nic, taper)
    x, y = log(bandwidth), log(rate / bandwidth if curve.ratio else rate)
    if len(curve.z) == 1:
        return exp(_interpolated_logarithm(curve, 0, x, y))
    number, share = _index_and_fraction(curve.z, log(taper))
    return exp(
        (1 - share) * _interpolated_logarithm(curve, number, x, y)
        + share * _interpolated_logarithm(curve, number + 1, x, y)
    )


def network_rate(curve: Curve, nic: float, taper: float) -> float:
    """The rate of the NICs (B/s each way) that an oversubscription leaves to the traffic of a curve."""
    return nic / max(1.0, taper * curve.crossing) if curve.joint else nic


def _interpolated_logarithm(curve: Curve, table: int, x: float, y: float) -> float:
    """The logarithm of the seconds between the points of one table."""
    rows = curve.tables[table]
    column, across = _index_and_fraction(curve.y, y)

    def value_in_row(row: int) -> float:
        low = rows[row][column]
        return low if len(curve.y) == 1 else (1 - across) * low + across * rows[row][column + 1]

    row, down = _index_and_fraction(curve.x, x)
    return value_in_row(row) if len(curve.x) == 1 else (1 - down) * value_in_row(row) + down * value_in_row(row + 1)


def _index_and_fraction(points: Sequence[float], value: float) -> tuple[int, float]:
    """The index of the point below a value and the fraction of the distance to the next; clamped at the ends."""
    if len(points) == 1:
        return 0, 0.0
    number = min(max(bisect_right(points, value) - 1, 0), len(points) - 2)
    share = (value - points[number]) / (points[number + 1] - points[number])
    return number, min(1.0, max(0.0, share))
