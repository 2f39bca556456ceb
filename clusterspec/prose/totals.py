"""Totals, durations and percentages that contradict the other figures of their sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from clusterspec.prose.error_factors import (
    BINARY,
    DOES_NOT_CLOSE,
    RULE_OF_FACTOR,
    as_multiple,
    in_unit_of,
    mentions_direction,
    rule_of_ratio,
)
from clusterspec.prose.expressions import EQUALS
from clusterspec.prose.lexicon import FigureScope, Hint
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.text_problem import TextProblem
from clusterspec.prose.tokenize import Token, TokenKind
from clusterspec.units import display, plain
from clusterspec.units.common_errors import near

_TOTAL = frozenset(("total", "totals", "totaling", "totalling", "altogether"))
_YIELDS = frozenset(
    ("→", "to", "i", "for", "is", "are", "that", "so", "give", "gives", "giving", "make", "makes", "making")
)
_YIELDS |= {"provide", "provides", "yield", "yields", "totals"}
TOLERANCE = 0.05
MAX_POINTS_OFF = 4
"""Tolerance of a share, in percentage points."""
MAX_COUNTS = 8
"""Maximum counts of a sentence that are multiplied."""


def totals(sentence: Sentence) -> Iterator[TextProblem]:
    """Totals that are not the count times one figure: `8 ports each of 200 Gb/s, for a total of 1.6 Gb/s`."""
    for at in sentence.quantities:
        total = sentence.words[at]
        if sentence.has_meaning(at, Hint.TOTAL) and not total.ranged and total.value and not _multiplied(sentence, at):
            ones = [one for one in _unit_figures(sentence, at) if sentence.words[one].unit == total.unit]
            counts = [count.value for count in sentence.counts if count.value > 1]
            if len(ones) == 1 and counts:
                yield from _total(sentence, total, sentence.words[ones[0]], counts)


def products(sentence: Sentence) -> Iterator[TextProblem]:
    """Wrong products of a count and a rate: `4 × 200 Gb/s NICs give 800 GB/s`."""
    for one, other in zip(sentence.quantities, sentence.quantities[1:], strict=False):
        first, second = sentence.words[one], sentence.words[other]
        count = next((each.value for each in sentence.counts if 0 < one - each.at <= 2 and each.value > 1), 0.0)
        others = _products([each.value for each in sentence.counts if each.value > 1][:MAX_COUNTS])
        between = set(sentence.between(one + 1, other))
        if not count or first.unit != second.unit or first.unit != "B/s" or not between & _YIELDS or other - one > 9:
            continue
        if not (first.value and second.value) or first.ranged or second.ranged or _is_per_part(sentence, other):
            continue
        if any(near(second.value, first.value * other, TOLERANCE) for other in others):
            continue
        ratio = second.value / (first.value * count)
        rule = DOES_NOT_CLOSE if near(second.value, first.value, 0.01) else rule_of_ratio(ratio)
        if rule and rule != BINARY:
            right = in_unit_of(second, first.value * count)
            message = f"{count:.0f} times {first.written} is {right}, {as_multiple(ratio)} the {second.written} written"
            yield TextProblem(rule, second, message, f"write `{right}`")


def _is_per_part(sentence: Sentence, at: int) -> bool:
    """Whether the scope of a quantity is one part, so that it is not a total."""
    return sentence.scope(at) not in (None, FigureScope.NODE, FigureScope.SUM) or sentence.has_meaning(
        at, Hint.BISECTION
    )


def _multiplied(sentence: Sentence, at: int) -> bool:
    return at > 0 and (sentence.words[at - 1].kind is TokenKind.TIMES or sentence.words[at - 1].text in ("x", "×", "*"))


def _unit_figures(sentence: Sentence, total: int) -> Iterator[int]:
    """The indices of quantities before a total that are per part."""
    for at in sentence.quantities:
        scoped = sentence.scope(at) not in (None, FigureScope.SUM) or sentence.has_meaning(at, Hint.EACH)
        counted = any(0 < at - count.at <= 3 for count in sentence.counts)
        if (
            at < total
            and (scoped or counted)
            and not sentence.words[at].ranged
            and not sentence.has_meaning(at, Hint.TOTAL)
        ):
            yield at


def _total(sentence: Sentence, total: Token, token: Token, counts: Sequence[float]) -> Iterator[TextProblem]:
    products = _products(counts[:MAX_COUNTS])
    factors = (1.0, 2.0, 0.5) if mentions_direction(sentence) else (1.0,)
    fitting = (*products, *(count - 1 for count in counts))  # each has one peer fewer than there are
    if not token.value or any(
        near(total.value, token.value * count * factor, TOLERANCE) for count in fitting for factor in factors
    ):
        return
    equations = any(word in EQUALS for word in sentence.between(0, len(sentence.words)))
    for count in products:
        ratio = total.value / (token.value * count)
        rule = DOES_NOT_CLOSE if near(total.value, token.value, 0.01) else rule_of_ratio(ratio)
        if rule or (len(products) == 1 and not equations and _is_called_total(sentence, total)):
            right = in_unit_of(total, token.value * count)
            message = f"{count:.0f} times {token.written} is {right}, {as_multiple(ratio)} the {total.written} written"
            yield TextProblem(rule or DOES_NOT_CLOSE, total, message, f"write `{right}`")
            return


def _is_called_total(sentence: Sentence, total: Token) -> bool:
    """Whether a figure is called a total; an `aggregate` may be of one part or of a bisection."""
    at = next(at for at in sentence.quantities if sentence.words[at] is total)
    return bool(_TOTAL & set(sentence.between(max(0, at - 4), at + 4)))


def _products(counts: Sequence[float]) -> list[float]:
    """The products of all subsets of some counts."""
    return sorted({prod(chosen) for size in range(1, min(len(counts), 4) + 1) for chosen in combinations(counts, size)})


def durations(sentence: Sentence) -> Iterator[TextProblem]:
    """Durations that differ from size over rate by the factor of a unit error."""
    found = [_of_unit(sentence, unit) for unit in ("B", "B/s", "s")]
    if any(len({token.value for token in each}) != 1 for each in found):
        return
    size, rate, time = (each[0] for each in found)
    if not (size.value and rate.value and time.value):
        return
    takes = size.value / rate.value
    for factor, rule in RULE_OF_FACTOR.items():
        if near(time.value / takes, factor, TOLERANCE):
            right, ratio = display(takes, "s"), time.value / takes
            message = f"{size.written} at {rate.written} takes {right}, {as_multiple(ratio)} the {time.written} written"
            yield TextProblem(rule, time, message, f"write `{right}`")


def _of_unit(sentence: Sentence, unit: str) -> list[Token]:
    return [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == unit]


def shares(sentence: Sentence) -> Iterator[TextProblem]:
    """Percentages that differ from the ratio of two figures: `376 of 450 GB/s is 83 %`."""
    words = sentence.words
    for at, token in enumerate(words[:-1]):
        if token.kind is not TokenKind.NUMBER or words[at + 1].text != "%" or token.ranged:
            continue
        before = [quantity for quantity in sentence.quantities if quantity < at][-2:]
        if len(before) == 2 and at - before[1] <= 8 and _is_share(sentence, before[0], before[1]):
            part, whole = words[before[0]], words[before[1]]
            share = 100 * part.value / whole.value
            if abs(share - token.value) > MAX_POINTS_OFF:
                message = f"{part.written} of {whole.written} is {plain(share)} %, not {token.text} %"
                yield TextProblem("percentage-off-count", token, message, f"write `{plain(share)} %`")


def _is_share(sentence: Sentence, part: int, whole: int) -> bool:
    """Whether a sentence states one figure as a part of another (`376 of 450 GB/s`)."""
    between = list(sentence.between(part + 1, whole))
    same = sentence.words[part].unit == sentence.words[whole].unit
    return (
        same and "of" in between and len(between) <= 5 and sentence.words[whole].value > 0 < sentence.words[part].value
    )
