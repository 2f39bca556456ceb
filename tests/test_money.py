"""Amounts of money: those of two currencies never add, subtract or compare."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusterspec.cost.term import Term
from clusterspec.money import CurrencyMismatch, Money
from clusterspec.procurement.parts import summed_term

AMOUNTS = st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).map(lambda ends: (min(ends), max(ends)))
OPERATIONS: list[Callable[[Money, Money], object]] = [
    lambda one, other: one + other,
    lambda one, other: one - other,
    lambda one, other: one < other,
    lambda one, other: Money.total((one, other)),
]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("currencies", [("USD", "EUR"), ("USD", ""), ("", "JPY")])
def test_amounts_of_two_currencies_never_meet(
    operation: Callable[[Money, Money], object], currencies: tuple[str, str]
) -> None:
    one, other = (Money.of(100, currency) for currency in currencies)
    for first, second in ((one, other), (other, one)):
        with pytest.raises(CurrencyMismatch, match="neither add nor compare"):
            operation(first, second)
        operation(first, first)


def test_the_parts_of_a_cost_have_its_currency() -> None:
    parts = [Term("capital", 90.0, "USD", ""), Term("energy", 30.0, "EUR", "")]
    with pytest.raises(CurrencyMismatch, match="energy is in EUR"):
        summed_term("total", parts, "USD")


@given(AMOUNTS, AMOUNTS)
def test_a_sum_has_the_sum_of_the_ends(one: tuple[int, int], other: tuple[int, int]) -> None:
    found = Money.of(one, "USD") + Money.of(other, "USD")
    assert (found.low, found.high) == (one[0] + other[0], one[1] + other[1])
    assert found.middle.low == Money.of(one).middle.low + Money.of(other).middle.low
    assert Money.of(found.price, "USD") == found


def test_a_difference_of_ranges_has_the_widest_ends() -> None:
    found = Money.of((10, 12), "USD") - Money.of((3, 4), "USD")
    assert (found.low, found.high) == (6, 9)


@pytest.mark.parametrize(
    ("dates", "oldest"),
    [(("2026-03-01", "2025-11-30"), "2025-11-30"), (("2026-03-01", None), None), ((None, None), None)],
)
def test_a_sum_is_as_old_as_its_oldest_part(dates: tuple[str | None, str | None], oldest: str | None) -> None:
    assert Money.total(Money.of(1, "USD", date) for date in dates).as_of == oldest
