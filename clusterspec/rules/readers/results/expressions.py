"""Values of expressions that a text writes out, with units and with words between the numbers: `8 nodes x 9.5 kW x 0.85`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from math import isfinite

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.quantities import (
    FLOP,
    HOURS,
    SECOND,
    STEP,
    TOKEN,
    TextQuantity,
    sentence_quantities,
)
from clusterspec.rules.readers.tokens import Dimensions, Token
from clusterspec.rules.readers.units import word_set
from clusterspec.standard import pattern, recent

_NONE: Dimensions = (0, 0, 0, 0)
MOST_AMBIGUOUS = 4
"""Largest number of operands with two readings: all their combinations are tried."""
MOST_WORDS = 4
"""Largest number of words between a number and the next sign of a calculation."""
_TIMES, _OVER, _ADD = frozenset("x×*·∗"), frozenset("/÷"), frozenset("+−-")
_AT = word_set("at à zu @ je")
_OF_PRICE = word_set("of von de")
_OF = word_set("of von vom der des de del di du da dos do av van")
_SHORT_NOUNS = word_set("gpus gpu nics nic hot un en et und von and or of in for a to so is are per at je on the")


class Result(NamedTuple):
    """The value of an expression in SI, the plain value of its numbers, and its dimensions.

    ``noun`` is the word after its last number; ``summed`` is true for a sum, false for a product.
    """

    value: float
    plain: float
    dimensions: Dimensions
    noun: str = ""
    summed: bool = False


def word_at(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text.lower() if at < len(tokens) and tokens[at].kind == "word" else ""


def has_known_unit(tokens: Sequence[Token], at: int) -> bool:
    """Whether the word after a number is a noun or a unit of `UNITS`, and not another unit: `Gb/s`, `U`, `800G`."""
    token = tokens[at]
    if token.unit or at + 1 >= len(tokens) or tokens[at + 1].kind != "word":
        return True
    follows = tokens[at + 1]
    letters = follows.text.replace("-", "")
    plain = len(letters) > 3 and letters.isalpha() and not letters.isupper()
    return follows.start != token.end and (plain or follows.text.lower() in _SHORT_NOUNS)


class ExpressionParser:
    """A recursive-descent parser of sums of products of numbers with units, and words after them."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.operations = 0
        self.readings: dict[int, int] = {}

    def results(self) -> tuple[Result, ...] | None:
        """The values of the whole expression for each reading of its digits, and without its first summands."""
        ambiguous = [at for at, each in enumerate(self.tokens) if len(each.values) > 1][:MOST_AMBIGUOUS]
        found: list[Result] = []
        for choice in product((0, 1), repeat=len(ambiguous)):
            self.readings = dict(zip(ambiguous, choice, strict=True))
            self.at, self.operations = 0, 0
            sums = self._sum(0)
            if not sums or self.at != len(self.tokens):
                return None
            found += [each for each in sums if isfinite(each.value) and each.value > 0]
        return tuple(found) or None

    def _sign(self) -> str:
        token = self.tokens[self.at] if self.at < len(self.tokens) else None
        return token.text if token is not None and token.kind == "op" else ""

    def _sum(self, depth: int) -> list[Result]:
        """The sum, and the same without its first summands, which may belong to the text before."""
        first = self._product(depth)
        sums = [first] if first is not None else []
        while sums and (sign := self._sign()) and sign in _ADD:
            self.at += 1
            self.operations += 1
            other = self._product(depth)
            if other is None:
                return []
            share = other.plain != other.value and other.dimensions == _NONE
            if other.dimensions != sums[0].dimensions and not share:
                return []
            sums = [_sum_of(each, other, 1 if sign == "+" else -1, share) for each in sums]
            sums += [] if depth or share else [other]
        return sums

    def _product(self, depth: int) -> Result | None:
        value = self._operand(depth)
        while value is not None and self.at < len(self.tokens):
            sign = self._sign()
            priced = self._is_price_word(self.at)
            if not priced and not (sign and sign in _TIMES | _OVER):
                break
            self.at += 1
            self.operations += 1
            self._skip_words(2)
            other = self._operand(depth)
            if other is None or (sign in _OVER and other.value == 0):
                return None
            value = _product_or_quotient(value, other, -1 if sign and sign in _OVER else 1)
        return value

    def _is_price_word(self, at: int) -> bool:
        """Whether a word at an index stands between a number of things and the price of one: `at`, `of` after a noun."""
        word, near = self.tokens[at].text.lower(), any(each.values for each in self.tokens[max(0, at - 3) : at])
        return (word in _AT or (word in _OF_PRICE and near)) and self._is_price(at + 1)

    def _is_price(self, at: int) -> bool:
        """Whether a number at an index is money."""
        return at < len(self.tokens) and self.tokens[at].kind == "number" and self.tokens[at].dimensions[0] == 1

    def _operand(self, depth: int) -> Result | None:
        if self.at >= len(self.tokens) or depth > 4:
            return None
        token = self.tokens[self.at]
        if token.kind == "op" and token.text == "(":
            self.at += 1
            inner = self._sum(depth + 1)
            if not inner or self._sign() != ")":
                return None
            self.at += 1
            self._skip_words(MOST_WORDS)
            return inner[0]
        if token.kind != "number" or not has_known_unit(self.tokens, self.at):
            return None
        number = token.values[self.readings.get(self.at, 0)]
        self.at += 1
        result = Result(number * token.scale, number, token.dimensions, word_at(self.tokens, self.at))
        if token.unit == "%" and word_at(self.tokens, self.at) in _OF:
            return self._share_of(result, depth)
        self._skip_words(MOST_WORDS)
        return result

    def _share_of(self, share: Result, depth: int) -> Result | None:
        """The product of percents and their base: `0.5 % of the contract price of 9,944,352`."""
        place = self.at
        while place < len(self.tokens) and place - self.at < 7 and self.tokens[place].kind == "word":
            place += 1
        if place >= len(self.tokens) or self.tokens[place].kind != "number":
            return None
        self.at = place
        self.operations += 1
        other = self._operand(depth)
        return None if other is None else _product_or_quotient(share, other, 1)

    def _skip_words(self, most: int) -> None:
        end = self.at
        while end < len(self.tokens) and end - self.at < most and self.tokens[end].kind == "word":
            if self._is_price_word(end):
                break
            end += 1
        self.at = end


def _product_or_quotient(one: Result, other: Result, power: int) -> Result:
    """The product of two values, or their quotient for a power of -1."""
    money, watts, seconds, size = (a + power * b for a, b in zip(one.dimensions, other.dimensions, strict=True))
    return Result(
        one.value * other.value**power,
        one.plain * other.plain**power,
        (money, watts, seconds, size),
        other.noun,
        one.summed or other.summed,
    )


def _sum_of(one: Result, other: Result, sign: int, share: bool) -> Result:
    """The sum or difference of two values; ``share`` where the second one is in percents of the first: `1,000 + 19 %`."""
    if share:
        return _product_or_quotient(one, Result(1 + sign * other.value, 1 + sign * other.value, _NONE), 1)
    value, plain = one.value + sign * other.value, one.plain + sign * other.plain
    return Result(value, plain, one.dimensions, other.noun, True)


class TextProduct(NamedTuple):
    """A product or quotient that a text writes out, with the quantity that the text calls its result."""

    factors: tuple[TextQuantity, ...]
    divided: tuple[bool, ...]
    """Whether each factor divides."""
    result: TextQuantity
    words: str

    @property
    def value(self) -> float:
        """The product of the factors, in their units."""
        return math.prod(
            1 / each.value if under else each.value for each, under in zip(self.factors, self.divided, strict=True)
        )


_OPERATOR = pattern(
    r"(?: ?(?!(?:and|or|to|plus|of|with|at|per|und|et|y)\b)[^\W\d_][\w/-]{0,15}){0,3} ?([x×*·/]|\btimes\b|\bmal\b|\bfois\b|\bpor\b) ?(?:about |~)?"
)
"""Words that may come between two factors: nouns of the first one, and the sign."""
_OF_DURATION = pattern(r"(?:,)? (?:each )?(?:for|over|during|running|während|für|pendant|durante) (?:about |the )?")
"""Words between machines and the time for which they run."""
_EQUALS = pattern(
    r"(?: ?(?!(?:and|or|und|et|y)\b)[^\W\d_][\w/-]{0,15}){0,3}(?: ?=|,? (?:are|is|makes?|gives?|equals?|or|i\.e|sind|ergeben|ergibt|sont|font|donnent|son|hacen|dan))? ?(?:(?:an?|the) (?:global )?(?:batch|total|sum) of)? ?(?:[≈~=]|about|roughly|some)? ?"
)


@recent(2)
def text_products(text: str) -> tuple[TextProduct, ...]:
    """The products of a text with their results, before or in brackets after them.

    >>> [(each.value / 3600, each.result.value) for each in text_products("64 nodes x 504 h = 32,256 node-hours")]
    [(32256.0, 32256.0)]
    >>> [round(each.value) for each in text_products("32,256 GPU-hours (64 nodes x 504 h)")]
    [116121600]
    """
    return tuple(each for sentence, quantities in sentence_quantities(text) for each in _products(sentence, quantities))


def _products(sentence: str, quantities: tuple[TextQuantity, ...]) -> Iterator[TextProduct]:
    at = 0
    while at < len(quantities) - 1:
        last, divided = at, [False]
        while last + 1 < len(quantities):
            between = sentence[quantities[last].end : quantities[last + 1].start]
            sign = _OPERATOR.fullmatch(between)
            if sign is None and (_OF_DURATION.fullmatch(between) is None or quantities[last + 1].unit != SECOND):
                break
            divided.append(sign is not None and sign[1] == "/")
            last += 1
        if last > at:
            result = _result_of(sentence, quantities, at, last)
            if result is not None:
                factors = quantities[at : last + 1]
                if all(each.value for each in factors):
                    start, end = min(factors[0].start, result.start), max(factors[-1].end, result.end)
                    yield TextProduct(factors, tuple(divided), result, sentence[start:end])
        at = last + 1 if last > at else at + 1


def _result_of(sentence: str, quantities: tuple[TextQuantity, ...], first: int, last: int) -> TextQuantity | None:
    """The quantity after a product that an equals sign or a verb joins to it, or the one before its bracket."""
    if last + 1 < len(quantities):
        behind = sentence[quantities[last].end : quantities[last + 1].start]
        if _EQUALS.fullmatch(behind) is not None and not _is_only_nouns(behind):
            return quantities[last + 1]
        if behind.strip() == "," and quantities[last + 1].unit in HOURS:
            return quantities[last + 1]
    before = sentence[quantities[first - 1].end : quantities[first].start] if first else ""
    written_first = first and quantities[first - 1].unit in (*HOURS, TOKEN, FLOP, STEP)
    if written_first and before.strip() in ("(", "(=", "=", ", i.e", ", that is"):
        return quantities[first - 1]
    return None


_EQUALS_WORDS = word_set(
    "are is make makes give gives equal equals sind ergeben ergibt sont font donnent son hacen dan or about"
)


def _is_only_nouns(between: str) -> bool:
    """Whether nothing between two quantities equates them."""
    return not any(each in between for each in "=≈~") and _EQUALS_WORDS.isdisjoint(between.strip(" ,").split(" "))
