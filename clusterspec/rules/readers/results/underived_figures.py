"""Results in a text that follow from none of its figures, and that differ from the right ones by a known mistake."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from math import inf

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, is_of_other_plan
from clusterspec.rules.readers.figure_slips import (
    BINARY,
    BITS_CALLED_BYTES,
    BYTES_CALLED_BITS,
    DIGIT,
    PREFIX,
    has_one_digit,
    is_near,
    rounding_of,
    slip_between,
)
from clusterspec.rules.readers.numerals import with_digits
from clusterspec.rules.readers.results.figure_comparisons import comparisons_of, is_linked
from clusterspec.rules.readers.results.figure_derivations import MULTIPLES, Derivation, derivations_of, has_formula
from clusterspec.rules.readers.stated_figures import NODE, SAME, StatedFigure, stated_figures
from clusterspec.rules.readers.units import word_set
from clusterspec.units.display import plain

MOST_OFF = 0.5
"""Relative deviation of a result beyond which its mistake is large."""
EXACT, NEAR, FAR = 1e-4, 0.01, 0.06
"""Relative differences up to which another figure explains a result, of a small and of a large mistake."""
MOST_FACTORS = 24
"""Largest number of numbers near a result that may explain it."""
MOST_WORDS = 6
"""Largest number of words before a figure that may say that it is a result."""
_CUES = word_set(
    "= ≈ → so hence thus therefore makes make gives give get gets reach adds add totals total equals together altogether yields comes amounts sum that i e which or means "
    "corresponds is are needs takes carries keeps draw draws take last lasts "
    "also somit daher damit folglich zusammen insgesamt macht machen ergibt ergeben sind ist h mithin entspricht oder dauert dauern braucht brauchen "
    "soit donc font fait total ensemble c'est-à-dire ainsi ou correspond sont est coûtent dure durent prend prennent "
    "decir sea tanto suman total son es o hacen resultan equivale juntos modo tarda tardan dura duran "
    "cioè ossia quindi dunque danno fanno tutto totale pari perciò sono è serviranno vale dura durano "
    "dus oftewel ofwel samen totaal zijn maakt geeft trekken kost kosten cost costs cuestan costano custam duurt duren "
    "seja portanto logo todo são somam dão equivale pois demora demoram leva levam"
)
"""Words before a result."""
_IN_ALL = word_set(
    "total all altogether together overall insgesamt zusammen ensemble tout tutto totale samen totaal todo conjunto complessivi complessivo complessiva gesamt"
)
"""Words behind a result that is a total."""
_BOUNDS = word_set(
    "pause pauses paused pausa pausen pauze asynchronous asynchronously asynchron wait waits timeout "
    "limit limits budget cap capped least most below under above beyond maximum minimum max min reserve headroom allowed allows instead than not "
    "except average mean measured grenze höchstens mindestens maximal unter über mehr weniger nicht statt frei "
    "sous plus moins maximum libre pas tope límite máximo mínimo menos más libre massimo minimo meno più liberi "
    "hoogstens minstens minder meer niet limite máximo mínimo menos mais"
)
"""Words next to a figure that is a bound, a part, or something else."""
_DURING = word_set("over for in during within über in für während pour sur pendant por durante en per in su over voor")
"""Words before the time that a figure is for."""
_SIGNS = frozenset(",;.:()")
_OF_UNITS = (BITS_CALLED_BYTES, BYTES_CALLED_BITS, BINARY)
"""Mistakes of figures that need no word of a result: their units differ by a known factor."""
LEAST_AMOUNT = 10_000
"""Least number without a unit that is read as an amount of money, behind another one."""
_COSTS = word_set(
    "cost costs kostet kosten coûte coûtent cuesta cuestan costa costano custa custam kost at asks asked wants wanted"
)


class UnderivedFigure(NamedTuple):
    """A result as a text states it, the right one, its calculation, and the mistake between the two."""

    stated: str
    right: str
    calculation: str
    slip: str


def underived_figures(
    text: str, counts: Sequence[float], keys: Callable[[], Iterable[float]]
) -> Iterator[UnderivedFigure]:
    """The results of a text that do not follow from its figures. ``counts`` are the nodes, accelerators and accelerators of a
    node of the plan, ``keys`` gives the numbers of its keys.

    >>> text = "Sixteen nodes with two ports of 200 Gb/s each draw 6.4 TB/s together."
    >>> [f"{each.calculation} = {each.right}, {each.slip}" for each in underived_figures(text, (), tuple)]
    ['200 Gb/s × 16 nodes × 2 ports = 0.8 TB/s, bits are called bytes']
    """
    text = with_digits(text)
    figures = _with_inherited_money(stated_figures(text))
    for at, result in enumerate(figures):
        if not has_formula(result):
            continue
        found = _wrong_derivation(text, figures, at, counts)
        if found is not None:
            derivation, slip = found
            others = [each for each in figures if each is not result and not _is_restated(figures, at, each)]
            if not _is_explained(result, derivation, others, keys):
                yield UnderivedFigure(result.words, _in_unit(derivation.value, result), derivation.words, slip)


def _wrong_derivation(
    text: str, figures: Sequence[StatedFigure], at: int, counts: Sequence[float]
) -> tuple[Derivation, str] | None:
    """What a figure should be by a formula, and the mistake in between; None where a formula gives it or none applies."""
    result, derived = figures[at], _derivations(text, figures, at, counts)
    if _is_derived(result, derived):
        return None
    wrong = next(((each, slip) for each in derived if (slip := _mistake_text(result, each))), None)
    if wrong is None or is_of_other_plan(clause_at(text, result.start, result.end)):
        return None
    if wrong[1] != DIGIT and any(is_near(result.value, each.value, NEAR) for each in derived):
        return None
    derivation, slip = wrong
    of_units = slip in _OF_UNITS and any(each.measures_like(result) for each in derivation.inputs)
    return (
        wrong
        if not derivation.needs_cue or of_units or _is_stated_result(result, _preceding_figures(figures, at, 1))
        else None
    )


def _derivations(text: str, figures: Sequence[StatedFigure], at: int, counts: Sequence[float]) -> list[Derivation]:
    """Derivations of a figure from the figures around it."""
    result = figures[at]
    derived = [*comparisons_of(text, result, _preceding_figures(figures, at, 2))]
    if not _is_bound(result):
        plan, following = _counts_of_plan(result, counts), _time_behind(figures, at)
        derived += derivations_of(result, _preceding_figures(figures, at, 1), plan, following)
    return [each for each in derived if 0 < each.value < inf]


def _is_derived(result: StatedFigure, derived: Sequence[Derivation]) -> bool:
    """Whether a value that follows is a figure within the rounding of both."""
    return any(is_near(result.value, each.value, rounding_of(result) + each.rounding + EXACT) for each in derived)


def _preceding_figures(figures: Sequence[StatedFigure], at: int, sentences: int) -> list[StatedFigure]:
    """The figures before one, in its sentence and in some before."""
    return [each for each in figures[:at] if figures[at].sentence - sentences <= each.sentence]


def _time_behind(figures: Sequence[StatedFigure], at: int) -> list[StatedFigure]:
    """The time that a figure is for, behind it: `96,000 EUR over the 4 years`."""
    behind = figures[at + 1 : at + 2]
    return [
        each
        for each in behind
        if each.dimensions == (0, 0, 1, 0) and len(each.before) < MOST_WORDS and not _DURING.isdisjoint(each.before)
    ]


def _is_bound(result: StatedFigure) -> bool:
    """Whether the words next to a figure make it a bound or a part."""
    behind = result.behind[:2]
    ends = next((at for at, each in enumerate(behind) if each in _SIGNS), len(behind))
    return not _BOUNDS.isdisjoint((*result.before[-4:], *behind[:ends]))


def _is_stated_result(result: StatedFigure, before: Sequence[StatedFigure]) -> bool:
    """Whether a text states a figure as the result of those before."""
    words = [*result.before[-MOST_WORDS:]]
    if before and before[-1].sentence == result.sentence and not before[-1].is_measure:
        words += before[-1].before[-MOST_WORDS:]  # `so that the 16 nodes fit in 5 racks`
    if result.dimensions == (0, 0, 1, 0) and result.before[-1:] in (("in",), ("en",), ("within",)):
        return True  # `988 GB at 260 GB/s in 3.8 s`
    return not _CUES.isdisjoint(words) or not _IN_ALL.isdisjoint(result.behind[:MOST_WORDS])


def _mistake_text(result: StatedFigure, derivation: Derivation) -> str:
    """The mistake between a result and a value that follows; empty where none is known."""
    exact = (
        0.0
        if not result.is_measure and derivation.value % 1 == 0
        else rounding_of(result) + derivation.rounding + EXACT
    )
    if derivation.mistaken and is_near(result.value, derivation.mistaken, exact):
        return derivation.slip
    slip = slip_between(result, derivation.value, derivation.inputs, is_typed=derivation.is_typed)
    return "" if slip == PREFIX and not derivation.is_typed and has_one_digit(result) else slip


def _counts_of_plan(result: StatedFigure, counts: Sequence[float]) -> list[StatedFigure]:
    """The nodes of the plan, for a result of all of them."""
    names = NODE_WORDS.intersection(result.before)
    return [_plan_count(counts[0], NODE)] if counts and names else []


NODE_WORDS = word_set(
    "nodes machines servers knoten maschinen server serveurs nœuds nodos servidores máquinas nodi macchine nós"
)


def _plan_count(value: float, noun: str) -> StatedFigure:
    return StatedFigure(
        value, (0, 0, 0, 0), noun, "", 0.0, -1, -1, -1, value, 0.5, 1.0, "", (), (), f"{value:,.0f} {noun}s"
    )


def _is_restated(figures: Sequence[StatedFigure], at: int, other: StatedFigure) -> bool:
    """Whether another figure is the result in other units, next to it."""
    result = figures[at]
    before = at > 0 and figures[at - 1] is other and is_linked(result)
    behind = at + 1 < len(figures) and figures[at + 1] is other and is_linked(other)
    return (before or behind) and other.measures_like(result) and is_near(other.value, result.value, SAME)


def _is_explained(
    result: StatedFigure, derivation: Derivation, others: Sequence[StatedFigure], keys: Callable[[], Iterable[float]]
) -> bool:
    """Whether other figures of the text or a key give a result: the same, a product with one or two numbers, or a sum."""
    off = abs(result.value / derivation.value - 1)
    tolerance, near = (FAR, NEAR) if off > MOST_OFF else (min(NEAR, off) / 2, min(NEAR, off) / 2)
    if any(is_near(each, result.value, near) for each in keys()):
        return True
    alike = [
        each
        for each in others
        if each.dimensions == result.dimensions and (result.is_measure or each.noun == result.noun)
    ]
    if any(is_near(each.value, result.value, near) for each in alike):
        return True
    if any(is_near(each.value, derivation.value, near) for each in alike if each not in derivation.inputs):
        return True  # the right figure stands in the text, too
    reach = 0 if derivation.is_typed else 1
    close = [each for each in others if abs(each.sentence - result.sentence) <= reach]
    factors = [each.plain for each in close if each.plain > 1 and not MULTIPLES.intersection(each.behind[:1])]
    factors = factors[:MOST_FACTORS]
    ratios = [result.value / each.value for each in alike if each in close]
    return any(_is_combination(ratio, factors, tolerance) for ratio in ratios) or _is_sum(result, alike, near / 2)


def _is_combination(ratio: float, factors: Sequence[float], tolerance: float) -> bool:
    """Whether a ratio is one number, or the product of two, or the inverse of either."""
    values = [*factors, *(one * other for one, other in combinations(factors, 2))]
    return any(is_near(ratio, each, tolerance) or is_near(ratio * each, 1.0, tolerance) for each in values)


def _is_sum(result: StatedFigure, alike: Sequence[StatedFigure], tolerance: float) -> bool:
    """Whether a result is the sum or the difference of two or three figures."""
    values = [each.value for each in alike]
    two = [*combinations(values, 2)]
    sums = [
        *(a + b for a, b in two),
        *(abs(a - b) for a, b in two),
        *(sum(each) for each in combinations(values[:8], 3)),
    ]
    return any(is_near(result.value, each, tolerance) for each in sums)


def _with_inherited_money(figures: Sequence[StatedFigure]) -> list[StatedFigure]:
    """The figures, where large numbers behind an amount of money are amounts of it, too: `USD 312,400 a node, 19,993,600 for all`."""
    found: list[StatedFigure] = []
    price: StatedFigure | None = None
    for each in figures:
        bare = not each.is_measure and not each.noun and not each.per and each.unit != "%"
        if (
            price is not None
            and bare
            and not _COSTS.isdisjoint(each.before[-1:])
            and 0.1 < each.value / price.plain < 10
        ):
            each = each._replace(  # noqa: PLW2901
                value=each.plain * price.scale, scale=price.scale, dimensions=price.dimensions, unit=price.unit
            )
        elif price is not None and bare and each.value >= LEAST_AMOUNT:
            each = each._replace(dimensions=(1, 0, 0, 0), unit=price.unit)  # noqa: PLW2901
        price = each if each.dimensions[0] == 1 else price
        found.append(each)
    return found


def _in_unit(value: float, result: StatedFigure) -> str:
    """A value in the unit of a result, with the words behind its number."""
    number = value / result.scale
    digits = f"{number:,.0f}" if number >= 1000 else plain(number, 4)
    return " ".join([digits, *_words_behind_number(result)])


def _words_behind_number(result: StatedFigure) -> list[str]:
    """The words of a figure that follow its number, whose thousands may be separated by spaces: `25 804 heures`."""
    words, whole = result.words.split(), f"{result.value / result.scale:.0f}"
    apart = (count for count in (2, 3, 4) if "".join(words[:count]) == whole)
    return words[next(apart, 1) :]
