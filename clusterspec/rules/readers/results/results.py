"""Results in one to three sentences of a text that do not follow from its figures by units and nouns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product
from math import prod

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, clause_bounds, is_of_this_plan
from clusterspec.rules.readers.dimensions import (
    AWAY,
    FAILURE,
    MOST_FIGURES,
    SHARE,
    TIME,
    Figure,
    Powers,
    figures_of,
    product_of,
)
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import passages_of
from clusterspec.rules.readers.written_numbers import numbers_of
from clusterspec.standard import pattern
from clusterspec.units import display
from clusterspec.units.display import plain

TOLERANCE, ROUGH = 0.1, 0.2
"""Relative differences up to which a result is right, and one that the text calls approximate."""
LONGEST_PASSAGE = 1500
"""Largest length in characters of one to three sentences that are read; longer texts have figures of several things."""
MOST_NUMBERS = 12
"""Largest number of numbers of a passage that may explain a result."""
SAME = 0.02
"""Relative difference up to which two values are equal."""
_STATED = pattern(
    r"(?i)(?:[=≈→⇒]|->|=>|\b(?:makes?|gives?|yields?|totals?:?|totalling|comes? to|amounts? to|adds? up to|sums? to|equals?|works out (?:at|to)|results? in|costs?|that is|i\.e\.|which is|means|so|hence|thus|therefore|together|altogether|in total|in all|"
    r"(?:takes?|lasts?|needs?) (?:only |just )?|(?:done|through|finished|complete|over|ready|reached|exhausted|served|read|written|copied|moved) (?:\w+ )?(?:after|in|within)|"
    r"ergibt|ergeben|macht|machen|sind das|das sind|also|somit|daher|damit|zusammen|insgesamt|dauert|braucht|(?:fertig|durch|erreicht|geschrieben|gelesen) (?:nach|in)|"
    r"soit|donc|font|fait|au total|en tout|ensemble|c['’]est-à-dire|dure|(?:terminée?|atteinte?|finie?|écrite?|lue?) (?:en|au bout d[e']|après)))"
    r"[^\d.;]{0,64}$"
)
"""Words before a stated result."""
_OWN_SUBJECT = pattern(
    r" ?(?!(?i:it|they|th[ei]se?|those|both|all|together|so|hence|sie|er|es|diese\w{0,2}|das|alle|zusammen|il|elle|ils|elles|cela|ça|tout)\b)"
    r"[^\W\d][^\d.;,]{1,48}? (?:costs?|kostet|kosten|coûtent?|coûte|cuestan?|costano?) (?:[^\W\d]\w{0,12} )?$"
)
"""Pattern of the words before an amount of money in a sentence whose own subject costs it."""
_TOTAL = pattern(
    r"(?i)(?:[=≈→⇒]|->|=>|\b(?:makes?|gives?|totals?|totalling|comes? to|amounts? to|adds? up to|sums? to|equals?|costs?|hence|therefore|together|altogether|in total|in all|"
    r"total:|summe:|somme:|ergibt|ergeben|macht|machen|zusammen|insgesamt|soit|font|fait|au total|en tout|ensemble))(?: [^\d\W][\w-]*){0,4}:? ?$"
)
"""Words before a stated total."""
_IN_ALL = pattern(r"(?i)^,? ?(?:in total|in all|altogether|together|overall|insgesamt|zusammen|au total|en tout)\b")
_BOUND = pattern(
    r"(?i)\b(?:budget\w*|limit\w*|capacity|caps?|capped|allow\w*|headroom|reserves?|below|under|above|beyond|more|less|fewer|at (?:least|most)|p\.a|per annum|(?<!adds )(?<!add )up to|max\w*|min\w*|not|never|instead|than|other|another|first|second|third|half|rest|remaining|left|free|of which|plus|includ\w+|incl|"
    r"without|except|idle|measured|average|mean|peak|(?:one|each|every|per) (?!failure|interruption|crash|once)\w+|timeout|cuts?|pauses?|stall\w*|block\w*|"
    r"grenze|höchstens|mindestens|unter|über|mehr|weniger|kein\w*|nicht|ohne|statt|andere\w*|inklusive|frei|übrig|pro|je|jede\w*|plafonné\w*|sous|plus|moins|sans|dont|pas|chaque|reste|libres?|autres?)\b"
)
"""Words of a figure that is a bound, a part, or one of each."""
_REACHED = pattern(r"(?i)\b(?:reached|exhausted|hit|erreicht|ausgeschöpft|atteinte?)\b")
_LESS = pattern(r"(?i)\b(?:after|usable|net|netto|nach|nutzbar\w*|après|utiles?|effective\w*|redundan\w*)\b")
"""Words behind a total that is less than the parts."""
_EACH = pattern(r"(?i)^,? ?(?:each|apiece|chacune?s?|jeweils)\b")
_FRACTION = pattern(
    r"(?i)\b(?:half|halve[sd]?|thirds?|quarters?|fifths?|sixths?|eighths?|tenths?|twice|double|triple|hälfte|halb\w*|drittel|viertel|fünftel|achtel|zehntel|doppelt\w*|moitié|tiers|quart|cinquième|double)\b"
)
_DIGIT = pattern(r"\d")
_WHOLE = pattern(r"(?<![\w.,/-])\d{1,6}(?![\w%/]|[.,]\d)")
_ROUGHLY = pattern(
    r"(?i)[≈~]|\b(?:about|roughly|around|some|nearly|almost|approx\w*|circa|ca|etwa|rund|knapp|gut|environ|près|quelque)\b"
)
_CALCULATED = pattern(r"\d[\w .,%]{0,24}? ?[x×*+÷^/] ?\(?\d|\bsqrt\b")
"""A calculation that is written out, which `arithmetic-does-not-close` reads."""
_OF_ALL = pattern(
    r"(?i)\b(?:whole|all|entire|full|job|run|cluster|fleet|machine|training|gesamte\w*|aller|lauf|ganze\w*|entiers?|ensemble|tous|toute)\b"
)
"""Words of a figure of all nodes of the plan."""


class WrongResult(NamedTuple):
    """A result as a text states it, the right one, and the figures that give it, in words."""

    stated: str
    right: str
    figures: str


class _Value(NamedTuple):
    """A product of figures, with the figures above and below the line."""

    value: float
    above: tuple[Figure, ...]
    below: tuple[Figure, ...]

    @property
    def rounding(self) -> float:
        return sum(each.rounding for each in (*self.above, *self.below) if not each.noun)

    @property
    def words(self) -> str:
        above = " times ".join(each.words for each in self.above)
        return " over ".join([above, *(each.words for each in self.below)])


def wrong_results(text: str, plan: Sequence[Figure]) -> Iterator[WrongResult]:
    """The results of a text that do not follow from the figures of their sentence or of the two before.

    ``plan`` has figures of the plan, for statements about all nodes. A result is judged if exactly one value follows
    from its figures by units and nouns, and no other combination of figures gives the result.

    >>> text = "We promise 50 ms per output token. An answer of 4,096 tokens is through after 41 s."
    >>> list(wrong_results(text, []))
    [WrongResult(stated='41 s', right='3.41 min', figures='50 ms per output token times 4,096 tokens')]
    """
    right: set[str] = set()
    wrong: dict[str, WrongResult] = {}
    for passage in passages_of(text[:MOST_CHARACTERS], 3):
        if len(passage) > LONGEST_PASSAGE or _CALCULATED.search(passage) is not None:
            continue
        figures = figures_of(passage)
        if not len(figures) + len(plan) > 1 or len(figures) > MOST_FIGURES:
            continue
        for result in figures:
            if _is_result(passage, result, figures):
                judged = _judgement(passage, result, figures, plan)
                if judged is None:
                    right.add(result.words)
                elif judged:
                    wrong.setdefault(result.words, judged[0])
    yield from (each for words, each in wrong.items() if words not in right)


def _is_result(passage: str, figure: Figure, figures: Sequence[Figure]) -> bool:
    """Whether a text states a figure as a result, and neither as a bound nor as one of each."""
    start, end = clause_bounds(passage, figure.start, figure.end)
    before, behind = passage[: figure.start], passage[figure.end :]
    lead = before[max(0, start - 8) :]
    if _STATED.search(lead) is None and _IN_ALL.match(behind) is None and (AWAY, 1) not in figure.powers:
        return False
    if any(power < 0 and name not in (TIME, FAILURE) for name, power in figure.powers) or len(figure.powers) > 2:
        return False
    if (
        {(AWAY, 1), (TIME, 1)} <= figure.powers
        or ((FAILURE, -1) in figure.powers and len(figure.powers) > 2)
        or not is_of_this_plan(passage[start:end])
    ):
        return False
    begin = max([start, *(each.end for each in figures if each.end <= figure.start)])
    stop = min([end, *(each.start for each in figures if each.start >= figure.end)])
    around = _EACH.sub(" ", passage[begin : figure.start]) + " | " + passage[figure.end : stop]
    if (AWAY, 1) in figure.powers or (_REACHED.search(around) is not None and (TIME, 1) in figure.powers):
        return True
    return _BOUND.search(around) is None and _LESS.search(passage, figure.end, stop) is None


def _judgement(
    passage: str, result: Figure, figures: Sequence[Figure], plan: Sequence[Figure]
) -> tuple[WrongResult, ...] | None:
    """The contradiction of a result; nothing if its value is open, and None if it is right."""
    stop = passage.find(". ", result.end)
    before = [each for each in figures if each is not result and (stop < 0 or each.start < stop)]
    own = [each for each in before if is_of_this_plan(clause_at(passage, each.start, each.end))]
    clause = clause_at(passage, result.start, result.end)
    found = _possible_values(result.powers, own)
    if not found and (FAILURE, -1) in result.powers and _OF_ALL.search(clause) is not None:
        found = _possible_values(result.powers, [*own, *plan])
    is_total = _TOTAL.search(passage[: result.start]) is not None or _IN_ALL.match(passage[result.end :]) is not None
    values = [each for each in found if is_total or any((TIME, 1) in one.powers for one in (result, *each.above))]
    near = max(ROUGH if _ROUGHLY.search(clause) is not None else TOLERANCE, result.rounding)
    again = any(_measure(each) == _measure(result) and _agree(each.value, result.value, SAME) for each in own)
    if again or any(_may_be_result(result, each, near) for each in values):
        return None
    if not values or any(not _agree(values[0].value, each.value, SAME) for each in values):
        return ()
    value = values[0]
    of_another = _is_of_another(passage, result, value, own) or _is_explained(passage, result, value, own, near)
    return () if of_another else (_wrong_result(result, value),)


def _may_be_result(result: Figure, value: _Value, tolerance: float) -> bool:
    """Whether a result agrees with a value, or is a time that may include others."""
    of_share = any((SHARE, 1) in each.powers for each in value.above)
    longer = result.powers == {(TIME, 1)} and not of_share and result.value > value.value
    return longer or _agree(value.value, result.value, tolerance + value.rounding)


def _is_of_another(passage: str, result: Figure, value: _Value, own: Sequence[Figure]) -> bool:
    """Whether a result is for a part, follows from another figure of its sentence, or differs from another, right result."""
    used = (*value.above, *value.below)
    around = " | ".join(clause_at(passage, each.start, each.end) for each in (*used, result) if each.start >= 0)
    lead = passage.rfind(". ", 0, result.start) + 1
    follows = _DIGIT.search(passage, lead, result.start) is not None and all(0 <= each.start < lead for each in used)
    if all(0 <= each.start < lead for each in used) and _OWN_SUBJECT.match(passage, lead, result.start) is not None:
        return True
    stated = any(each.powers == result.powers and _agree(each.value, value.value, TOLERANCE) for each in own)
    return follows or stated or _FRACTION.search(around) is not None


def _measure(figure: Figure) -> Powers:
    """The powers of a figure without the thing to which it applies."""
    return frozenset((name, power) for name, power in figure.powers if power > 0 or name == TIME)


def figure_of_plan(value: float, words: str, **powers: int) -> Figure:
    """A figure of the plan, with the powers of its units and nouns."""
    return Figure(value, frozenset(powers.items()), -1, -1, words, 0.0)


def _possible_values(powers: Powers, figures: Sequence[Figure]) -> list[_Value]:
    """The products and quotients of two figures with given powers, or, without any, of three figures."""
    for size in (2, 3):
        found = [
            _Value(prod(each.value**sign for each, sign in zip(chosen, signs, strict=True)), above, below)
            for chosen in combinations(
                [*figures, *(each._replace(powers=each.bare) for each in figures if each.bare)], size
            )
            if len({each.powers for each in chosen}) == len({(each.start, each.words) for each in chosen}) == size
            for signs in product((1, -1), repeat=size)
            if _powers_of(chosen, signs) == powers
            for above, below in [_sides(chosen, signs)]
            if _is_stated_quotient(powers, below)
        ]
        if found:
            return found
    return []


def _is_stated_quotient(powers: Powers, below: Sequence[Figure]) -> bool:
    """Whether texts may state a quotient: the number that a capacity is enough for, or the share of each, may be
    rounded or lower.
    """
    roles = any(name in (FAILURE, AWAY) for name, _ in powers)
    return roles or not below or ((TIME, 1) in powers and all((TIME, -1) in each.powers or each.noun for each in below))


def _powers_of(figures: Sequence[Figure], signs: Sequence[int]) -> Powers:
    found: Powers = frozenset()
    for each, sign in zip(figures, signs, strict=True):
        found = product_of(found, dict(each.powers), sign)
    return found


def _sides(figures: Sequence[Figure], signs: Sequence[int]) -> tuple[tuple[Figure, ...], tuple[Figure, ...]]:
    pairs = [*zip(figures, signs, strict=True)]
    return tuple(each for each, sign in pairs if sign > 0), tuple(each for each, sign in pairs if sign < 0)


def _agree(one: float, other: float, tolerance: float) -> bool:
    return 1 / (1 + tolerance) <= one / other <= 1 + tolerance


def _is_explained(passage: str, result: Figure, value: _Value, own: Sequence[Figure], tolerance: float) -> bool:
    """Whether other numbers of a passage explain a result: as one or two factors, in place of a figure, or less than it."""
    used = (*value.above, *value.below, result)
    numbers = {
        float(each[0])
        for each in islice(_WHOLE.finditer(passage), MOST_NUMBERS)
        if not any(one.start <= each.start() < one.end for one in used)
    }
    others = [each for each in own if each.start not in {one.start for one in used}]
    ratios = {each.value / one.value for each in others for one in used if _measure(each) == _measure(one)}
    ratios |= {1 - number / each.value for number in numbers for each in value.above if number < each.value}
    useful = sorted(each for each in numbers if each > 1)
    products = {prod(chosen) for size in (1, 2) for chosen in combinations(useful, size)}
    ratios |= products | {1 / each for each in products}
    return any(_agree(result.value / value.value, each, tolerance) for each in ratios)


def _wrong_result(result: Figure, value: _Value) -> WrongResult:
    return WrongResult(result.words, _in_words(value.value, result), value.words)


_RATE: Powers = frozenset({("B", 1), (TIME, -1)})


def _in_words(value: float, result: Figure) -> str:
    """A value in the unit of a result, in the words of the result where the unit has no symbol.

    >>> price = next(each for each in figures_of("32 nodes cost 73,500 EUR a year") if "EUR" in each.words)
    >>> _in_words(8 * price.value, price)
    '588,000 EUR a year'
    >>> _in_words(2 * price.value, price._replace(words="73 500.00 EUR"))
    '147,000 EUR'
    """
    names = {name for name, power in result.powers if power > 0}
    unit = (
        "s" if names == {TIME} else "W" if names == {"W"} else "B" if names == {"B"} and len(result.powers) == 1 else ""
    )
    if result.powers == _RATE:
        unit = "B/s"
    if unit:
        return display(value, unit)
    number = _NUMBER.search(result.words)
    if number is None or not result.value:
        return plain(value, 3)
    scaled = f"{float(f'{numbers_of(number[0])[0] * value / result.value:.3g}'):,.10g}"
    return result.words[: number.start()] + scaled + result.words[number.end() :]


_NUMBER = pattern(r"\d{1,15}(?:[.,  ]\d{1,9}){0,5}")
