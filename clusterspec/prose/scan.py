"""Words, numbers and quantities of running text: a closed reader, linear in the length of the text.

`units.read` takes a text that is one quantity from end to end; here quantities stand among words, so numbers and
units are found by patterns without nested repetition and resolved by the same table of units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from clusterspec.prose.text import ProseLine
from clusterspec.records import dataclass, replace
from clusterspec.units.symbols import symbol_of
from clusterspec.units.table import TABLE

MOST = 20_000
"""Tokens of one block that are read."""


LARGEST = 1e60
"""A number from here on is no figure of a machine; it is read as none."""


class Sort(StrEnum):
    """What a token is."""

    WORD = "word"
    NUMBER = "number"
    QUANTITY = "quantity"
    TIMES = "times"
    SIGN = "sign"


@dataclass(slots=True)
class Token:
    """One word, number, quantity or sign. ``value`` is SI for a quantity, as its author counted.

    ``low`` differs from ``value`` for a range (``200–400 Gb/s``), ``nominal`` is a rate that lost its unit
    (``400G``), ``step`` the value of one unit in the last digit written.
    """

    sort: Sort
    text: str
    line: int
    column: int
    gap: bool = False
    value: float = 0.0
    low: float = 0.0
    unit: str = ""
    symbol: str = ""
    written: str = ""
    step: float = 0.0
    nominal: bool = False

    @property
    def bits(self) -> bool:
        return self.symbol.removesuffix("/s").endswith("b")

    @property
    def ranged(self) -> bool:
        return self.low != self.value


_NUMBER = (
    r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d{1,3}(?:_\d{3})+(?![\d_])|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\w))?|\.\d+"
)
_TOKEN = re.compile(
    rf"(?P<times>(?<=[\d)])[ ]?[x×](?=[ ]?[\d(~]|[ ]?[A-Z]|[ ][a-z]|[^\w]|$))"
    rf"|(?P<number>{_NUMBER})"
    r"|(?P<word>[^\W\d_][^\W_]*(?:'[a-z]{1,2}\b)?)"
    r"|(?P<sign>==|=>|->|<=|>=|~=|[^\s\w])"
)
_PREFIX = r"(?:[kKMGTPEZ]i?|kilo|mega|giga|tera|peta|exa|Kilo|Mega|Giga|Tera|Peta|Exa)"
_PER = r"(?:ps(?:ec)?|[ ]?/[ ]?s(?:ec(?:ond)?)?|[ ]per[ ]sec(?:ond)?)"
_UNIT = re.compile(
    r"[ \u00a0\u202f\u2009-]?(?P<unit>"
    rf"{_PREFIX}(?:[bB]|[bB]its?|[bB]ytes?){_PER}?"
    r"|[GT]bE"
    r"|(?:[kMGTPEZ]|[Kk]ilo|[Mm]ega|[Gg]iga|[Tt]era|[Pp]eta|[Ee]xa)?(?:FLOPS?|FLOPs|[Ff]lops?|Flop)(?:/s(?:ec)?)?"
    r"|[TPE]Fs?(?:/s)?"
    r"|[GM]T/s"
    r"|[kM]?W|[kK]ilowatts?|watts?"
    r"|ns|µs|μs|us|usec|ms|s|secs?|seconds?|mins?|minutes?|hours?|hrs?|days?|milliseconds?|microseconds?"
    r")(?![A-Za-z0-9])"
)
_NOMINAL = re.compile(r"(?P<prefix>[GT])(?![\w/])")
_LANES = frozenset((10.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 1.6, 3.2))
_RANGE = re.compile(rf"[ ]?(?:[-–—/]|to)[ ]?~?(?P<high>{_NUMBER})")
_SHORT = {"TF": "TFLOP/s", "PF": "PFLOP/s", "EF": "EFLOP/s", "usec": "us"}
MISSPELT = re.compile(r"(?<![\w.])(?:\d[\d,]{0,9}(?:\.\d+)?)[ ]?(?P<unit>[KMGT](?:ps|pbs|bsp|Bsp|psb))(?![A-Za-z0-9/])")
"""A rate whose letters do not say bits or bytes: `3200 Gps`, `800 Gpbs`."""


_UNIT_ALONE = re.compile(
    r"(?<![A-Za-z])(?P<unit>[KMGTPkm]i?(?:[bB]|[bB]its?|[bB]ytes?)(?:ps|/s(?:ec)?)|[GTPE]?FLOP(?:S|s|/s))(?![A-Za-z])"
)


def words_of(text: str) -> frozenset[str]:
    """A set of words, written in a row."""
    return frozenset(text.split())


_ENDS_IN_NUMBER = re.compile(r"(?<![A-Za-z\d])[\d.,]+ ?$")


def unit_alone(text: str) -> str:
    """The one rate unit that a heading names without a number (`Total GBps`); empty for none, and for several."""
    alone = (match for match in _UNIT_ALONE.finditer(text) if not _ENDS_IN_NUMBER.search(text[: match.start()][-12:]))
    found = {symbol for match in alone if (symbol := symbol_of(match["unit"]))}
    return found.pop() if len(found) == 1 else ""


def tokens(lines: Iterable[ProseLine]) -> list[Token]:
    """The tokens of some lines, in order."""
    found: list[Token] = []
    for line in lines:
        _scan(line, found)
        if len(found) > MOST:
            break
    return found


def _scan(line: ProseLine, found: list[Token]) -> None:
    text, at, end = line.text, 0, -1
    while match := _TOKEN.search(text, at):
        sort, word = Sort(str(match.lastgroup)), match[0].lstrip(" ")
        at = match.end()
        start = at - len(word)
        token = Token(sort, word, line.number, line.offset + start + 1, start != end and text[end:start] != "_")
        if sort is Sort.NUMBER:
            at = _number(token, text, start, at)
        elif sort is Sort.WORD and (short := _percent_of_word(token)):
            token.text = short
        found.append(token)
        end = at


def _percent_of_word(token: Token) -> str:
    """A possessive without its ending (`GPU's`)."""
    head, mark, _ = token.text.partition("'")
    return head if mark else ""


def _number(token: Token, text: str, begin: int, at: int) -> int:
    """Settles a number: its value, its range, its unit. Returns where reading goes on."""
    token.value = token.low = _value(token.text)
    token.step = _step(token.text) if token.value else 0.0
    if (ranged := _RANGE.match(text, at)) and _is_range(token, ranged, text):
        token.value, at = _value(ranged["high"]), ranged.end()
    if _is_name(text, begin):
        pass
    elif unit := _UNIT.match(text, at):
        at = _settle(token, unit)
    elif (bare := _NOMINAL.match(text, at)) and token.value in _LANES:
        _measure(token, f"{bare['prefix']}b/s")
        token.nominal, at = True, bare.end()
    token.text = text[begin:at]
    token.written = token.text
    return at


def _is_name(text: str, begin: int) -> bool:
    """Whether a number is the end of a name, as in `ConnectX-7s`."""
    return begin > 1 and text[begin - 1] == "-" and text[begin - 2].isalpha()


def _is_range(token: Token, ranged: re.Match[str], text: str) -> bool:
    """Whether two numbers are the ends of one quantity: ascending, with one unit behind the second."""
    high = _value(ranged["high"])
    if high <= token.low or ("/" in ranged[0] and token.low < 10):
        return False
    return bool(_UNIT.match(text, ranged.end())) or (bool(_NOMINAL.match(text, ranged.end())) and high in _LANES)


def _settle(token: Token, unit: re.Match[str]) -> int:
    """Gives a number its unit, if that is one we know; returns where reading goes on."""
    spelling = unit["unit"]
    symbol = _SHORT.get(spelling.removesuffix("/s").removesuffix("s")) or _SHORT.get(spelling) or symbol_of(spelling)
    if symbol is None:
        return unit.start()
    _measure(token, symbol)
    return unit.end()


def measured(token: Token, symbol: str) -> Token:
    """A number with the unit that a heading gives it."""
    token = replace(token, written=f"{token.text} {symbol}")
    _measure(token, symbol)
    return token


def _measure(token: Token, symbol: str) -> None:
    unit, numerator, denominator = TABLE[symbol]
    scale = numerator / denominator
    token.sort, token.unit, token.symbol = Sort.QUANTITY, unit, symbol
    token.value, token.low, token.step = token.value * scale, token.low * scale, token.step * scale


def _value(digits: str) -> float:
    value = float(digits.replace(",", "").replace("_", ""))
    return value if value < LARGEST else 0.0


def _step(digits: str) -> float:
    """One unit in the last digit that is not a zero behind the number (10 for 190), at most a twentieth of it."""
    mantissa, _, exponent = digits.replace(",", "").replace("_", "").lower().partition("e")
    places = len(mantissa.partition(".")[2])
    zeros = 0 if places else len(mantissa) - len(mantissa.rstrip("0"))
    unit = 10.0 ** (int(exponent or 0) - places)
    return max(unit, min(unit * 10.0**zeros, _value(digits) / 20))
