"""Totals, times and percentages that are not what the other figures of their sentence give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from clusterspec.prose.expressions import EQUALS
from clusterspec.prose.factors import BINARY, DOES_NOT_CLOSE, SLIPS, directed, named, shown, times
from clusterspec.prose.lexicon import FigureScope, Hint
from clusterspec.prose.scan import Sort, Token
from clusterspec.prose.sentence import Sentence
from clusterspec.prose.told import Told
from clusterspec.units import plain, say
from clusterspec.units.slips import near

_TOTAL = frozenset(("total", "totals", "totaling", "totalling", "altogether"))
_MAKES = frozenset(
    ("→", "to", "i", "for", "is", "are", "that", "so", "give", "gives", "giving", "make", "makes", "making")
)
_MAKES |= {"provide", "provides", "yield", "yields", "totals"}
CLOSE = 0.05
APART = 4
"""Percentage points that a share may be off."""
COUNTS = 8
"""Counts of one sentence that are multiplied."""


def totals(sentence: Sentence) -> Iterator[Told]:
    """`8 ports each of 200 Gb/s, for a total of 1.6 Gb/s`: the total is not the count times one."""
    for at in sentence.quantities:
        total = sentence.words[at]
        if sentence.says(at, Hint.TOTAL) and not total.ranged and total.value and not _multiplied(sentence, at):
            ones = [one for one in _ones(sentence, at) if sentence.words[one].unit == total.unit]
            counts = [count.value for count in sentence.counts if count.value > 1]
            if len(ones) == 1 and counts:
                yield from _total(sentence, total, sentence.words[ones[0]], counts)


def products(sentence: Sentence) -> Iterator[Told]:
    """`4 × 200 Gb/s NICs give 800 GB/s`: a count of rates, and what it is stated to make."""
    for one, other in zip(sentence.quantities, sentence.quantities[1:], strict=False):
        first, second = sentence.words[one], sentence.words[other]
        count = next((each.value for each in sentence.counts if 0 < one - each.at <= 2 and each.value > 1), 0.0)
        others = _products([each.value for each in sentence.counts if each.value > 1][:COUNTS])
        between = set(sentence.between(one + 1, other))
        if not count or first.unit != second.unit or first.unit != "B/s" or not between & _MAKES or other - one > 9:
            continue
        if not (first.value and second.value) or first.ranged or second.ranged or _is_of_one(sentence, other):
            continue
        if any(near(second.value, first.value * other, CLOSE) for other in others):
            continue
        ratio = second.value / (first.value * count)
        rule = DOES_NOT_CLOSE if near(second.value, first.value, 0.01) else named(ratio)
        if rule and rule != BINARY:
            right = shown(second, first.value * count)
            message = f"{count:.0f} times {first.written} is {right}, {times(ratio)} the {second.written} written"
            yield Told(rule, second, message, f"write `{right}`")


def _is_of_one(sentence: Sentence, at: int) -> bool:
    """Whether a quantity is stated to be of one part again."""
    return sentence.scope(at) not in (None, FigureScope.NODE, FigureScope.SUM) or sentence.says(at, Hint.BISECTION)


def _multiplied(sentence: Sentence, at: int) -> bool:
    return at > 0 and (sentence.words[at - 1].sort is Sort.TIMES or sentence.words[at - 1].text in ("x", "×", "*"))


def _ones(sentence: Sentence, total: int) -> Iterator[int]:
    """The quantities before a total that are of one of several things."""
    for at in sentence.quantities:
        scoped = sentence.scope(at) not in (None, FigureScope.SUM) or sentence.says(at, Hint.EACH)
        counted = any(0 < at - count.at <= 3 for count in sentence.counts)
        if at < total and (scoped or counted) and not sentence.words[at].ranged and not sentence.says(at, Hint.TOTAL):
            yield at


def _total(sentence: Sentence, total: Token, one: Token, counts: Sequence[float]) -> Iterator[Told]:
    products = _products(counts[:COUNTS])
    ways = (1.0, 2.0, 0.5) if directed(sentence) else (1.0,)
    fitting = (*products, *(count - 1 for count in counts))  # each has one peer fewer than there are
    if not one.value or any(near(total.value, one.value * count * way, CLOSE) for count in fitting for way in ways):
        return
    equations = any(word in EQUALS for word in sentence.between(0, len(sentence.words)))
    for count in products:
        ratio = total.value / (one.value * count)
        rule = DOES_NOT_CLOSE if near(total.value, one.value, 0.01) else named(ratio)
        if rule or (len(products) == 1 and not equations and _is_said(sentence, total)):
            right = shown(total, one.value * count)
            message = f"{count:.0f} times {one.written} is {right}, {times(ratio)} the {total.written} written"
            yield Told(rule or DOES_NOT_CLOSE, total, message, f"write `{right}`")
            return


def _is_said(sentence: Sentence, total: Token) -> bool:
    """Whether a figure is called a total in so many words; an aggregate may be one of a part, or of a cut."""
    at = next(at for at in sentence.quantities if sentence.words[at] is total)
    return bool(_TOTAL & set(sentence.between(max(0, at - 4), at + 4)))


def _products(counts: Sequence[float]) -> list[float]:
    """What some of the counts multiply to."""
    return sorted({prod(chosen) for size in range(1, min(len(counts), 4) + 1) for chosen in combinations(counts, size)})


def durations(sentence: Sentence) -> Iterator[Told]:
    """A size, a rate and a time in one sentence: eight or a thousand times off, the unit is the slip."""
    found = [_of_unit(sentence, unit) for unit in ("B", "B/s", "s")]
    if any(len({token.value for token in each}) != 1 for each in found):
        return
    size, rate, time = (each[0] for each in found)
    if not (size.value and rate.value and time.value):
        return
    takes = size.value / rate.value
    for factor, rule in SLIPS.items():
        if near(time.value / takes, factor, CLOSE):
            right, ratio = say(takes, "s"), time.value / takes
            message = f"{size.written} at {rate.written} takes {right}, {times(ratio)} the {time.written} written"
            yield Told(rule, time, message, f"write `{right}`")


def _of_unit(sentence: Sentence, unit: str) -> list[Token]:
    return [sentence.words[at] for at in sentence.quantities if sentence.words[at].unit == unit]


def shares(sentence: Sentence) -> Iterator[Told]:
    """`376 of 450 GB/s is 83 %`: a percentage that is not the one figure over the other."""
    words = sentence.words
    for at, token in enumerate(words[:-1]):
        if token.sort is not Sort.NUMBER or words[at + 1].text != "%" or token.ranged:
            continue
        before = [quantity for quantity in sentence.quantities if quantity < at][-2:]
        if len(before) == 2 and at - before[1] <= 8 and _is_share(sentence, before[0], before[1]):
            part, whole = words[before[0]], words[before[1]]
            share = 100 * part.value / whole.value
            if abs(share - token.value) > APART:
                message = f"{part.written} of {whole.written} is {plain(share)} %, and not {token.text} %"
                yield Told("percentage-off-count", token, message, f"write `{plain(share)} %`")


def _is_share(sentence: Sentence, part: int, whole: int) -> bool:
    """Whether two figures are stated to be the one of the other."""
    between = list(sentence.between(part + 1, whole))
    same = sentence.words[part].unit == sentence.words[whole].unit
    return (
        same and "of" in between and len(between) <= 5 and sentence.words[whole].value > 0 < sentence.words[part].value
    )
