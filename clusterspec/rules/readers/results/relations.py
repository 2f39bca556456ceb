"""Results that sentences state of their own figures: counts times amounts, amounts over rates, percentages, failures of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import prod

from clusterspec.quantity import HOUR, PRECISIONS
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.dimensions import LENGTHS_AHEAD
from clusterspec.rules.readers.figures import (
    DIGITS,
    NO_UNIT,
    PART,
    RATE,
    TIME,
    WORDS_AFTER_NOUNS,
    RelatedFigure,
    related_figures,
    with_digits,
)
from clusterspec.rules.readers.units import stored_precisions, word_set
from clusterspec.standard import pattern, sum_of
from clusterspec.units.display import plain

LONGEST_SENTENCE = 400
"""Largest number of characters of a sentence that is read."""
MOST_FIGURES = 7
"""Largest number of figures of a sentence that is read: longer ones have figures of several things."""
_RESULT = pattern(
    r"(?i)(?:\b(?:is|are|makes?|gives?|takes?|needs?|draws?|costs?|leaves?|sees?|gets?|yields?|totals?|adds? up to|sums? to|comes? to|amounts? to|has|have|turns? .{1,24} into|becomes?|produces?|reads?|holds?|trains?|delivers?|connects?|serves?|(?:gives?|makes?|leaves?) (?:a|an|the|each|every) [\w-]+|"
    r"must make|must produce|fills?|pays?|expects?|means|and so|i\.e\.|that is|which is|so|together|in total|in all|altogether)|[=≈:→])"
    r" ?(?:a total of |the |some |about |around |roughly |nearly |almost |another |altogether |together |only |just |in total |up to a total of |~|≈)*$"
)
"""Words before a result."""
_IN_ALL = pattern(r"(?i)^,? ?(?:in total|in all|altogether|together|for all|overall|in sum)\b")
_BOUND = pattern(
    r"(?i)\b(?:at least|at most|(?<!add )(?<!adds )(?<!sum )(?<!sums )up to|over (?!\d+ \w+s\b)|under|above|below|within|between (?=\d)|minimum|maximum|max|(?<!/)min|limit\w*|not|never|no longer|instead of|"
    r"would|could|if|unless|of which|including|another|(?<!the )other|more|fewer|extra|further|additional|remaining|rest|plus|minus|except|without|versus|vs|rather than|compared|old|former|previous)\b"
)
"""Words of bounds, conditions, parts and comparisons, whose figures are no result of the others."""
_CALCULATION = pattern(r"[=×]|\d ?[x*/+] ?[\d(]|\d [-–−] \d")
"""Signs of a calculation that is written out, which `arithmetic-does-not-close` reads."""
_LINK = pattern(
    r"(?i)^(?: [\w/-]+){0,5}? (?:of|at|with|à|mit|zu|de|x|×|having|drawing|rated(?: at)?|for) (?:about |roughly |some |the |its )?$"
)
"""Words between a count and the amount of each counted thing: `32 nodes at 10.2 kW`, `256 GPUs are rented at 2 USD`."""
_EACH = pattern(r"(?i)^(?: \w+)? ?(?:each|apiece)\b")
_DISCOUNT = pattern(r"(?i)\b(?:discount|rebate|reduction|off|less|skonto|rabatt|remise|descuento)\b")
_TAX = pattern(r"(?i)\b(?:vat|tax|mwst|ust|iva|tva|gst|duty|surcharge|on top|markup|mark-up)\b")
_INTERRUPTED = pattern(r"(?i)\b(?:interrupted|fails|crashes|stops|restarts)\b")
_FAILURES = word_set("failure interruption crash stop outage restart fault")
_BETWEEN_FAILURES = pattern(r"(?i)\b(?:between (?:failures|interruptions|crashes|faults)|mtbf|mtti|mttf)\b")
_OF_PARTS = pattern(
    r"(?i)\b(?:each|per|a single|one|of a|of an|every) (?:\w+ )?(?:node|gpu|accelerator|server|component|part)"
)
_AT_METER = pattern(r"(?i)^ (?:(?:at|from) the (?:meter|grid|utility)|am zähler|aus dem netz|au compteur|du réseau)\b")
"""Words behind a power that has the overhead in it."""
_PUE = pattern(r"(?i)\b(?:pue|power usage effectiveness) (?:of |is |at |= ?)?(?P<value>1[.,]\d{1,3})\b")
TOLERANCE, ROUGH, OF_MONEY = 0.08, 0.15, 0.015
"""Relative differences up to which a result, an approximate result, and an amount of money are right."""
WRITTEN_OUT = 1e4
"""Numbers from which on a message separates thousands."""
MOST_DIGITS = 1e6
"""Counts from which on a message names a count in the words of the text."""
_LAST = pattern(r"(?i)\b(?:last|newest|latest|most recent) $")
_KEPT = pattern(r"(?i)\b(?:kept|keeps?|retain\w*|stay|remain|stored?)\b")
_MORE_THAN_WEIGHTS = pattern(
    r"(?i)\b(?:optimizer\w*|gradients?|moments?|adam\w*|kv|cache|activations?|master|states?|checkpoints?|embedding\w*|active|per (?:gpu|rank|device)|each|tp|half|overhead|scales?)\b"
)
_ROUGHLY = pattern(
    r"(?i)[≈~]|\b(?:about|roughly|around|some|nearly|almost|approx\w*|circa|average|mean|typical\w*|expect\w*)\b"
)


class Contradiction(NamedTuple):
    """A result as a sentence states it, the value that the other figures give, and these figures in words."""

    result: RelatedFigure
    right: float
    figures: str

    @property
    def right_words(self) -> str:
        """The value that the other figures give, in the words of the result."""
        unit = DIGITS.sub("", self.result.words)
        number = self.right / self.result.value * self.result.number
        digits = plain(number, 4) if number < WRITTEN_OUT else f"{float(f'{number:.4g}'):,.0f}"
        return f"{digits}{unit}"


def contradictions(sentence: str, multiples: Sequence[float] = ()) -> Iterator[Contradiction]:
    """The results of a sentence that do not follow from its other figures.

    ``multiples`` are counts of the plan that a sentence may leave out. A result is right if any product of the amount
    and of counts gives it.

    >>> [(each.figures, round(each.right)) for each in contradictions("32 nodes at 10.2 kW draw 226 kW.")]
    [('32 times 10.2 kW', 326400)]
    >>> list(contradictions("32 nodes at 10.2 kW draw 326 kW."))
    []
    """
    if len(sentence) > LONGEST_SENTENCE or _CALCULATION.search(sentence) is not None:
        return
    sentence = with_digits(sentence)
    figures = related_figures(sentence)
    if not 2 <= len(figures) <= MOST_FIGURES or _BOUND.search(sentence) is not None:
        return
    for result in figures:
        if not _is_result(sentence, result):
            continue
        after = next((each for each in figures if each.start > result.end), None)
        before = [each for each in figures if each.end <= result.start]
        expected = next(_expectations(sentence, result, before, after), None)
        if expected is None:
            continue
        right, words, is_sure = expected
        rounding = result.rounding + sum_of(each.uncertainty for each in before)
        exact = OF_MONEY if result.dimensions[0] else TOLERANCE
        close = max(ROUGH if _ROUGHLY.search(sentence) is not None else exact, rounding)
        others = [each.value for each in before if each.is_count or each.is_share] + ([] if is_sure else [*multiples])
        amounts = [right, *(each.value for each in before if each.is_like(result))]
        if not any(_agrees(result.value, value, close) for value in _explanations(amounts, others)):
            yield Contradiction(result, right, words)


def _is_result(sentence: str, figure: RelatedFigure) -> bool:
    """Whether a figure is called a result, or is an amount of money that ends its sentence: `48 months at 81,000 EUR,
    3.9 million EUR.`
    """
    before, behind = sentence[: figure.start], sentence[figure.end :].lstrip()
    if _RESULT.search(before) is not None or _IN_ALL.search(sentence[figure.end :]) is not None:
        return True
    return bool(figure.dimensions[0]) and before.endswith(", ") and (not behind or behind[0] in ".;)")


def _explanations(amounts: Sequence[float], others: Sequence[float]) -> Iterator[float]:
    """What a result may be: an amount, times and over products of other figures, more or less a share."""
    factors = {1.0}
    for size in (1, 2):
        factors |= {prod(chosen) for chosen in combinations(others, size)}
    for share in [each for each in others if 0 < each < 1]:
        factors |= {1 - share, 1 + share}
    for amount in amounts:
        for factor in factors:
            yield amount * factor
            yield amount / factor


def _agrees(value: float, right: float, tolerance: float) -> bool:
    return right > 0 and 1 / (1 + tolerance) <= value / right <= 1 + tolerance


Expectation = tuple[float, str, bool]
"""A value that the figures of a sentence give, these figures in words, and whether nothing else may multiply it."""


def _expectations(
    sentence: str, result: RelatedFigure, before: Sequence[RelatedFigure], after: RelatedFigure | None
) -> Iterator[Expectation]:
    """The values that figures before a result give for it, the most certain first."""
    like = [each for each in before if each.is_like(result)]
    if result.per or _EACH.match(sentence[result.end :]):
        yield from _amount_of_each(sentence, result, like, before)
    elif result.is_share:
        yield from _share_of_count(sentence, result, before)
        yield from _share_of_time(sentence, result, before)
    elif result.noun in _FAILURES or (result.noun == "time" and _INTERRUPTED.search(sentence) is not None):
        yield from _failures_of_run(sentence, before)
    elif not like:
        yield from _rate_times_time(result, before)
        yield from _rate_of_parts(result, before)
        yield from _hours_of_parts(result, before)
        yield from _amount_and_time(result, before)
        yield from _bytes_of_weights(sentence, result, before)
        yield from _amount_over_rate(sentence, result, before, after)
    elif len(like) == 1:
        (amount,) = like
        yield from _less_or_plus_share(sentence, result, amount, before)
        yield from _times_effectiveness(sentence, amount)
        yield from _count_times_amount(sentence, result, amount, before)
        yield from _same_in_other_unit(sentence, result, amount, before)


def _count_times_amount(
    sentence: str, result: RelatedFigure, amount: RelatedFigure, before: Sequence[RelatedFigure]
) -> Iterator[Expectation]:
    counts = [each for each in before if each.is_count and each.noun != result.noun and each.value > 1]
    named = [each for each in counts if each.noun in amount.per or _is_of_each(sentence, each, amount)]
    if _KEPT.search(sentence) is not None:
        named += [each for each in before if each.noun == PART and _LAST.search(sentence[: each.start]) is not None]
    ahead = [each for each in counts if each.end <= amount.start]
    closest = ahead[-1:] if ahead and not any(ahead[-1].end <= one.start < amount.start for one in before) else []
    aside = _ANOTHER_CLAUSE.search(sentence[amount.end : result.start]) is not None
    said_of_it = not aside or _IN_ALL.search(sentence[result.end :]) is not None
    joined = [each for each in closest if said_of_it and _LINK.match(sentence[each.end : amount.start])]
    if not named and said_of_it and _EACH.match(sentence[amount.end :]):
        named = closest if closest and len(sentence[closest[0].end : amount.start]) <= FAR else []
    chosen = named or ([] if amount.per else joined)
    if len({each.value for each in chosen}) == 1:
        count = chosen[0]
        times = f"{count.value:,.0f}" if count.value < MOST_DIGITS else count.words
        noun = _NOUN_BEHIND.match(sentence[amount.end :])
        alone = noun is None or noun[1].lower() in WORDS_AFTER_NOUNS
        sure = bool(named) or (alone and _OF_EACH.match(sentence[count.end : amount.start]) is not None)
        yield count.value * amount.value, f"{times} times {amount.words}", sure


FAR = 48
"""Characters between a count and the amount of each."""
_NOUN_BEHIND = pattern(r"^ ?([A-Za-z][\w-]+)")
_ANOTHER_CLAUSE = pattern(
    r"(?i)[;:]|, (?!which|that|i\.e|together|in total|in all|so they|so $|or )|\b(?:and|while|but|whose|where) "
)
"""Words before a clause with another subject than a count and the amount of each."""
_OF_EACH = pattern(r"(?i)^ (?:of|at|with|à|mit|zu) $")


def _amount_of_each(
    sentence: str, result: RelatedFigure, like: Sequence[RelatedFigure], before: Sequence[RelatedFigure]
) -> Iterator[Expectation]:
    """`12 racks draw 1.6 MW, which is 133 kW a rack`, `512 sequences over 64 replicas are 8 sequences each`."""
    counts = [each for each in before if each.is_count and (each.noun in result.per or not result.per)]
    counts = [each for each in counts if each.noun != result.noun and each.value > 1]
    if len(like) == len(counts) == 1 and not like[0].per and len(before) == 2:
        amount, count = like[0], counts[0]
        if result.per or _OVER.match(sentence[amount.end : count.start]):
            yield amount.value / count.value, f"{amount.words} over {count.words}", True


_OVER = pattern(
    r"(?i)^ (?:\w+ ){0,2}?(?:over|among|across|on|divided by|split over|shared by|between|für|auf|sur|entre) (?:the |all )?$"
)


def _is_of_each(sentence: str, count: RelatedFigure, amount: RelatedFigure) -> bool:
    """Whether the amount applies to one of the counted things: `a rack draws 40 kW, so 8 racks`."""
    one = rf"(?i)\b(?:a|an|each|one|every|per)(?: [\w-]+)? {count.noun}\b"
    return pattern(one).search(sentence[: amount.start]) is not None and count.start > amount.end


def _same_in_other_unit(
    sentence: str, result: RelatedFigure, amount: RelatedFigure, before: Sequence[RelatedFigure]
) -> Iterator[Expectation]:
    """`4.3 million requests a day are 50 requests/s`."""
    units = {DIGITS.sub("", each.words).strip() for each in (amount, result)}
    converted = (
        _CONVERTED.match(sentence[amount.end : result.start])
        and len(units) == 2
        and not any(each.is_share for each in before)
    )
    if converted and before[-1] is amount and any(result.dimensions):
        yield amount.value, amount.words, True


_CONVERTED = pattern(r"(?i)^,? ?(?:are|is|or|i\.e\.|that is|which is|which are)(?: about| roughly| some)? $")


def _rate_times_time(result: RelatedFigure, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    times = [each for each in before if each.dimensions == TIME]
    if len(times) != 1 or result.noun:
        return
    wanted = tuple(one - other for one, other in zip(result.dimensions, TIME, strict=True))
    rates = [each for each in before if each.dimensions == wanted and not each.per and not each.noun and any(wanted)]
    if len(rates) == 1 and wanted[0]:
        yield rates[0].value * times[0].value, f"{times[0].words} of {rates[0].words}", False


def _rate_of_parts(result: RelatedFigure, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    """`3,000 requests a minute and 500 tokens each are 25,000 tokens/s`, `50,000 samples/s of 100 kB are 5 GB/s`."""
    if result.dimensions[2] != -1 or result.dimensions[:2] != (0, 0) or not (result.noun or result.dimensions[3]):
        return
    each_of = (0, 0, 0, result.dimensions[3])
    rates = [each for each in before if each.dimensions == RATE and each.noun != result.noun]
    amounts = [each for each in before if each.dimensions == each_of and each.noun == result.noun]
    if len(rates) == len(amounts) == 1 and len(before) == 2:
        yield rates[0].value * amounts[0].value, f"{rates[0].words} of {amounts[0].words}", True


def _hours_of_parts(result: RelatedFigure, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    """`256 GPUs for 30 days are 184,320 GPU-hours`."""
    part = result.noun.removesuffix("-hour")
    counts = [each for each in before if each.is_count and each.noun == part]
    times = [each for each in before if each.dimensions == TIME]
    if part != result.noun and len(counts) == len(times) == 1 and len(before) == 2:
        yield counts[0].value * times[0].value / HOUR, f"{counts[0].words} for {times[0].words}", True


def _amount_and_time(result: RelatedFigure, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    """`2 T tokens at 60,000 tokens/s take 386 days`, `4.2 million tokens in 6 s are 700,000 tokens/s`."""
    if len(before) != 2:
        return
    amount = next((each for each in before if each.dimensions == NO_UNIT and each.noun and not each.per), None)
    other = next((each for each in before if each is not amount), None)
    if amount is None or other is None or amount.is_share:
        return
    if result.dimensions == TIME and other.dimensions == RATE and other.noun == amount.noun:
        yield amount.value / other.value, f"{amount.words} at {other.words}", False
    if result.dimensions == RATE and result.noun == amount.noun and other.dimensions == TIME:
        yield amount.value / other.value, f"{amount.words} in {other.words}", False


def _bytes_of_weights(sentence: str, result: RelatedFigure, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    """`the weights of 70 B parameters in bf16 take 140 GB`."""
    precisions = stored_precisions(sentence)
    counts = [each for each in before if each.noun in ("parameter", "param", "weight")]
    if result.dimensions != (0, 0, 0, 1) or len(precisions) != 1 or len(counts) != 1 or len(before) != 1:
        return
    if _MORE_THAN_WEIGHTS.search(sentence) is None:
        precision = precisions.pop()
        yield counts[0].value * PRECISIONS[precision].bits / 8, f"{counts[0].words} in {precision}", False


def _amount_over_rate(
    sentence: str, result: RelatedFigure, before: Sequence[RelatedFigure], after: RelatedFigure | None
) -> Iterator[Expectation]:
    """`1 T tokens at 4.2 million tokens a step are 240,000 steps`, `1 T tokens fill 240,000 steps of 4.2 million tokens`."""
    if not result.is_count:
        return
    rates = [
        each for each in before if result.noun in each.per and LENGTHS_AHEAD.search(sentence[: each.start]) is None
    ]
    if (
        after is not None
        and after.noun == "token"
        and sentence[result.end : after.start] in (" of ", " à ", " mit ", " with ")
    ):
        rates.append(after)
    if len(rates) != 1:
        return
    amounts = [each for each in before if each is not rates[0] and each.is_like(rates[0]) and not each.per]
    if len(amounts) == 1:
        yield amounts[0].value / rates[0].value, f"{amounts[0].words} at {rates[0].words}", True


def _less_or_plus_share(
    sentence: str, result: RelatedFigure, amount: RelatedFigure, before: Sequence[RelatedFigure]
) -> Iterator[Expectation]:
    shares = [each for each in before if each.is_share]
    if len(shares) != 1 or len(before) != 2:
        return
    share, taxed = shares[0], _TAX.search(sentence) is not None
    part_of = sentence[share.end : amount.start] in (" of ", " of the ", " on ", " von ", " de ", " auf ")
    if not amount.dimensions[0]:
        if part_of and _CONVERTED.match(sentence[amount.end : result.start]):
            yield amount.value * share.value, f"{share.words} of {amount.words}", True
    elif _DISCOUNT.search(sentence) is not None:
        if not taxed:
            yield amount.value * (1 - share.value), f"{amount.words} less {share.words}", True
    elif taxed:
        yield amount.value * (1 + share.value), f"{amount.words} with {share.words}", True
    elif part_of:
        yield amount.value * share.value, f"{share.words} of {amount.words}", True


def _times_effectiveness(sentence: str, amount: RelatedFigure) -> Iterator[Expectation]:
    match = _PUE.search(sentence)
    at_meter = _AT_METER.match(sentence[amount.end :]) is not None
    if match is not None and amount.dimensions == (0, 1, 0, 0) and not at_meter:
        factor = float(match["value"].replace(",", "."))
        yield amount.value * factor, f"{amount.words} times {match['value']}", True


def _share_of_count(sentence: str, result: RelatedFigure, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    """`of 32 nodes 4 are spares, which is 12.5 %`, `4 of 32 nodes are 12.5 %`."""
    if len(before) != 2 or before[0].dimensions != before[1].dimensions or any(each.is_share for each in before):
        return
    one, other = before
    joint = sentence[one.end : other.start]
    if pattern(r"(?i)^ ?of (?:the |these |all )?(?:\w+ )?$").match(joint):
        yield one.value / other.value, f"{one.words} of {other.words}", True
    elif pattern(r"(?i)\bof (?:the |these |all )?$").search(sentence[: one.start]) and other.value <= one.value:
        yield other.value / one.value, f"{other.words} of {one.words}", True


def _share_of_time(sentence: str, result: RelatedFigure, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    """`a save of 20 minutes every 2 hours costs 17 % of the time`."""
    times = [each for each in before if each.dimensions == TIME]
    if (
        len(times) != 2
        or len(before) != 2
        or not pattern(r"(?i)^ ?of (?:the |all |its |our )?time\b").match(sentence[result.end :])
    ):
        return
    lost, period = times
    if pattern(r"(?i)\b(?:every|each|alle) $").search(sentence[: period.start]) and lost.value < period.value:
        yield lost.value / period.value, f"{lost.words} every {period.words}", False


def _failures_of_run(sentence: str, before: Sequence[RelatedFigure]) -> Iterator[Expectation]:
    times = [each for each in before if each.dimensions == TIME]
    if len(times) != 2 or len(before) != 2 or _OF_PARTS.search(sentence) is not None:
        return
    match = _BETWEEN_FAILURES.search(sentence)
    if match is None:
        return
    between = min(times, key=lambda each: abs(each.start - match.end()))
    whole = next(each for each in times if each is not between)
    if whole.value > between.value:
        yield whole.value / between.value, f"{whole.words} over {between.words}", True
