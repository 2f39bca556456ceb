"""The median is that of the standard library, which takes longer to load than to compute all medians of a check."""

from __future__ import annotations

import statistics

from hypothesis import given
from hypothesis import strategies as st

from clusterspec.standard import median


@given(st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_a_median_is_that_of_the_standard_library(values: list[float]) -> None:
    assert median(values) == statistics.median(values)
    assert median(iter(values)) == median(reversed(values))


def test_a_median_is_the_middle_value_or_the_mean_of_two() -> None:
    assert median([5, 1, 3]) == 3
    assert median([4.0, 1.0, 8.0, 2.0]) == 3.0
