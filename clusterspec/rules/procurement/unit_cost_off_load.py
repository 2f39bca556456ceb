"""A cost for each token or request does not follow from the cost at full load, or a margin from its price and cost.

## What it finds

In the description or a comment: a cost for each million tokens, thousand tokens, request or other unit at a mean load that is
the cost at full load multiplied by that load, where it has to be divided by it; and a margin that is the markup, the profit
over the cost in place of the price.

## Why it matters

The hour of a machine costs the same at any load. At 55 % of the load it makes 55 % of the tokens, so that each costs 1.8
times as much. A price that rests on the product of both is below the cost.

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
from clusterspec.rules.knowledge.text_loads import MOST_CHARACTERS, percentages_in, place_of
from clusterspec.rules.knowledge.text_units import word_set
from clusterspec.rules.knowledge.unit_prices import UnitPrice, unit_prices_in
from clusterspec.rules.knowledge.written_numbers import has_word, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import percent

RULE = Rule.of(__name__, "error", "likely")
SAME = 0.01
"""Relative difference up to which two costs are the same, one of them rounded."""
SAME_MARGIN = 0.012
"""Difference of two margins, as shares, up to which they are the same."""
_MONEY = word_set("usd eur gbp chf cent cents ct dollar dollars euro euros")
_LOADED = pattern(
    r"(?i)\b(?:load(?:ed)?|utili[sz](?:ation|ed)|busy|occupied|occupancy|auslastung|ausgelastet|last|charge|taux d'utilisation|carga|ocupación|utilización|uso medio)\b"
)
_IDLE = pattern(r"(?i)\b(?:idle|unused|empty|leer|ungenutzt|inactifs?|vides?|ociosos?|vacíos?)\b")
_ON_AVERAGE = pattern(r"(?i)\b(?:on average|average|mean|im mittel|im schnitt|en moyenne|de media|en promedio)\b")
_FRACTIONS = (
    (
        pattern(
            r"(?i)\b(?:half(?: the| of the)? (?:load|full)|half full|halbe[rn]? (?:last|auslastung)|mi-charge|media carga)\b"
        ),
        1 / 2,
    ),
    (pattern(r"(?i)\b(?:a|one) third (?:of the )?(?:load|full)\b"), 1 / 3),
    (pattern(r"(?i)\btwo thirds (?:of the )?(?:load|full)\b"), 2 / 3),
    (pattern(r"(?i)\b(?:a|one) quarter (?:of the )?(?:load|full)\b"), 1 / 4),
)
"""Words of a load as a fraction."""
_OTHER_SHARE = pattern(
    r"(?i)\b(?:discount\w*|rebate|rabatt|remise|descuento|cheaper|off|spot|reserved|committed|cached|hit|batch api|tax|vat)\b"
)
_MARGIN = pattern(r"(?i)\b(?:margins?|marge|margen|rohertrag|deckungsbeitrag)\b")
_AT_FULL = pattern(
    r"(?i)^[^,;.\d]{0,40}?\b(?:full load|fully loaded|when full|voller last|pleine charge|plena carga)\b"
)
ALMOST_FULL = 0.97


class Load(NamedTuple):
    """A load as a share of the full one, and where in its sentence it stands."""

    share: float
    start: int
    end: int


def check(own_remarks: str, spec: Spec) -> Iterator[Problem]:
    if not own_remarks or not (has_word(own_remarks, _MONEY) or any(sign in own_remarks for sign in "$€£")):
        return
    text = own_remarks[:MOST_CHARACTERS]
    prices = unit_prices_in(text)
    if len(prices) < 2:
        return
    for sentence in sentences_of(text):
        here = [each for each in prices if each.sentence == sentence]
        if here and _OTHER_SHARE.search(sentence) is None:
            yield from _load_problem(sentence, here, prices, _loads(sentence, text, spec), spec)
        if _MARGIN.search(sentence) is not None:
            yield from _margin_problem(sentence, prices, spec)


def _load_problem(
    sentence: str, here: Sequence[UnitPrice], prices: Sequence[UnitPrice], loads: Sequence[Load], spec: Spec
) -> Iterator[Problem]:
    """The problem with a cost of a sentence that is another one of the text, multiplied by the load that it names."""
    for load in loads:
        part = min(here, key=lambda each: max(load.start - each.end, each.start - load.end))
        same = [each for each in prices if each.is_of_same(part) and _AT_FULL.search(sentence[part.end :]) is None]
        for full in same:
            if abs(part.value / full.value - load.share) <= SAME * load.share:
                message = (
                    f"according to the text, a unit costs {full.written} at full load and {part.written} at {percent(load.share, 3)} of it, which is the "
                    f"product of both; the machine costs the same at any load: {full.value / load.share:.4g}"
                )
                help_ = "divide the cost at full load by the mean load"
                yield RULE.problem(place_of(sentence, spec), message, help_)
                return


def _loads(sentence: str, text: str, spec: Spec) -> list[Load]:
    """The mean loads below full that a sentence names; where it names a load without a number, that of the keys."""
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
    """The problem with a margin that is the profit over the cost of two prices of the text, and over no price."""
    pairs = [(high, low) for high in prices for low in prices if high.is_of_same(low) and high.value > low.value]
    for each in percentages_in(sentence):
        margin = each.value / 100
        near = sentence[max(0, each.start - 40) : each.end + 24]
        if _MARGIN.search(near) is None or any(
            abs(1 - low.value / high.value - margin) <= SAME_MARGIN for high, low in pairs
        ):
            continue
        for high, low in pairs:
            if abs(high.value / low.value - 1 - margin) <= SAME_MARGIN:
                message = (
                    f"according to the text, {high.written} over a cost of {low.written} is a margin of {each.value:g} %: that is the profit over the cost; "
                    f"over the price it is {100 * (1 - low.value / high.value):.3g} %"
                )
                yield RULE.problem(
                    place_of(sentence, spec), message, "state the margin on the price, or call it a markup"
                )
                return
