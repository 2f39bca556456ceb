"""Factors between a written figure and the right one, and the rules that report them."""

from __future__ import annotations

from clusterspec.prose.sentence import Sentence
from clusterspec.prose.tokenize import Token, TokenKind, words_of
from clusterspec.quantity import Direction
from clusterspec.units import display, display_bits, plain
from clusterspec.units.display import BITS, BITS_PER_BYTE, PREFIX, PREFIX_STEP, agrees_within

FACTOR_TOLERANCE = 0.03
"""Relative tolerance between a ratio and the factor of an error."""
BINARY = "decimal-binary-mixup"
DOES_NOT_CLOSE = "arithmetic-does-not-close"
RULE_OF_FACTOR = {BITS_PER_BYTE: BITS, 1 / BITS_PER_BYTE: BITS, PREFIX_STEP: PREFIX, 1 / PREFIX_STEP: PREFIX}
"""The rule that reports each factor."""
_STEPS = tuple(1.024**power for power in (1, 2, 3, 4, 6, 8))
"""Ratios between a prefix in base 10 and in base 2, and their squares for a conversion in the wrong direction."""
_DIRECTED = words_of("direction directions way ways bidirectional duplex unidirectional bidir both")


def rule_of_ratio(ratio: float) -> str:
    """The rule that reports a ratio of a written figure to the right one; empty if none does."""
    for factor, rule in RULE_OF_FACTOR.items():
        if agrees_within(ratio, factor, FACTOR_TOLERANCE):
            return rule
    binary = any(agrees_within(ratio, step, 0.004) or agrees_within(ratio, 1 / step, 0.004) for step in _STEPS)
    return BINARY if binary else ""


def multiple_text(ratio: float) -> str:
    """The inverse of a ratio in words: `8 times` for 1/8, to precede `the … written`."""
    if ratio <= 0:
        return "more than"
    return f"1/{plain(ratio)} of" if ratio > 1 else f"{plain(1 / ratio)} times"


def text_in_unit_of(token: Token, value: float) -> str:
    """A value in the unit and style of a token."""
    if token.kind is TokenKind.NUMBER or not token.unit:
        return plain(abs(value), 6)
    if token.bits:
        return display_bits(value) if token.unit == "B/s" else display(value * BITS_PER_BYTE, "b", 4)
    return display(value, token.unit, 4)


def mentions_direction(sentence: Sentence) -> bool:
    """Whether a sentence mentions directions, so that a factor of two may be correct."""
    return sentence.has(Direction.ONE_WAY, Direction.DUPLEX) or any(
        word in _DIRECTED for word in sentence.words_between(0, len(sentence.words))
    )
