"""Tokenizer of running text in linear time, and problems located at tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from clusterspec.finding import Confidence, Problem, Severity
from clusterspec.prose.blocks import ProseLine
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.source import Position, Span
from clusterspec.standard import pattern
from clusterspec.units.symbols import symbol_of
from clusterspec.units.table import TABLE

# Tokenizer of running text: words, numbers, quantities and signs, in time linear in the length of the text

MAX_TOKENS = 20_000
"""Tokens of one block that are read."""


MAX_VALUE = 1e60
"""Numbers from this value on are ignored."""


class TokenKind(StrEnum):
    """The kind of a token."""

    WORD = "word"
    NUMBER = "number"
    QUANTITY = "quantity"
    TIMES = "times"
    SIGN = "sign"


@dataclass
class Token:
    """A word, number, quantity or sign. ``value`` of a quantity is in SI units, in the direction the author used.

    ``low`` differs from ``value`` for a range (``200–400 Gb/s``), ``nominal`` is a rate that lost its unit
    (``400G``), ``step`` is the value of one unit in the last digit written.
    """

    kind: TokenKind
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
_COMMA_NUMBER = r"\d{1,3}(?:\.\d{3})+(?![\d.])(?:,\d+)?|\d+(?:,\d{1,9})?(?:[eE][+-]?\d{1,2}(?!\w))?"
"""A number with a comma before its decimals."""
_SWAPPED_SIGNS = str.maketrans(",.", ".,")


class _NumberStyle(NamedTuple):
    """The patterns of tokens and ranges for texts with decimal points or with decimal commas, and the pattern of a
    decimal number.
    """

    token: re.Pattern[str]
    range: re.Pattern[str]
    decimal: str

    @classmethod
    def of(cls, number: str, decimal: str) -> _NumberStyle:
        """The style for a pattern of numbers. Patterns are compiled on use, since most texts need one style only."""
        token = pattern(
            r"(?P<times>(?<=[\d)])[ ]?[x×](?=[ ]?[\d(~]|[ ]?[A-Z]|[ ][a-z]|[^\w]|$))"
            rf"|(?P<number>{number})"
            r"|(?P<word>[^\W\d_][^\W_]*(?:'[a-z]{1,2}\b)?)"
            r"|(?P<sign>==|=>|->|<=|>=|~=|[^\s\w])"
        )
        return cls(token, pattern(rf"[ ]?(?:[-–—/]|to)[ ]?~?(?P<high>{number})"), decimal)

    def plain_digits(self, digits: str) -> str:
        return digits.translate(_SWAPPED_SIGNS) if self.decimal == "," else digits


_WITH_POINT, _WITH_COMMA = _NumberStyle.of(_NUMBER, "."), _NumberStyle.of(_COMMA_NUMBER, ",")
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
    r"|ns|µs|μs|us|usec|ms|s|secs?|seconds?|mins?|minutes?|hours?|hrs?|h(?![ ]?[\^²³_*])|days?|milliseconds?|microseconds?"
    r")(?![A-Za-z0-9])"
)
_QUALIFIED_UNIT = re.compile(
    r"(?:[ ](?:dense|sparse|peak|theoretical|tensor|BF16|bf16|FP16|fp16|FP8|fp8|FP4|fp4|TF32|tf32|INT8|int8)){1,3}"
    r"(?P<unit>[ ](?:[GTPE]|[Gg]iga|[Tt]era|[Pp]eta|[Ee]xa)(?:FLOPS?|FLOPs|[Ff]lops?)(?:/s(?:ec)?)?)(?![A-Za-z0-9])"
)
"""A unit after words that qualify the number: `989 dense BF16 TFLOPS`."""
_DECIMAL_COMMA = pattern(rf"(?<![\d.,])\d{{1,6}},(?:\d{{1,2}}|\d{{4,9}}){_UNIT.pattern}")
_DECIMAL_POINT = pattern(r"(?<![\d.,])\d{1,6}\.(?:\d{1,2}|\d{4,9})(?![\d.])|\d,\d{3}(?:\.\d|,\d{3})(?!\d)")
_NOMINAL = re.compile(r"(?P<prefix>[GT])(?![\w/])")
_LANES = frozenset((10.0, 25.0, 40.0, 50.0, 56.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 1.6, 3.2))
_UNIT_ABBREVIATIONS = {"TF": "TFLOP/s", "PF": "PFLOP/s", "EF": "EFLOP/s", "usec": "us"}
AMBIGUOUS_RATE = re.compile(
    r"(?<![\w.])(?:\d[\d,]{0,9}(?:\.\d+)?)[ ]?(?P<unit>[KMGT](?:ps|pbs|bsp|Bsp|psb))(?![A-Za-z0-9/])"
)
"""A rate whose unit does not show whether it counts bits or bytes: `3200 Gps`, `800 Gpbs`."""


_UNIT_ALONE = re.compile(
    r"(?<![A-Za-z])(?P<unit>[KMGTPkm]i?(?:[bB]|[bB]its?|[bB]ytes?)(?:ps|/s(?:ec)?)|[GTPE]?FLOP(?:S|s|/s))(?![A-Za-z])"
)


def words_of(text: str) -> frozenset[str]:
    """The set of the words of a text."""
    return frozenset(text.split())


_ENDS_IN_NUMBER = re.compile(r"(?<![A-Za-z\d])[\d.,]+ ?$")


def unit_in_heading(text: str) -> str:
    """The rate unit that a heading names without a number (`Total GBps`); empty if it names none or several."""
    alone = (match for match in _UNIT_ALONE.finditer(text) if not _ENDS_IN_NUMBER.search(text[: match.start()][-12:]))
    found = {symbol for match in alone if (symbol := symbol_of(match["unit"]))}
    return found.pop() if len(found) == 1 else ""


def tokens(lines: Iterable[ProseLine]) -> list[Token]:
    """The tokens of lines, in order."""
    found: list[Token] = []
    read = list(lines)
    style = _WITH_COMMA if _has_decimal_commas(read) else _WITH_POINT
    for line in read:
        _append_tokens(line, found, style)
        if len(found) > MAX_TOKENS:
            break
    return found


def _has_decimal_commas(lines: Iterable[ProseLine]) -> bool:
    """Whether a quantity of the lines has a comma before its decimals (`5,0 PFLOP/s`), and no number a point there."""
    texts = [line.text for line in lines]
    found = any("," in text and _DECIMAL_COMMA.search(text) for text in texts)
    return found and not any(_DECIMAL_POINT.search(text) for text in texts)


def _append_tokens(line: ProseLine, tokens: list[Token], style: _NumberStyle) -> None:
    text, at, end = line.text, 0, -1
    while match := style.token.search(text, at):
        kind, word = TokenKind(str(match.lastgroup)), match[0].lstrip(" ")
        at = match.end()
        start = at - len(word)
        token = Token(kind, word, line.number, line.offset + start + 1, start != end and text[end:start] != "_")
        if kind is TokenKind.NUMBER:
            at = _read_number(token, text, start, at, style)
        elif kind is TokenKind.WORD and (short := _text_without_possessive(token)):
            token.text = short
        tokens.append(token)
        end = at


def _text_without_possessive(token: Token) -> str:
    """A word without a possessive ending (`GPU's`)."""
    head, mark, _ = token.text.partition("'")
    return head if mark else ""


def _read_number(token: Token, text: str, begin: int, at: int, style: _NumberStyle) -> int:
    """Set the value, range and unit of a number token; returns the index after it."""
    digits = style.plain_digits(token.text)
    token.value = token.low = _number_value(digits)
    token.step = _digit_step(digits) if token.value else 0.0
    if ranged := style.range.match(text, at):
        high = _number_value(style.plain_digits(ranged["high"]))
        if _are_range_bounds(token, high, ranged, text):
            token.value, at = high, ranged.end()
    if _is_name(text, begin):
        pass
    elif unit := _UNIT.match(text, at):
        at = _attach_unit(token, unit)
    elif (bare := _NOMINAL.match(text, at)) and token.value in _LANES:
        _set_unit(token, f"{bare['prefix']}b/s")
        token.nominal, at = True, bare.end()
    elif far := _QUALIFIED_UNIT.match(text, at):
        _attach_unit(token, far)  # the words between are read as tokens of their own
        token.text, token.written = text[begin:at], text[begin : far.end()]
        return at
    token.text = text[begin:at]
    token.written = token.text
    return at


def _is_name(text: str, begin: int) -> bool:
    """Whether a number ends a name, as in `ConnectX-7s`."""
    return begin > 1 and text[begin - 1] == "-" and text[begin - 2].isalpha()


def _are_range_bounds(token: Token, high: float, ranged: re.Match[str], text: str) -> bool:
    """Whether two numbers are the bounds of one range: ascending, with a unit after the second."""
    if high <= token.low or ("/" in ranged[0] and token.low < 10):
        return False
    return bool(_UNIT.match(text, ranged.end())) or (bool(_NOMINAL.match(text, ranged.end())) and high in _LANES)


def _attach_unit(token: Token, unit: re.Match[str]) -> int:
    """Set the unit of a number token if it is known; returns the index after it."""
    spelling = unit["unit"].lstrip()
    symbol = (
        _UNIT_ABBREVIATIONS.get(spelling.removesuffix("/s").removesuffix("s"))
        or _UNIT_ABBREVIATIONS.get(spelling)
        or symbol_of(spelling)
    )
    if symbol is None:
        return unit.start()
    _set_unit(token, symbol)
    return unit.end()


def token_with_unit(token: Token, symbol: str) -> Token:
    """A number token with the unit of a heading."""
    token = replace(token, written=f"{token.text} {symbol}")
    _set_unit(token, symbol)
    return token


def _set_unit(token: Token, symbol: str) -> None:
    unit, numerator, denominator = TABLE[symbol]
    scale = numerator / denominator
    token.kind, token.unit, token.symbol = TokenKind.QUANTITY, unit, symbol
    token.value, token.low, token.step = token.value * scale, token.low * scale, token.step * scale


def _number_value(digits: str) -> float:
    value = float(digits.replace(",", "").replace("_", ""))
    return value if value < MAX_VALUE else 0.0


def _digit_step(digits: str) -> float:
    """The value of one unit in the last nonzero digit (10 for 190), limited to a twentieth of the number."""
    mantissa, _, exponent = digits.replace(",", "").replace("_", "").lower().partition("e")
    places = len(mantissa.partition(".")[2])
    zeros = 0 if places else len(mantissa) - len(mantissa.rstrip("0"))
    unit = 10.0 ** (int(exponent or 0) - places)
    return max(unit, min(unit * 10.0**zeros, _number_value(digits) / 20))


_ERRORS = (
    "accelerators-miscounted ambiguous-unit arithmetic-does-not-close bandwidth-of-another-scope bits-and-bytes-swapped"
    " duplex-counted-as-one-way"
    " injection-called-bisection label-contradicts-rate lanes-counted-as-nics links-miscounted nic-rate-off-technology"
    " one-way-counted-as-duplex peak-off-catalog sparse-peak-as-dense thousandfold-mistake"
)
_WARNINGS = "contradicts-platform measurement-without-metric mixed-direction-comparison peak-of-other-precision"
_NOTES = "decimal-binary-mixup percentage-off-count"
SEVERITIES: dict[str, Severity] = {
    **dict.fromkeys(_ERRORS.split(), Severity.ERROR),
    **dict.fromkeys(_WARNINGS.split(), Severity.WARNING),
    **dict.fromkeys(_NOTES.split(), Severity.NOTE),
}
"""The rules that apply to running text, with the severity stated on their pages."""


@dataclass(frozen=True)
class TextProblem:
    """A problem of a text from token ``start`` to ``end`` (inclusive; only ``start`` if that is None)."""

    rule: str
    start: Token
    message: str
    help: str
    end: Token | None = None

    def problem(self, file: str) -> Problem:
        """This problem as a `Problem` with a span in a file."""
        end = self.end if self.end is not None and self.end.line == self.start.line else self.start
        span = Span(file, Position(self.start.line, self.start.column), Position(end.line, end.column + len(end.text)))
        return Problem(self.rule, (), self.message, self.help, SEVERITIES[self.rule], Confidence.LIKELY, span=span)
