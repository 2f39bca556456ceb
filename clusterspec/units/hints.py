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


def no_such_unit(written: str, rest: str, spelling: str, kind: Kind) -> UnitFault:
    """The error of a number whose unit is missing, incomplete, ambiguous or unknown."""
    number = written.removesuffix(rest).rstrip(" ")
    if not rest or _PREFIX.fullmatch(rest):
        what = f"ends with the prefix `{rest}`" if rest else "has no unit"
        message = f"{quoted(written)} {what}, but {kind.name} is expected"
        return UnitFault("missing-unit", message, _either(f"{number} {unit}" for unit in _suggested(kind, rest)))
    readings = both_symbols(spelling)
    if readings:
        return _ambiguous(written, rest, spelling, readings, kind)
    foreign = _FOREIGN_UNIT.fullmatch(spelling)
    if foreign and (what := _FOREIGN[foreign["unit"].lower()]) != kind.name:
        return _wrong(written, what, kind, _example(kind))
    message = f"{quoted(spelling)} in {quoted(written)} is not a supported unit"
    near = _nearest(spelling, kind.unit)
    advice = _either(f"{number} {unit}" for unit in near) if near else _example(kind)
    return UnitFault("unreadable-quantity", message, advice)


def other_unit(written: str, rest: str, spelling: str, symbol: str, kind: Kind) -> UnitFault:
    """The error of a valid unit of another kind (GB instead of GB/s)."""
    unit = TABLE[symbol][0]
    advice = _example(kind)
    if f"{unit}/s" == kind.unit:
        advice = f"write `{replaced(written, rest, spelling, symbol + '/s')}`, if it is the amount per second"
    elif unit == f"{kind.unit}/s":
        advice = f"write `{replaced(written, rest, spelling, symbol.removesuffix('/s'))}`, without the time"
    elif unit == "T/s" and kind.unit == "B/s":
        advice += "; a lane of 32 GT/s carries 32 Gb/s in each direction before line code, and a link has several lanes"
    return _wrong(written, MEANING[unit], kind, advice)


def not_a_number(written: str, number: float, rest: str, kind: Kind) -> UnitFault:
    """The error of a plain number followed by other text."""
    if rest in ("%", "percent"):
        return _wrong(written, "a percentage", kind, f"write `{number / 100:.12g}`")
    if kind.name == "a ratio" and rest.startswith((":", "/", "to", "x")):
        return UnitFault("unreadable-quantity", f"cannot read {quoted(written)} as a ratio", "write it as `2:1` or `2`")
    symbol = symbol_of(rest)
    if symbol:
        return _wrong(written, MEANING[TABLE[symbol][0]], kind, "write the number alone")
    advice = "write a whole number, or one such as `15T` or `8 million`" if kind.whole else "write the number alone"
    message = f"cannot read {quoted(rest)} after the number of {quoted(written)}"
    return UnitFault("unreadable-quantity", message, advice)


def unknown_words(written: str, words: str, kind: Kind) -> UnitFault:
    """The error of unknown words after a unit."""
    advice = "leave them out"
    if kind.directed:
        advice = "after the unit, write `duplex` or `unidirectional` and nothing else"
    elif kind.unit == "FLOP/s":
        advice = "after the unit, write `dense` or `sparse` and nothing else"
    return UnitFault("unreadable-quantity", f"cannot read the words {quoted(words)} in {quoted(written)}", advice)


def _ambiguous(written: str, rest: str, spelling: str, readings: tuple[str, ...], kind: Kind) -> UnitFault:
    if kind.unit not in ("B", "B/s"):
        return _wrong(written, "a number of bits or bytes", kind, _example(kind))
    per = "/s" if kind.unit == "B/s" else ""
    bits, whole = (replaced(written, rest, spelling, r.removesuffix("/s") + per) for r in readings)
    message = f"{quoted(spelling)} in {quoted(written)} may mean bits or bytes, a factor of eight"
    return UnitFault("ambiguous-unit", message, f"write `{bits}` (bits) or `{whole}` (bytes)")


def _wrong(written: str, what: str, kind: Kind, advice: str) -> UnitFault:
    return UnitFault("wrong-unit", f"{quoted(written)} is {what}, but {kind.name} is expected", advice)


def replaced(written: str, rest: str, spelling: str, symbol: str) -> str:
    """The text with another symbol in place of the spelling at the start of ``rest``."""
    number = written.removesuffix(rest).rstrip(" ")
    return f"{number} {symbol}{' '.join(rest.split()).removeprefix(spelling)}"


def _suggested(kind: Kind, prefix: str) -> list[str]:
    """The usual units of a kind, with the author's prefix."""
    if not prefix:
        return list(kind.suggestions)
    same = [unit for unit in kind.suggestions if _PREFIX.match(unit)]
    binary = [prefix[0] + "i" if unit[1] == "i" else prefix for unit in same]
    fitted = [_PREFIX.sub(own, unit, count=1) for own, unit in zip(binary, same, strict=True)]
    return list(dict.fromkeys(fitted)) or list(kind.suggestions)


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


def _example(kind: Kind) -> str:
    return f"write {kind.name} such as `1 {kind.suggestions[0]}`"
