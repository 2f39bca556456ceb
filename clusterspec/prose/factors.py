"""Factors between a written figure and the right one, and the slips that they name."""

from __future__ import annotations

from clusterspec.prose.scan import Sort, Token, words_of
from clusterspec.prose.sentence import Sentence
from clusterspec.quantity import Direction
from clusterspec.units import plain, say, say_bits
from clusterspec.units.slips import BITS, BITS_PER_BYTE, PREFIX, PREFIX_STEP, near

CLOSE = 0.03
"""How near a ratio must come to the factor of a slip."""
BINARY = "decimal-binary-mixup"
DOES_NOT_CLOSE = "arithmetic-does-not-close"
SLIPS = {BITS_PER_BYTE: BITS, 1 / BITS_PER_BYTE: BITS, PREFIX_STEP: PREFIX, 1 / PREFIX_STEP: PREFIX}
"""The rule that reports a factor."""
_STEPS = tuple(1.024**power for power in (1, 2, 3, 4))
_DIRECTED = words_of("direction directions way ways bidirectional duplex unidirectional bidir both")


def named(ratio: float) -> str:
    """The rule of the slip that a factor is; empty for one that names none."""
    for factor, rule in SLIPS.items():
        if near(ratio, factor, CLOSE):
            return rule
    binary = any(near(ratio, step, 0.004) or near(ratio, 1 / step, 0.004) for step in _STEPS)
    return BINARY if binary else ""


def times(ratio: float) -> str:
    """How many times a written figure the right one is, in words before `the … written`."""
    if ratio <= 0:
        return "more than"
    return f"1/{plain(ratio)} of" if ratio > 1 else f"{plain(1 / ratio)} times"


def shown(token: Token, value: float) -> str:
    """A value as the author of a figure would have written it."""
    if token.sort is Sort.NUMBER or not token.unit:
        return plain(abs(value), 6)
    return say_bits(value) if token.bits and token.unit == "B/s" else say(value, token.unit, 4)


def directed(sentence: Sentence) -> bool:
    """Whether a sentence refers to directions, so that a factor of two may be right."""
    return sentence.has(Direction.ONE_WAY, Direction.DUPLEX) or any(
        word in _DIRECTED for word in sentence.between(0, len(sentence.words))
    )
