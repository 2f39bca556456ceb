"""Mistakes that leave a known factor or one digit between a written figure and the right one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from clusterspec.rules.readers.stated_figures import StatedFigure, stated_figures

POWERS = tuple(10.0**power for power in (1, 2, 3, 6, -1, -2, -3, -6))
"""Factors of a decimal mark or a prefix that is wrong."""
BITS_OF_BYTE = 8.0
BITS_CALLED_BYTES, BYTES_CALLED_BITS = "bits are called bytes", "bytes are called bits"
TENTH = "a tenth is taken instead of an eighth"
TWICE = "a factor of two is wrong"
PREFIX, BINARY, DIGIT = "a power of ten is wrong", "binary and decimal units are mixed up", "a digit is wrong"
COARSEST = 0.05
"""Upper limit of the relative rounding error that is assumed of a figure."""
_PREFIXES = "KMGTPE"
FEWEST_DIGITS, FEWEST_SWAPPED, FEWEST_OF_KNOWN = 4, 3, 2
"""Significant digits of figures with one wrong digit or two swapped digits, and of counts where no other formula
applies.
"""


def rounding_of(figure: StatedFigure) -> float:
    """The relative rounding of a result, whose zeros at the end may be rounded."""
    return min(figure.half / figure.plain, COARSEST)


def has_one_digit(figure: StatedFigure) -> bool:
    """Whether a figure has one digit other than the zeros around it.

    >>> from clusterspec.rules.readers.stated_figures import stated_figures
    >>> [has_one_digit(each) for each in stated_figures("200 Gb/s, 0.3 s, 48 kW")]
    [True, True, False]
    """
    return len(f"{figure.plain:.12g}".replace(".", "").strip("0")) == 1


def input_rounding(figures: Iterable[StatedFigure]) -> float:
    """The relative rounding of a product of figures; whole numbers are exact."""
    return sum((min(each.half, 0.5) / each.plain if each.plain % 1 else 0.0) for each in figures)


def is_near(one: float, other: float, tolerance: float) -> bool:
    """Whether the ratio of two figures is one, within a relative tolerance."""
    return other != 0 and abs(one / other - 1) <= tolerance


def _coarsest_rounding(figures: Iterable[StatedFigure]) -> float:
    """The relative rounding of a product of figures, if every whole number with a unit may be rounded."""
    return sum(
        min(each.half, 0.5) / each.plain
        for each in figures
        if (each.is_measure and not each.dimensions[0]) or each.plain % 1
    )


def slip_between(figure: StatedFigure, right: float, inputs: Sequence[StatedFigure], *, is_typed: bool = False) -> str:
    """The mistake between a written figure and the right one, in SI; empty where none is known. ``inputs`` are the figures that
    give the right one, by the only formula if ``is_typed``.

    >>> from clusterspec.rules.readers.stated_figures import stated_figures
    >>> slips = [("6.4 TB/s", 0.8e12), ("10.7 GiB", 10.7e9), ("47,700 steps", 476837.0), ("3,41 kW", 4310.0), ("4.1 kW", 4310.0)]
    >>> [slip_between(stated_figures(text)[0], right, stated_figures("400 Gb/s")) for text, right in slips]
    ['bits are called bytes', 'binary and decimal units are mixed up', 'a power of ten is wrong', 'a digit is wrong', '']
    """
    rounding = input_rounding(inputs)
    ratio, tolerance = figure.value / right, rounding_of(figure) + rounding + 1e-3
    if len({each.unit[1:2] for each in (figure, *inputs) if each.dimensions[3]}) > 1:
        if is_near(ratio, BITS_OF_BYTE, tolerance):
            return BITS_CALLED_BYTES
        if is_near(ratio, 1 / BITS_OF_BYTE, tolerance):
            return BYTES_CALLED_BITS
    if any(is_near(ratio, power, tolerance) for power in POWERS):
        return PREFIX
    if _is_other_base(figure, ratio, rounding):
        return BINARY
    off = abs(ratio - 1) > 2 * (_coarsest_rounding(inputs) + 1e-4)
    fewest = FEWEST_OF_KNOWN if is_typed and not (rounding or figure.is_measure) else FEWEST_DIGITS
    return DIGIT if off and _differs_in_digit(figure, right / figure.scale, fewest) else ""


def slip_of_words(stated: str, right: str) -> str:
    """The mistake between the first figures of two texts; empty where none is known, and where one has no figure.

    >>> slip_of_words("`41,000 prompt tokens`", "4,100"), slip_of_words("486,4 kW", "686.4 kW"), slip_of_words("5 h", "10 h")
    ('a power of ten is wrong', 'a digit is wrong', 'a factor of two is wrong')
    >>> slip_of_words("11 days", "20.9 days"), slip_of_words("11 days", "no end")
    ('', '')
    """
    figures = [each for text in (stated, right) for each in stated_figures(text)[:1]]
    if len(figures) < 2 or not figures[1].value:
        return ""
    ratio, rounding = figures[0].value / figures[1].value, rounding_of(figures[0]) + rounding_of(figures[1])
    is_twice = is_near(ratio, 2.0, rounding) or is_near(ratio, 0.5, rounding)
    return TWICE if is_twice else slip_between(figures[0], figures[1].value, figures[1:])


def _is_other_base(figure: StatedFigure, ratio: float, rounding: float) -> bool:
    """Whether a size has the digits of the right one in units of the other base, decimal or binary."""
    if figure.dimensions != (0, 0, 0, 1) or figure.unit[:1] not in _PREFIXES:
        return False
    base = 1.024 ** (_PREFIXES.index(figure.unit[0]) + 1)
    tolerance = min(figure.half, 0.5) / figure.plain + rounding
    tolerance = tolerance if tolerance < (base - 1) / 4 else 1e-3  # `20 GB` is 20.00 GiB
    return is_near(ratio, base if "i" in figure.unit else 1 / base, tolerance)


def _differs_in_digit(figure: StatedFigure, right: float, fewest: int) -> bool:
    """Whether a figure has the digits of the right one, except for one digit or for the order of two neighbors."""
    unit = 2 * figure.half
    written, true = (f"{round(each / unit):d}" for each in (figure.plain, right))
    if len(written) != len(true):
        return False
    wrong = [at for at, (one, other) in enumerate(zip(written, true, strict=True)) if one != other]
    swapped = len(wrong) == 2 and wrong in [[*each] for each in pairwise(range(len(true)))]
    if swapped and written[wrong[0]] + written[wrong[1]] == true[wrong[1]] + true[wrong[0]]:
        return len(true) >= min(fewest, FEWEST_SWAPPED)
    return len(wrong) == 1 and len(true) >= fewest
