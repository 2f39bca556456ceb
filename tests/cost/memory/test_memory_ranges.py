"""Laws of the ranges of memory: each contains its prediction, and ends where its reason says."""

from __future__ import annotations

import pytest

from clusterspec.cost.memory import COMMUNICATOR, FACTOR_RANGES, RANGES, ROUTING
from tests.effort import each

ALL = RANGES | FACTOR_RANGES


@each("name", sorted(ALL))
def test_a_range_contains_the_prediction_within_a_factor_of_two_above(name: str) -> None:
    found = ALL[name]
    assert 0 <= found.low <= 1 <= found.high <= 2
    assert found.low < found.high


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("attention", 0.9, 1.1),  # a tenth either way
        ("feed-forward", 0.9, 1.1),
        ("scores", 2 / 5, 1.1),  # two bytes of five
        ("dropout masks", 0, 1),  # none without dropout
        ("placeholders", 0, 1),
        ("outputs kept", 1 / 2, 1),  # one of two copies is freed first
        ("context exchange", 1 / 2, 1),  # keys and values without their gradients
        ("every_second", 0.2, (4 / 5) / (1 / 2)),  # four layers in five are kept, instead of every second
    ],
)
def test_a_range_ends_where_its_reason_says(name: str, low: float, high: float) -> None:
    assert (ALL[name].low, ALL[name].high) == pytest.approx((low, high))


def test_spreads_contain_their_value() -> None:
    for spread in (COMMUNICATOR, ROUTING):
        assert spread.low <= spread.value <= spread.high
    assert (ROUTING.low, ROUTING.value, ROUTING.high) == (1, 1, 1.5)
    assert (COMMUNICATOR.low, COMMUNICATOR.value, COMMUNICATOR.high) == (0, 250e6, 600e6)
