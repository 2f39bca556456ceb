"""How numbers are said to people."""

from __future__ import annotations

import math

import pytest

from clusterspec.units import bandwidth_readings, display, display_bits, percent, plain
from tests.effort import each

SAID = [
    (450e9, "B/s", "450 GB/s"),
    (0.0123, "s", "12.3 ms"),
    (1.5e12, "B", "1.5 TB"),
    (80e9, "B", "80 GB"),
    (7.916e15, "FLOP/s", "7.92 PFLOP/s"),
    (10_200, "W", "10.2 kW"),
    (1024, "1", "1,024"),
    (1_048_576, "1", "1,048,576"),
    (70.6e9, "1", "70.6B"),
    (15e12, "1", "15T"),
    (1234.5, "1", "1,234"),
    (0.40404, "1", "0.404"),
    (0, "B", "0 B"),
    (0, "s", "0 s"),
    (0, "1", "0"),
    (999.9e9, "B", "1 TB"),
    (999.4e9, "B", "999 GB"),
    (3e25, "FLOP", "30 YFLOP"),
    (32e9, "T/s", "32 GT/s"),
    (2e-6, "s", "2 µs"),
    (8e-7, "s", "800 ns"),
    (59.96, "s", "60 s"),
    (90, "s", "90 s"),
    (1800, "s", "30 min"),
    (3600, "s", "1 h"),
    (5400, "s", "90 min"),
    (3 * 3600, "s", "3 h"),
    (72 * 3600, "s", "72 h"),
    (41.3 * 86400, "s", "41.3 days"),
    (4 * 31_557_600, "s", "4 years"),
    (310_000, "USD", "310,000 USD"),
    (12, "USD", "12 USD"),
    (1234.5, "USD", "1,234 USD"),
    (3e28, "FLOP", "30000 YFLOP"),
    (0.12, "USD", "0.12 USD"),
    (2.5, "EUR", "2.50 EUR"),
    # at the limits of each form: cents below a thousand, and the units of times
    (999.5, "EUR", "999.50 EUR"),
    (999, "EUR", "999 EUR"),
    (1000.5, "EUR", "1,000 EUR"),
    (1000.7, "EUR", "1,001 EUR"),
    (119, "s", "119 s"),
    (120, "s", "2 min"),
    (119 * 60, "s", "119 min"),
    (120 * 60, "s", "2 h"),
    (99 * 3600, "s", "99 h"),
    (100 * 3600, "s", "4.17 days"),
    (2 * 31_557_600, "s", "2 years"),
    (2 * 31_557_599, "s", "730 days"),
    (1e-3, "s", "1 ms"),
    (9.99e-4, "s", "999 µs"),
    (1e-9, "s", "1 ns"),
    (5e-10, "s", "0.5 ns"),
    (1e9, "1", "1B"),
    (1e12, "1", "1T"),
    (999_000_000, "1", "999,000,000"),
    (-5e9, "B", "−5 GB"),
    (math.inf, "s", "unbounded"),
    (math.nan, "B/s", "unknown"),
]


@each(("value", "unit", "text"), SAID)
def test_numbers_have_customary_prefixes(value: float, unit: str, text: str) -> None:
    assert display(value, unit) == text


def test_network_rates_are_shown_in_bits() -> None:
    assert display_bits(50e9) == "400 Gb/s"
    assert display_bits(400e9) == "3.2 Tb/s"


def test_a_percentage_has_no_false_digits() -> None:
    assert [percent(f) for f in (0.4117, 0.5, 1.0, 0.0, 0.00123, -0.25)] == [
        "41.2 %",
        "50 %",
        "100 %",
        "0 %",
        "0.123 %",
        "−25 %",
    ]
    assert percent(math.nan) == "unknown"


def test_digits_are_significant_digits() -> None:
    assert [plain(1234.567, digits) for digits in (1, 2, 4, 6)] == ["1000", "1200", "1235", "1234.57"]
    assert display(1234.567e9, "B", 5) == "1.2346 TB"


def test_a_data_sheet_may_print_one_bandwidth_four_ways() -> None:
    ndr = bandwidth_readings(50e9)
    assert (ndr.one_way, ndr.one_way_bits, ndr.duplex, ndr.duplex_bits) == (
        "50 GB/s",
        "400 Gb/s",
        "100 GB/s",
        "800 Gb/s",
    )


@pytest.mark.parametrize("fraction", [0.999, 1.006, 1.104, 1.106, 1.17, 9.994, 11.7, 1234.5])
def test_percentages_of_one_quantity_agree_to_the_whole_percent(fraction: float) -> None:
    """A table and a sentence print the same share with two and with three digits."""
    shown = {round(float(percent(fraction, digits).removesuffix(" %").replace(",", ""))) for digits in (1, 2, 3)}
    assert len(shown) == 1 or fraction < 1
    assert shown == {round(100 * fraction)} or fraction < 1


@pytest.mark.parametrize(
    ("fraction", "digits", "said"),
    [
        *((0.4117, 1, "41 %"), (0.4117, 2, "41 %"), (0.4117, 3, "41.2 %")),  # whole percents are never rounded
        *((0.0117, 1, "1 %"), (0.0117, 2, "1.2 %"), (0.0199, 1, "2 %")),
        *((0.0041, 1, "0.4 %"), (0.00412, 2, "0.41 %"), (0.01, 1, "1 %")),
        *((1.174, 1, "117 %"), (9.994, 3, "999 %"), (10.0, 2, "1,000 %"), (123.4, 2, "12,340 %")),
        *((-0.4117, 2, "−41 %"), (0.999, 2, "99.9 %"), (0.99996, 3, "99.996 %"), (0.99, 1, "99 %")),
        *((1 - 1e-6, 3, "99.9999 %"), (1 - 4e-7, 3, "100 %")),  # less is an error of rounding
        *((1e-6, 2, "0.0001 %"), (0.99e-6, 2, "0 %"), (-1e-6, 2, "−0.0001 %")),  # a millionth is the least
    ],
)
def test_a_percentage_has_its_digits_and_at_least_all_whole_percents(fraction: float, digits: int, said: str) -> None:
    assert percent(fraction, digits) == said
