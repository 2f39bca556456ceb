"""Factors between a written figure and the right one, and the slips that they name."""

from __future__ import annotations

from clusterspec.prose.scan import Sort, Token, words_of
from clusterspec.prose.sentence import Sentence
from clusterspec.quantity import Direction
from clusterspec.units import plain, say, say_bits

CLOSE = 0.03
"""How near a ratio must come to the factor of a slip."""
BITS, THOUSAND, BINARY = "bits-and-bytes-swapped", "thousandfold-slip", "decimal-binary-mixup"
DOES_NOT_CLOSE = "arithmetic-does-not-close"
SLIPS = {8.0: BITS, 1 / 8: BITS, 1000.0: THOUSAND, 1 / 1000: THOUSAND}
_STEPS = tuple(1.024**power for power in (1, 2, 3, 4))
_DIRECTED = words_of("direction directions way ways bidirectional duplex unidirectional bidir both")


def near(value: float, other: float, within: float) -> bool:
    """Whether two figures are the same but for a share ``within``."""
    return other != 0 and abs(value / other - 1) <= within


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
    """Whether a sentence speaks of directions, so that a factor of two may be right."""
    return sentence.has(Direction.ONE_WAY, Direction.DUPLEX) or any(
        word in _DIRECTED for word in sentence.between(0, len(sentence.words))
    )
