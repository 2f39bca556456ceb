"""Whether a result of a text has another explanation than the figures with which it does not agree."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import combinations, islice, pairwise

from clusterspec.quantity import Quantity
from clusterspec.records import NamedTuple, fields, is_dataclass
from clusterspec.rules.readers.dimensions import Figure, Powers, figures_of
from clusterspec.rules.readers.named_keys import MEASURES
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.tokens import tokens_of
from clusterspec.rules.readers.units import with_percent_signs
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

CLOSE = 0.01
"""Relative difference up to which two values are one, in addition to what rounding leaves open."""
_WHOLE = pattern(r"(?<![\w.,/-])\d{1,5}(?![\w%/]|[.,]\d)")
MOST_NUMBERS, MOST_SENTENCES, MOST_TOKENS = 40, 200, 400
"""Whole numbers of a sentence, sentences of a text, and tokens of some sentences, that are read."""
MOST_SUMMED = 12
"""Figures near a result whose sums are formed."""
LEAST_ADDEND = 0.01
"""Smallest share of a result that an addend has."""
_OPERATION = pattern(r"\d[^=/÷]{0,24}? ?[x×*+−] ?[(\d][^=/÷]*$")
LONGEST_CALCULATION = 80
"""Characters before the sign of a result in which its calculation stands."""
FARTHEST = 1e5
"""Ratio of a result to the right one from which the figures have nothing to do with each other."""
LEAST_FACTOR = 1.2
"""Smallest factor that explains a result: smaller ones are its rounding."""
SLIPS = (8.0, 10.0, 60.0, 100.0, 1000.0, 1024.0, 3600.0)
"""Factors between a wrong result and the right one that mistakes of units and digits give: no number explains them."""
MOST_OF_NODE = 16
"""Accelerators of a node: so small a count explains a result only where the sentence has it."""
LEAST_REPLACED = 100
"""Smallest number that may stand for a figure of another sentence, such as the 484 thousand tokens of all accelerators."""
_MEASURES = ("W", "B", "s", "money")
_UNITS = {MEASURES["watts"]: "W", MEASURES["size"]: "B", MEASURES["time"]: "s", MEASURES["rate"]: "B/s"}


class Claim(NamedTuple):
    """A result as a text states it, the right one, and the figures that give the right one, all in words."""

    stated: str
    right: str
    figures: str


def is_explained(claim: Claim, text: str, counts: Collection[float], amounts: Collection[Quantity] = ()) -> bool:
    """Whether a result has another explanation than the claimed one. The text also states the right result; or its
    result is the value of a key or another multiple of one of the figures; or it follows with another number of its
    sentence or of the one before it.

    ``counts`` are the counts of the machine, ``amounts`` the quantities of the keys.

    >>> text = "Four servers with eight GPUs. The eight together read 42.4 TB/s (5.3 TB/s each)."
    >>> is_explained(Claim("42.4 TB/s", "21.2 TB/s", "4 servers times 5.3 TB/s"), text, (), ())
    True
    >>> claim, of_key = Claim("408 kW", "367.2 kW", "36 times 10.2 kW"), Quantity(408e3, "W", "408 kW")
    >>> is_explained(claim, "36 nodes of 10.2 kW draw 408 kW.", (36,), ()), is_explained(claim, "408 kW", (), (of_key,))
    (False, True)
    >>> text = "At 90 % of 48 GB, 26.8 GB are left and the weights take 16.4 GB."
    >>> is_explained(Claim("26.8 GB", "43.2 GB", "90 % of 48 GB"), text, ())
    True
    """
    near = words_near(claim.stated, text)
    if _is_calculated(claim.stated, near):
        return True
    stated = next(_measured_figures(claim.stated), None)
    if stated is None:
        return _is_product_of_some(claim)
    if _is_restated(claim, stated, near) or _follows_with_another(claim, stated, near, counts):
        return True
    unit = _UNITS.get(_measure(stated))
    if any(each.unit == unit and _agree(stated.value, each.value, stated.rounding) for each in amounts):
        return True
    sentences = sentences_of(with_numerals(" ".join(text.split())))[:MOST_SENTENCES]
    right = next(_measured_figures(claim.right), None)
    if right is not None and any(_states_figure(right, each, claim.figures) for each in sentences):
        return True
    numbers = {*counts, *_numbers(near)} - {*_all_numbers(claim.stated)}
    parts = [each for each in _measured_figures(claim.figures) if _measure(each) == _measure(stated)]
    return any(_agree(stated.value, part.value * number, stated.rounding) for part in parts for number in numbers)


def _is_calculated(stated: str, near: str) -> bool:
    """Whether a result is the right side of a calculation that is written out, which `arithmetic-does-not-close` judges.

    >>> _is_calculated("86.0 kW", "Power 8 x 10.5 kW + 2.0 kW = 86.0 kW, room 100 kW.")
    True
    """
    before, sign, _ = near.partition(f"= {stated}")
    return bool(sign) and _OPERATION.search(before[-LONGEST_CALCULATION:]) is not None


def _is_product_of_some(claim: Claim) -> bool:
    """Whether a count is the product of two of the numbers of a claim: a batch, where the steps of a run are the third.

    >>> _is_product_of_some(Claim("8.4 million tokens", "1.2T", "8,192 tokens times 1,024 sequences times 143,051 steps"))
    True
    """
    results = [*_all_numbers(claim.stated)]
    numbers = [*islice(_all_numbers(claim.figures), MOST_SUMMED)]
    return any(_agree(each, one * other, CLOSE) for each in results for one, other in combinations(numbers, 2))


def follows_with_another(claim: Claim, text: str, counts: Collection[float]) -> bool:
    """Whether a result follows with another number of its sentence, or of the one before it."""
    stated = next(_measured_figures(claim.stated), None)
    return stated is not None and _follows_with_another(claim, stated, words_near(claim.stated, text), counts)


def _comparable_values(stated: Figure, words: str) -> list[float]:
    """SI values of the figures in some words that have the unit of a result, the result itself excluded."""
    return [
        each.value
        for each in _measured_figures(words)
        if _measure(each) == _measure(stated) and each.words != stated.words
    ]


def _is_restated(claim: Claim, stated: Figure, near: str) -> bool:
    """Whether a result is one of the figures near it in another unit: 648,000 a day are 7.5 a second."""
    values = (*_comparable_values(stated, near), *_comparable_values(stated, claim.figures))
    return any(_agree(stated.value, each, stated.rounding) for each in values)


def _follows_with_another(claim: Claim, stated: Figure, near: str, counts: Collection[float]) -> bool:
    """Whether a result follows with another figure near it. It is the sum of two figures near it; or the right result
    times, over, plus or less another number; or the right result with that number in place of one of the figures.
    """
    alike = {*_comparable_values(stated, near)}
    addends = [each for each in sorted(alike) if LEAST_ADDEND * stated.value < each < stated.value]
    sums = (one + other for one, other in combinations(addends[:MOST_SUMMED], 2))
    if any(_agree(stated.value, each, stated.rounding) for each in sums):
        return True
    right = next(_measured_figures(claim.right), None)
    if right is None or _measure(right) != _measure(stated) or not right.value:
        return False
    if not 1 / FARTHEST < stated.value / right.value < FARTHEST:
        return True  # the figures are of other things
    ratio, missing = stated.value / right.value, abs(stated.value - right.value)
    of_slip = any(_agree(max(ratio, 1 / ratio), each, 0.0) for each in SLIPS)
    factors = () if of_slip else (*_replaced_figures(claim, near), *_other_factors(claim, near, counts))
    multiples = (max(each, 1 / each) for each in factors)
    return any(
        each > LEAST_FACTOR and _agree(max(ratio, 1 / ratio), each, stated.rounding) for each in multiples
    ) or any(
        _agree(missing, each, 2 * stated.rounding) for each in (*alike, *_comparable_values(stated, claim.figures))
    )


def _replaced_figures(claim: Claim, near: str) -> Iterator[float]:
    """The ratios of figures near a result to the figures of a claim in the same units."""
    own = [each for each in _measured_figures(claim.figures) if each.value]
    for each in [each for each in _measured_figures(near) if each.words != claim.stated]:
        yield from (each.value / one.value for one in own if _measure(one) == _measure(each) and each.value > 0)


def _other_factors(claim: Claim, near: str, counts: Collection[float]) -> Iterator[float]:
    """The numbers near a result, and counts of the machine, by which it may be another multiple."""
    used = {number for words in claim for number in _all_numbers(words)}
    others = {each for each in _all_numbers(near) if each > 0} - used
    yield from others
    yield from (each for each in counts if each > MOST_OF_NODE)
    yield from (each / one for each in others if each >= LEAST_REPLACED for one in used if one >= 1)


def has_factor_near(words: str, text: str, ratio: float, rounding: float = 0.0) -> bool:
    """Whether another number of the sentence with some words, or of the one before it, is a ratio or its inverse.

    >>> has_factor_near("17 machines x 720 h = USD 771,120", "USD 63 an hour, 17 machines x 720 h = USD 771,120", 771120 / 12240)
    True
    """
    others = {*_all_numbers(words_near(words, text))} - {*_all_numbers(words)}
    return ratio > 0 and any(
        _agree(max(ratio, 1 / ratio), max(each, 1 / each), rounding) for each in others if each > 0
    )


def words_near(words: str, text: str) -> str:
    """The sentences of a text with some words, each after the one before it."""
    sentences = ["", *sentences_of(with_numerals(" ".join(text.split())))[:MOST_SENTENCES]]
    return " ".join(f"{before}. {each}." for before, each in pairwise(sentences) if words in each)


def _all_numbers(words: str) -> Iterator[float]:
    """The numbers of some words with their scales, without units; both readings of `1.250`, and shares of percents."""
    for token in islice(tokens_of(with_percent_signs(words)), MOST_TOKENS):
        if token.kind == "number":
            yield from (each / 100 if token.unit == "%" else each for each in token.values)


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
