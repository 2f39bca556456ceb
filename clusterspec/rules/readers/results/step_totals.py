"""Totals of amounts in a text: of several years, periods, groups, people and parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import prod

from clusterspec.quantity import DAY
from clusterspec.rules.readers.dimensions import TIME, Figure
from clusterspec.rules.readers.results.explanations import Claim
from clusterspec.rules.readers.results.step_amounts import (
    DURATION,
    FAR,
    MONEY,
    MONEY_RATE,
    NEAR,
    RESULT,
    SHARE,
    TOTAL,
    YEARS_APART,
    amount_of,
    claim_of,
    is_amount,
    is_count,
    is_equal,
    is_money,
    is_off_result,
    is_result,
    period_behind,
)
from clusterspec.standard import pattern, sum_of

SHORTEST = 30 * DAY
"""Shortest time in seconds over which amounts of a period are summed."""
MOST_ADDENDS = 4
"""Largest number of amounts of which sums are formed."""
_EACH = pattern(
    r"(?i)\b(?:each|apiece|every|je|jeweils|chacun\w*|cada|ciascun\w*|elk|ieder|vardera|każdy)\b|\b(?:pays?|zahl\w+|pai?ent|pagan?o?|betalen|betalar|płaci\w*) $"
)
_IN = pattern(
    r"(?i)^,? ?(?:(?:and|und|et|y|e|en|och|i) )?(?:in|over|for|within|über|für|en|sur|pour|durante|per|su|voor|på|w|przez) $"
)
_JOINED = pattern(
    r"(?i)^,? ?(?:and|or|und|oder|et|ou|soit|y|o|es decir|e|cioè|en|of|och|eller|i|czyli|i\.e\.|that is),? $"
)


def wrong_years(sentence: str, figures: Sequence[Figure]) -> Iterator[Claim]:
    """An amount of several years, where the amount of one year comes before it: `60,000 a year, 240,000 in four years`."""
    for at, rate in enumerate(figures[:-2]):
        first, second = figures[at + 1 : at + 3]
        result, time = (first, second) if second.powers == DURATION else (second, first)
        if time.powers != DURATION or result.powers != MONEY or not (rate.powers == MONEY_RATE or is_money(rate)):
            continue
        yearly = _rate_of(sentence, rate, first.start)
        if not yearly and (period := _period_of_factors(sentence, figures[: at + 1])):
            yearly = rate.value / period
        gap = sentence[rate.end : first.start]
        cued = RESULT.search(gap) is not None or _IN.match(gap) is not None or _is_over(sentence, result, time, gap)
        if not yearly or not cued or time.value < SHORTEST:
            continue
        if is_off_result(result, yearly * time.value, FAR, YEARS_APART):
            yield claim_of(result, yearly * time.value, f"{rate.words} over {time.words}")


_OVER = pattern(
    r"(?i)^ (?:in|over|for|within|über|für|en|sur|pour|durante|per|su|voor|på|w|przez) (?:the |all |den |die |les |los |las |de )?$"
)
"""Pattern of the words between an amount and the time that it is for."""


def _is_over(sentence: str, result: Figure, time: Figure, gap: str) -> bool:
    """Whether an amount is joined to the one before it and is that of a time behind it: `36,000 a year and 180,000 over 5 years`."""
    joined = _JOINED.match(gap) is not None and result.end <= time.start
    return joined and _OVER.match(sentence[result.end : time.start]) is not None


def _period_of_factors(sentence: str, figures: Sequence[Figure]) -> float:
    """Seconds of the only period for which a figure before an amount is: `1,200 hours a day at 2.40 USD come to 2,880 USD`."""
    *factors, amount = figures
    if len(factors) < 2 or RESULT.search(sentence[factors[-1].end : amount.start]) is None:
        return 0.0
    stops = [each.start for each in figures[1:]]
    periods = {period_behind(sentence, each, stop) for each, stop in zip(factors, stops, strict=True)} - {0.0}
    return periods.pop() if len(periods) == 1 else 0.0


def wrong_periods(sentence: str, figures: Sequence[Figure]) -> Iterator[Claim]:
    """One amount by two periods, which differ: `88,800 USD a month and 1,055,600 USD a year`."""
    for one, other in pairwise(figures):
        rate, again = _rate_of(sentence, one, other.start), _rate_of(sentence, other, len(sentence))
        gap = sentence[one.end : other.start]
        if not rate or not again or not (_JOINED.match(gap) or RESULT.search(gap)) or one.bare or other.bare:
            continue
        right = other.value * rate / again
        periods = [amount_of(each) / value for each, value in ((one, rate), (other, again))]
        if abs(periods[0] / periods[1] - 1) > YEARS_APART and is_off_result(other, right, FAR, YEARS_APART):
            yield claim_of(other, right, sentence[one.start : one.end])


def _rate_of(sentence: str, figure: Figure, stop: int) -> float:
    """The money for each second that a figure with its period states; 0 without a period."""
    if figure.powers == MONEY_RATE:
        return figure.value
    period = period_behind(sentence, figure, stop) if figure.powers == MONEY else 0.0
    return figure.value / period if period else 0.0


def wrong_groups(sentence: str, figures: Sequence[Figure]) -> Iterator[Claim]:
    """The total of groups, each with a number of members and what one of them has: `9 pay 120,000 and 5 pay 60,000`."""
    for at, total in enumerate(figures):
        counts, amounts = figures[:at:2], figures[1:at:2]
        if at < 4 or at % 2 or not all(map(is_count, counts)) or not all(map(is_amount, amounts)):
            continue
        if not is_amount(total) or not is_result(sentence, figures[at - 1].end, total):
            continue
        values = [amount_of(each) for each in amounts]
        right = sum_of(count.value * value for count, value in zip(counts, values, strict=True))
        stated = total._replace(value=amount_of(total))
        if is_off_result(stated, right, FAR) and not is_equal(stated, sum_of(values)):
            words = " and ".join(f"{one.words} times {two.words}" for one, two in zip(counts, amounts, strict=True))
            yield claim_of(stated, right, words)
        return


def wrong_products_of_each(sentence: str, figures: Sequence[Figure]) -> Iterator[Claim]:
    """The product of a number of members, of what each of them has, and of a time: `12 guides label 500 a week each for 8 weeks`."""
    for at in (2, 3):
        if len(figures) <= at:
            return
        count, each, result = figures[0], figures[1], figures[at]
        gap = sentence[count.end : each.start]
        if not is_count(count) or not _is_of_each(sentence, count, each) or (at == 3 and figures[2].powers != DURATION):
            continue
        if RESULT.search(sentence[figures[at - 1].end : result.start]) is None or TOTAL.search(gap) is not None:
            continue
        periods = 1.0
        if at == 3:
            period = period_behind(sentence, each, figures[2].start)
            periods = figures[2].value / period if period else 0.0
        alike = is_money(result) == is_money(each) and result.powers in (each.powers, each.bare, frozenset())
        money = is_amount(each) and is_amount(result)
        value = amount_of(each) if money else each.value
        right = prod((count.value, value, periods))
        stated = result._replace(value=amount_of(result)) if money else result
        if right and (alike or money) and is_off_result(stated, right, FAR):
            words = f"{count.words} times {each.words}" + (f" over {figures[2].words}" if at == 3 else "")
            yield claim_of(stated, right, words)
            return


def _is_of_each(sentence: str, count: Figure, each: Figure) -> bool:
    """Whether a figure is of each of those that a number counts."""
    return (
        _EACH.search(sentence[count.end : each.start]) is not None
        or _EACH.match(sentence[each.end :].lstrip(" ,")) is not None
    )


def wrong_totals_of_each(sentence: str, figures: Sequence[Figure], begin: int) -> Iterator[Claim]:
    """The total of what each of a number of people or things has: `8,160 EUR a technician and 16,320 EUR together`."""
    for each, total in pairwise(figures):
        names = [name for name, power in each.powers if power < 0 and name != TIME]
        if each.start < begin or total.powers != MONEY or len(names) != 1 or each.powers != MONEY | {(names[0], -1)}:
            continue
        around = sentence[each.end : total.start] + " | " + sentence[total.end : total.end + 16]
        counts = [one for one in figures if one.end <= each.start and _is_counted(sentence, one, names[0])]
        if len(counts) == 1 and TOTAL.search(around) is not None:
            right = counts[0].value * each.value
            if is_off_result(total, right, 1.0):
                yield claim_of(total, right, f"{counts[0].words} times {each.words}")


def _is_counted(sentence: str, count: Figure, name: str) -> bool:
    return is_count(count) and sentence[count.end :].lstrip().lower().startswith(name[:5].lower())


def wrong_sums(sentence: str, figures: Sequence[Figure]) -> Iterator[Claim]:
    """A total at the end of a sentence that is no sum of the amounts before it: `240,000, with the machine of 1,278,000 in all 1,618,000`."""
    amounts = [each for each in figures if each.powers == MONEY]
    if not 3 <= len(amounts) <= MOST_ADDENDS + 1 or any(each.powers == SHARE for each in figures):
        return
    *parts, total = amounts
    at = figures.index(total)
    if at == 0 or TOTAL.search(sentence[figures[at - 1].end : total.start]) is None:
        return
    sums = {
        sum_of(each.value for each in chosen): chosen
        for size in range(2, len(parts) + 1)
        for chosen in combinations(parts, size)
    }
    if any(is_equal(total, each) for each in (*sums, *(each.value for each in parts))):
        return
    near = [each for each in sums if is_off_result(total, each, NEAR) and parts[-1] in sums[each]]
    if len(near) == 1:
        yield claim_of(total, near[0], " and ".join(each.words for each in sums[near[0]]))
