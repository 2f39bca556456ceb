"""Ranks that follow from two bandwidths, and sizes as tools print them: both sides of each bound, by hand."""

from __future__ import annotations

import pytest

from clusterspec.logs.benchmarks.benchmark import MOST_RANKS, ranks_from_ratio, size_of
from tests.effort import each


@each(
    ("algbw", "busbw", "rounding", "ranks"),
    [
        (100.0, 100.0, 0.005, 2),  # 2 · 1 / 2
        (100.0, 150.0, 0.005, 4),  # 2 · 3 / 4
        (100.0, 150.0, 0.5, 4),  # 2 − 1.5 ± 1.5 (0.005 + 0.0033): 3.9 to 4.1
        (100.0, 150.0, 5.0, None),  # ± 0.125: 3.2 to 5.3 are 4 and 5
        (100.0, 196.875, 0.005, 64),
        (100.0, 196.875, 0.05, None),  # ± 0.00148: 61.1 to 67.2
        (100.0, 145.0, 0.005, None),  # 2 / 0.55 are 3.64: no whole number
        (100.0, 50.0, 0.005, None),  # 2 / 1.5 are 1.33
        (100.0, 0.1, 0.005, None),
        (100.0, 200.0, 0.005, None),  # endlessly many
        (100.0, 199.99, 0.005, None),  # as far as can be told
        (0.0, 150.0, 0.005, None),
        (100.0, 0.0, 0.005, None),
        (-100.0, -150.0, 0.005, None),
    ],
)
def test_ranks_follow_from_the_ratio_of_two_bandwidths_within_their_rounding(
    algbw: float, busbw: float, rounding: float, ranks: int | None
) -> None:
    assert ranks_from_ratio(algbw, busbw, rounding) == ranks


def test_a_ratio_gives_a_single_rank_to_nobody_and_no_more_than_the_most() -> None:
    """Of one rank the ratio is 0, which figures above zero only come close to; of 100,000 it is 2 − 2e-5."""
    for ranks, found in ((MOST_RANKS, MOST_RANKS), (MOST_RANKS + 1, None)):
        assert ranks_from_ratio(1e6, 2e6 * (ranks - 1) / ranks, 1e-6) == found
    assert ranks_from_ratio(1.0, 0.01, 0.005) is None


@each(
    ("text", "size"),
    [
        ("0", 0.0),
        ("1,000", 1000.0),
        ("1000", 1000.0),
        ("1K", 1024.0),
        ("9.5K", 9728.0),  # below ten, a multiple of 1,024
        ("10K", 10_000.0),  # 10,240 is no power of two, and 8,192 is 18 % less
        ("16K", 16384.0),
        ("524K", 524_288.0),
        ("540K", 524_288.0),  # 2.9 % less
        ("544K", 544_000.0),  # 3.6 % less
        ("507K", 524_288.0),  # 3.4 % more
        ("506K", 506_000.0),  # 3.6 % more
        ("33M", 33_554_432.0),
        ("34.7M", 33_554_432.0),  # 3.3 % less
        ("48M", 48e6),
        ("48MiB", 48 * 2.0**20),
        ("17G", 2.0**34),
        ("1T", 2.0**40),
        ("1.5 KB", 1536.0),
        ("12,5", 125.0),
        ("5P", None),
        ("-1", None),
        ("1.1234567", None),
    ],
)
def test_a_decimal_size_near_a_power_of_two_is_that_power(text: str, size: float | None) -> None:
    assert size_of(text) == (None if size is None else pytest.approx(size))
