"""Unit conversion with pint, and the interpretations of a quantity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass
from clusterspec.units import read, symbol_and_words, text_with_symbol, unknown_unit_fault
from clusterspec.units.display import display, plain, plural
from clusterspec.units.symbols import COUNTS, MEANING, Kind, both_symbols, is_line_rate, split_number, text_of
from clusterspec.units.table import TABLE

if TYPE_CHECKING:
    from fractions import Fraction

    import pint


# Unit conversion with pint, restricted to the units of ``definitions.txt``

_DEFINITIONS = FilePath(__file__).with_name("definitions.txt")


@cache
def registry() -> pint.UnitRegistry[Any]:
    """The registry of ``definitions.txt``; its numbers are exact fractions."""
    from fractions import Fraction

    import pint

    return pint.UnitRegistry(str(_DEFINITIONS), non_int_type=Fraction, cache_folder=None)


@cache
def conversion_factor(symbol: str, into: str) -> Fraction:
    """The exact conversion factor from ``symbol`` to ``into``, both as spelled in the definitions.

    >>> conversion_factor("Gb/s", "B/s")
    Fraction(125000000, 1)
    """
    from fractions import Fraction

    one = registry().Quantity(Fraction(1), registry().Unit(symbol))
    return Fraction(one.to(into).magnitude)


def convert(value: float, unit: str, into: str) -> float:
    """A value converted from one unit to another, rounded once.

    >>> convert(400.0, "Gb/s", "GB/s")
    50.0
    """
    exact = conversion_factor(unit, into)
    return float(type(exact)(value) * exact)


# Possible interpretations of a quantity, as shown by ``clusterspec convert``

DIGITS = 6
"""Significant digits of a converted value. They are enough to distinguish GB from GiB, and a line rate from its
payload.
"""

_ANY = Kind("", "a quantity with a unit", ("GB/s", "Gb/s", "GB"))
_KIND_OF_UNIT = {"B/s": "rate", "B": "bytes", "FLOP/s": "peak", "FLOP": "work", "T/s": "transfer_rate"}
_KIND_OF_UNIT |= {"W": "power", "m": "length", "s": "time", "V": "voltage", "A": "current"}
_UNSTATED = {
    "B/s": (("unidirectional", "it counts one direction"), ("duplex", "it sums both directions")),
    "FLOP/s": (("dense", "it is dense"), ("sparse", "it counts 2:4 sparsity")),
}
_DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_TIMES = ("ns", "us", "ms", "s", "min", "h", "day", "year")
_PLAIN = frozenset("0123456789., :")


@dataclass(frozen=True)
class Reading:
    """One interpretation of a quantity: ``text`` for display, ``value`` in the SI ``unit``.

    ``label`` states what the text counts (``per direction``), ``assuming`` the assumption made.
    ``value`` is independent of the label: a bandwidth in bytes per second per direction, a peak in
    dense FLOP/s.
    """

    label: str
    text: str
    value: float
    unit: str
    assuming: str = ""


@dataclass(frozen=True)
class Readings:
    """All interpretations of a text; ``ambiguous`` if any makes an assumption."""

    written: str
    meaning: str
    rows: tuple[Reading, ...]

    @property
    def ambiguous(self) -> bool:
        return any(row.assuming for row in self.rows)

    def to_json(self) -> dict[str, object]:
        """The interpretations as JSON values; ``assuming`` is null if the text is unambiguous."""
        rows = [
            {"assuming": r.assuming or None, "label": r.label, "text": r.text, "value": r.value, "unit": r.unit}
            for r in self.rows
        ]
        return {"written": self.written, "meaning": self.meaning, "ambiguous": self.ambiguous, "readings": rows}


def readings(text: str) -> Readings:
    """All interpretations of a quantity of any kind. Raises `UnitFault` if the text is not a quantity.

    >>> [row.text for row in readings("450 GB/s unidirectional").rows][:2]
    ['450 GB/s', '3600 Gb/s']
    """
    written = text_of(text)
    interpretations = list(_possible_quantities(written, ()))
    rows = tuple(
        Reading(label, shown, value, unit, " and ".join(assumptions))
        for assumptions, quantity in interpretations
        for label, shown, value, unit in _ROWS[quantity.unit](quantity)
    )
    return Readings(
        written, " or ".join(dict.fromkeys(MEANING[quantity.unit] for _, quantity in interpretations)), rows
    )


_Assumed = tuple[str, ...]
_Row = tuple[str, str, float, str]


def _possible_quantities(text: str, assumptions: _Assumed) -> Iterator[tuple[_Assumed, Quantity]]:
    """The quantities that a text may mean, one per combination of assumptions."""
    if ":" in text and _PLAIN.issuperset(text):
        yield assumptions, read(text, "ratio")
        return
    number, rest = split_number(text, _PLAIN.issuperset(text), "900 GB/s duplex")
    symbol, spelling, words = symbol_and_words(rest)
    if rest in COUNTS and rest != "G":  # 400 G is a rate without its unit
        kind = "count" if rest or number.is_integer() else "number"
        yield (*assumptions, "B is billion") if symbol else assumptions, read(text, kind)
        if symbol:
            yield (*assumptions, "B is bytes"), read(text, "bytes")
    elif symbol:
        line_rate = f"{text} unidirectional" if is_line_rate(spelling) and not words else ""
        yield from _directed_readings(line_rate or text, TABLE[symbol][0], words or line_rate, assumptions)
    else:
        for meaning, choices in _bits_and_bytes(text, rest, spelling):
            yield from _possible_quantities(choices, (*assumptions, meaning))


def _directed_readings(text: str, unit: str, words: str, assumptions: _Assumed) -> Iterator[tuple[_Assumed, Quantity]]:
    kind = _KIND_OF_UNIT[unit]
    if words or unit not in _UNSTATED:
        yield assumptions, read(text, kind)
        return
    for word, meaning in _UNSTATED[unit]:
        yield (*assumptions, meaning), read(f"{text} {word}", kind)


def _bits_and_bytes(text: str, rest: str, spelling: str) -> Iterator[tuple[str, str]]:
    symbols = both_symbols(spelling)
    if not symbols:
        raise unknown_unit_fault(text, rest, spelling, _ANY)
    for name, symbol in zip(("bits", "bytes"), symbols, strict=True):
        yield f"{spelling} is {name}", text_with_symbol(text, rest, spelling, symbol)


def _bandwidth_rows(quantity: Quantity) -> Iterator[_Row]:
    """Rows for one direction and for both, in the same units, so that each unit is one column."""
    one_way, ways = quantity.per_direction, (("per direction", 1), ("duplex", 2))
    fitting = [
        _fitting_symbol(count * one_way, "B/s", base, prefixes)
        for base, prefixes in _INFORMATION_RATES
        for _, count in ways
    ]
    for label, count in ways:
        yield from _rows_in_symbols(label, one_way, "B/s", ["GB/s", "Gb/s", *fitting], count)


def _size_rows(quantity: Quantity) -> Iterator[_Row]:
    value = quantity.value
    symbols = [
        _fitting_symbol(value, "B", base, prefixes)
        for base, prefixes in (("B", _DECIMAL), ("B", _BINARY), ("b", _DECIMAL))
    ]
    yield from _rows_in_symbols("", value, "B", symbols)
    if value.is_integer():
        yield "exactly", f"{value:,.0f} B", value, "B"


def _peak_rows(quantity: Quantity) -> Iterator[_Row]:
    for label, count in (("dense", 1), ("with 2:4 sparsity", 2)):
        fitting = _fitting_symbol(count * quantity.dense, "FLOP/s", "FLOP/s", _DECIMAL)
        yield from _rows_in_symbols(label, quantity.dense, "FLOP/s", ["TFLOP/s", fitting], count)


def _transfer_rows(quantity: Quantity) -> Iterator[_Row]:
    """Rows of a transfer rate: a transfer is one bit per lane and direction, including line code."""
    yield from _rows_in_symbols("", quantity.value, "T/s", ["GT/s"])
    for lanes in (1, 16):
        label = f"{plural(lanes, 'lane')}, per direction, before line code"
        yield from _rows_in_symbols(label, quantity.value * lanes / 8, "B/s", ["Gb/s", "GB/s"])


def _work_rows(quantity: Quantity) -> Iterator[_Row]:
    symbol = _fitting_symbol(quantity.value, "FLOP", "FLOP", _DECIMAL)
    yield from _rows_in_symbols("", quantity.value, "FLOP", [symbol])


def _power_rows(quantity: Quantity) -> Iterator[_Row]:
    symbol = _fitting_symbol(quantity.value, "W", "W", _DECIMAL)
    yield from _rows_in_symbols("", quantity.value, "W", [symbol, "kW", "W"])


def _length_rows(quantity: Quantity) -> Iterator[_Row]:
    yield from _rows_in_symbols("", quantity.value, "m", ["km" if quantity.value >= 1000 else "m", "m"])


def _electric_rows(quantity: Quantity) -> Iterator[_Row]:
    yield from _rows_in_symbols("", quantity.value, quantity.unit, [quantity.unit])


def _time_rows(quantity: Quantity) -> Iterator[_Row]:
    apt = [symbol for symbol in _TIMES if 0.1 <= convert(quantity.value, "s", symbol) < 100_000]
    yield from _rows_in_symbols("", quantity.value, "s", apt or ["s"])


def _number_rows(quantity: Quantity) -> Iterator[_Row]:
    short, full = display(quantity.value, "1", DIGITS), f"{quantity.value:,.12g}"
    if quantity.value.is_integer():
        full = f"{quantity.value:,.0f}"
    for shown in dict.fromkeys((full, short)):
        yield "", shown, quantity.value, "1"


_INFORMATION_RATES = (("B/s", _DECIMAL), ("b/s", _DECIMAL), ("B/s", _BINARY))
_ROWS: dict[str, Callable[[Quantity], Iterator[_Row]]] = {
    "B/s": _bandwidth_rows,
    "B": _size_rows,
    "FLOP/s": _peak_rows,
    "FLOP": _work_rows,
    "T/s": _transfer_rows,
    "W": _power_rows,
    "m": _length_rows,
    "V": _electric_rows,
    "A": _electric_rows,
    "s": _time_rows,
    "1": _number_rows,
}


def _fitting_symbol(value: float, unit: str, base: str, prefixes: tuple[str, ...]) -> str:
    """The symbol with the largest prefix for which the number is at least one."""
    fits = [prefix for prefix in prefixes if convert(value, unit, prefix + base) >= 1]
    return (fits[-1] if fits else "") + base


def _rows_in_symbols(label: str, value: float, unit: str, symbols: list[str], count: int = 1) -> Iterator[_Row]:
    """One row per symbol; the text shows ``count`` times the value."""
    for symbol in dict.fromkeys(symbols):
        shown = plain(convert(count * value, unit, symbol), DIGITS)
        plural = "s" if symbol in ("day", "year") and shown != "1" else ""
        yield label, f"{shown} {symbol.replace('us', 'µs')}{plural}", value, unit
