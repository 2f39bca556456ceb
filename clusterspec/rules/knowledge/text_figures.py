"""Figures of one kind in running text, with the words around them, and the costs that stand beside a rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_tokens import UNITS, Dimensions, Token, tokens_of
from clusterspec.standard import pattern

MONEY: Dimensions = (1, 0, 0, 0)
WATTS: Dimensions = (0, 1, 0, 0)
ENERGY: Dimensions = (0, 1, 1, 0)
_SECONDS: Dimensions = (0, 0, 1, 0)


class TextFigure(NamedTuple):
    """A figure of a text in SI, its token, the number of its sentence, and the words around it to a comma or
    another number.
    """

    value: float
    token: Token
    sentence: int
    words: str


def figures_of(text: str, dimensions: Dimensions) -> list[TextFigure]:
    """The figures of a text that have some dimensions, perhaps over a period: 566 MWh a year is an energy. Digits of two
    readings give two figures.

    >>> [(round(each.value / 3.6e6), each.words) for each in figures_of("The IT load takes 566,284 kWh a year. It is cold.", ENERGY)]
    [(566284, 'The IT load takes ; '), (566, 'The IT load takes ; ')]
    """
    found: list[TextFigure] = []
    for number, sentence in enumerate(clauses_of(text)):
        tokens = [each for each in tokens_of(sentence) if each.kind == "number"]
        for at, token in enumerate(tokens):
            if token.unit and UNITS[token.unit][1] == dimensions and has_only_periods(token):
                before = tokens[at - 1].end if at else 0
                after = tokens[at + 1].start if at + 1 < len(tokens) else len(sentence)
                behind = sentence[token.end : after].partition(",")[0]
                words = f"{sentence[before : token.start].rpartition(',')[2].strip()} ; {behind.strip()}"
                found += [TextFigure(each * UNITS[token.unit][0], token, number, words) for each in token.values]
    return found


_CLAUSE_END = pattern(
    r"(?<!incl)(?<!inkl)(?<!excl)(?<!exkl)(?<!zzgl)(?<!Mio)(?<!Mrd)(?<!approx)(?<!max)(?<! ca)(?<!i\.e)(?<!e\.g)[.;#]\s"
)


def clauses_of(text: str) -> list[str]:
    """The parts of a text between full stops and semicolons, not those of abbreviations.

    >>> clauses_of("3 Mio. EUR incl. 19 % VAT; net 2.5. Done")
    ['3 Mio. EUR incl. 19 % VAT', 'net 2.5', 'Done']
    """
    return [each for each in _CLAUSE_END.split(text) if each]


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
    """The costs of a sentence beside one rate and one quantity whose product has the dimensions of the cost.

    >>> [round(each.right) for each in priced_amounts("200 TB a month at 0.05 USD per GB are 1,000 USD a month")]
    [10000]
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
            quantity = fitting[0]
            right = quantity.values[0] * quantity.scale * rate.values[-1] * rate.scale / cost.scale
            yield PricedAmount(cost, rate, quantity, right)


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
