"""The range of a sum of memory: independent errors add in quadrature."""

from __future__ import annotations

import pytest

from clusterspec.cost.memory.explain import summed_term
from clusterspec.cost.term import Term


def part(name: str, value: float, low: float | None = None, high: float | None = None) -> Term:
    return Term(name, value, "B", "by hand", low=low, high=high)


@pytest.mark.parametrize(
    ("parts", "ends"),
    [
        ([part("a", 10.0, 7.0, 14.0), part("b", 20.0, 16.0, 23.0)], (25.0, 30.0, 35.0)),  # 3 and 4 below, 4 and 3 above
        ([part("a", 10.0, 5.0, 10.0), part("b", 20.0, 8.0, 28.0)], (17.0, 30.0, 38.0)),  # 5 and 12; 0 and 8
        ([part("a", 10.0), part("b", 20.0, 16.0, 23.0)], (26.0, 30.0, 33.0)),  # a part without a range is exact
        ([part("a", 0.0, 0.0, 9.0), part("b", 20.0, 16.0, 23.0)], (16.0, 20.0, 23.0)),  # what is not there adds nothing
        ([], (0.0, 0.0, 0.0)),
    ],
)
def test_errors_of_a_sum_add_in_quadrature(parts: list[Term], ends: tuple[float, float, float]) -> None:
    found = summed_term("total", parts)
    assert (found.low, found.value, found.high) == pytest.approx(ends)
    assert [each.name for each in found.parts] == [each.name for each in parts if each.value]
