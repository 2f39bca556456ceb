"""Quantities and figures: what may be built, and how it counts."""

from __future__ import annotations

import dataclasses

import pytest

from clusterspec.origin import Assumed
from clusterspec.quantity import Bandwidth, Direction, Peak, Quantity, Sparsity

WHY = Assumed("test", "a test")


def bandwidth(direction: Direction | None) -> Quantity:
    return Quantity(900e9, "B/s", "900 GB/s", "GB/s", direction=direction)


@pytest.mark.parametrize(
    ("direction", "one_way"), [(Direction.DUPLEX, 450e9), (Direction.ONE_WAY, 900e9), (None, 900e9)]
)
def test_only_duplex_is_halved(direction: Direction | None, one_way: float) -> None:
    assert bandwidth(direction).per_direction == one_way
    assert Bandwidth.of(bandwidth(direction), WHY).value == one_way


def test_a_bandwidth_is_one_number_however_it_was_counted() -> None:
    built = {Bandwidth.one_way(450e9, WHY), Bandwidth.duplex(900e9, WHY), Bandwidth.line_rate(450e9, WHY)}
    assert built == {Bandwidth(450e9, "B/s", WHY)}


@pytest.mark.parametrize(("sparsity", "dense"), [(Sparsity.SPARSE, 990e12), (Sparsity.DENSE, 1980e12), (None, 1980e12)])
def test_only_a_sparse_peak_is_halved(sparsity: Sparsity | None, dense: float) -> None:
    assert Quantity(1980e12, "FLOP/s", "1.98 PFLOP/s", sparsity=sparsity).dense == dense


def test_a_peak_is_dense_however_it_was_counted() -> None:
    assert Peak.sparse(1980e12, WHY) == Peak.dense(990e12, WHY)


def test_figures_do_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Bandwidth.one_way(1.0, WHY).value = 2.0  # type: ignore[misc]


@pytest.mark.parametrize("unit", ["", "b/s", "B", "FLOP/s", "GB/s"])
def test_a_bandwidth_in_another_unit_cannot_be_built(unit: str) -> None:
    with pytest.raises(ValueError, match="a bandwidth is in B/s"):
        Bandwidth(450e9, unit, WHY)
    with pytest.raises(ValueError, match="a bandwidth is in B/s"):
        Bandwidth.of(Quantity(450e9, unit, "450"), WHY)
    with pytest.raises(ValueError, match="a bandwidth is in B/s"):
        dataclasses.replace(Bandwidth.one_way(450e9, WHY), unit=unit)
