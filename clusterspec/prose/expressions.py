"""Equations in a text, and the evaluation of expressions with dimensions (`18 links × 25 GB/s`)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from math import isfinite, log10

from clusterspec.prose.tokenize import MAX_VALUE, Token, TokenKind, words_of
from clusterspec.records import dataclass

# Evaluation of expressions with dimensions: numbers and quantities joined by operators (`18 links × 25 GB/s`)

PRODUCT = frozenset(("*", "x", "×", "·", "∗"))
QUOTIENT = frozenset(("/", "÷"))
SUM = frozenset(("+", "-", "−"))
SKIPPED = frozenset(("~", "`", "≈", "'", '"', "about"))
Dimensions = tuple[int, int, int, int]
"""Powers of bytes, operations, seconds and watts."""
_DIMENSIONS: dict[str, Dimensions] = {
    "": (0, 0, 0, 0),
    "B": (1, 0, 0, 0),
    "B/s": (1, 0, -1, 0),
    "FLOP": (0, 1, 0, 0),
    "FLOP/s": (0, 1, -1, 0),
    "s": (0, 0, 1, 0),
    "W": (0, 0, 0, 1),
}
MAX_EXPONENT = 60
"""Decimal digits of the largest power that is computed."""
NOUNS = 3
"""Words that may follow a number inside an expression."""


@dataclass(frozen=True)
class Value:
    """A number with its dimensions."""

    number: float
    dimensions: Dimensions


def expression_value(words: Sequence[Token], tight: bool = False) -> Value | None:
    """The value of an expression; None if the words are not one complete expression.

    ``tight`` reads `a / b * c` as a / (b * c).
    """
    parser = _ExpressionParser([word for word in words if word.text not in SKIPPED], tight)
    value = parser.total()
    whole = value is not None and parser.at == len(parser.words)
    return value if value is not None and whole and isfinite(value.number) else None


class _ExpressionParser:
    """A recursive-descent parser of sums of products of numbers, quantities and brackets."""

    def __init__(self, words: Sequence[Token], tight: bool) -> None:
        self.words = words
        self.tight = tight
        self.at = 0

    def total(self, depth: int = 0) -> Value | None:
        value = self.product(depth)
        while value is not None and self._current_text() in SUM:
            minus = self._next_text() != "+"
            other = self.product(depth)
            if other is None or other.dimensions != value.dimensions:
                return None
            value = Value(value.number + (-other.number if minus else other.number), value.dimensions)
        return value

    def product(self, depth: int) -> Value | None:
        value = self.power(depth)
        while value is not None and (self._current_text() in PRODUCT or self._current_text() in QUOTIENT):
            divide = self._next_text() in QUOTIENT
            other = self._denominator_value(depth) if divide and self.tight else self.power(depth)
            if other is None or (divide and other.number == 0):
                return None
            value = _value_quotient(value, other) if divide else _value_product(value, other)
        return value

    def _denominator_value(self, depth: int) -> Value | None:
        """The product up to the next division sign."""
        value = self.power(depth)
        while value is not None and self._current_text() in PRODUCT:
            self.at += 1
            other = self.power(depth)
            value = _value_product(value, other) if other is not None else None
        return value

    def power(self, depth: int) -> Value | None:
        """An operand with its exponent, a whole number: `2^10`, `10**-3`."""
        base = self.operand(depth)
        stars = self.words[self.at : self.at + 2]
        sign = 1 if self._current_text() == "^" else 2 if [word.text for word in stars] == ["*", "*"] else 0
        if base is None or not sign:
            return base
        self.at += sign
        minus = self._current_text() in ("-", "−")
        self.at += minus
        exponent = self.operand(depth)
        if exponent is None or any(base.dimensions) or any(exponent.dimensions) or exponent.number % 1:
            return None
        if base.number <= 0 or abs(exponent.number * log10(base.number)) > MAX_EXPONENT:
            return None
        return Value(base.number ** (-exponent.number if minus else exponent.number), base.dimensions)

    def operand(self, depth: int) -> Value | None:
        if self.at >= len(self.words) or depth > 5:
            return None
        token = self.words[self.at]
        self.at += 1
        if token.text == "(":
            value = self.total(depth + 1)
            if self._current_text() != ")":
                return None
            self.at += 1
            return value
        if (
            token.kind not in (TokenKind.NUMBER, TokenKind.QUANTITY)
            or token.unit not in _DIMENSIONS
            or token.value >= MAX_VALUE
        ):
            return None
        if self.at < len(self.words) and self.words[self.at].kind is TokenKind.WORD and not self.words[self.at].gap:
            return None  # a letter on a number: algebra, or thousands and millions
        share = self._current_text() == "%"
        self.at += share
        if not share:
            self._skip_nouns()
        return Value(token.value / (100 if share else 1), _DIMENSIONS[token.unit])

    def _skip_nouns(self) -> None:
        """Skip the nouns after a number."""
        end = self.at
        while end < len(self.words) and end - self.at < NOUNS and self._is_noun(end):
            end += 1
        self.at = end

    def _is_noun(self, at: int) -> bool:
        token = self.words[at]
        return token.kind is TokenKind.WORD and token.text not in (
            "x",
            "and",
            "or",
            "is",
            "to",
            "at",
            "of",
            "with",
            "from",
            "for",
        )

    def _current_text(self) -> str:
        return self.words[self.at].text if self.at < len(self.words) else ""

    def _next_text(self) -> str:
        self.at += 1
        return self.words[self.at - 1].text


def _value_product(value: Value, other: Value) -> Value:
    return Value(value.number * other.number, _exponent_sums(value.dimensions, other.dimensions, 1))


def _value_quotient(value: Value, other: Value) -> Value:
    return Value(value.number / other.number, _exponent_sums(value.dimensions, other.dimensions, -1))


def _exponent_sums(dimensions: Dimensions, other: Dimensions, sign: int) -> Dimensions:
    bytes_, operations, seconds, watts = (a + sign * b for a, b in zip(dimensions, other, strict=True))
    return bytes_, operations, seconds, watts


# Equations in a text: `64*7=448`, `8 x 400 Gb/s = 3.2 Tb/s`, `16/300 = 0.053`

EQUALS = frozenset(("=", "==", "≈", "~=", "equals"))
MAX_TOKENS = 40
"""Tokens of one side of an equation."""


@dataclass(frozen=True)
class Equation:
    """The two sides of an equation, as token ranges and values; ``result`` is the last figure on the right.

    ``left`` has two values if `a / b * c` may also mean a / (b * c). ``parts`` is the number of numbers on the left.
    """

    left: tuple[Value, ...]
    right: Value
    start: int
    result: int
    parts: int
    rough: bool
    operands: tuple[Token, ...]
    scale: float = 1.0
    """The value of one written unit of the result: 0.01 for a percentage."""


def equations(words: Sequence[Token], names: Container[int]) -> Iterator[Equation]:
    """The equations whose two sides can be evaluated; tokens in ``names`` are not numbers (`PCIe 5 x16`)."""
    for at, token in enumerate(words):
        if token.text in EQUALS and not _is_assignment(words, at):
            left, right = _expression_before(words, at, names), _expression_after(words, at, names)
            if left is not None and right is not None and _is_result(words, at, right[0]):
                yield _equation(words, at, left, right)


def _is_result(words: Sequence[Token], at: int, end: int) -> bool:
    """Whether the right side is a single figure, not another step of a derivation."""
    return sum(word.kind in (TokenKind.NUMBER, TokenKind.QUANTITY) for word in words[at + 1 : end]) == 1


def _is_assignment(words: Sequence[Token], at: int) -> bool:
    """Whether an equals sign assigns a value to a name: `PP=24`."""
    return at == 0 or (words[at - 1].kind is TokenKind.WORD and not words[at].gap)


def _equation(words: Sequence[Token], at: int, left: tuple[int, Value], right: tuple[int, Value]) -> Equation:
    start, value = left
    other_way = expression_value(words[start:at], tight=True)
    operands = tuple(word for word in words[start:at] if word.kind in (TokenKind.NUMBER, TokenKind.QUANTITY))
    results = [i for i in range(at + 1, right[0]) if words[i].kind in (TokenKind.NUMBER, TokenKind.QUANTITY)]
    rough = words[at].text in ("≈", "~=") or any(word.text in ("~", "≈", "about") for word in words[at : results[0]])
    result = results[-1]
    share = result + 1 < len(words) and words[result + 1].text == "%"
    other = right[1]
    values: tuple[Value, ...] = (value,) if other_way in (None, value) else (value, other_way or value)
    if share and "%" not in (word.text for word in words[start:at]):  # `30 + 40 = 70 %`
        values += (Value(value.number / 100, value.dimensions),)
    return Equation(values, other, start, result, len(operands), rough, operands, 0.01 if share else 1.0)


def _expression_before(words: Sequence[Token], at: int, names: Container[int]) -> tuple[int, Value] | None:
    """The longest expression that ends before a token."""
    start = at
    while start > 0 and at - start < MAX_TOKENS and start - 1 not in names and _is_operand(words, start - 1):
        start -= 1
    while start < at:
        if (value := expression_value(words[start:at])) is not None:
            return None if start and _extends_left(words[start - 1], words[start]) else (start, value)
        start += 1
    return None


def _extends_left(token: Token, first: Token) -> bool:
    """Whether the token before an expression extends it to the left, or makes it a function argument."""
    ratio = token.text == ":" and not first.gap
    called = first.text == "(" and token.kind is TokenKind.WORD and not first.gap
    digits = token.kind is TokenKind.NUMBER or (token.text == "," and not first.gap)  # `1 024`, `12,5`
    return (
        called
        or digits
        or token.kind is TokenKind.TIMES
        or token.text in PRODUCT | QUOTIENT | SUM | {"(", ">", "<", "^"}
        or ratio
    )


def _expression_after(words: Sequence[Token], at: int, names: Container[int]) -> tuple[int, Value] | None:
    """The longest expression after a token, as (index after it, value)."""
    end = at + 1
    while end < len(words) and end - at <= MAX_TOKENS and end not in names and _is_operand(words, end):
        end += 1
    while end > at + 1:
        if (value := expression_value(words[at + 1 : end])) is not None:
            return (
                None
                if _continues_after(words, end) or any(w.text.lower() in _TIME_WORDS for w in words[at + 1 : end])
                else (end, value)
            )
        end -= 1
    return None


_TIME_WORDS = words_of("years year months month weeks week hours hour days day minutes min seconds h k m b t")


def _continues_after(words: Sequence[Token], end: int) -> bool:
    """Whether the next token changes the figure: an unsupported unit, a letter suffix, or more of a formula."""
    if end >= len(words):
        return False
    follows = words[end]
    glued = not follows.gap and (follows.kind is TokenKind.WORD or follows.text in ("^", "\\", "_"))
    comma = follows.text == "," and end + 1 < len(words)
    digits = words[end + 1] if comma and not follows.gap else follows  # `12,5`, `1 024`
    return (
        glued
        or (digits.kind is TokenKind.NUMBER and not (comma and digits.gap))
        or follows.text.lower() in _TIME_WORDS
        or follows.kind is TokenKind.TIMES
        or follows.text in PRODUCT | QUOTIENT
    )


def _is_operand(words: Sequence[Token], at: int) -> bool:
    """Whether a token may be part of an expression."""
    token = words[at]
    if token.kind in (TokenKind.NUMBER, TokenKind.QUANTITY, TokenKind.TIMES):
        return not token.ranged
    if token.text in PRODUCT | QUOTIENT | SUM | SKIPPED or token.text in ("(", ")", "^", "%"):
        return True
    return token.kind is TokenKind.WORD and token.text.isalpha()
