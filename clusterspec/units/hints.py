"""Errors of quantities whose number is valid but whose unit is not, with suggestions."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clusterspec.patterns import pattern
from clusterspec.units.fault import UnitFault, quoted
from clusterspec.units.kinds import MEANING, Kind
from clusterspec.units.symbols import both_symbols, symbol_of
from clusterspec.units.table import TABLE

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


def no_such_unit(written: str, rest: str, spelling: str, wanted: Kind) -> UnitFault:
    """The error of a number whose unit is missing, incomplete, ambiguous or unknown."""
    number = written.removesuffix(rest).rstrip(" ")
    if not rest or _PREFIX.fullmatch(rest):
        what = f"ends with the prefix `{rest}`" if rest else "has no unit"
        message = f"{quoted(written)} {what}, but {wanted.name} is expected"
        return UnitFault("missing-unit", message, _either(f"{number} {unit}" for unit in _suggested(wanted, rest)))
    readings = both_symbols(spelling)
    if readings:
        return _ambiguous(written, rest, spelling, readings, wanted)
    foreign = _FOREIGN_UNIT.fullmatch(spelling)
    if foreign and (what := _FOREIGN[foreign["unit"].lower()]) != wanted.name:
        return _wrong(written, what, wanted, _example(wanted))
    message = f"{quoted(spelling)} in {quoted(written)} is not a supported unit"
    near = _nearest(spelling, wanted.unit)
    advice = _either(f"{number} {unit}" for unit in near) if near else _example(wanted)
    return UnitFault("unreadable-quantity", message, advice)


def other_unit(written: str, rest: str, spelling: str, symbol: str, wanted: Kind) -> UnitFault:
    """The error of a valid unit of another kind (GB instead of GB/s)."""
    unit = TABLE[symbol][0]
    advice = _example(wanted)
    if f"{unit}/s" == wanted.unit:
        advice = f"write `{replaced(written, rest, spelling, symbol + '/s')}`, if it is the amount per second"
    elif unit == f"{wanted.unit}/s":
        advice = f"write `{replaced(written, rest, spelling, symbol.removesuffix('/s'))}`, without the time"
    elif unit == "T/s" and wanted.unit == "B/s":
        advice += "; a lane of 32 GT/s carries 32 Gb/s in each direction before line code, and a link has several lanes"
    return _wrong(written, MEANING[unit], wanted, advice)


def not_a_number(written: str, number: float, rest: str, wanted: Kind) -> UnitFault:
    """The error of a plain number followed by other text."""
    if rest in ("%", "percent"):
        return _wrong(written, "a percentage", wanted, f"write `{number / 100:.12g}`")
    if wanted.name == "a ratio" and rest.startswith((":", "/", "to", "x")):
        return UnitFault("unreadable-quantity", f"cannot read {quoted(written)} as a ratio", "write it as `2:1` or `2`")
    symbol = symbol_of(rest)
    if symbol:
        return _wrong(written, MEANING[TABLE[symbol][0]], wanted, "write the number alone")
    advice = "write a whole number, or one such as `15T` or `8 million`" if wanted.whole else "write the number alone"
    message = f"cannot read {quoted(rest)} after the number of {quoted(written)}"
    return UnitFault("unreadable-quantity", message, advice)


def unknown_words(written: str, words: str, wanted: Kind) -> UnitFault:
    """The error of unknown words after a unit."""
    advice = "leave them out"
    if wanted.directed:
        advice = "after the unit, write `duplex` or `unidirectional` and nothing else"
    elif wanted.unit == "FLOP/s":
        advice = "after the unit, write `dense` or `sparse` and nothing else"
    return UnitFault("unreadable-quantity", f"cannot read the words {quoted(words)} in {quoted(written)}", advice)


def _ambiguous(written: str, rest: str, spelling: str, readings: tuple[str, ...], wanted: Kind) -> UnitFault:
    if wanted.unit not in ("B", "B/s"):
        return _wrong(written, "a number of bits or bytes", wanted, _example(wanted))
    per = "/s" if wanted.unit == "B/s" else ""
    bits, whole = (replaced(written, rest, spelling, r.removesuffix("/s") + per) for r in readings)
    message = f"{quoted(spelling)} in {quoted(written)} may mean bits or bytes, a factor of eight"
    return UnitFault("ambiguous-unit", message, f"write `{bits}` (bits) or `{whole}` (bytes)")


def _wrong(written: str, what: str, wanted: Kind, advice: str) -> UnitFault:
    return UnitFault("wrong-unit", f"{quoted(written)} is {what}, but {wanted.name} is expected", advice)


def replaced(written: str, rest: str, spelling: str, symbol: str) -> str:
    """The text with another symbol in place of the spelling at the start of ``rest``."""
    number = written.removesuffix(rest).rstrip(" ")
    return f"{number} {symbol}{' '.join(rest.split()).removeprefix(spelling)}"


def _suggested(wanted: Kind, prefix: str) -> list[str]:
    """The usual units of a kind, with the author's prefix."""
    if not prefix:
        return list(wanted.suggestions)
    same = [unit for unit in wanted.suggestions if _PREFIX.match(unit)]
    binary = [prefix[0] + "i" if unit[1] == "i" else prefix for unit in same]
    fitted = [_PREFIX.sub(own, unit, count=1) for own, unit in zip(binary, same, strict=True)]
    return list(dict.fromkeys(fitted)) or list(wanted.suggestions)


def _nearest(spelling: str, unit: str) -> list[str]:
    """The symbols of an SI unit that are similar to a spelling."""
    from difflib import get_close_matches

    if spelling == "m" and unit == "s":  # equally similar to months, which are not written this way
        return ["min", "ms"]
    lowered = {symbol: symbol.lower() for symbol, (si, _, _) in TABLE.items() if unit in (si, "")}
    short = _WORDS.sub("b", spelling.lower())
    near = get_close_matches(short, set(lowered.values()), n=2, cutoff=0.6)
    return [symbol for best in near for symbol, lower in lowered.items() if lower == best][:4]


def _either(readings: Iterable[str]) -> str:
    return "write " + " or ".join(f"`{reading}`" for reading in readings)


def _example(wanted: Kind) -> str:
    return f"write {wanted.name} such as `1 {wanted.suggestions[0]}`"
