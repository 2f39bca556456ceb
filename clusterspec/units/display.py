"""Formatting of numbers: a suitable prefix, a few digits, no scientific notation; and common errors in such texts.

The text can be parsed back (`clusterspec.units.read`) to the same number of digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.records import dataclass

_LARGE = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_PREFIXED = ("B/s", "B", "b/s", "b", "FLOP/s", "FLOP", "T/s", "W/s", "W", "J", "m", "V", "A")
_SHORT_TIMES = ((1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_LONG_TIMES = (
    # (minimum seconds, seconds per unit, unit)
    (2 * YEAR, YEAR, "years"),
    (100 * HOUR, DAY, "days"),  # 72 h is customary, 100 h is not
    (2 * HOUR, HOUR, "h"),
    (120.0, 60.0, "min"),
)
_COUNTS = ((1e12, "T"), (1e9, "B"))


def display(value: float, unit: str, digits: int = 3) -> str:
    """The text of a value in SI units, ``1`` or currency.

    The units are ``B/s``, ``B``, ``FLOP/s``, ``FLOP``, ``T/s``, ``W``, ``W/s``, ``J``, ``m``, ``V``, ``A`` and ``s``.

    Counts below a billion and money are printed in full, everything else to ``digits``
    significant digits.

    >>> display(450e9, "B/s"), display(0.0123, "s"), display(1024, "1"), display(7.916e15, "FLOP/s")
    ('450 GB/s', '12.3 ms', '1,024', '7.92 PFLOP/s')
    """
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else "unbounded"
    if value < 0:
        return f"−{display(-value, unit, digits)}"
    if unit == "s":
        return _time_text(value, digits)
    if unit in _PREFIXED:
        return _prefixed_text(value, unit, digits)
    return _count_text(value, digits) if unit == "1" else f"{_money_text(value)} {unit}"


def distinct_texts(value: float, limit: float, unit: str) -> tuple[str, str]:
    """The texts of two values with the same number of digits, from three to six, such that they differ if possible.

    >>> distinct_texts(0.0339, 0.05, "s"), distinct_texts(0.05004, 0.05, "s")
    (('33.9 ms', '50 ms'), ('50.04 ms', '50 ms'))
    """
    for digits in (3, 4, 5, 6):
        texts = display(value, unit, digits), display(limit, unit, digits)
        if texts[0] != texts[1] or value == limit:
            break
    return texts


def rounded(value: float, digits: int = 3) -> float:
    """A value rounded to significant digits.

    >>> rounded(999.9), rounded(12_345.0, 2)
    (1000.0, 12000.0)
    """
    return float(f"{value:.{digits - 1}e}")


def rounded_up(value: float, digits: int = 3) -> float:
    """The smallest number with ``digits`` significant digits that is not below a positive value; used for a sufficient
    amount.

    >>> rounded_up(212.4e12), rounded_up(8.0, 2), rounded_up(8.21, 2)
    (213000000000000.0, 8.0, 8.3)
    """
    return _rounded_positive(value, digits, math.ceil)


def rounded_down(value: float, digits: int = 3) -> float:
    """The largest number with ``digits`` significant digits that is not above a positive value; used for a limit.

    >>> rounded_down(17.91, 2), rounded_down(0.95, 2)
    (17.0, 0.95)
    """
    return _rounded_positive(value, digits, math.floor)


def _rounded_positive(value: float, digits: int, direction: Callable[[float], int]) -> float:
    """A positive value rounded to significant digits in one direction. Floating-point errors in further digits are
    ignored.
    """
    if not 0 < value < math.inf:
        return value
    places = digits - 1 - math.floor(math.log10(value))
    whole = round(value * 10.0**places, 9 - digits)
    return round(direction(whole) * 10.0**-places, max(0, places))


def display_bits(bytes_per_second: float, digits: int = 3) -> str:
    """The text of a rate in bits per second, as usual for networks; the argument is in bytes per second.

    >>> display_bits(400e9)
    '3.2 Tb/s'
    """
    return display(bytes_per_second * 8, "b/s", digits)


@dataclass(frozen=True)
class BandwidthReadings:
    """One bandwidth in bytes and in bits, per direction and as the sum of both directions."""

    one_way: str
    one_way_bits: str
    duplex: str
    duplex_bits: str


def bandwidth_readings(bytes_per_second_per_direction: float, digits: int = 4) -> BandwidthReadings:
    """The four conventions in which data sheets print a bandwidth. The argument is in bytes per second per direction.

    >>> bandwidth_readings(450e9)
    BandwidthReadings(one_way='450 GB/s', one_way_bits='3.6 Tb/s', duplex='900 GB/s', duplex_bits='7.2 Tb/s')
    """
    one_way, both = bytes_per_second_per_direction, 2 * bytes_per_second_per_direction
    return BandwidthReadings(
        display(one_way, "B/s", digits),
        display_bits(one_way, digits),
        display(both, "B/s", digits),
        display_bits(both, digits),
    )


def years_text(years: float) -> str:
    """A term in years; a shorter one in the largest of months, weeks and days that is exact, else in days.

    >>> years_text(4.0), years_text(0.25), years_text(1.0), years_text(1.5)
    ('4 years', '3 months', '1 year', '1.5 years')
    >>> years_text(1.0001), years_text(366 / 365.25)
    ('1 year', '1.002 years')
    >>> years_text(91 / 365.25), years_text(60 / 365.25), years_text(10.5 / 365.25)
    ('13 weeks', '60 days', '10.5 days')
    """
    if years >= 1:
        shown = f"{years:.4g}"
        return "1 year" if shown == "1" else f"{shown} years"
    days = 365.25 * years
    for count, word in ((12 * years, "month"), (days / 7, "week"), (days, "day")):
        if round(count) and abs(round(count) - count) < 1e-3 * count:
            return plural(round(count), word)
    return f"{days:.3g} days"


def term_text(seconds: float) -> str:
    """A term in seconds, as text in the units of `years_text`.

    >>> term_text(4 * 365.25 * 86_400)
    '4 years'
    """
    return years_text(seconds / YEAR)


def plural(count: int, word: str, many: str = "") -> str:
    """A count with its noun; ``many`` is an irregular plural.

    >>> plural(1, "error"), plural(3200, "switch"), plural(2, "leaf"), plural(2, "entry"), plural(2, "way")
    ('1 error', '3,200 switches', '2 leaves', '2 entries', '2 ways')
    """
    many = many or _plural_noun(word)
    return f"{count:,} {word if count == 1 else many}"


def with_noun(number: str, word: str) -> str:
    """A number as it is shown, with its noun.

    >>> with_noun("1", "request"), with_noun("1.5", "request")
    ('1 request', '1.5 requests')
    """
    return f"{number} {word if number == '1' else _plural_noun(word)}"


def joined_words(values: Iterable[object], word: str = "and") -> str:
    """A list in a sentence, with a word before its last value.

    >>> joined_words(["a"]), joined_words(["a", "b", "c"]), joined_words([1024, 2048], "or")
    ('a', 'a, b and c', '1,024 or 2,048')
    """
    *first, last = [f"{value:,}" if isinstance(value, int) else str(value) for value in values] or [""]
    return f"{', '.join(first)} {word} {last}" if first else last


def _plural_noun(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    if word.endswith("f"):
        return f"{word[:-1]}ves"
    return word + ("es" if word.endswith(("ch", "sh", "s", "x")) else "s")


NEARLY_WHOLE = 99.0
"""Percent above which a share is printed with as many digits as distinguish it from the whole."""

NEARLY_NOTHING = 1e-6
"""The share below which a percentage is printed as 0."""
MOST_DIGITS = 6
"""Number of digits beyond which a difference from the whole is rounding error."""


def percent(fraction: float, digits: int = 3) -> str:
    """A fraction as a percentage, never rounded beyond whole percents: 1.174 with two digits is 117 %.

    A fraction below the whole is never printed as 100 %. One below a millionth is nothing that anybody would read.

    >>> percent(2.3e-11), percent(4e-6)
    ('0 %', '0.0004 %')
    >>> percent(0.4117), percent(1.0), percent(1.174, 2), percent(0.9965, 2), percent(0.99996), percent(53.5)
    ('41.2 %', '100 %', '117 %', '99.7 %', '99.996 %', '5,350 %')
    """
    if not math.isfinite(fraction):
        return display(fraction, "1")
    of_hundred = abs(fraction) * 100
    if abs(fraction) < NEARLY_NOTHING:
        return "0 %"
    whole = math.floor(math.log10(of_hundred)) + 1 if of_hundred >= 1 else 1
    if NEARLY_WHOLE < of_hundred < 100:
        needed = 2 + math.ceil(-math.log10(100 - of_hundred))
        digits = max(digits, needed) if needed <= MOST_DIGITS else digits
    text = f"{of_hundred:,.0f}" if whole > 3 else plain(of_hundred, max(digits, whole))
    return f"{'−' if fraction < 0 else ''}{text} %"


def metric_text(value: float, unit: str, digits: int = 3) -> str:
    """A metric of a plan: a share (unit ``1``) as a percentage, a rate of tokens (``tok/s``) and an amount (``money``)
    in full, else `display`.

    >>> metric_text(0.3502, "1"), metric_text(304012.0, "tok/s"), metric_text(4914000.0, "s")
    ('35 %', '304,012 tok/s', '56.9 days')
    """
    if unit == "1":
        return percent(value, digits)
    if unit == "money":
        return f"{value:,.0f}"
    return f"{display(value, '1', digits)} {unit}" if unit == "tok/s" else display(value, unit, digits)


def size_text(size: float) -> str:
    """The exact text of a size in bytes for a spec.

    >>> size_text(2.0**33), size_text(2.0**20 * 3), size_text(1000.0)
    ('8 GiB', '3 MiB', '1000 B')
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << power and size % (1 << power) == 0:
            return f"{int(size) >> power} {unit}"
    return f"{size:.12g} B"


def portion(fraction: float, digits: int = 2) -> str:
    """A part of a whole as a percentage; a part below a ten-thousandth is not given in digits.

    >>> portion(0.247), portion(0.0000002), portion(0.0)
    ('25 %', '< 0.01 %', '0 %')
    """
    return "< 0.01 %" if 0 < fraction < 1e-4 else percent(fraction, digits)


def plain(value: float, digits: int = 3) -> str:
    """A number of zero or more to ``digits`` significant digits, without an exponent or trailing zeros.

    >>> plain(450.04), plain(0.0012345), plain(123456.0)
    ('450', '0.00123', '123000')
    """
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(value))
    text = f"{round(value, places):.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _prefixed_text(value: float, unit: str, digits: int) -> str:
    size = rounded(value, digits)
    step = 0
    while size >= 1000 ** (step + 1) and step < len(_LARGE) - 1:
        step += 1
    symbol = f"{_LARGE[step]}{unit}"
    if symbol.startswith("kb"):  # the only symbol that could be read as bytes if case is ignored
        symbol = symbol.replace("kb", "kbit")
    return f"{plain(value / 1000**step, digits)} {symbol}"


def _time_text(value: float, digits: int) -> str:
    for least, scale, name in _LONG_TIMES:
        if value >= least:
            shown = f"{plain(value / scale, digits)} {name}"
            return "1 h" if shown == "60 min" else shown
    size = rounded(value, digits)
    if value == 0 or size >= 1:
        return f"{plain(value, digits)} s"
    for scale, name in _SHORT_TIMES:
        if size >= scale:
            return f"{plain(value / scale, digits)} {name}"
    return f"{plain(value / 1e-9, digits)} ns"


def _count_text(value: float, digits: int) -> str:
    for scale, name in _COUNTS:
        if rounded(value, digits) >= scale:
            return f"{plain(value / scale, digits)}{name}"
    if value == math.floor(value) or value >= 10**digits:
        return f"{value:,.0f}"
    return plain(value, digits)


def _money_text(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == math.floor(value) else f"{value:.2f}"


# Common errors in figures: bits for bytes, a wrong prefix, both directions for one, a sparse peak for a dense one

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
    """The factor by which a figure is wrong if bits and bytes are swapped: 1/8 if it was written in bits, 8 if in
    bytes.
    """
    return 1 / BITS_PER_BYTE if bits else BITS_PER_BYTE


def swapped_unit(symbol: str, bits: bool) -> str:
    """A unit with bits for bytes, or the reverse.

    >>> swapped_unit("Gb/s", True), swapped_unit("GB/s", False)
    ('GB/s', 'Gb/s')
    """
    return symbol.replace("b", "B") if bits else symbol.replace("B", "b")


def text_with_bits_swapped(symbol: str, bits: bool) -> str:
    """The description of a figure with bits and bytes swapped.

    >>> text_with_bits_swapped("GB/s", False)
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
