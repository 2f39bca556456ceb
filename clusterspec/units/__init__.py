"""Quantities: the only package that parses and formats units.

`read` parses a quantity: a number, a unit, and a direction or sparsity. It raises `UnitFault` for other texts.
`display` formats one; `readings.readings` lists its possible interpretations.
Conversion factors come from a table generated from the pint registry of ``definitions.txt``,
because importing pint takes 0.1 s (measured; more with NumPy, which pint imports), and importing
this package without it 0.01 s.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from clusterspec.quantity import Direction, Quantity, Sparsity
from clusterspec.standard import pattern
from clusterspec.units.display import (
    BandwidthReadings,
    bandwidth_readings,
    display,
    display_bits,
    distinct_texts,
    metric_text,
    percent,
    plain,
    plural,
    portion,
    rounded,
    rounded_down,
    rounded_up,
    size_text,
    term_text,
    with_noun,
    years_text,
)
from clusterspec.units.symbols import (
    COUNTS,
    KINDS,
    MEANING,
    NUMBER,
    Kind,
    UnitFault,
    both_symbols,
    quoted_text,
    split_number,
    symbol_of,
    text_of,
    unreadable_fault,
)
from clusterspec.units.table import TABLE

__all__ = [
    "KINDS",
    "BandwidthReadings",
    "Kind",
    "UnitFault",
    "bandwidth_readings",
    "display",
    "display_bits",
    "distinct_texts",
    "metric_text",
    "percent",
    "plain",
    "plural",
    "portion",
    "read",
    "rounded",
    "rounded_down",
    "rounded_up",
    "size_text",
    "term_text",
    "with_noun",
    "years_text",
]


# Errors of quantities whose number is valid but whose unit is not, with suggestions

_PREFIX = pattern(r"[kKMGTPE]i?", re.ASCII)
_FOREIGN = {
    "hz": "a clock frequency",
    "t/s": "a transfer rate",
    "bd": "a symbol rate",
    "baud": "a symbol rate",
    "wh": "an energy",
    "va": "an apparent power",
    "v": "a voltage",
    "a": "a current",
    "ops": "a rate of integer operations",
    "op/s": "a rate of integer operations",
    "pps": "a packet rate",
    "%": "a percentage",
    "percent": "a percentage",
}
_FOREIGN_UNIT = pattern(rf"[kmgtpe]?(?P<unit>{'|'.join(_FOREIGN)})", re.ASCII | re.IGNORECASE)
_WORDS = pattern("bytes?|bits?")


def unknown_unit_fault(written: str, rest: str, spelling: str, kind: Kind) -> UnitFault:
    """The error of a number whose unit is missing, incomplete, ambiguous or unknown."""
    number = written.removesuffix(rest).rstrip(" ")
    if not rest or _PREFIX.fullmatch(rest):
        what = f"ends with the prefix `{rest}`" if rest else "has no unit"
        message = f"{quoted_text(written)} {what}, but {kind.name} is expected"
        return UnitFault(
            "missing-unit", message, _alternatives_text(f"{number} {unit}" for unit in _suggested_units(kind, rest))
        )
    readings = both_symbols(spelling)
    if readings:
        return _ambiguity_fault(written, rest, spelling, readings, kind)
    foreign = _FOREIGN_UNIT.fullmatch(spelling)
    if foreign and (what := _FOREIGN[foreign["unit"].lower()]) != kind.name:
        return _wrong_unit_fault(written, what, kind, _example_quantity(kind))
    message = f"{quoted_text(spelling)} in {quoted_text(written)} is not a supported unit"
    near = _nearest_symbols(spelling, kind.unit)
    advice = _alternatives_text(f"{number} {unit}" for unit in near) if near else _example_quantity(kind)
    return UnitFault("unreadable-quantity", message, advice)


def other_unit_fault(written: str, rest: str, spelling: str, symbol: str, kind: Kind) -> UnitFault:
    """The error of a valid unit of the wrong kind (GB instead of GB/s)."""
    unit = TABLE[symbol][0]
    advice = _example_quantity(kind)
    if f"{unit}/s" == kind.unit:
        advice = f"write `{text_with_symbol(written, rest, spelling, symbol + '/s')}`, if it is the amount per second"
    elif unit == f"{kind.unit}/s":
        advice = f"write `{text_with_symbol(written, rest, spelling, symbol.removesuffix('/s'))}`, without the time"
    elif unit == "T/s" and kind.unit == "B/s":
        advice += "; a lane of 32 GT/s carries 32 Gb/s in each direction before line code, and a link has several lanes"
    return _wrong_unit_fault(written, MEANING[unit], kind, advice)


def trailing_text_fault(written: str, number: float, rest: str, kind: Kind) -> UnitFault:
    """The error of a plain number followed by other text."""
    if rest in ("%", "percent"):
        return _wrong_unit_fault(written, "a percentage", kind, f"write `{number / 100:.12g}`")
    if kind.name == "a ratio" and rest.startswith((":", "/", "to", "x")):
        return UnitFault(
            "unreadable-quantity", f"cannot read {quoted_text(written)} as a ratio", "write it as `2:1` or `2`"
        )
    symbol = symbol_of(rest)
    if symbol:
        return _wrong_unit_fault(written, MEANING[TABLE[symbol][0]], kind, "write the number alone")
    advice = "write a whole number, or one such as `15T` or `8 million`" if kind.whole else "write the number alone"
    message = f"cannot read {quoted_text(rest)} after the number of {quoted_text(written)}"
    return UnitFault("unreadable-quantity", message, advice)


def unknown_words_fault(written: str, words: str, kind: Kind) -> UnitFault:
    """The error of unknown words after a unit."""
    left = " ".join(written.replace(words, "", 1).split())
    advice = f"leave them out: {quoted_text(left)}"
    if words[:1].isdecimal():  # a second quantity, as in `1 h 30 min`: without it, the value is another
        advice = "write one number with one unit"
    if kind.directed:
        advice = "after the unit, write `duplex` or `unidirectional` and nothing else"
    elif kind.unit == "FLOP/s":
        advice = "after the unit, write `dense` or `sparse` and nothing else"
    return UnitFault(
        "unreadable-quantity", f"cannot read the words {quoted_text(words)} in {quoted_text(written)}", advice
    )


def _ambiguity_fault(written: str, rest: str, spelling: str, readings: tuple[str, ...], kind: Kind) -> UnitFault:
    if kind.unit not in ("B", "B/s"):
        return _wrong_unit_fault(written, "a number of bits or bytes", kind, _example_quantity(kind))
    per = "/s" if kind.unit == "B/s" else ""
    bits, whole = (text_with_symbol(written, rest, spelling, r.removesuffix("/s") + per) for r in readings)
    message = f"{quoted_text(spelling)} in {quoted_text(written)} may mean bits or bytes, a factor of eight"
    return UnitFault("ambiguous-unit", message, f"write `{bits}` (bits) or `{whole}` (bytes)")


def _wrong_unit_fault(written: str, name: str, kind: Kind, advice: str) -> UnitFault:
    return UnitFault("wrong-unit", f"{quoted_text(written)} is {name}, but {kind.name} is expected", advice)


def text_with_symbol(written: str, rest: str, spelling: str, symbol: str) -> str:
    """The text with another symbol in place of the spelling at the start of ``rest``."""
    number = written.removesuffix(rest).rstrip(" ")
    return f"{number} {symbol}{' '.join(rest.split()).removeprefix(spelling)}"


def _suggested_units(kind: Kind, prefix: str) -> list[str]:
    """The usual units of a kind, with the author's prefix."""
    if not prefix:
        return list(kind.suggestions)
    same = [unit for unit in kind.suggestions if _PREFIX.match(unit)]
    binary = [prefix[0] + "i" if unit[1] == "i" else prefix for unit in same]
    fitted = [_PREFIX.sub(own, unit, count=1) for own, unit in zip(binary, same, strict=True)]
    return list(dict.fromkeys(fitted)) or list(kind.suggestions)


def _nearest_symbols(spelling: str, unit: str) -> list[str]:
    """The symbols of an SI unit that are similar to a spelling."""
    from difflib import get_close_matches

    if spelling == "m" and unit == "s":  # equally similar to months, which are not written this way
        return ["min", "ms"]
    lowered = {symbol: symbol.lower() for symbol, (si, _, _) in TABLE.items() if unit in (si, "")}
    short = _WORDS.sub("b", spelling.lower())
    near = get_close_matches(short, set(lowered.values()), n=2, cutoff=0.6)
    return [symbol for best in near for symbol, lower in lowered.items() if lower == best][:4]


def _alternatives_text(readings: Iterable[str]) -> str:
    return "write " + " or ".join(f"`{reading}`" for reading in readings)


def _example_quantity(kind: Kind) -> str:
    return f"write {kind.name} such as `1 {kind.suggestions[0]}`"


_ONE_WAY = "unidirectional|uni|unidir|uni directional|one way|oneway|one direction|per direction|each direction"
_ONE_WAY += "|in each direction|each way|per way|simplex"
_DUPLEX = "duplex|full duplex|bidirectional|bidir|bidi|bi|bi directional|both ways|both directions|in both directions"
_DUPLEX += "|two way"
_DENSE = "dense|without sparsity|no sparsity|non sparse"
_SPARSE = "sparse|with sparsity|with structured sparsity|with 2:4 sparsity|2:4 sparse"
QUALIFIERS: dict[str, Direction | Sparsity] = {
    **dict.fromkeys(_ONE_WAY.split("|"), Direction.ONE_WAY),
    **dict.fromkeys(_DUPLEX.split("|"), Direction.DUPLEX),
    **dict.fromkeys(_DENSE.split("|"), Sparsity.DENSE),
    **dict.fromkeys(_SPARSE.split("|"), Sparsity.SPARSE),
}

_RATIO = pattern(rf"({NUMBER})[ ]*(?::|to)[ ]*({NUMBER})", re.ASCII)


def read(text: str | int | float, kind: str) -> Quantity:
    """The quantity of a text in SI units, in the direction or sparsity that it states.

    ``kind`` is a key of `KINDS`. A ratio such as ``2:1`` is its first number over its second.
    Raises `UnitFault` if the text is not exactly one quantity of that kind.

    >>> read("8 x 400 Gb/s", "line_rate").value
    400000000000.0
    >>> read("900 GB/s duplex", "bandwidth").per_direction
    450000000000.0
    """
    wanted = KINDS[kind]
    written = text_of(text)
    quantity = _ratio_quantity(written) if kind == "ratio" else None
    if quantity is None:
        quantity = _plain_quantity(written, wanted) if wanted.unit == "1" else _quantity_with_unit(written, wanted)
    if quantity.value == 0 and not wanted.zero:
        raise UnitFault("unreadable-quantity", f"{quoted_text(written)} is zero", f"write {wanted.name} above zero")
    return quantity


def symbol_and_words(rest: str) -> tuple[str | None, str, str]:
    """The text after a number as (symbol, its spelling, words after it); the symbol is None if none fits.

    >>> symbol_and_words("GB per second each way")
    ('GB/s', 'GB per second', 'each way')
    """
    head, mark, tail = _unit_before_mark(rest)
    words = head.split()
    longest = 1 if words and words[0].endswith("/s") else 4  # no word of a unit follows "/s"
    for length in range(min(len(words), longest), 0, -1):
        spelling = " ".join(words[:length])
        if symbol := symbol_of(spelling):
            after = " ".join(words[length:])
            return symbol, spelling, f"{after}{mark}{tail}".strip(" ")
    return None, words[0] if words else "", " ".join(words[1:]) + mark + tail


def _unit_before_mark(rest: str) -> tuple[str, str, str]:
    cut = min((at for at in (rest.find(","), rest.find("(")) if at >= 0), default=len(rest))
    return rest[:cut], rest[cut : cut + 1], rest[cut + 1 :]


def _ratio_quantity(written: str) -> Quantity | None:
    match = _RATIO.fullmatch(written)
    if not match:
        return None
    down, _ = split_number(match[1], whole=False, example="2:1")
    up, _ = split_number(match[2], whole=False, example="2:1")
    if up == 0 or math.isinf(down / up) or (down > 0 and down / up == 0):
        raise unreadable_fault(written, "write the downlinks over the uplinks, as in `2:1`; the uplinks are not zero")
    return Quantity(down / up, "1", written)


def _plain_quantity(written: str, kind: Kind) -> Quantity:
    """A number without a unit; a count may have a suffix for thousands to trillions (``15T``)."""
    number, rest = split_number(written, kind.whole, "3")
    suffix = rest.removesuffix("tokens").rstrip(" ") if kind.whole else rest
    if suffix not in (COUNTS if kind.whole else ("",)):
        raise trailing_text_fault(written, number, rest, kind)
    value = number * COUNTS[suffix]
    if math.isinf(value):
        raise unreadable_fault(written, "write a smaller number")
    if kind.whole:
        value = _exact_product(written, value)
    return Quantity(value, "1", written, suffix)


def _exact_product(written: str, value: float) -> float:
    """The exact integer of a product such as 1.005 × 1000, which floating-point rounding misses in the last digit."""
    nearest = float(round(value))
    if not math.isclose(value, nearest, rel_tol=1e-15):
        raise unreadable_fault(written, "write a whole number")
    return nearest


def _quantity_with_unit(written: str, kind: Kind) -> Quantity:
    example = f"1 {kind.suggestions[0]}"
    number, rest = split_number(written, False, example)
    symbol, spelling, words = symbol_and_words(rest)
    if symbol is None or (symbol == "m" and kind.unit == "s"):  # minutes or milliseconds are meant
        raise unknown_unit_fault(written, rest, spelling, kind)
    if TABLE[symbol][0] != kind.unit:
        raise other_unit_fault(written, rest, spelling, symbol, kind)
    qualifier = _stated_qualifier(words)
    if words and qualifier is None:
        raise unknown_words_fault(written, words, kind)
    _check_qualifier(written, qualifier, kind)
    return _to_si(written, number, symbol, qualifier)


def _to_si(written: str, number: float, symbol: str, qualifier: Direction | Sparsity | None) -> Quantity:
    """A number with a symbol of the table as a quantity in SI units."""
    unit, numerator, denominator = TABLE[symbol]
    value = number * numerator / denominator
    if math.isinf(value):
        raise unreadable_fault(written, "write a smaller number")
    return Quantity(
        value,
        unit,
        written,
        symbol,
        bits=symbol.rstrip("/s").endswith("b"),
        direction=qualifier if isinstance(qualifier, Direction) else None,
        sparsity=qualifier if isinstance(qualifier, Sparsity) else None,
    )


def _stated_qualifier(words: str) -> Direction | Sparsity | None:
    """The direction or sparsity stated by the words after a unit, or None."""
    inner = words[1:-1] if words.startswith("(") and words.endswith(")") else words.removeprefix(",")
    return QUALIFIERS.get(" ".join(inner.lower().replace("-", " ").split()))


def _check_qualifier(written: str, qualifier: Direction | Sparsity | None, kind: Kind) -> None:
    if isinstance(qualifier, Direction) and not kind.directed:
        raise UnitFault(
            "wrong-unit", f"{quoted_text(written)} has a direction, and {kind.name} has none", "leave it out"
        )
    if kind.unit == "FLOP/s" and qualifier is None:
        message = f"{quoted_text(written)} does not say whether it counts structured sparsity, a factor of two"
        raise UnitFault("missing-sparsity", message, f"write `{written} dense` or `{written} sparse`")
    if isinstance(qualifier, Sparsity) and kind.unit != "FLOP/s":
        raise UnitFault("wrong-unit", f"{quoted_text(written)}: only a peak is dense or sparse", "leave the word out")
