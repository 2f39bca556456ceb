"""The table of communication time over link rates: which axes it needs, and what lies between its points."""

from __future__ import annotations

from math import log, sqrt

import pytest

from clusterspec.analysis.survival import SAME, TAPER_POINTS, TOLERANCE, Seconds, interpolated, tabulated
from clusterspec.results.machine import SPAN, TAPERS, Curve

UP, NIC = 400e9, 50e9
"""B/s per direction of an accelerator in its domain, and of a NIC."""
BYTES = 1e9


def over_fabric(up: float, nic: float, taper: float) -> float:
    """All bytes leave the leaf: oversubscription divides the NIC rate."""
    return BYTES * taper / nic


def in_domain(up: float, nic: float, taper: float) -> float:
    """No byte leaves the domain."""
    return BYTES / up


def below_leaf(up: float, nic: float, taper: float) -> float:
    """All bytes leave the domain, none the leaf."""
    return BYTES / nic


def partly_above(up: float, nic: float, taper: float) -> float:
    """Half of the bytes leave the leaf, and the slower tier counts."""
    return max(BYTES / up, BYTES * (1 + sqrt(taper)) / (2 * nic))


@pytest.mark.parametrize(
    ("seconds", "joint", "tapers", "ratios"),
    [(over_fabric, True, 1, 2), (in_domain, False, 1, 1), (below_leaf, False, 1, 2)],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_a_table_has_the_axes_that_matter(seconds: Seconds, joint: bool, tapers: int, ratios: int) -> None:
    curve, worst, checked = tabulated(seconds, UP, NIC, SPAN, TAPERS)
    assert (curve.joint, len(curve.z), len(curve.y)) == (joint, tapers, ratios)
    assert checked > 0
    assert worst < SAME


def test_an_oversubscription_that_does_not_divide_the_rate_has_an_axis_of_its_own() -> None:
    curve, worst, _ = tabulated(partly_above, UP, NIC, SPAN, TAPERS)
    assert not curve.joint
    assert len(curve.z) == TAPER_POINTS
    assert curve.z[-1] == pytest.approx(log(TAPERS[1]))
    assert worst < 5 * TOLERANCE


@pytest.mark.parametrize("seconds", [over_fabric, in_domain, below_leaf, partly_above])
def test_the_table_holds_at_the_rates_of_the_spec(seconds: Seconds) -> None:
    curve, _, _ = tabulated(seconds, UP, NIC, SPAN, TAPERS)
    for taper in TAPERS:
        assert interpolated(curve, UP, NIC, taper) == pytest.approx(seconds(UP, NIC, taper), rel=5 * TOLERANCE)


def test_between_two_points_logarithms_are_linear() -> None:
    """Hand-worked: x from 0 to 2 and y from 0 to 1; at x = 1 and y = 0.5 the mean of the four corners, 2.5."""
    curve = Curve((0.0, 2.0), (0.0, 1.0), (0.0,), False, (((1.0, 2.0), (3.0, 4.0)),))
    e = 2.718281828459045
    assert log(interpolated(curve, e, e * sqrt(e), 1.0)) == pytest.approx(2.5)
    assert log(interpolated(curve, e, e * sqrt(e), 8.0)) == pytest.approx(2.5)
    assert log(interpolated(curve, e**9, e**9, 1.0)) == pytest.approx(3.0)
    joint = Curve((0.0, 2.0), (0.0, 1.0), (0.0,), True, curve.tables)
    assert log(interpolated(joint, e, e * sqrt(e), e**0.25)) == pytest.approx(2.25)


def test_between_two_tables_logarithms_are_linear_in_the_oversubscription() -> None:
    curve = Curve((0.0,), (0.0,), (0.0, log(4.0)), False, (((1.0,),), ((3.0,),)))
    assert log(interpolated(curve, 5.0, 7.0, 2.0)) == pytest.approx(2.0)
    assert log(interpolated(curve, 5.0, 7.0, 4.0)) == pytest.approx(3.0)
