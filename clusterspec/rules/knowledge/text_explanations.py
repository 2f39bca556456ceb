"""Whether a result of a text has another explanation than the figures with which it does not agree."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import islice

from clusterspec.quantity import Quantity
from clusterspec.records import NamedTuple, fields, is_dataclass
from clusterspec.rules.knowledge.named_keys import MEASURES
from clusterspec.rules.knowledge.text_dimensions import Figure, Powers, figures_of
from clusterspec.rules.knowledge.text_passages import with_numerals
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.standard import pattern

CLOSE = 0.01
"""Relative difference up to which two values are one, in addition to what rounding leaves open."""
_WHOLE = pattern(r"(?<![\w.,/-])\d{1,5}(?![\w%/]|[.,]\d)")
MOST_NUMBERS, MOST_SENTENCES = 40, 200
"""Whole numbers of a sentence, and sentences of a text, that are read."""
_MEASURES = ("W", "B", "s", "money")
_UNITS = {MEASURES["watts"]: "W", MEASURES["size"]: "B", MEASURES["time"]: "s", MEASURES["rate"]: "B/s"}


class Claim(NamedTuple):
    """A result as a text states it, the right one, and the figures that give the right one, all in words."""

    stated: str
    right: str
    figures: str


def is_explained(claim: Claim, text: str, counts: Collection[float], amounts: Collection[Quantity]) -> bool:
    """Whether a text states the right result, too, or its result is the value of a key or another multiple of one of the figures.

    ``counts`` are those of the machine, ``amounts`` the quantities of the keys.

    >>> text = "Four servers with eight GPUs. The eight together read 42.4 TB/s (5.3 TB/s each)."
    >>> is_explained(Claim("42.4 TB/s", "21.2 TB/s", "4 servers times 5.3 TB/s"), text, (), ())
    True
    >>> claim, of_key = Claim("408 kW", "367.2 kW", "36 times 10.2 kW"), Quantity(408e3, "W", "408 kW")
    >>> is_explained(claim, "36 nodes of 10.2 kW draw 408 kW.", (36,), ()), is_explained(claim, "408 kW", (), (of_key,))
    (False, True)
    """
    stated = next(_measured_figures(claim.stated), None)
    if stated is None:
        return False
    unit = _UNITS.get(_measure(stated))
    if any(each.unit == unit and _agree(stated.value, each.value, stated.rounding) for each in amounts):
        return True
    sentences = sentences_of(with_numerals(" ".join(text.split())))[:MOST_SENTENCES]
    right = next(_measured_figures(claim.right), None)
    if right is not None and any(_states_figure(right, each, claim.figures) for each in sentences):
        return True
    numbers = {*counts, *(number for each in sentences if claim.stated in each for number in _numbers(each))}
    parts = [each for each in _measured_figures(claim.figures) if _measure(each) == _measure(stated)]
    return any(_agree(stated.value, part.value * number, stated.rounding) for part in parts for number in numbers)


def _measured_figures(words: str) -> Iterator[Figure]:
    return (each for each in figures_of(words) if _measure(each))


def _measure(figure: Figure) -> Powers:
    """The powers of the units of a figure, without those of its nouns."""
    return frozenset(each for each in figure.powers if each[0] in _MEASURES)


def _states_figure(figure: Figure, sentence: str, others: str) -> bool:
    """Whether a sentence states a figure, in other words than those of the figures that give it."""
    return any(
        _measure(each) == _measure(figure)
        and each.words not in others
        and _agree(each.value, figure.value, each.rounding)
        for each in figures_of(sentence)
    )


def _numbers(sentence: str) -> Iterator[float]:
    return (float(each[0]) for each in islice(_WHOLE.finditer(sentence), MOST_NUMBERS) if float(each[0]) > 1)


def _agree(one: float, other: float, rounding: float) -> bool:
    return other > 0 and abs(one / other - 1) <= CLOSE + rounding


def quantities_of(value: object) -> Iterator[Quantity]:
    """The quantities in a value of the spec, including its items and fields."""
    if isinstance(value, Quantity):
        yield value
    elif isinstance(value, dict):
        yield from quantities_of(tuple(value.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from quantities_of(each)
    else:
        for field in fields(value) if is_dataclass(value) else ():
            yield from quantities_of(getattr(value, field.name))
