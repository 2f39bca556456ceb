"""A cost per token or request does not follow from the cost at full load, or a margin from price and cost.

## What it finds

In the description or a comment: a cost per million tokens, thousand tokens, request or other unit at a mean load that
is the cost at full load multiplied by that load instead of divided by it; and a margin that is the markup: the profit
over the cost instead of over the price.

## Why it matters

The hour of a machine costs the same at any load. At 55 % of the load it makes 55 % of the tokens, so that each costs
1.8 times as much. A price that multiplies the cost by the load is below the cost.

## What to do

Divide the cost at full load by the mean load, and the profit by the price.

## When to ignore it

Ignore it where the machine is given back for the rest of the time, so that only the load is paid.

## Fires

```yaml description
clusterspec: 1
description: At full load a million output tokens costs USD 0.80. At the mean load of 55 % the cost is USD 0.44 per million output tokens.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml description
clusterspec: 1
description: The cost is 0.80 USD per million tokens, the price 1.20 USD per million tokens, a gross margin of 50 %.
cluster: {platform: dgx-h200, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: At full load a million output tokens costs USD 0.80. At the mean load of 55 % the cost is USD 1.45 per million output tokens.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml
clusterspec: 1
description: The cost is 0.80 USD per million tokens, the price 1.20 USD per million tokens, a gross margin of 33 %.
cluster: {platform: dgx-h200, nodes: 4}
```

## Sources

- Cost of a token and utilization of the machine: https://arxiv.org/abs/2311.18677
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_bounds
from clusterspec.rules.readers.loads import MOST_CHARACTERS, percentages_in, place_of
from clusterspec.rules.readers.passages import passages_of
from clusterspec.rules.readers.services.unit_prices import Amount, UnitPrice, amounts_in, unit_prices_in
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import has_word, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import percent

RULE = Rule.of(__name__, "error", "likely")
SAME = 0.01
"""Relative difference up to which two costs are equal, one of them rounded."""
SAME_MARGIN = 0.012
"""Absolute difference up to which two margins, as shares, are equal."""
_MONEY = word_set("usd eur gbp chf cent cents ct dollar dollars euro euros")
_LOADED = pattern(
    r"(?i)\b(?:load(?:ed)?|utili[sz](?:ation|ed)|busy|occupied|occupancy|duty|full|in use|used|auslastung\w*|ausgelastet|last|belegt|charge|charg[ée]e?s?|taux d'(?:utilisation|occupation)|occup\w+|carga|ocupación|utilización|uso medio)\b"
)
_IDLE = pattern(r"(?i)\b(?:idle|idles|unused|empty|leer|ungenutzt|inactifs?|vides?|ociosos?|vacíos?)\b")
_ON_AVERAGE = pattern(r"(?i)\b(?:on average|average|mean|im mittel|im schnitt|en moyenne|de media|en promedio)\b")
_FULL = pattern(
    r"(?i)\b(?:full(?:y)? (?:load(?:ed)?|utili[sz]\w+|busy|used|occupied|throughput|rate|speed|capacity)|at full|when full|saturat\w+|100 ?%|always busy|flat out|peak (?:throughput|load)|maximum (?:throughput|load)|voll\w{0,3}last|voller (?:last|auslastung)|"
    r"voll ausgelastet|pleine? (?:charge|débit|régime|capacité)|plena carga|saturé\w*)"
)
"""Pattern of words for the cost of a machine that is never idle."""
_FRACTIONS = (
    (
        pattern(
            r"(?i)\b(?:half(?: the| of the)? (?:load|full)|half full|idles? (?:for )?(?:about )?half|half (?:of the time )?(?:idle|empty)|half of the time|halbe[rn]? (?:last|auslastung)|mi-charge|media carga)\b"
        ),
        1 / 2,
    ),
    (pattern(r"(?i)\b(?:a|one) third (?:of the )?(?:load|full)\b"), 1 / 3),
    (pattern(r"(?i)\btwo thirds (?:of the )?(?:load|full)\b"), 2 / 3),
    (pattern(r"(?i)\b(?:a|one) quarter (?:of the )?(?:load|full)\b"), 1 / 4),
)
"""Patterns of loads as fractions in words, with their values."""
_OTHER_SHARE = pattern(
    r"(?i)\b(?:discount\w*|rebate|rabatt|remise|descuento|cheaper|off|spot|reserved|committed|cached|hit|batch api|tax|vat)\b"
)
_MARGINS = r"(?:(?:brutto|roh)?margen?|margins?|marges?|rohertrag|deckungsbeitrag|bruttomarge|rohmarge|margen)"
_MARGIN = pattern(rf"(?i)\b{_MARGINS}\b")
_MARGIN_OR_MARKUP = pattern(
    rf"(?i)\b(?:{_MARGINS}|mark-?ups?|on top|over (?:the )?cost|aufschlag|aufgeschlagen|(?:of|on) the cost|taux de marque|above cost)\b"
)
_AT_FULL = pattern(
    r"(?i)^[^,;.\d]{0,40}?\b(?:full load|fully loaded|when full|voller last|pleine charge|plena carga)\b"
)
ALMOST_FULL = 0.97


class Load(NamedTuple):
    """A load as a share of the full load, and its position in the sentence."""

    share: float
    start: int
    end: int


def check(own_remarks: str, spec: Spec) -> Iterator[Problem]:
    if not own_remarks or not (has_word(own_remarks, _MONEY) or any(sign in own_remarks for sign in "$€£")):
        return
    text = own_remarks[:MOST_CHARACTERS]
    prices = unit_prices_in(text)
    found = [
        *_problems_of_prices(text, prices, spec),
        *(each for passage in passages_of(text) for each in _problems_of_passage(passage, text, spec)),
    ]
    yield from found[:1]


def _problems_of_prices(text: str, prices: Sequence[UnitPrice], spec: Spec) -> Iterator[Problem]:
    """Problems of the prices in a text that are stated with their units."""
    for sentence in sentences_of(text) if len(prices) > 1 else ():
        here = [each for each in prices if each.sentence == sentence]
        if here and _OTHER_SHARE.search(sentence) is None:
            yield from _load_problem(sentence, here, prices, _loads(sentence, text, spec), spec)
        if _MARGIN.search(sentence) is not None:
            yield from _margin_problem(sentence, prices, spec)


def _problems_of_passage(passage: str, text: str, spec: Spec) -> Iterator[Problem]:
    """Problems of the amounts in one or two sentences about a unit, at most one of which states the unit."""
    amounts = amounts_in(passage)
    if not 2 <= len(amounts) <= MOST_AMOUNTS or _HYPOTHETICAL.search(passage) is not None:
        return
    loads = _loads(passage, passage, spec) if _OTHER_SHARE.search(passage) is None else ()
    for load in loads:
        pair = _costs_at(passage, amounts, load)
        if pair is not None and abs(pair[1].value / pair[0].value - load.share) <= SAME * load.share:
            full, part = pair
            message = (
                f"according to the text, a unit costs {full.written} at full load and {part.written} at {percent(load.share, 3)} of it, which "
                f"multiplies the cost by the load; the machine costs the same at any load, so a unit costs {full.value / load.share:.4g}"
            )
            yield RULE.problem(place_of(text, spec), message, "divide the cost at full load by the mean load")
    if _MARGIN.search(passage) is not None:
        pairs = [(high, low) for high in amounts for low in amounts if high.value > low.value]
        yield from _margin_of_pairs(passage, pairs, place_of(text, spec))


MOST_AMOUNTS = 6
_HYPOTHETICAL = pattern(r"(?i)\b(?:would|should|could|if we|wäre|würde|serait|faudrait)\b")


def _costs_at(passage: str, amounts: Sequence[Amount], load: Load) -> tuple[Amount, Amount] | None:
    """The costs at full load and at a partial load in a passage; None if the words do not distinguish them."""
    full = next(filter(None, (_amount_of(passage, amounts, each.span()) for each in _FULL.finditer(passage))), None)
    rest = [each for each in amounts if each is not full]
    part = _amount_of(passage, rest, (load.start, load.end))
    if part is None or (full is None and len(amounts) != 2):
        return None
    first, last = amounts[0], amounts[-1]
    if full is None and _FALLS_TO.fullmatch(passage[first.end : last.start]) is not None:
        return first, last
    other = full or next(each for each in amounts if each is not part)
    if full is None and not (other.end <= load.start <= part.start):
        return None  # the cost, then the load, then what follows from both
    return other, part


_AND = pattern(r"(?i) (?:and|und|et|y|or|while) ")
_OF = pattern(r"(?i)\b(?:of|with|at|bei|von|à|de) (?:the |an? |ein\w* |der |une? )?$")
"""Pattern of words that connect an amount with the load after it."""


_FALLS_TO = pattern(r"(?i) (?:down )?(?:to|auf|à|a) (?:about |only |nur )?")
"""Pattern of words between a cost and the value that it falls to."""


_LOADED_AT = ("at ", "when ", "bei ")


def _is_joined_ahead(passage: str, start: int) -> bool:
    """Whether a load belongs to the amount before it: `0.80 USD at full load`, `2 cents of a saturated engine`."""
    return passage[start : start + 5].lower().startswith(_LOADED_AT) or _OF.search(passage[:start]) is not None


def _amount_of(passage: str, amounts: Sequence[Amount], place: tuple[int, int]) -> Amount | None:
    """The amount in the same clause as a position, else the nearest amount; None if there is none."""
    start, end = clause_bounds(passage, *place)
    joints = [each.end() for each in _AND.finditer(passage, start, end)]
    start = max((each for each in joints if each <= place[0]), default=start)
    end = min((each for each in joints if each >= place[1]), default=end)
    inside = [each for each in amounts if start <= each.start < end]
    ahead = [each for each in inside if each.end <= place[0]] if _is_joined_ahead(passage, place[0]) else []
    chosen = ahead or inside or amounts
    return min(chosen, key=lambda each: max(place[0] - each.end, each.start - place[1]), default=None)


def _load_problem(
    sentence: str, here: Sequence[UnitPrice], prices: Sequence[UnitPrice], loads: Sequence[Load], spec: Spec
) -> Iterator[Problem]:
    """The problem of a cost that is the cost at full load multiplied by the load; it must be divided by it."""
    for load in loads:
        part = min(here, key=lambda each: max(load.start - each.end, each.start - load.end))
        same = [each for each in prices if each.is_of_same(part) and _AT_FULL.search(sentence[part.end :]) is None]
        for full in same:
            if abs(part.value / full.value - load.share) <= SAME * load.share:
                message = (
                    f"according to the text, a unit costs {full.written} at full load and {part.written} at {percent(load.share, 3)} of it, which "
                    f"multiplies the cost by the load; the machine costs the same at any load, so a unit costs {full.value / load.share:.4g}"
                )
                help_ = "divide the cost at full load by the mean load"
                yield RULE.problem(place_of(sentence, spec), message, help_)
                return


def _loads(sentence: str, text: str, spec: Spec) -> list[Load]:
    """The mean loads below full that a sentence states; for a load without a number, the utilization in the keys."""
    found = [Load(share, *match.span()) for words, share in _FRACTIONS for match in words.finditer(sentence)]
    loaded = _LOADED.search(text) is not None
    for each in percentages_in(sentence):
        near = sentence[max(0, each.start - 40) : each.end + 40]
        share, place = each.value / 100, (each.start, each.end)
        if _LOADED.search(near) is not None or (loaded and _ON_AVERAGE.search(near) is not None):
            found.append(Load(share, *place))
        if _IDLE.search(near) is not None:
            found.append(Load(1 - share, *place))
    named = _LOADED.search(sentence)
    stated = spec.procurement.utilization if spec.procurement is not None else None
    if not found and stated is not None and named is not None:
        found.append(Load(float(getattr(stated, "value", stated)), *named.span()))
    return [each for each in found if 0 < each.share < ALMOST_FULL]


def _margin_problem(sentence: str, prices: Sequence[UnitPrice], spec: Spec) -> Iterator[Problem]:
    """The problem of a margin computed as profit divided by cost instead of price, for two prices in the text."""
    pairs = [(high, low) for high in prices for low in prices if high.is_of_same(low) and high.value > low.value]
    yield from _margin_of_pairs(sentence, pairs, place_of(sentence, spec))


def _margin_of_pairs(
    sentence: str, pairs: Sequence[tuple[UnitPrice, UnitPrice]] | Sequence[tuple[Amount, Amount]], place: str
) -> Iterator[Problem]:
    """The problem of a margin in a sentence that is the profit divided by the cost, for one of the pairs of price and
    cost.
    """
    for each in percentages_in(sentence):
        margin = each.value / 100
        if not _is_profit_margin(sentence, each.start, each.end) or any(
            abs(1 - low.value / high.value - margin) <= SAME_MARGIN for high, low in pairs
        ):
            continue
        for high, low in pairs:
            if abs(high.value / low.value - 1 - margin) <= SAME_MARGIN:
                message = (
                    f"according to the text, {high.written} over a cost of {low.written} is a margin of {each.value:g} %: that is the profit over the cost; "
                    f"over the price it is {100 * (1 - low.value / high.value):.3g} %"
                )
                yield RULE.problem(place, message, "state the margin on the price, or call it a markup")
                return


def _is_profit_margin(sentence: str, start: int, end: int) -> bool:
    """Whether a percentage is a margin, by the words of its clause or near it, and not a markup.

    >>> [_is_profit_margin("a markup of 50 % and a margin of 33 %", *place) for place in ((12, 16), (33, 37))]
    [False, True]
    """
    named = [
        (max(start - each.end(), each.start() - end), each[0].lower()) for each in _MARGIN_OR_MARKUP.finditer(sentence)
    ]
    distance, words = min(named, default=(NEAR + 1, ""))
    return distance <= NEAR and _MARGIN.fullmatch(words) is not None


NEAR = 40
"""Largest distance, in characters, between a percentage and the word that classifies it."""
