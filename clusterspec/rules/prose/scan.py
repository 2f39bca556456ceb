"""Words, numbers and quantities of running text: a closed reader, linear in the length of the text.

`units.read` takes a text that is one quantity from end to end; here quantities stand among words, so numbers and
units are found by patterns without nested repetition and settled by the same table of units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from clusterspec.rules.prose.text import Line
from clusterspec.source import Position
from clusterspec.units.symbols import symbol_of
from clusterspec.units.table import TABLE

MOST = 20_000
"""Tokens of one block that are read."""


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

    @property
    def start(self) -> Position:
        return Position(self.line, self.column)

    @property
    def end(self) -> Position:
        return Position(self.line, self.column + len(self.text))


_NUMBER = r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3}(?!\w))?|\.\d+"
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
MISSPELT = re.compile(r"(?<![\w.])(?:\d+(?:\.\d+)?)[ ]?(?P<unit>[KMGT](?:ps|pbs|bsp|Bsp|psb))(?![A-Za-z0-9/])")
"""A rate whose letters do not say bits or bytes: `3200 Gps`, `800 Gpbs`."""


def tokens(lines: Iterable[Line]) -> list[Token]:
    """The tokens of some lines, in order."""
    found: list[Token] = []
    for line in lines:
        _scan(line, found)
        if len(found) > MOST:
            break
    return found


def _scan(line: Line, found: list[Token]) -> None:
    text, at, end = line.text, 0, -1
    while match := _TOKEN.search(text, at):
        start, sort, word = match.start(), Sort(str(match.lastgroup)), match[0]
        token = Token(sort, word.lstrip(" "), line.number, start + 1 + len(word) - len(word.lstrip(" ")), start != end)
        at = match.end()
        if sort is Sort.NUMBER:
            at = _number(token, text, at)
        elif sort is Sort.WORD and (short := _percent_of_word(token)):
            token.text = short
        found.append(token)
        end = at


def _percent_of_word(token: Token) -> str:
    """A possessive without its ending (`GPU's`)."""
    head, mark, _ = token.text.partition("'")
    return head if mark else ""


def _number(token: Token, text: str, at: int) -> int:
    """Settles a number: its value, its range, its unit. Returns where reading goes on."""
    begin = token.column - 1
    token.value = token.low = _value(token.text)
    token.step = _step(token.text)
    if (ranged := _RANGE.match(text, at)) and _is_range(token, ranged, text):
        token.value, at = _value(ranged["high"]), ranged.end()
    if unit := _UNIT.match(text, at):
        at = _settle(token, unit)
    elif (bare := _NOMINAL.match(text, at)) and token.value in _LANES:
        _measure(token, f"{bare['prefix']}b/s")
        token.nominal, at = True, bare.end()
    token.text = text[begin:at]
    token.written = token.text
    return at


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


def _measure(token: Token, symbol: str) -> None:
    unit, numerator, denominator = TABLE[symbol]
    scale = numerator / denominator
    token.sort, token.unit, token.symbol = Sort.QUANTITY, unit, symbol
    token.value, token.low, token.step = token.value * scale, token.low * scale, token.step * scale


def _value(digits: str) -> float:
    return float(digits.replace(",", ""))


def _step(digits: str) -> float:
    """One unit in the last digit written."""
    mantissa, _, exponent = digits.replace(",", "").lower().partition("e")
    places = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - places)
