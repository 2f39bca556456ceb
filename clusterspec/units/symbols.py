"""Kinds of quantities, their numbers, spellings of units, their ambiguities, and the error of invalid quantities."""

from __future__ import annotations

import math
import re

from clusterspec.records import dataclass
from clusterspec.standard import pattern
from clusterspec.units.table import TABLE

SHOWN = 48
"""Characters of a bad text that a message repeats."""


@dataclass(eq=False)
class UnitFault(ValueError):
    """Raised for a quantity that cannot be used as written.

    ``rule`` is ``ambiguous-unit``, ``missing-unit``, ``wrong-unit``, ``missing-sparsity`` or
    ``unreadable-quantity``; ``message`` quotes the text, ``help`` suggests what to write.
    """

    rule: str
    message: str
    help: str

    def __post_init__(self) -> None:
        super().__init__(self.rule, self.message, self.help)  # required by pickling between processes

    def __str__(self) -> str:
        return f"{self.message}; {self.help}"


def quoted_text(text: str) -> str:
    """The text in backticks, shortened, without control characters.

    >>> quoted_text("400 Gbs")
    '`400 Gbs`'
    """
    shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
    return "`" + "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown) + "`"


# Kinds of quantities of spec keys and catalog facts


@dataclass(frozen=True)
class Kind:
    """A kind of quantity: its SI unit, its name for messages, and units to suggest.

    ``directed`` means that it may state a direction, ``zero`` that zero is allowed, ``whole`` that it
    must be an integer.
    """

    unit: str
    name: str
    suggestions: tuple[str, ...]
    directed: bool = False
    zero: bool = True
    whole: bool = False


KINDS = {
    "line_rate": Kind("B/s", "a line rate", ("Gb/s", "GB/s"), directed=True, zero=False),
    "bandwidth": Kind("B/s", "a bandwidth", ("GB/s duplex", "GB/s unidirectional"), directed=True, zero=False),
    "rate": Kind("B/s", "a rate", ("GB/s", "Gb/s"), directed=True, zero=False),
    "transfer_rate": Kind("T/s", "a transfer rate", ("GT/s",), zero=False),
    "bytes": Kind("B", "a size", ("GB", "GiB")),
    "count": Kind("1", "a count", ("",), whole=True),
    "number": Kind("1", "a number", ("",)),
    "ratio": Kind("1", "a ratio", (":1",)),
    "time": Kind("s", "a time", ("s", "min", "h")),
    "power": Kind("W", "a power", ("kW", "W")),
    "length": Kind("m", "a length", ("m",)),
    "voltage": Kind("V", "a voltage", ("V",), zero=False),
    "current": Kind("A", "a current", ("A",), zero=False),
    "work": Kind("FLOP", "an amount of work", ("EFLOP",)),
    "peak": Kind("FLOP/s", "a peak", ("TFLOP/s dense", "TFLOP/s sparse"), zero=False),
}
"""The kinds of quantities, by name."""

MEANING = {
    "B/s": "a bandwidth",
    "B": "a size",
    "FLOP/s": "a rate of computing",
    "FLOP": "an amount of work",
    "T/s": "a transfer rate of one lane",
    "W": "a power",
    "m": "a length",
    "V": "a voltage",
    "A": "a current",
    "s": "a time",
    "1": "a number",
}
"""What each SI unit measures, in a sentence."""


# Spellings of units, and which of them are ambiguous between bits and bytes

_PREFIXES = {p.lower(): p for p in ("", "k", "M", "G", "T", "P", "E", "Z", "Y", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")}
_PREFIXES |= {"kilo": "k", "mega": "M", "giga": "G", "tera": "T", "peta": "P", "exa": "E"}
_PREFIXES |= {"kibi": "Ki", "mebi": "Mi", "gibi": "Gi", "tebi": "Ti", "pebi": "Pi", "exbi": "Ei"}

_FLAGS = re.ASCII | re.IGNORECASE
_LONG = "kilo|mega|giga|tera|peta|exa"
_LONG_BINARY = "kibi|mebi|gibi|tebi|pebi|exbi"
_PER = r"(?P<per>[ ]?/[ ]?s(?:ecs?|econds?)?|ps|[ ]per[ ]s(?:ec|econd)?)?"
_WORD = pattern(rf"(?P<prefix>{_LONG}|{_LONG_BINARY}|[kmgtpe]i?)?(?P<base>bit|byte)s?{_PER}", _FLAGS)
_LETTER = pattern(rf"(?P<prefix>[kmgtpe]i?)?b(?:s|{_PER})", _FLAGS)
_CLEAR_LETTER = pattern(rf"(?!ki?b)(?P<prefix>[kKMGTPE]i?)?(?P<base>[bB]){_PER}", re.ASCII)
_ETHERNET = pattern(r"(?P<prefix>[GT])bE", re.ASCII)
_FLOP = pattern(rf"(?P<prefix>{_LONG}|[kmgtpezy])?flop(?P<plural>s)?{_PER}", _FLAGS)
_WATT = pattern(rf"(?P<prefix>{_LONG})?watts?", _FLAGS)

_TIME_SYMBOLS = {"µs": "us", "μs": "us", "d": "day", "hr": "h", "hrs": "h", "y": "year", "yr": "year", "yrs": "year"}
_TIME_SYMBOLS |= {"sec": "s", "secs": "s", "mins": "min"}
_TIME_WORDS = {
    "second": "s",
    "minute": "min",
    "hour": "h",
    "millisecond": "ms",
    "microsecond": "us",
    "nanosecond": "ns",
}
_TIME_WORDS |= {word: word for word in ("day", "week", "month", "year")}


def is_line_rate(spelling: str) -> bool:
    """Whether a spelling names an Ethernet rate, which its standard defines per direction.

    >>> is_line_rate("GbE"), is_line_rate("Gb/s")
    (True, False)
    """
    return _ETHERNET.fullmatch(spelling) is not None


def time_spellings(words: bool) -> list[str]:
    """Spellings of a time unit: words in any case, possibly plural, or symbols.

    >>> time_spellings(words=True)[:3], "µs" in time_spellings(words=False)
    (['second', 'minute', 'hour'], True)
    """
    if words:
        return [*_TIME_WORDS]
    return [*_TIME_SYMBOLS, *(symbol for symbol, (unit, _, _) in TABLE.items() if unit == "s")]


_WORDS = {"meter": "m", "meters": "m", "metre": "m", "metres": "m"}
_WORDS |= {"volt": "V", "volts": "V", "amp": "A", "amps": "A", "ampere": "A", "amperes": "A"}

COUNTS = {"": 1, "k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "G": 10**9, "T": 10**12}
COUNTS |= {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}


def symbol_of(spelling: str) -> str | None:
    """The table symbol of a spelling; None if it is unknown or ambiguous. Case of words is ignored.

    >>> symbol_of("Gbps"), symbol_of("gigabytes per second"), symbol_of("gb/s")
    ('Gb/s', 'GB/s', None)
    """
    if spelling in TABLE and spelling not in ("kb", "kb/s"):
        return spelling
    return (
        _time_symbol(spelling)  # first, as it needs no pattern
        or _WORDS.get(spelling.lower())
        or _information_symbol(spelling)
        or _operations_symbol(spelling)
        or _power_symbol(spelling)
    )


def both_symbols(spelling: str) -> tuple[str, ...]:
    """The bit symbol and the byte symbol of an ambiguous spelling; empty if it is not ambiguous.

    >>> both_symbols("gbps"), both_symbols("GIB")
    (('Gb/s', 'GB/s'), ('Gib', 'GiB'))
    """
    match = _LETTER.fullmatch(spelling)
    if not match or symbol_of(spelling):
        return ()
    per = "" if spelling[-1] in "bB" else "/s"
    bit = "bit" if _prefix_symbol(match) == "k" else "b"  # kb itself is ambiguous
    return f"{_prefix_symbol(match)}{bit}{per}", f"{_prefix_symbol(match)}B{per}"


def _prefix_symbol(match: re.Match[str]) -> str:
    return _PREFIXES[(match["prefix"] or "").lower()]


def _information_symbol(spelling: str) -> str | None:
    if match := _ETHERNET.fullmatch(spelling):
        return f"{_prefix_symbol(match)}b/s"
    if match := _WORD.fullmatch(spelling) or _CLEAR_LETTER.fullmatch(spelling):
        letter = {"bit": "b", "byte": "B"}.get(match["base"].lower(), match["base"])
        return f"{_prefix_symbol(match)}{letter}{'/s' if match['per'] else ''}"
    return None


def _operations_symbol(spelling: str) -> str | None:
    """The symbol of FLOPs; ``FLOPs`` and ``FLOPS`` both mean a rate, as in peak figures."""
    match = _FLOP.fullmatch(spelling)
    if not match:
        return None
    return f"{_prefix_symbol(match)}FLOP{'/s' if match['plural'] or match['per'] else ''}"


def _power_symbol(spelling: str) -> str | None:
    if spelling in ("KW", "kw"):  # it has no other meaning
        return "kW"
    match = _WATT.fullmatch(spelling)
    return f"{_prefix_symbol(match)}W" if match else None


def _time_symbol(spelling: str) -> str | None:
    word = spelling.lower()
    return _TIME_SYMBOLS.get(spelling) or _TIME_WORDS.get(word) or _TIME_WORDS.get(word.removesuffix("s"))


# Parser of the number before a unit: digits, a decimal point, thousand separators, an exponent

LIMIT = 100
"""Characters: no quantity that a person writes is longer."""

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
# Alternatives differ in their characters, so that matching is unambiguous and linear.
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MULTIPLIERS = frozenset("x×*")
_TIMES = pattern(r"([1-9]\d{0,8})[ ]*[x×*][ ]*(?=[\d.])", re.ASCII)
_NUMBER = pattern(NUMBER, re.ASCII)
_DECIMAL_COMMA = pattern(r"(\d+),(\d+)(?![\d.,])", re.ASCII)
_SPACES = {ord(c): " " for c in "\t\u00a0\u2009\u202f"}  # tab, and the spaces that word processors insert before a unit


def text_of(value: object) -> str:
    """A scalar of a document as text. Raises `UnitFault` for other values and beyond the limits."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise unreadable_fault(str(value), "write a number and its unit")
    if isinstance(value, int) and value.bit_length() > 333:
        raise UnitFault("unreadable-quantity", "the number has more than 100 digits", "write a smaller number")
    text = str(value).translate(_SPACES).strip()
    if len(text) > LIMIT:
        raise unreadable_fault(text, f"write at most {LIMIT} characters: a number and its unit")
    return text


def unreadable_fault(text: str, advice: str) -> UnitFault:
    """The error of a text that is not a quantity."""
    return UnitFault("unreadable-quantity", f"cannot read {quoted_text(text)} as a quantity", advice)


def split_number(text: str, whole: bool, example: str) -> tuple[float, str]:
    """The number, times its multiplier as in ``8 x 400 Gb/s``, and the rest of the text.

    ``whole`` means that only integers are valid, so that one comma is a thousand separator.
    """
    plain = text.partition(" ")[0].rstrip(_LETTERS)
    words = text[len(plain) :].strip(" ")
    if _is_plain_number(plain) and words[:1] not in _MULTIPLIERS:
        return _finite_number(text, plain), words
    times = _TIMES.match(text) if not _MULTIPLIERS.isdisjoint(text) else None
    start = times.end() if times else 0
    match = _NUMBER.match(text, start)
    if not match:
        raise _no_number_fault(text, example)
    digits, rest = match[0], text[match.end() :]
    if not (whole and digits.count(",") == 1 and "." not in digits):
        _refuse_decimal_comma(text, start, rest)
    return _finite_number(text, digits) * (int(times[1]) if times else 1), rest.strip(" ")


def _is_plain_number(text: str) -> bool:
    """Whether a text is digits, perhaps with a point and an exponent; most are, and need no pattern."""
    mantissa, mark, power = text.partition("e")
    digits = power[1:] if power[:1] in ("+", "-") else power
    return text.isascii() and mantissa.replace(".", "", 1).isdecimal() and (not mark or digits.isdecimal())


def _no_number_fault(text: str, example: str) -> UnitFault:
    if text[:1] in ("-", "−") and text[1:].lstrip(" ")[:1].isdigit():
        return UnitFault("unreadable-quantity", f"{quoted_text(text)} is negative", "write a figure of zero or more")
    return unreadable_fault(text, f"begin with the number, as in `{example}`")


def _refuse_decimal_comma(text: str, start: int, rest: str) -> None:
    """Raises `UnitFault` for a decimal comma (``1,5 GB``), and for ``1,500`` if it is ambiguous."""
    comma = _DECIMAL_COMMA.match(text, start) if "," in text else None
    if comma:
        unit = text[comma.end() :]
        readings = f"`{text[:start]}{comma[1]}.{comma[2]}{unit}` or `{text[:start]}{comma[1]}{comma[2]}{unit}`"
        message = f"the comma of {quoted_text(text)} may be a decimal point or a thousand separator"
        raise UnitFault("unreadable-quantity", message, f"write {readings}")
    if rest.startswith(","):
        raise unreadable_fault(text, "write the number without commas")


def _finite_number(text: str, digits: str) -> float:
    value = float(digits.replace(",", ""))
    mantissa = digits.lower().partition("e")[0]
    if math.isinf(value) or (value == 0 and mantissa.strip("0.,")):
        raise unreadable_fault(text, "write a number within floating-point range, with another prefix")
    return value


_CAPACITY = pattern(r"(\d[\d.,]{0,9})\s?([GT]i?B)(?: [A-Za-z][\w ]{0,60})?")


def printed_capacity(text: str) -> str:
    """A printed capacity with a space before the unit and without the kind of memory; other texts are unchanged.

    >>> printed_capacity("64GB"), printed_capacity("32GB of GDDR7 memory"), printed_capacity("384-512 GB")
    ('64 GB', '32 GB', '384-512 GB')
    """
    match = _CAPACITY.fullmatch(text)
    return f"{match[1]} {match[2]}" if match else text
