"""The price of a switch, a NIC, a module, storage, space or support is far from the market.

## What it finds

The rule divides prices in `prices` or in lines of the quote by the size of the part: a switch by the total rate of its
ports, a NIC, a transceiver or a cable by its rate, storage by its capacity (or by its rate, where that
is worth more: 4 TB for one GB/s), a rack by its power, and a year of support
by the price of the parts. A price outside the market range is a warning, and a price outside by a factor of three an
error. Prices of nodes are reported by `price-outside-market`.

## Why it matters

A price per part in place of the price for all parts, a lost digit, or a month for a year changes the total, and the sum
does not show it.

## What to do

Check the unit of the price and the part.

## When to ignore it

Ignore it for a price that a signed contract states.

## Fires

```yaml procurement.prices.leaf_switch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 1, scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700}}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000, leaf_switch: 320, spine_switch: 36000, cable: 400, transceiver: 1200}}
```

```yaml procurement.prices.support_per_year
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000, support_per_year: 150000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32, spare_nodes: 1, scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700}}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000, leaf_switch: 36000, spine_switch: 36000, cable: 400, transceiver: 1200, support_per_year: 900000}}
```

## Sources

- Space: $217.30 a kW and month on average: https://dataxconnect.com/insights-cbre-data-centre-trends-2025
- Support: 4 to 8 % a year: https://icl.utk.edu/ctwatch/quarterly/articles/2006/05/designing-and-supporting-high-end-computational-facilities/2/index.html
- Modules: some $500 each at list prices: https://ascentoptics.com/blog/osfp-nvidia-infiniband-ndr/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.offered import offered_lines
from clusterspec.rules.knowledge.market import StatedPrice, stated_prices
from clusterspec.rules.knowledge.purchases import band_in_currency, is_bought, price_ends
from clusterspec.rules.knowledge.ranges import UNITS_PER_DOLLAR
from clusterspec.rules.readers.quotes.readings import counts_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import percent, plain

RULE = Rule.of(__name__, "warning", "heuristic")
FAR = 3.0
"""Smallest factor beyond the price range at which a price has a wrong unit or digit."""


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster) -> Iterator[Problem]:
    if not is_bought(procurement, cluster) or not (procurement.prices or procurement.quote):
        return
    currency = procurement.currency or "USD"
    lines = {line.index: line for line in offered_lines(procurement.quote or (), cluster)}
    for price in stated_prices(procurement, design):
        if price.kind == "support_per_year" and _has_impossible_node_price(procurement, cluster):
            continue  # its share is of that price
        if price.ratio_to_range != 1:
            far = not 1 / FAR < price.ratio_to_range < FAR
            line = lines[int(price.at[2])] if price.at[1] == "quote" else None
            if line is not None and any(price.of_pieces(count).ratio_to_range == 1 for count in counts_in_text(line)):
                continue  # the price of several pieces, which the text names
            yield RULE.problem(
                price.at,
                f"the price is {_price_of_unit(price, currency)}; {_usual_price_text(price, currency)} is usual",
                "check the figure, its unit of counting, and the part",
                severity="error" if far else "",
                confidence="likely" if far else "",
            )


def _has_impossible_node_price(procurement: ProcurementSpec, cluster: Cluster) -> bool:
    """Whether the stated price of a node is far from that of its accelerators; another rule reports that."""
    node, market = (procurement.prices or {}).get("node"), cluster.accelerator.market_price
    usual = band_in_currency(procurement.currency, market) if market else None
    if not node or usual is None:
        return False
    low, high = (end / cluster.accelerators_per_node for end in price_ends(node))
    return high < usual[0] / FAR or low > usual[1] * FAR


def _price_of_unit(price: StatedPrice, currency: str) -> str:
    each = (price.high if price.ratio_to_range < 1 else price.low) / price.size
    return (
        f"{percent(each, 2)} {price.band.unit}"
        if price.kind == "support_per_year"
        else f"{plain(each * UNITS_PER_DOLLAR[currency], 2)} {currency} for one {price.band.unit}"
    )


def _usual_price_text(price: StatedPrice, currency: str) -> str:
    low, high, _ = price.band
    if price.kind == "support_per_year":
        return f"{percent(low, 2)} to {percent(high, 2)}"
    rate = UNITS_PER_DOLLAR[currency]
    return f"{plain(low * rate, 2)} to {plain(high * rate, 2)} {currency}"
