"""Tables of seconds over rates: points, positions and errors, worked out by hand."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log

import pytest

from clusterspec.analysis.levers import interpolation
from clusterspec.analysis.levers.interpolation import interpolated_seconds, network_rate, tabulated_curve
from clusterspec.results.survival import Curve

X, Y = (log(10.0), log(1000.0)), (log(1.0), log(100.0))


def curve(*tables: tuple[tuple[float, ...], ...], joint: bool = False, ratio: bool = False, z: float = 4.0) -> Curve:
    logs = tuple(tuple(tuple(map(log, row)) for row in table) for table in tables)
    return Curve(X, Y, (0.0, log(z))[: len(tables)], joint, ratio, logs)


FLAT = curve(((8.0, 2.0), (4.0, 1.0)))
"""8 s at 10 and 1 B/s; a quarter at 100 times the second rate, a half at 100 times the first."""


@pytest.mark.parametrize(
    ("bandwidth", "nic", "seconds"),
    [
        (10, 1, 8.0),
        (1000, 1, 4.0),
        (10, 100, 2.0),
        (1000, 100, 1.0),
        (100, 10, 8 / 2 / 2**0.5),  # in the middle of both, in logarithms
        (10, 10, 4.0),
        (100, 1, 8 / 2**0.5),
        (1, 0.1, 8.0),  # beyond its ends as at them
        (1e6, 1e6, 1.0),
    ],
)
def test_seconds_between_points_are_geometric_means(bandwidth: float, nic: float, seconds: float) -> None:
    assert interpolated_seconds(FLAT, bandwidth, nic, 1.0) == pytest.approx(seconds)


def test_oversubscription_divides_the_rate_or_has_its_own_tables() -> None:
    joint = curve(((8.0, 2.0), (4.0, 1.0)), joint=True)
    assert interpolated_seconds(joint, 10, 100, 10.0) == pytest.approx(4.0)
    assert interpolated_seconds(FLAT, 10, 100, 10.0) == pytest.approx(2.0)
    ratio = curve(((8.0, 2.0), (4.0, 1.0)), ratio=True)
    assert interpolated_seconds(ratio, 10, 1000, 1.0) == pytest.approx(2.0)
    two = curve(((8.0, 2.0), (4.0, 1.0)), ((16.0, 8.0), (16.0, 4.0)))
    assert [interpolated_seconds(two, 10, 1, taper) for taper in (1.0, 2.0, 4.0, 9.0)] == pytest.approx(
        [8.0, 8 * 2**0.5, 16.0, 16.0]
    )
    lone = Curve((0.0,), (0.0,), (0.0,), False, False, (((log(3.0),),),))
    assert interpolated_seconds(lone, 7, 9, 2.0) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("value", "found"),
    [(-1, (0, 0.0)), (0, (0, 0.0)), (1, (0, 0.5)), (2, (1, 0.0)), (5, (1, 0.75)), (6, (1, 1.0)), (9, (1, 1.0))],
)
def test_a_value_is_in_its_interval(value: float, found: tuple[int, float]) -> None:
    assert interpolation._index_and_fraction((0.0, 2.0, 6.0), value) == found
    assert interpolation._index_and_fraction((5.0,), value) == (0, 0.0)


def test_points_are_evenly_spaced_and_kept_where_a_line_is_off() -> None:
    assert interpolation._evenly_spaced(1.0, 3.0, 5) == (1.0, 1.5, 2.0, 2.5, 3.0)
    assert interpolation._needed_numbers(lambda number: 2.0 * number, 9) == [0, 8]
    assert interpolation._needed_numbers(lambda number: abs(number - 4) * 1.0, 9) == [0, 4, 8]
    for height, kept in ((0.0059, [0, 8]), (0.0061, [0, 4, 8])):
        assert interpolation._needed_numbers(lambda number, up=height: up * (4 - abs(number - 4)) / 4, 9) == kept  # type: ignore[misc]
    assert interpolation._intervals_between_points([1.0, 2.0, 4.0]) == [(1.0, 2.0), (2.0, 4.0)]
    assert interpolation._intervals_between_points([3.0]) == [(3.0, 3.0)]


def test_a_cell_is_divided_by_the_points_inside_it() -> None:
    cell, axes = ((0.0, 2.0), (0.0, 4.0), (5.0, 5.0)), ([0.0, 1.0, 2.0, 3.0], [-1.0, 0.0, 4.0], [5.0])
    assert [*interpolation._parts_of_cell(cell, axes)] == [
        ((0.0, 1.0), (0.0, 4.0), (5.0, 5.0)),
        ((1.0, 2.0), (0.0, 4.0), (5.0, 5.0)),
    ]


def test_the_middle_of_a_cell_is_taken_along_one_axis() -> None:
    def logs(x: float, y: float, z: float) -> float:
        return x * x + 10 * y + 100 * z

    cell = ((0.0, 2.0), (0.0, 4.0), (5.0, 7.0))
    for axis, found in enumerate((2.0 + 20 + 600, 1.0 + 20 + 600, 1.0 + 20 + 600)):
        assert interpolation._interpolated_along(logs, cell, [1.0, 2.0, 6.0], axis) == pytest.approx(found)


def test_positions_fill_the_range_evenly() -> None:
    found = [*interpolation._evenly_spaced_rates(100.0, 10.0, 4.0, (1.0, 8.0))]
    assert len(found) == 16 and found[0] == pytest.approx((100.0, 10.0, 8**0.5))
    share = 0.5 + 0.7548776662 - 1
    assert found[1][0] == pytest.approx(100 * 4 ** (2 * share - 1))
    for at, (low, high) in enumerate(((25.0, 400.0), (2.5, 40.0), (1.0, 8.0))):
        values = sorted(log(each[at] / low) / log(high / low) for each in found)
        assert 0 <= values[0] < 0.2 and 0.8 < values[-1] <= 1
        assert max(b - a for a, b in pairwise(values)) < 0.25


@pytest.mark.parametrize(
    ("power", "expected"),
    [  # seconds as rate ** -1 * taper ** power
        (0.0, (0.0, (0.0,))),
        (1.0, (1.0, (0.0,))),
        (0.5, (0.0, tuple(log(4.0) * part / 4 for part in range(5)))),
    ],
)
def test_an_oversubscription_without_effect_or_of_the_rate_needs_no_points(
    power: float, expected: tuple[float, tuple[float, ...]]
) -> None:
    crossing, points = interpolation._taper_points(lambda up, rate, taper: taper**power / rate, 9.0, 5.0, (1.0, 4.0))
    assert crossing == expected[0]
    assert points == pytest.approx(expected[1])


@pytest.mark.parametrize(
    ("joint", "crossing", "taper", "left"),
    [
        (True, 1.0, 4.0, 12.5e9),
        (True, 0.5, 4.0, 25e9),  # half of the traffic crosses it
        (True, 0.2, 4.0, 50e9),  # so little that it takes nothing
        (True, 1.0, 1.0, 50e9),
        (False, 1.0, 4.0, 50e9),  # there is a table for each oversubscription
    ],
)
def test_an_oversubscription_leaves_the_traffic_that_crosses_it_its_part_of_a_nic(
    joint: bool, crossing: float, taper: float, left: float
) -> None:
    made = Curve((1.0,), (2.0,), (0.0,), joint, False, (((0.5,),),), crossing)
    assert network_rate(made, 50e9, taper) == left


@pytest.mark.parametrize("share", [1.0, 0.75, 0.5, 0.3])
def test_the_share_of_the_traffic_that_crosses_a_level_is_found(share: float) -> None:
    """The level slows from 1 / share on; it has to do so within the range."""

    def seconds(up: float, rate: float, taper: float) -> float:
        return max(1 / up, max(1.0, taper * share) / rate)

    crossing, points = interpolation._taper_points(seconds, 9.0, 5.0, (1.0, 4.0))
    assert crossing == pytest.approx(share, rel=2e-4) and points == (0.0,)
    made, worst, _ = tabulated_curve(seconds, (9.0, 5.0, 1.0), 4.0, (1.0, 4.0))
    assert made.joint and len(made.z) == 1 and worst <= 0.02
    for taper in (1.0, 1.5, 2.0, 3.9):
        assert network_rate(made, 5.0, taper) == pytest.approx(5.0 / max(1.0, taper * share), rel=2e-4)
        assert interpolated_seconds(made, 9.0, 5.0, taper) == pytest.approx(seconds(9.0, 5.0, taper), rel=0.02)


def test_an_axis_without_effect_is_left_out() -> None:
    same = curve(((8.0, 8.0), (4.0, 4.0)))
    assert interpolation._reduced_curve(same).y == Y[:1]
    assert interpolation._reduced_curve(same).tables == (((log(8.0),), (log(4.0),)),)
    assert interpolation._reduced_curve(FLAT) == FLAT
    for off, width in ((0.0009, 1), (0.0011, 2)):
        assert len(interpolation._reduced_curve(curve(((8.0, 8.0 * exp(off)), (4.0, 4.0)))).y) == width


def test_a_curve_holds_the_slower_of_two_tiers() -> None:
    """12 GB over one tier and 1 GB over the other: the error stays below two percent."""

    def seconds(up: float, rate: float, taper: float) -> float:
        return 0.1 + max(12e9 / up, 1e9 * taper / rate)

    found, worst, checked = tabulated_curve(seconds, (450e9, 50e9, 1.0), 4.0, (1.0, 4.0))
    assert found.joint and worst <= 0.02 and checked >= 16
    assert interpolated_seconds(found, 450e9, 50e9, 1.0) == pytest.approx(seconds(450e9, 50e9, 1.0), rel=1e-9)
    for at in ((200e9, 20e9, 1.0), (900e9, 100e9, 3.0), (450e9, 50e9, 4.0)):
        assert interpolated_seconds(found, *at) == pytest.approx(seconds(*at), rel=0.02)
