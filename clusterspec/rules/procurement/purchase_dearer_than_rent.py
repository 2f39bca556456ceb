"""Renting would cost less than the purchase over the term, or the purchase less than the rent.

## What it finds

A stated or quoted node price per accelerator and used hour of the term (`utilization`) above the highest rent in the catalog's sources;
or a rent over the term of four times the accelerator's highest price or more: a warning, and a note for instances of a cloud
at rents near those of the catalog's sources.

## Why it matters

A purchase is written off over years: in a short term each hour carries the price of a whole machine. Over several years
rent at hourly prices pays for the machine several times, power and support included.

## What to do

For a short term, rent, or state the residual value at its end. For a long term, ask for a reservation, or buy.

## When to ignore it

Ignore it where the machine is sold or used by others after the term, or where a purchase is not possible.

## Fires

```yaml procurement.term
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, spare_nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, term: 6 months, prices: {node: 310000}, warranty: 3 years}
```

```yaml procurement.prices.node_hour
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement: {currency: USD, as_of: 2026-11-01, term: 5 years, prices: {node_hour: 98.32}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, spare_nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, term: 4 years, prices: {node: 310000}, warranty: 4 years}
```

```yaml
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 16}
procurement: {currency: USD, as_of: 2026-11-01, term: 2 years, prices: {node_hour: 31.46}}
```

## Sources

- Prices and rents of accelerators: their entries in the catalog, with sources and dates
- Purchase and rent compared: https://ai-infrastructure.net/build-vs-rent-gpu-cost-model/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.quoted_prices import quoted_unit_prices
from clusterspec.quantity import HOUR
from clusterspec.rules.knowledge.purchases import band_in_currency, is_bought, is_off_market, price_ends
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Price, ProcurementSpec
from clusterspec.units import plain

RULE = Rule.of(__name__, "warning", "heuristic")
TIMES = 4.0
"""Smallest ratio of the rents over the term to the highest purchase price at which renting is reported: a factor of two for
nodes, power and support, and a margin of two.
"""

NEAR = 1.5
"""Ratio to the highest known rent up to which a rent of cloud instances is usual."""


def _quoted_node_price(procurement: ProcurementSpec, cluster: Cluster) -> Price | None:
    """The unit price of the nodes of the quote; None without one."""
    return quoted_unit_prices(procurement.quote or (), cluster, {"node": cluster.all_nodes}).get("node")


def check(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    term, prices = procurement.term, procurement.prices or {}
    price, rent, count = (
        cluster.accelerator.market_price,
        cluster.accelerator.market_rent,
        cluster.accelerators_per_node,
    )
    if term is None or price is None or rent is None:
        return
    prices_of, rents_of = band_in_currency(procurement.currency, price), band_in_currency(procurement.currency, rent)
    if prices_of is None or rents_of is None:
        return
    hours, unit = term.value / HOUR, procurement.currency or "USD"
    node, hourly = prices.get("node") or _quoted_node_price(procurement, cluster), prices.get("node_hour")
    if (
        node
        and not hourly
        and is_bought(procurement, cluster)
        and not is_off_market(node, cluster, procurement.currency)
    ):
        used = procurement.utilization if procurement.utilization and procurement.utilization <= 1 else 1.0
        each = price_ends(node)[0] / count / (hours * used)
        if each > rents_of[1]:
            message = f"over {term.written} an accelerator costs {plain(each, 3)} {unit} for each hour of use; {cluster.accelerator.name} is rented for {plain(rents_of[0], 3)} to {plain(rents_of[1], 3)} {unit}"
            yield RULE.problem(
                "procurement.term", message, "rent, or state the term over which the machine is written off"
            )
    elif hourly and not node:
        whole = price_ends(hourly)[0] / count * hours
        if whole > TIMES * prices_of[1] and price_ends(hourly)[0] / count <= 5 * rents_of[1]:
            message = f"over {term.written} the rent of an accelerator is {whole:,.0f} {unit}; {cluster.accelerator.name} is sold for {prices_of[0]:,.0f} to {prices_of[1]:,.0f} {unit}"
            usual = cluster.cloud and price_ends(hourly)[0] / count <= NEAR * rents_of[1]
            yield RULE.problem(
                "procurement.prices.node_hour",
                message,
                "ask for the price of a whole term, or compare with a purchase",
                severity="note" if usual else "",
            )
