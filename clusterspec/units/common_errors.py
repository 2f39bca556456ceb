"""Common errors in figures: bits for bytes, a wrong prefix, both directions for one, a sparse peak for a dense one."""

from __future__ import annotations

from clusterspec.units.display import percent, plain

BITS = "bits-and-bytes-swapped"
PREFIX = "thousandfold-mistake"
SUMMED = "duplex-counted-as-one-way"
SINGLE = "one-way-counted-as-duplex"
SCOPE = "bandwidth-of-another-scope"
SPARSE = "sparse-peak-as-dense"
"""Names of the rules that report each error."""

AGREES = 0.05
"""Relative distance at which a published figure still agrees: DGX B200 is sold with 1.8 TB/s of NVLink 5, some data
sheets print 1,772 GB/s; the 63 GB/s of PCIe 5 are printed as 64.
"""
PREFIX_STEP = 1000.0
BITS_PER_BYTE = 8.0

MEANT = {
    PREFIX: "an error of one prefix (M, G, T)",
    SUMMED: "the sum of both directions",
    SINGLE: "a single direction",
    SPARSE: "the peak with 2:4 sparsity",
}
"""Descriptions of an error that follow `it looks like`, by its rule."""


def agrees_within(value: float, other: float, within: float) -> bool:
    """Whether two figures agree within a relative distance ``within`` of the second.

    >>> agrees_within(1.04, 1.0, 0.05), agrees_within(1.06, 1.0, 0.05), agrees_within(1.0, 0.0, 0.05)
    (True, False, False)
    """
    return other != 0 and abs(value / other - 1) <= within


def is_prefix_error(ratio: float, within: float) -> bool:
    """Whether a figure is 1000 times another, or 1/1000 of it.

    >>> is_prefix_error(1000.0, 0.05), is_prefix_error(0.001, 0.05), is_prefix_error(8.0, 0.05)
    (True, True, False)
    """
    return agrees_within(ratio, PREFIX_STEP, within) or agrees_within(ratio, 1 / PREFIX_STEP, within)


def bits_ratio(bits: bool) -> float:
    """The ratio of a figure with bits and bytes swapped to the right one: 1/8 if written in bits, 8 if in bytes."""
    return 1 / BITS_PER_BYTE if bits else BITS_PER_BYTE


def swapped_unit(symbol: str, bits: bool) -> str:
    """A unit with bits for bytes, or the reverse.

    >>> swapped_unit("Gb/s", True), swapped_unit("GB/s", False)
    ('GB/s', 'Gb/s')
    """
    return symbol.replace("b", "B") if bits else symbol.replace("B", "b")


def meant_by_bits(symbol: str, bits: bool) -> str:
    """The description of a figure with bits and bytes swapped.

    >>> meant_by_bits("GB/s", False)
    'a figure in Gb/s with the unit GB/s'
    """
    return f"a figure in {swapped_unit(symbol, bits)} with the unit {symbol}"


def ratio_text(ratio: float) -> str:
    """A ratio in words.

    >>> ratio_text(2.0), ratio_text(0.125), ratio_text(0.667)
    ('2 times', '1/8 of', '66.7 % of')
    """
    if ratio >= 1:
        return f"{plain(ratio)} times"
    parts = round(1 / ratio) if ratio > 0 else 0
    return f"1/{parts} of" if parts and agrees_within(1 / ratio, parts, 0.01) else f"{percent(ratio)} of"
