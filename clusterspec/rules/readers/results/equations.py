"""Calculations that a text writes out, and figures that belong together: `8 x 9.5 kW = 76 kW`, `0.5 % of 9,944,352 = 49,722`, `16 at 412,000 EUR are 6.6 million`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, log

from clusterspec.quantity import DAY, HOUR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.results.expressions import (
    MOST_WORDS,
    ExpressionParser,
    Result,
    has_known_unit,
    word_at,
)
from clusterspec.rules.readers.tokens import UNITS, Dimensions, Token, tokens_of
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import CALCULATION_CUES, sentences_of
from clusterspec.standard import sum_of

MOST_OPERANDS = 12
_EQUALS = frozenset("=≈:")
_IS = word_set(
    "is are makes make gives give equals cost costs total totals sind ist ergibt ergeben macht kosten kostet font fait donne "
    "donnent coûtent coûte son es dan fanno costano cuestan sono são"
)
_ABOUT = word_set(
    "about roughly approximately approx around some nearly almost ca circa rund etwa env environ unos cerca ≈ ~"
)
_BREAKS = word_set(
    "and or und oder et ou y o e to than but with for from until versus vs plus minus because if when so that which"
)
"""Words that no operand has after its number."""
_JOINS = word_set("and und et y e plus minus less or og och up another further")
_NOT_RESULTS = word_set("times x more less fewer of % ‰ to per")
_CONJUNCTIONS = word_set("and or und oder et ou y o e")
"""Words that continue a result only where another number is near: `76 and 12 kW`, but not `76 kW and the room has 90`."""


_PARTS = word_set(
    "port ports lane lanes link links fiber fibers fibre fibres strand strands end ends cable cables nic nics gpu gpus accelerator "
    "accelerators chip chips die dies core cores drive drives dimm dimms stack stacks rank ranks supply supplies"
)
"""Things that another thing may have several of."""


class WrittenEquation(NamedTuple):
    """A calculation in a text: the values of its left side by the readings of its digits, and its result as written."""

    text: str
    left: tuple[Result, ...]
    result: Token
    noun: str
    """The word after the result."""
    rough: bool
    before: tuple[float, ...]
    """Numbers that stand before the calculation, and may multiply it: `3 drawers of 24 x 30.72 TB`."""
    slack: float = 0.0
    """Relative rounding of the numbers on the left side that a word or a letter scales."""


def equations_in(tokens: Sequence[Token], text: str) -> Iterator[WrittenEquation]:
    """The calculations of a text whose left side has at least one operation, and whose units are all known.

    >>> from clusterspec.rules.readers.tokens import tokens_of
    >>> text = "16 x 1,290,000 + 6 x 118,000 = 21,348,000; 16 servers at 412,000 GBP each cost 6,592,000 GBP"
    >>> [(round(each.left[0].value), each.result.values[0]) for each in equations_in(tokens_of(text), text)]
    [(21348000, 21348000.0), (6592000, 6592000.0)]
    """
    for at, token in enumerate(tokens):
        equals = token.kind == "op" and token.text in "=≈"
        if not equals and not (token.kind == "word" and token.text.lower() in _IS):
            continue
        place, rough = at + 1, token.text == "≈"
        while place < len(tokens) and (tokens[place].text.lower() in _ABOUT or tokens[place].text == "≈"):
            place, rough = place + 1, True
        if place >= len(tokens) or tokens[place].kind != "number" or not _is_whole_result(tokens, place):
            continue
        found = _left_side(tokens, at)
        result = tokens[place]
        if found is None or not has_known_unit(tokens, place):
            continue
        start, results = found
        if len({each.unit for each in (*tokens[start:at], result) if each.unit and each.dimensions[0]}) > 1:
            continue  # an exchange rate
        alike = any(result.dimensions) and results[0].dimensions in (result.dimensions, _without_period(result))
        noun = word_at(tokens, place + 1)
        same = not any((*result.dimensions, *results[0].dimensions)) and noun == results[0].noun != ""
        if not equals and not alike and not same and not _is_rent(tokens[start:at], results[0], result):
            continue  # `64 x 5,000 tokens are 22.5 GB`
        before = tuple(each.values[0] for each in tokens[max(0, start - 12) : start] if each.values)
        yield WrittenEquation(
            text[tokens[start].start : result.end],
            results,
            result,
            noun,
            rough,
            before,
            sum_of(_rounding(each, each.values[0]) for each in tokens[start:at] if each.factor != 1 and each.values[0]),
        )


def _is_rent(left: Sequence[Token], value: Result, result: Token) -> bool:
    """Whether a product of things, hours and a price without its hour gives money: `16 nodes x 24 h x 30 days at $30`."""
    money, watts, seconds, size = value.dimensions
    times = {UNITS[each.unit][0] for each in left if each.unit and UNITS[each.unit][1] == _SECONDS}
    in_hours = HOUR in times <= {HOUR, DAY}
    return in_hours and money == 1 and seconds > 0 == watts == size and result.dimensions == MONEY and not result.per


def _is_whole_result(tokens: Sequence[Token], at: int) -> bool:
    """Whether a number is the whole result: no sign of a calculation, no range and no multiple after it."""
    if at + 1 >= len(tokens):
        return True
    follows = tokens[at + 1]
    if follows.text.lower() in _CONJUNCTIONS and any(
        each.kind != "word" for each in tokens[at + 2 : at + 2 + MOST_WORDS]
    ):
        return False
    if follows.text.lower() in _NOT_RESULTS or (follows.start == tokens[at].end and follows.text not in ",.;:)'\""):
        return False
    words = at + 1
    while words < len(tokens) and words - at <= MOST_WORDS and tokens[words].kind == "word":
        words += 1
    behind = tokens[words] if words < len(tokens) else None
    return behind is None or behind.kind != "op" or behind.text in "()=≈:-"


def _left_side(tokens: Sequence[Token], at: int) -> tuple[int, tuple[Result, ...]] | None:
    """The start and the values of the longest expression before a token; None without one of known units."""
    start, depth, operands = at, 0, 0
    while start > 0 and operands <= MOST_OPERANDS:
        token = tokens[start - 1]
        if token.kind == "op" and token.text in "()":
            depth += 1 if token.text == ")" else -1
            if depth < 0:
                break
        elif (
            (token.kind == "op" and token.text in _EQUALS)
            or (token.kind == "word" and token.text.lower() in _BREAKS)
            or token.kind not in ("op", "word", "number")
        ):
            break
        operands += token.kind == "number"
        start -= 1
    for first in range(start, at):
        if tokens[first].kind == "number" or tokens[first].text == "(":
            parser = ExpressionParser(tokens[first:at])
            values = parser.results()
            if values is not None and parser.operations:
                aside = tokens[first].text == "(" and tokens[at - 1].text == ")"  # `26,298 h (3 x 8,766) = 5,722,445`
                return None if aside or _goes_on(tokens, first) else (first, values)
    return None


def _goes_on(tokens: Sequence[Token], start: int) -> bool:
    """Whether what stands before an expression belongs to it: a sign, a function, or `and` after another number."""
    if not start:
        return False
    before = tokens[start - 1]
    if before.kind == "op":
        return before.text not in "(=≈:"
    called = tokens[start].text == "(" and before.kind == "word" and before.end == tokens[start].start
    return called or before.text.lower() in _JOINS


EXACT, ROUGH = 0.01, 0.08
"""Relative differences up to which a result is right, and up to which an approximate result is right."""
MOST_ROUNDED = 0.1
"""Relative difference up to which zeros stand for rounded digits."""
_POWERS = (*(1000.0**power for power in range(-7, 8)), *(1024.0**power for power in range(-3, 4)))
_UNITS = (8.0, 12.0, 24.0, 60.0, 100.0, 365.0, 3600.0, 8760.0, 86400.0)
_SHIFTS = (*_POWERS, *(each**sign for each in _UNITS for sign in (1, -1)))
"""Factors between the numbers of one figure in two units, if only one unit is written."""
_RATE_SHIFTS = (2.0, 0.5, 8.0, 1 / 8)
"""Both directions of a link, and bits for bytes, which other rules report."""


def is_wrong(equation: WrittenEquation) -> bool:
    """Whether no reading of an equation holds, within the rounding of its figures.

    >>> from clusterspec.rules.readers.tokens import tokens_of
    >>> [is_wrong(each) for text in ("8 x 9.5 kW = 76 kW", "8 x 9.5 kW = 67 kW", "6 x 32 dies = 96 chips")
    ...  for each in equations_in(tokens_of(text), text)]
    [False, True, False]
    """
    return not any(_holds(left, value, equation) for left in equation.left for value in equation.result.values)


def has_wrong_equation(sentence: str, text: str) -> bool:
    """Whether a sentence of a text writes out a calculation that does not close, which `arithmetic-does-not-close` reports.

    >>> has_wrong_equation(text := "900 kW x 12 EUR per kW = 12,800 EUR", text)
    True
    >>> has_wrong_equation(text := "900 kW at 12 EUR per kW: 12,800 EUR", text)
    False
    """
    read = any(cue in text for cue in CALCULATION_CUES)
    return read and any(is_wrong(each) for each in equations_in(tokens_of(sentence), sentence))


def _holds(left: Result, written: float, equation: WrittenEquation) -> bool:
    if not written:
        return True
    token = equation.result
    tolerance = (ROUGH if equation.rough else EXACT) + _rounding(token, written) + equation.slack
    ratios = [left.value / (written * token.scale)]
    alike = left.dimensions == token.dimensions and (any(left.dimensions) or left.value == left.plain)
    if not alike and left.dimensions == _without_period(token):
        ratios.append(left.value / (written * UNITS[token.unit][0]))
    elif not alike and left.summed and left.dimensions != token.dimensions:
        return True  # of summands without a unit some may be counts of other things
    elif not alike:
        ratios += [left.plain / written * shift for shift in (1.0, *_SHIFTS)]
    if token.dimensions[3] and (token.dimensions[2] or "s" in token.per):
        ratios += [ratio * shift for ratio in ratios[:1] for shift in _RATE_SHIFTS]
    ratios += [ratio * each for ratio in ratios[:2] for each in equation.before if each]
    ratio = ratios[0]
    if left.noun != equation.noun and not any(token.dimensions) and ratio > 0 and written.is_integer():
        ratios.append(ratio / max(1, round(ratio)))  # 96 dies are 48 packages
        if equation.noun.partition("-")[0] in _PARTS:
            ratios.append(ratio * max(1, round(1 / ratio)))  # 8 cards have 16 ports
    return any(abs(each - 1) <= tolerance for each in ratios)


def _without_period(token: Token) -> Dimensions | None:
    """The dimensions of a figure without the period that follows it (`60,000 EUR a month`); None without one."""
    periods = [each for each in token.per if each in UNITS and UNITS[each][1] == (0, 0, 1, 0)]
    return UNITS[token.unit][1] if periods and len(periods) == len(token.per) else None


def _rounding(token: Token, value: float) -> float:
    """Half a unit of the last digit of a value of a number, relative to it. Zeros at the end of a whole number may be rounded, by a
    tenth at most.
    """
    written = value / token.factor
    digits = f"{written:.12g}"
    if "e" in digits:
        return EXACT
    decimals = len(digits.partition(".")[2])
    zeros = len(digits) - len(digits.rstrip("0")) if not decimals else 0
    return min(0.5 * 10.0 ** (zeros - decimals) / written, MOST_ROUNDED if zeros else 0.5)


MONEY: Dimensions = (1, 0, 0, 0)
WATTS: Dimensions = (0, 1, 0, 0)
ENERGY: Dimensions = (0, 1, 1, 0)
_SECONDS: Dimensions = (0, 0, 1, 0)


class PhysicalFigure(NamedTuple):
    """A figure of a text in SI, its token, the number of its sentence, and the words around it to a comma or
    another number.
    """

    value: float
    token: Token
    sentence: int
    words: str


def figures_of(text: str, dimensions: Dimensions) -> list[PhysicalFigure]:
    """The figures of a text that have some dimensions, perhaps over a period: 566 MWh a year is an energy. Digits of two
    readings give two figures.

    >>> [(round(each.value / 3.6e6), each.words) for each in figures_of("The IT load takes 566,284 kWh a year. It is cold.", ENERGY)]
    [(566284, 'The IT load takes ; '), (566, 'The IT load takes ; ')]
    """
    found: list[PhysicalFigure] = []
    for number, sentence in enumerate(sentences_of(text)):
        tokens = [each for each in tokens_of(sentence) if each.kind == "number"]
        for at, token in enumerate(tokens):
            if token.unit and UNITS[token.unit][1] == dimensions and has_only_periods(token):
                before = tokens[at - 1].end if at else 0
                after = tokens[at + 1].start if at + 1 < len(tokens) else len(sentence)
                behind = sentence[token.end : after].partition(",")[0]
                words = f"{sentence[before : token.start].rpartition(',')[2].strip()} ; {behind.strip()}"
                found += [PhysicalFigure(each * UNITS[token.unit][0], token, number, words) for each in token.values]
    return found


def has_only_periods(token: Token) -> bool:
    """Whether a figure is for no unit but a period: `60,000 EUR a month`, not `0.16 EUR per kWh`."""
    return all(each in UNITS and UNITS[each][1] == _SECONDS for each in token.per)


class PricedAmount(NamedTuple):
    """A cost in a text, and the rate and the quantity of the same sentence that give another one."""

    cost: Token
    rate: Token
    quantity: Token
    right: float
    """The product of rate and quantity, in units of the cost."""


def priced_amounts(sentence: str) -> Iterator[PricedAmount]:
    """The costs of a sentence with one rate and one quantity whose product has the dimensions of the cost.

    >>> [round(each.right) for each in priced_amounts("200 TB a month at 0.05 USD per GB are 1,000 USD a month")]
    [10000]
    >>> [round(each.right) for each in priced_amounts("80 kW at 150,000 KRW per kW and month are 12 million KRW a month")]
    [12000000]
    """
    numbers = [each for each in tokens_of(sentence) if each.kind == "number" and each.unit]
    money = [each for each in numbers if UNITS[each.unit][1] == MONEY]
    rates = [each for each in money if each.per and any(_counts(one) for one in each.per)]
    if len(rates) != 1:
        return
    (rate,) = rates
    costs = [each for each in money if each is not rate and has_only_periods(each) and each.unit == rate.unit]
    for cost in costs:
        fitting = [
            each
            for each in numbers
            if each not in money and _product(each.dimensions, rate.dimensions) == cost.dimensions
        ]
        if len(fitting) == 1:
            yield PricedAmount(cost, rate, fitting[0], _product_nearest_to(cost, rate, fitting[0]))


def _product_nearest_to(cost: Token, rate: Token, quantity: Token) -> float:
    """The product of rate and quantity, in units of the cost; for digits of two readings the one nearest to the cost."""
    scale = quantity.scale * rate.scale / cost.scale
    products = [one * other * scale for one in quantity.values for other in rate.values]
    written = [each for each in cost.values if each > 0]
    return min(
        products,
        key=lambda each: min((abs(log(each / one)) for one in written), default=0.0) if each > 0 else inf,
    )


def _counts(unit: str) -> bool:
    """Whether a unit measures something other than time."""
    return unit in UNITS and UNITS[unit][1] != _SECONDS


def _product(one: Dimensions, other: Dimensions) -> Dimensions:
    money, watts, seconds, size = (a + b for a, b in zip(one, other, strict=True))
    return money, watts, seconds, size


def other_numbers(sentence: str, used: Sequence[Token]) -> list[float]:
    """The other numbers of a sentence, percents as shares."""
    starts = {each.start for each in used}
    return [
        each.values[0] * (each.scale if each.unit == "%" else 1.0)
        for each in tokens_of(sentence)
        if each.kind == "number" and each.start not in starts
    ]
