"""Values that follow from two figures that a text compares: differences, shares, one figure in two units, and two bandwidths."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from clusterspec.quantity import HOUR
from clusterspec.rules.readers.figure_slips import TENTH
from clusterspec.rules.readers.results.figure_derivations import MULTIPLES, Derivation, is_joined
from clusterspec.rules.readers.stated_figures import ACCELERATOR, RANK, StatedFigure
from clusterspec.rules.readers.units import word_set

LONGEST_LABEL = 100
"""Largest number of characters before the first rate in which its name stands."""
LONGEST_LINK = 6
"""Largest number of words between a figure and the same in another unit."""
FARTHEST = 4.0
"""Largest ratio of two amounts whose difference a text states."""
_LINKS = word_set(
    "or = ≈ ( ) , . i e that is oder also sind d h das : ou soit c'est-à-dire o ossia cioè es decir sea ofwel oftewel dus dat seja isto é vale a dire alias"
)
_LESS_OR_MORE = word_set(
    "cheaper dearer less more difference differ saves saving saved savings apart günstiger billiger teurer weniger mehr differenz unterschied spart sparen gespart "
    "moins plus écart différence économie économise économisons barato barata caro cara menos más diferencia ahorro ahorra ahorramos ahorran meno più differenza risparmio risparmiamo risparmia economico "
    "goedkoper duurder verschil minder meer bespaart besparen diferença economia poupamos poupa mais"
)
"""Words of a difference or of a change in percent."""
_LESS = word_set(
    "cheaper less saves saving saved günstiger billiger weniger spart moins économie barato barata menos ahorro ahorra meno risparmio economico goedkoper "
    "minder economia"
)
_BUS = (
    "busbw",
    "bus bandwidth",
    "busbandbreite",
    "bande passante de bus",
    "bus-bandbreite",
    "ancho de banda de bus",
    "banda di bus",
    "busbandbreedte",
)
_ALGORITHM = (
    "algbw",
    "algorithm bandwidth",
    "algorithmusbandbreite",
    "algorithmische bandbreite",
    "algoritm",
    "algorithmique",
)
_TWICE = ("all-reduce", "allreduce", "all reduce")
_ONCE = ("all-gather", "allgather", "reduce-scatter", "reducescatter", "all-to-all", "alltoall")
INVERTED = "the factor is inverted"
COMPLEMENT = "the share that is left is called the saving"


def comparisons_of(text: str, result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """Derivations of a result by comparison with the figures before it."""
    period = 1.0
    if result.period >= HOUR and result.dimensions[2] == -1:  # `saves 420,480 USD a year`
        money, watts, _, size = result.dimensions
        period = result.period
        result = result._replace(dimensions=(money, watts, 0, size))
    for each in _comparisons(text, result, earlier):
        yield each._replace(value=each.value / period, mistaken=each.mistaken / period, needs_cue=False)


def _comparisons(text: str, result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    if result.is_measure:
        yield from _same_in_other_unit(result, earlier)
        yield from _differences(result, earlier)
        if result.dimensions == (0, 0, -1, 1) and len(earlier) > 1:
            yield from _algorithm_bandwidths(text, result, earlier)
    elif result.unit == "%":
        yield from _savings(result, earlier)
    elif not MULTIPLES.isdisjoint(result.behind[:1]):
        yield from _multiples(earlier)


def _same_in_other_unit(result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The figure before a result, where only words such as `or` stand between both and the units differ."""
    before = earlier[-1] if earlier else None
    if before is None or before.sentence != result.sentence or before.dimensions != result.dimensions:
        return
    if is_joined(earlier[-2]) if len(earlier) > 1 else False:
        return
    if before.unit != result.unit and is_linked(result):
        mistaken = before.value * 0.8 if before.unit[1:2] == "b" and result.unit[1:2] == "B" else 0.0
        yield Derivation(
            before.value,
            (before,),
            before.words,
            is_typed=True,
            mistaken=mistaken,
            slip=TENTH,
        )


def is_linked(figure: StatedFigure) -> bool:
    """Whether only words such as `or` stand before a figure."""
    return len(figure.before) <= LONGEST_LINK and _LINKS.issuperset(figure.before)


def _differences(result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The differences of the amounts before a result that a text calls less or more than another."""
    if _LESS_OR_MORE.isdisjoint((*result.before[-5:], *result.behind[:3])):
        return
    amounts = [each for each in earlier if each.dimensions == result.dimensions]
    for one, other in combinations(reversed(amounts), 2):
        high, low = (one, other) if one.value > other.value else (other, one)
        if low.value < high.value <= FARTHEST * low.value and low.per == high.per:
            yield Derivation(high.value - low.value, (high, low), f"{high.words} less {low.words}", is_typed=True)


def _multiples(earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The number of times that the lower of the two last measures of one kind fits into the higher."""
    measures = [each for each in earlier if each.is_measure]
    if len(measures) > 1 and measures[-1].dimensions == measures[-2].dimensions:
        low, high = sorted(measures[-2:], key=lambda each: each.value)
        yield Derivation(high.value / low.value, (high, low), f"{high.words} over {low.words}")


def _savings(result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The change in percent from the higher to the lower of the two amounts before."""
    amounts = [each for each in earlier if each.is_measure]
    if (
        len(amounts) < 2
        or all(each.words.split()[1:] for each in amounts[-2:])
        or _LESS.isdisjoint(result.behind[:3])
        or amounts[-1].dimensions != amounts[-2].dimensions
    ):
        return
    low, high = sorted(amounts[-2:], key=lambda each: each.value)
    if low.value < high.value:
        words = f"{low.words} against {high.words}"
        yield Derivation(1 - low.value / high.value, (high, low), words, True, low.value / high.value, COMPLEMENT)


def _algorithm_bandwidths(text: str, result: StatedFigure, earlier: Sequence[StatedFigure]) -> Iterator[Derivation]:
    """The algorithm bandwidth of a bus bandwidth before it, or the reverse, for the ranks and the collective of its sentence."""
    rates = [*(each for each in earlier if each.dimensions == result.dimensions), result]
    starts = [rates[0].start - LONGEST_LABEL, *(each.end for each in rates[:-1])]
    labels = [_label(text[max(0, begin) : each.start]) for begin, each in zip(starts, rates, strict=True)]
    label, other = labels[-1], {"bus": "algorithm", "algorithm": "bus"}.get(labels[-1], "")
    base = next(
        (each for each, name in zip(rates[-2::-1], labels[-2::-1], strict=True) if other and name == other), None
    )
    begin = min((each.start for each in earlier if each.sentence == result.sentence), default=result.start)
    passage = text[max(0, begin - 200) : result.end + 100].lower()
    twice = any(each in passage for each in _TWICE)
    if base is None or twice == any(each in passage for each in _ONCE):
        return
    for ranks in (each for each in earlier if each.noun in (RANK, ACCELERATOR) and each.value >= 2):
        factor = (2 if twice else 1) * (ranks.value - 1) / ranks.value
        right, inverted = (
            (base.value / factor, base.value * factor)
            if label == "algorithm"
            else (base.value * factor, base.value / factor)
        )
        sign = "over" if label == "algorithm" else "×"
        words = f"{base.words} {sign} {'2 × ' if twice else ''}{ranks.value - 1:g}/{ranks.value:g}"
        yield Derivation(right, (base, ranks), words, True, inverted, INVERTED)


def _label(before: str) -> str:
    """Which of the two bandwidths of a collective the words before a rate name last; empty without one."""
    folded = before.lower()
    at = {name: max(map(folded.rfind, names)) for name, names in (("bus", _BUS), ("algorithm", _ALGORITHM))}
    name = max(at, key=lambda each: at[each])
    return name if at[name] >= 0 else ""
