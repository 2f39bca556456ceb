"""Quantities and figures: what may be built, and how it counts."""

from __future__ import annotations

import dataclasses

import pytest

from clusterspec.quantity import Bandwidth, Basis, Direction, Figure, Peak, Quantity, Sparsity, UnlikeQuantities
from clusterspec.source import Assumed

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


def measured(basis: Basis) -> Bandwidth:
    return Bandwidth.of(bandwidth(None), WHY, basis)


SPARSE = Quantity(1980e12, "FLOP/s", "1.98 PFLOP/s sparse", sparsity=Sparsity.SPARSE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (bandwidth(Direction.DUPLEX), bandwidth(Direction.ONE_WAY)),
        (bandwidth(Direction.DUPLEX), bandwidth(None)),
        (bandwidth(None), Quantity(900e9, "B", "900 GB")),
        (SPARSE, Quantity(1980e12, "FLOP/s", "1.98 PFLOP/s")),
        (measured(Basis.BUS), measured(Basis.ALGORITHM)),
        (measured(Basis.BUS), measured(Basis.LINE)),
        (measured(Basis.LINE), bandwidth(None)),
        (Figure(1, "1", WHY), Figure(1, "s", WHY)),
        (Peak.dense(1, WHY), Figure(1, "W", WHY)),
    ],
)
def test_values_that_count_differently_neither_add_nor_compare(
    one: Quantity | Figure, other: Quantity | Figure
) -> None:
    for left, right in ((one, other), (other, one)):
        with pytest.raises(UnlikeQuantities, match="neither add nor compare"):
            left < right  # type: ignore[operator]  # noqa: B015
        with pytest.raises((UnlikeQuantities, TypeError)):
            left + right  # type: ignore[operator]


@pytest.mark.parametrize("direction", [None, Direction.ONE_WAY])
def test_a_quantity_without_a_direction_compares_as_one_way(direction: Direction | None) -> None:
    slower = Quantity(800e9, "B/s", "800 GB/s", direction=direction)
    assert slower < bandwidth(Direction.ONE_WAY)
    assert max(slower, bandwidth(None)) == bandwidth(None)
    assert (slower + bandwidth(None)).per_direction == 1700e9


def test_the_sum_of_two_ways_is_the_way_of_the_sum() -> None:
    both = bandwidth(Direction.DUPLEX) + bandwidth(Direction.DUPLEX)
    assert both.per_direction == 2 * bandwidth(Direction.DUPLEX).per_direction


@pytest.mark.parametrize("basis", list(Basis))
def test_bandwidths_of_one_basis_add_and_compare(basis: Basis) -> None:
    slow, fast = Bandwidth(1e9, "B/s", WHY, basis), Bandwidth(3e9, "B/s", WHY, basis)
    assert slow < fast
    assert min(fast, slow) is slow
    assert ((slow + fast).value, (slow + fast).basis) == (4e9, basis)


def test_an_algorithm_bandwidth_becomes_a_bus_bandwidth_once() -> None:
    on_bus = measured(Basis.ALGORITHM).on_bus(1.75)
    assert (on_bus.value, on_bus.basis) == (1575e9, Basis.BUS)
    assert on_bus.on_bus(1.75) == on_bus
    with pytest.raises(UnlikeQuantities):
        measured(Basis.LINE).on_bus(1.75)
