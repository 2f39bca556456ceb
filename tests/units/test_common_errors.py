"""Deviations of units: factors, names and the words for them, with numbers worked out by hand."""

from __future__ import annotations

import pytest

from clusterspec.units import display, plural, read
from clusterspec.units.display import (
    agrees_within,
    bits_ratio,
    is_prefix_error,
    ratio_text,
    swapped_unit,
    text_with_bits_swapped,
)


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1.0, "1 times"),
        (1.5, "1.5 times"),
        (8.0, "8 times"),
        (1 / 8, "1/8 of"),
        (1 / 1000, "1/1000 of"),
        (0.99, "99 % of"),  # 1 / 0.99 is 1.0 % off one, which is no whole part
        (0.4, "40 % of"),
        (0.0, "0 % of"),
    ],
)
def test_a_ratio_is_a_multiple_or_a_part(ratio: float, words: str) -> None:
    assert ratio_text(ratio) == words


@pytest.mark.parametrize(
    ("value", "other", "within", "agree"),
    [(104.9, 100.0, 0.05, True), (105.1, 100.0, 0.05, False), (95.1, 100.0, 0.05, True), (94.9, 100.0, 0.05, False)],
)
def test_two_figures_agree_within_a_share_of_the_second(value: float, other: float, within: float, agree: bool) -> None:
    assert agrees_within(value, other, within) is agree


@pytest.mark.parametrize(
    ("ratio", "error"), [(1000, True), (1049, True), (1051, False), (1 / 1000, True), (1 / 100, False), (1.0, False)]
)
def test_a_prefix_is_a_thousand_up_or_down(ratio: float, error: bool) -> None:
    assert is_prefix_error(ratio, 0.05) is error


def test_bits_and_bytes_differ_by_eight() -> None:
    assert (bits_ratio(True), bits_ratio(False)) == (0.125, 8.0)
    assert (swapped_unit("Gb/s", True), swapped_unit("GB/s", False)) == ("GB/s", "Gb/s")
    assert text_with_bits_swapped("Gb/s", True) == "a figure in GB/s with the unit Gb/s"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("15T", 15e12),
        ("3B", 3e9),
        ("2M", 2e6),
        ("7k", 7e3),
        ("4 thousand", 4e3),
        ("5 million", 5e6),
        ("6 billion", 6e9),
        ("8 trillion", 8e12),
        ("12", 12.0),
    ],
)
def test_a_count_has_its_suffix(text: str, value: float) -> None:
    assert read(text, "count").value == value


@pytest.mark.parametrize(("text", "value"), [("4:1", 4.0), ("1:4", 0.25), ("3:2", 1.5), ("1:1", 1.0)])
def test_a_ratio_is_down_over_up(text: str, value: float) -> None:
    assert read(text, "ratio").value == value


@pytest.mark.parametrize("text", ["1:0", "1e-300:1e300", "1e300:1e-300"])
def test_a_ratio_that_no_fabric_has_is_refused(text: str) -> None:
    with pytest.raises(Exception, match=r"2:1|digits|number"):
        read(text, "ratio")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1.0, "1 s"),
        (0.9996, "1 s"),
        (0.999, "999 ms"),
        (0.001, "1 ms"),
        (1e-6, "1 µs"),
        (119.0, "119 s"),
        (120.0, "2 min"),
    ],
)
def test_a_time_changes_its_unit_where_it_reads_best(seconds: float, words: str) -> None:
    assert display(seconds, "s") == words


@pytest.mark.parametrize(
    ("count", "word", "words"),
    [
        (1, "switch", "1 switch"),
        (2, "switch", "2 switches"),
        (2, "leaf", "2 leaves"),
        (2, "entry", "2 entries"),
        (2, "key", "2 keys"),
        (2, "tray", "2 trays"),
        (1, "entry", "1 entry"),
    ],
)
def test_a_plural_follows_its_word(count: int, word: str, words: str) -> None:
    assert plural(count, word) == words
