"""Values that follow from the figures before a result by the formulas of the field, each with its calculation in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from math import ceil, prod

from clusterspec.quantity import HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.figure_slips import input_rounding
from clusterspec.rules.readers.stated_figures import (
    ACCELERATOR,
    ENGINE,
    FLOP,
    FLOWS,
    NODE,
    RACK,
    STEP,
    TOKEN,
    StatedFigure,
    noun_of,
)
from clusterspec.rules.readers.tokens import Dimensions
from clusterspec.rules.readers.units import word_set

MOST_COUNTS = 4
"""Counts before a result that may multiply one another."""
MOST_MEASURES = 6
"""Measures before a result that may be multiplied."""
ROUNDED = "it is rounded the wrong way"
_PARTS = word_set(
    "node accelerator rack engine port nic drive module link rank switch feed pod row hall cable fiber cage checkpoint"
)
"""What a machine has several of."""
_ALL = word_set(
    "all the these alle allen die den der les ces los las todos estos i gli le tutti tutte de os as todas todos"
)
"""Words before a bare number of parts: `for all 64`."""
_DRAW = word_set(
    "draw use consume pull ziehen tirent consomment absorbent consumen assorbono trekken verbruiken drar pobierają"
)
"""Verbs, in the plural, between a number of parts and what all of them draw."""
_EACH = word_set("each apiece je jeweils chacun chacune ciascuno ciascuna cada elk vardera")
_UNLIKE = frozenset({"node", "accelerator", "engine", "drive"})
"""Parts of which a switch has none: no total multiplies a number of them by a number of switches."""
MULTIPLES = word_set("times mal fois veces volte keer vezes fold")
"""Words behind a number that compares."""
_SECONDS: Dimensions = (0, 0, 1, 0)
_NONE: Dimensions = (0, 0, 0, 0)


class Derivation(NamedTuple):
    """A value in SI, the figures that it is computed from, and the calculation in words.

    ``is_typed`` tells whether units and nouns of the figures leave no other formula. ``mistaken`` is what a known
    mistake in the formula gives, which ``slip`` names; 0 where it has none. ``needs_cue`` tells whether only a
    word such as `hence` makes a figure the result.
    """

    value: float
    inputs: tuple[StatedFigure, ...]
    words: str
    is_typed: bool = False
    mistaken: float = 0.0
    slip: str = ""
    needs_cue: bool = True

    @property
    def rounding(self) -> float:
        """The relative rounding of the inputs."""
        return input_rounding(self.inputs)


def has_formula(result: StatedFigure) -> bool:
    """Whether a figure is of a kind that formulas give: one with a unit, a share, a multiple, or a number of tokens and the like."""
    known = result.noun in FLOWS or result.noun in (FLOP, STEP, RACK, ENGINE)
    return result.is_measure or known or result.unit == "%" or not MULTIPLES.isdisjoint(result.behind[:1])


def derivations_of(
    result: StatedFigure,
    earlier: Sequence[StatedFigure],
    counts: Sequence[StatedFigure],
    following: Sequence[StatedFigure] = (),
) -> Iterator[Derivation]:
    """What the figures before a result, and the counts of the plan, give for it; ``earlier`` are in order, and ``following`` is the
    time that a result is for, behind it.

    >>> from clusterspec.rules.readers.stated_figures import stated_figures
    >>> def values(text):
    ...     *earlier, result = stated_figures(text)
    ...     return [f"{each.words}: {each.value:,.0f}" for each in derivations_of(result, earlier, ())]
    >>> values("16 nodes have 2 ports of 200 Gb/s, together 6.4 TB/s")[0]
    '200 Gb/s × 16 nodes × 2 ports: 800,000,000,000'
    >>> values("Each rack takes 3 nodes, so the 16 nodes stand in 5 racks")
    ['16 nodes over 3 nodes, rounded up: 6']
    >>> values("Of 2,000 billion tokens each step reads 4,000,000 tokens, hence 50,000 steps")
    ['2,000 billion tokens over 4,000,000 tokens: 500,000']
    """
    yield from _total_amounts(result, earlier, counts)
    if result.noun == STEP:
        yield from _steps_of_tokens(earlier)
        yield from _spans_of_steps(earlier)
    elif result.noun == "request" and not result.period:
        yield from _average_stocks(result, earlier)
    elif result.noun == RACK:
        yield from _rack_counts(result, earlier)
    elif result.noun == ENGINE:
        yield from _engine_counts(earlier)
    elif result.noun == TOKEN and result.period:
        yield from _token_rates(earlier)
        yield from _shares_of_parts(result, earlier)
    elif result.is_measure:
        yield from _shares_of_parts(result, earlier)
        yield from _percentages(result, earlier)
        yield from _products(result, earlier, following)


def _total_amounts(
    result: StatedFigure, earlier: Sequence[StatedFigure], plan: Sequence[StatedFigure]
) -> Iterator[Derivation]:
    """What one of each, times the counts of its sentence or of the result's, gives in all."""
    base = next((each for each in reversed(earlier) if each.measures_like(result)), None)
    if base is None or not (base.is_measure or base.noun in FLOWS or base.noun == FLOP):
        return
    joined, whole = _joined_factor(base, earlier), _counted_whole(base, earlier)
    before = [each for each in earlier if _is_multiplier(each, base) or each is joined]
    counts = [each for each in before if each.sentence in (base.sentence, result.sentence)] or before
    flow = [each for each in counts if each.noun in FLOWS]
    known = {each.noun for each in counts}
    counts = [*counts, *(each for each in plan if each.noun not in known)][-MOST_COUNTS:]
    for size in range(min(len(counts), 3), 0, -1):
        for chosen in combinations(counts, size):
            is_typed = size == len(counts) and base.sentence == result.sentence
            nouns = {each.noun for each in chosen if each.noun}
            if result.per in nouns or ("switch" in nouns and not nouns.isdisjoint(_UNLIKE)) or whole in chosen:
                continue
            if base.per not in FLOWS or any(each in flow for each in chosen):
                found = _product((base, *chosen), is_typed=is_typed or (bool(flow) and size == 1))
                of_flow = base.per in FLOWS and base.sentence == result.sentence
                yield found._replace(
                    needs_cue=not of_flow and not (chosen[-1] is earlier[-1] and len(result.before) <= 2)
                )


def _counted_whole(base: StatedFigure, earlier: Sequence[StatedFigure]) -> StatedFigure | None:
    """The number of parts that draw an amount together: `13 nodes draw 124.8 kW`; None for an amount of each."""
    at = next(place for place, each in enumerate(earlier) if each is base)
    count = earlier[at - 1] if at else None
    of_each = base.per or not _EACH.isdisjoint((*base.before[-1:], *base.behind[:2]))
    if count is None or of_each or count.noun not in _PARTS or count.sentence != base.sentence:
        return None
    return count if not _DRAW.isdisjoint(base.before[-1:]) else None


def _is_multiplier(count: StatedFigure, base: StatedFigure) -> bool:
    """Whether a count may multiply an amount of each: a whole number of parts, or of the tokens that the amount is for."""
    if count.is_measure or count is base or count.value < 2 or count.value % 1:
        return False
    if count.noun in FLOWS:
        return count.noun == base.per
    of_all = count.noun == "" and not _ALL.isdisjoint(count.before[-2:]) and count.unit != "%"
    return of_all or count.noun in _PARTS or (count.noun == "sequence" and base.noun == TOKEN)


def _joined_factor(base: StatedFigure, earlier: Sequence[StatedFigure]) -> StatedFigure | None:
    """The only number that a sign of multiplication joins to a figure."""
    at = next(place for place, each in enumerate(earlier) if each is base)
    joined = [is_joined(each) for each in earlier[max(0, at - 2) : at]]
    return earlier[at - 1] if joined[-1:] == [True] and joined[:-1] != [True] else None


def _with_factor(measure: StatedFigure, earlier: Sequence[StatedFigure]) -> StatedFigure:
    """A measure times the number that a sign of multiplication joins to it: `4 x 4.8 TB/s`."""
    factor = _joined_factor(measure, earlier)
    if factor is None:
        return measure
    return measure._replace(value=factor.value * measure.value, words=f"{factor.words} × {measure.words}")


def is_joined(count: StatedFigure) -> bool:
    """Whether a sign of multiplication follows a number."""
    return count.behind[:1] in (("×",), ("x",), ("*",)) and not count.is_measure


def _product(inputs: tuple[StatedFigure, ...], *, is_typed: bool = False) -> Derivation:
    return Derivation(prod(each.value for each in inputs), inputs, " × ".join(each.words for each in inputs), is_typed)


def _shares_of_parts(result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """What each of a number of parts has of the amount before, for a result per part."""
    base = next((each for each in reversed(earlier) if each.measures_like(result)), None)
    if base is None or not result.per:
        return
    for count in earlier:
        if count.noun == result.per and not count.is_measure and count.value >= 2 and count.sentence >= base.sentence:
            yield Derivation(base.value / count.value, (base, count), f"{base.words} over {count.words}", is_typed=True)


def _percentages(result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """A share of the amount of money before, what is left of it, and the amount with the share on top."""
    shares = [each for each in earlier if each.unit == "%" and each.sentence == result.sentence]
    base = next((each for each in reversed(earlier) if each.measures_like(result)), None)
    if base is None or not result.dimensions[0]:
        return
    for share in shares[-1:]:
        for value, words in ((share.value, ""), (1 - share.value, "100 % less "), (1 + share.value, "100 % plus ")):
            yield Derivation(base.value * value, (base, share), f"{words}{share.words} of {base.words}")


def _engine_counts(earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The engines of the accelerators before, where each takes a smaller number of them."""
    parts = [each for each in earlier if each.noun == ACCELERATOR and each.per == ENGINE]
    wholes = [each for each in earlier if each.noun == ACCELERATOR and not each.per]
    for whole, part in product(wholes[-1:], parts[-1:]):
        yield Derivation(whole.value / part.value, (whole, part), f"{whole.words} over {part.words}", is_typed=True)


def _steps_of_tokens(earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The steps that the largest number of tokens takes."""
    tokens = [each for each in earlier if each.noun == TOKEN and not each.period]
    whole = max((each for each in tokens if not each.per), key=lambda each: each.value, default=None)
    for each in tokens:
        if whole is not None and each.value * 100 < whole.value:
            of_step = each.per == STEP
            sequences = [one for one in earlier if one.noun == "sequence" and one.sentence == each.sentence]
            words = f"{whole.words} over {each.words}"
            yield Derivation(whole.value / each.value, (whole, each), words, is_typed=True, needs_cue=not of_step)
            for one in sequences:
                words = f"{whole.words} over {one.words} × {each.words}"
                yield Derivation(whole.value / each.value / one.value, (whole, one, each), words, True, needs_cue=False)


def _spans_of_steps(earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The steps from one numbered step to another: `from step 190,000 to step 238,000`."""
    numbered = [each for each in earlier if not each.is_measure and noun_of(("", *each.before)[-1]) == STEP]
    if len(numbered) > 1 and numbered[-1].value > numbered[-2].value:
        first, last = numbered[-2:]
        yield Derivation(last.value - first.value, (last, first), f"{last.words} less {first.words}", is_typed=True)


def _is_of_rack(figure: StatedFigure) -> bool:
    """Whether a bare number applies to each rack: `four a rack`."""
    return not (figure.noun or figure.is_measure) and [noun_of(each) for each in figure.behind[1:2]] == [RACK]


def _average_stocks(result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """What is there on average of what arrives at a rate and stays for a time (Little's law)."""
    rates = [each for each in earlier if each.noun == result.noun and each.period]
    times = [each for each in earlier if each.dimensions == _SECONDS and not each.per]
    for rate, time in product(rates[-1:], times[-1:]):
        yield _product((rate, time), is_typed=True)


def _rack_counts(result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The racks of the nodes before, where each takes the smaller number of nodes."""
    nodes = [each for each in earlier if each.noun == NODE and not each.is_measure]
    parts = [*nodes, *(each for each in earlier if _is_of_rack(each))]
    for whole, part in product(nodes, parts):
        if whole is nodes[-1] and 1 < part.value < whole.value:
            right = ceil(whole.value / part.value)
            mistaken = right + 1 if result.value > right else right - 1
            words, of_rack = (
                f"{whole.words} over {part.words}, rounded up",
                RACK in (part.per, noun_of(("", *part.behind[1:2])[-1])),
            )
            yield Derivation(right, (whole, part), words, True, mistaken, ROUNDED, needs_cue=not of_rack)


def _token_rates(earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The tokens in a second of a step whose tokens and time are stated."""
    tokens = [each for each in earlier if each.noun == TOKEN and not each.period]
    times = [each for each in earlier if each.dimensions == _SECONDS and each.per in ("", STEP)]
    for one, other in product(tokens[-2:], times[-2:]):
        words, of_step = f"{one.words} over {other.words}", one.per == other.per == STEP
        yield Derivation(one.value / other.value, (one, other), words, is_typed=True, needs_cue=not of_step)


def _products(
    result: StatedFigure, earlier: Sequence[StatedFigure], following: Sequence[StatedFigure]
) -> Iterator[Derivation]:
    """Products and quotients of measures that have the units of the result, also times one count: energy, costs, times."""
    measures = [_with_factor(each, earlier) for each in earlier if each.is_measure][-MOST_MEASURES:]
    measures = [*following, *measures]
    counts = [each for each in earlier if _is_multiplier(each, result) or is_joined(each)]
    counts = [each for each in counts if each.sentence == result.sentence and each.value >= 2][-MOST_COUNTS:]
    for chosen, signs in _signed_sums(measures):
        dimensions = _dimensions(chosen, signs)
        if dimensions == result.dimensions:
            yield from _derivations_with_counts(chosen, signs, counts, 1.0)
        elif result.period >= HOUR and dimensions == _sum_of_powers(result.dimensions, _SECONDS):
            yield from _derivations_with_counts(chosen, signs, counts, result.period)
        elif dimensions == _sum_of_powers(result.dimensions, _SECONDS, -1):
            for period in {each.period for each in chosen if each.period >= HOUR}:  # `2.94 GWh a year cost 323,400 USD`
                yield from _derivations_with_counts(chosen, signs, counts, 1 / period)


def _signed_sums(measures: Sequence[StatedFigure]) -> Iterator[tuple[tuple[StatedFigure, ...], tuple[int, ...]]]:
    """Two or three measures of different units, each above or below the line, with the last one among them."""
    for size in (2, 3):
        for chosen in combinations(measures, size):
            if chosen[-1] is measures[-1] and len({each.dimensions for each in chosen}) == size:
                yield from ((chosen, signs) for signs in product((1, -1), repeat=size))


def _derivations_with_counts(
    chosen: tuple[StatedFigure, ...], signs: tuple[int, ...], counts: Sequence[StatedFigure], period: float
) -> Iterator[Derivation]:
    value = prod(each.value**sign for each, sign in zip(chosen, signs, strict=True)) / period
    above = " × ".join(each.words for each, sign in zip(chosen, signs, strict=True) if sign > 0)
    words = " over ".join([above, *(each.words for each, sign in zip(chosen, signs, strict=True) if sign < 0)])
    yield Derivation(value, chosen, words, is_typed=not counts)
    for count in counts:
        yield Derivation(value * count.value, (*chosen, count), f"{words} × {count.words}")


def _dimensions(figures: Iterable[StatedFigure], signs: Iterable[int]) -> Dimensions:
    found = _NONE
    for each, sign in zip(figures, signs, strict=True):
        found = _sum_of_powers(found, each.dimensions, sign)
    return found


def _sum_of_powers(one: Dimensions, other: Dimensions, sign: int = 1) -> Dimensions:
    money, watts, seconds, size = (a + sign * b for a, b in zip(one, other, strict=True))
    return money, watts, seconds, size
