"""Evaluation of expressions with dimensions: numbers and quantities joined by operators (`18 links × 25 GB/s`).

Nouns after a number are skipped. Operators have their usual precedence.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from clusterspec.prose.tokenize import MAX_VALUE, Token, TokenKind
from clusterspec.records import dataclass

PRODUCT = frozenset(("*", "x", "×", "·", "∗"))
QUOTIENT = frozenset(("/", "÷"))
SUM = frozenset(("+", "-", "−"))
SKIPPED = frozenset(("~", "`", "≈", "'", '"', "about"))
_DIMENSIONS: dict[str, tuple[int, int, int]] = {
    # powers of bytes, operations and seconds
    "": (0, 0, 0),
    "B": (1, 0, 0),
    "B/s": (1, 0, -1),
    "FLOP": (0, 1, 0),
    "FLOP/s": (0, 1, -1),
    "s": (0, 0, 1),
}
NOUNS = 3
"""Words that may follow a number inside an expression."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its dimensions: powers of bytes, operations and seconds."""

    number: float
    dimensions: tuple[int, int, int]


def evaluate(words: Sequence[Token], tight: bool = False) -> Value | None:
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
        while value is not None and self._sign() in SUM:
            minus = self._take() != "+"
            other = self.product(depth)
            if other is None or other.dimensions != value.dimensions:
                return None
            value = Value(value.number + (-other.number if minus else other.number), value.dimensions)
        return value

    def product(self, depth: int) -> Value | None:
        value = self.operand(depth)
        while value is not None and (self._sign() in PRODUCT or self._sign() in QUOTIENT):
            divide = self._take() in QUOTIENT
            other = self._denominator(depth) if divide and self.tight else self.operand(depth)
            if other is None or (divide and other.number == 0):
                return None
            value = _divided(value, other) if divide else _multiplied(value, other)
        return value

    def _denominator(self, depth: int) -> Value | None:
        """The product up to the next division sign."""
        value = self.operand(depth)
        while value is not None and self._sign() in PRODUCT:
            self.at += 1
            other = self.operand(depth)
            value = _multiplied(value, other) if other is not None else None
        return value

    def operand(self, depth: int) -> Value | None:
        if self.at >= len(self.words) or depth > 5:
            return None
        token = self.words[self.at]
        self.at += 1
        if token.text == "(":
            value = self.total(depth + 1)
            if self._sign() != ")":
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
        self._nouns()
        return Value(token.value, _DIMENSIONS[token.unit])

    def _nouns(self) -> None:
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

    def _sign(self) -> str:
        return self.words[self.at].text if self.at < len(self.words) else ""

    def _take(self) -> str:
        self.at += 1
        return self.words[self.at - 1].text


def _multiplied(one: Value, other: Value) -> Value:
    return Value(one.number * other.number, _added(one.dimensions, other.dimensions, 1))


def _divided(one: Value, other: Value) -> Value:
    return Value(one.number / other.number, _added(one.dimensions, other.dimensions, -1))


def _added(one: tuple[int, int, int], other: tuple[int, int, int], sign: int) -> tuple[int, int, int]:
    return one[0] + sign * other[0], one[1] + sign * other[1], one[2] + sign * other[2]
