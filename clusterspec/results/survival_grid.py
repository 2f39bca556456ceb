"""A table of seconds over scale-up bandwidth, NIC rate and oversubscription, and its interpolation.

The curve has a kink where the slower tier changes, which depends on the ratio of the rates: the table is over the
scale-up bandwidth and that ratio, with more points near the kink. Interpolation is linear in the logarithms.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

from clusterspec.records import dataclass

Seconds = Callable[[float, float, float], float]
"""Seconds at a scale-up bandwidth, a NIC rate (B/s each way) and an oversubscription."""
SCALE_UP_POINTS = 6
SCAN = 44
"""Initial points of a curve, before redundant ones are dropped."""
TOLERANCE = 0.006
"""The relative error that dropping points may cause on the scanned line."""
TAPER_POINTS = 5
CHECKS = 4
SAME = 0.002


@dataclass(frozen=True, slots=True)
class Curve:
    """Logarithms of seconds: ``tables`` hold a row for each of ``x`` (logarithm of the scale-up bandwidth) with a
    column for each of ``y`` (logarithm of the NIC rate over it). ``joint`` divides the NIC rate by the
    oversubscription first; otherwise there is a table for each of ``z`` (its logarithm).
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    z: tuple[float, ...]
    joint: bool
    tables: tuple[tuple[tuple[float, ...], ...], ...]

    def seconds(self, bandwidth: float, nic: float, taper: float) -> float:
        """The interpolated seconds."""
        rate = nic / taper if self.joint else nic
        x, y = log(bandwidth), log(rate / bandwidth)
        if len(self.z) == 1:
            return exp(self._inside(0, x, y))
        place, share = _place(self.z, log(taper))
        return exp((1 - share) * self._inside(place, x, y) + share * self._inside(place + 1, x, y))

    def _inside(self, table: int, x: float, y: float) -> float:
        rows = self.tables[table]
        column, across = _place(self.y, y)

        def at(row: int) -> float:
            low = rows[row][column]
            return low if len(self.y) == 1 else (1 - across) * low + across * rows[row][column + 1]

        row, down = _place(self.x, x)
        return at(row) if len(self.x) == 1 else (1 - down) * at(row) + down * at(row + 1)

    def to_json(self) -> dict[str, Any]:
        """Rounded to five digits of the logarithm: 0.001 % of the seconds."""

        def short(values: Sequence[float]) -> list[float]:
            return [round(value, 5) for value in values]

        return {
            "x": short(self.x),
            "y": short(self.y),
            "z": short(self.z),
            "joint": self.joint,
            "tables": [[short(row) for row in table] for table in self.tables],
        }


def _place(points: Sequence[float], value: float) -> tuple[int, float]:
    """The index of the point below a value and the fraction of the distance to the next; clamped at the ends."""
    if len(points) == 1:
        return 0, 0.0
    number = min(max(bisect_right(points, value) - 1, 0), len(points) - 2)
    share = (value - points[number]) / (points[number + 1] - points[number])
    return number, min(1.0, max(0.0, share))


def tabulated(
    seconds: Seconds, bandwidth: float, nic: float, span: float, tapers: tuple[float, float]
) -> tuple[Curve, float, int]:
    """The curve around the rates of a spec, the largest relative interpolation error, and the number of positions
    at which it was checked.
    """
    joint, z = _taper_points(seconds, bandwidth, nic, tapers)
    x = _even(log(bandwidth / span), log(bandwidth * span), SCALE_UP_POINTS)
    least = nic / span / (tapers[1] if joint else 1.0)
    low, high = log(least / (bandwidth * span)), log(nic * span / (bandwidth / span))
    ends = (bandwidth / span, bandwidth, bandwidth * span)
    y = sorted({point for at in ends for taper in z for point in _needed(seconds, at, exp(taper), low, high)})
    tables = tuple(tuple(tuple(log(seconds(exp(a), exp(a + b), exp(taper))) for b in y) for a in x) for taper in z)
    curve = _smaller(Curve(x, tuple(y), z, joint, tables))
    worst = 0.0
    for number in range(CHECKS):
        place = [(0.5 + number * step) % 1.0 for step in (0.7548776662, 0.5698402909, 0.3819660113)]
        at = (bandwidth * span ** (2 * place[0] - 1), nic * span ** (2 * place[1] - 1), tapers[1] ** place[2])
        true = seconds(*at)
        worst = max(worst, abs(curve.seconds(*at) / true - 1) if true else 0.0)
    return curve, worst, CHECKS


def _even(low: float, high: float, points: int) -> tuple[float, ...]:
    return tuple(low + (high - low) * number / (points - 1) for number in range(points))


def _taper_points(
    seconds: Seconds, bandwidth: float, nic: float, tapers: tuple[float, float]
) -> tuple[bool, tuple[float, ...]]:
    """Whether the oversubscription only divides the NIC rate, and otherwise its points."""
    most = tapers[1]
    tried = [(bandwidth, nic * factor) for factor in (0.3, 1.0, 3.0)]
    plain = [(seconds(up, rate, most), seconds(up, rate / most, 1.0), seconds(up, rate, 1.0)) for up, rate in tried]
    if all(abs(one / other - 1) < SAME for one, _, other in plain if other):
        return False, (0.0,)
    if all(abs(one / other - 1) < SAME for one, other, _ in plain if other):
        return True, (0.0,)
    return False, _even(0.0, log(most), TAPER_POINTS)


def _needed(seconds: Seconds, bandwidth: float, taper: float, low: float, high: float) -> list[float]:
    """The ratios between which linear interpolation is within the tolerance."""
    points = _even(low, high, SCAN)
    values = [log(seconds(bandwidth, bandwidth * exp(point), taper)) for point in points]
    kept = {0, len(points) - 1}
    open_ = [(0, len(points) - 1)]
    while open_:
        first, last = open_.pop()
        worst, where = TOLERANCE, 0
        for number in range(first + 1, last):
            share = (points[number] - points[first]) / (points[last] - points[first])
            off = abs(values[first] + share * (values[last] - values[first]) - values[number])
            if off > worst:
                worst, where = off, number
        if where:
            kept.add(where)
            open_ += [(first, where), (where, last)]
    return [points[number] for number in sorted(kept)]


def _smaller(curve: Curve) -> Curve:
    """The curve without axes that have no effect."""
    rows = [row for table in curve.tables for row in table]
    if all(abs(row[0] - value) < SAME / 2 for row in rows for value in row):
        tables = tuple(tuple((row[0],) for row in table) for table in curve.tables)
        return Curve(curve.x, curve.y[:1], curve.z, curve.joint, tables)
    return curve
