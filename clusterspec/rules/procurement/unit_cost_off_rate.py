"""The cost of a million tokens in a text is not the cost per hour divided by the tokens per hour.

## What it finds

A text that states what a million tokens cost, what the machine costs an hour (or `procurement.prices.node_hour` does), and how
many tokens it makes a second, a minute, an hour or a day, where no product of these figures, of the nodes and of the
accelerators gives the stated cost. Prices at which tokens are sold, targets and bounds are not compared.

## Why it matters

The cost of a token decides whether a service is sold with a profit. A cost that is ten times too low passes every review that
does not divide again.

## What to do

Divide the cost of an hour by the tokens of an hour.

## When to ignore it

Ignore it where the cost contains more than the machine, such as staff or licenses, and the text does not say so.

## Fires

```yaml description
clusterspec: 1
description: Two nodes at 49.24 USD an hour, 98.48 USD/h together, make 9,000 tokens/s. A million tokens costs us 0.30 USD.
cluster: {platform: dgx-h100, nodes: 2}
```

```yaml description
clusterspec: 1
description: Bei 20 M Token pro Stunde und 80 EUR pro Stunde kosten 1 Million Token 0,40 EUR.
cluster: {platform: dgx-h100, nodes: 2}
```

## Silent

```yaml
clusterspec: 1
description: Two nodes at 49.24 USD an hour, 98.48 USD/h together, make 9,000 tokens/s. A million tokens costs us 3.04 USD and sells at 4 USD.
cluster: {platform: dgx-h100, nodes: 2}
```

## Sources

- Arithmetic: money an hour over tokens an hour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import HOUR
from clusterspec.rules.knowledge.purchases import price_ends
from clusterspec.rules.readers.figures import RelatedFigure, related_figures
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.services.unit_prices import UnitPrice, unit_prices_in
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
MILLION = 1e6
SAME = 0.05
"""Relative difference up to which a cost is right, with rounding or a month of 30 days."""
MOST_FIGURES = 6
"""Largest numbers of rents and of token rates in a text that are combined."""
_COST = pattern(
    r"(?i)\b(?:costs?|costing|kosten|kostet|selbstkosten|coûte\w*|coûts?|cuesta\w*|costes?|comes? to|amounts? to|works? out|makes? it|that is|i\.e|hence|therefore|so)\b"
)
_NO_COST = pattern(
    r"(?i)\b(?:sells?|sold|sales|selling|list|market|api|charge[ds]?|competitor\w*|break-?even|below|under|above|over|at most|at least|target\w*|budget|limit|should|must|"
    r"verkauf\w*|höchstens|unter|über|prix de vente|vente|venta|input|cached|licen[sc]e|staff|energy|power|electricity)\b"
)
_IDLE = pattern(r"(?i)\b(?:utili[sz]ation|load|busy|idle|auslastung|charge|ocupación)\b")


def check(own_remarks: str, cluster: Cluster, procurement: ProcurementSpec | None) -> Iterator[Problem]:
    if not own_remarks or "illi" not in own_remarks:
        return
    text = own_remarks[:MOST_CHARACTERS]
    stated = next(filter(_is_cost, unit_prices_in(text)), None)
    if stated is None or _IDLE.search(text) is not None:
        return
    figures = [each for sentence in sentences_of(text) for each in related_figures(sentence)]
    tokens = [*islice((each for each in figures if _is_token_rate(each)), MOST_FIGURES)]
    written = [*islice((each.value for each in figures if _is_rent(each)), MOST_FIGURES)]
    hourly = [*written, *_rents(procurement, cluster)]
    if not tokens or not hourly:
        return
    counts = _counts(cluster, figures)
    costs = [MILLION * money * count / rate.value for money, rate, count in product(hourly, tokens, counts)]
    if any(abs(stated.value / cost - 1) <= SAME for cost in costs):
        return
    rent = max(written or hourly)
    right = MILLION * rent / max(each.value for each in tokens)
    unit = stated.written.strip("0123456789., ")
    message = (
        f"a million tokens at `{max(tokens, key=lambda each: each.value).words}` for {rent * HOUR:,.4g} an hour "
        f"cost {right:.3g} {unit}, not {stated.written}"
    )
    yield RULE.problem("description", message, "divide the cost of an hour by the tokens of an hour")


def _is_cost(price: UnitPrice) -> bool:
    """Whether the words around a price per million tokens make it a cost."""
    clause = price.sentence[max(0, price.start - 60) : price.end + 24]
    return (
        price.unit == "million tokens" and _COST.search(clause) is not None and _NO_COST.search(price.sentence) is None
    )


def _is_token_rate(figure: RelatedFigure) -> bool:
    return figure.noun == "token" and figure.dimensions == (0, 0, -1, 0) and not figure.per


def _is_rent(figure: RelatedFigure) -> bool:
    return figure.dimensions == (1, 0, -1, 0) and not figure.noun


def _rents(procurement: ProcurementSpec | None, cluster: Cluster) -> list[float]:
    """The rent of all nodes per second, from the keys; both ends of its range."""
    price = (procurement.prices or {}).get("node_hour") if procurement is not None else None
    return [] if price is None else [bound * cluster.nodes / HOUR for bound in price_ends(price)]


def _counts(cluster: Cluster, figures: Sequence[RelatedFigure]) -> set[float]:
    """Numbers of parts with which a rent or rate may be multiplied, and their inverses."""
    stated = [*islice((each.value for each in figures if each.is_count and each.value > 1), MOST_FIGURES)]
    own = (cluster.nodes, cluster.accelerators, cluster.accelerators_per_node)
    return {1.0} | {factor for each in (*stated, *own) for factor in (float(each), 1 / float(each))}
