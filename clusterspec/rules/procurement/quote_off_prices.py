"""The quote and the prices of the spec differ.

## What it finds

A unit price of the quote that differs by more than 1 % from the price of the same part in `prices`, also of racks,
storage, and switches and cables of the frontend and out-of-band networks: a warning; a `support_per_year` that no line
for support comes near, alone or with the others: a warning; a `support_per_year` that is the price of a line for
several years of support: an error; and a `quoted_total` without lines that is more than 2 % below the sum of the priced
parts.

## Why it matters

Cost and report use `prices`, the order uses the quote: one of the two is out of date. A price for all years that is
entered as the price of one year counts once for every year of the term.

## What to do

Correct the older figure. Divide the price of support by its years.

## When to ignore it

Ignore it where `prices` come from another supplier, for comparison.

## Fires

```yaml procurement.quote[0].unit_price
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000}
  quote:
    - {part: node, quantity: 68, unit_price: 290000, price: 19720000}
```

```yaml procurement.quoted_total
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, quoted_total: 19840000}
```

```yaml procurement.prices.support_per_year
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000, support_per_year: 5400000}
  quote:
    - {part: node, quantity: 68, unit_price: 310000, price: 21080000}
    - {part: "support of all systems, 60 months prepaid", quantity: 1, unit_price: 5400000, price: 5400000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: [280000, 320000]}
  quote:
    - {part: node, quantity: 68, unit_price: 310000, price: 21080000}
```

## Sources

- Quotes compared: https://www.computetape.com/learn/gpu-cloud-quote-comparison-checklist/
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit, line_price
from clusterspec.procurement.bill import bill
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import CABLING, HOURS, kinds_of_words, plain_part
from clusterspec.quantity import HOUR, YEAR
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.purchases import amount_text, is_bought, money_text, price_ends
from clusterspec.rules.readers.quotes.readings import counts_in_text
from clusterspec.rules.readers.quotes.support import support_lines, years_of_support
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import percent

RULE = Rule.of(__name__, "warning", yields_to=("price-outside-market",))
SAME, NEAR = 0.01, 0.02
FAR = 1.3
"""Factor between the quoted and the stated yearly support that support for other parts cannot explain."""
SIDE_PARTS = ("rack", "storage", "frontend_switch", "frontend_cable", "out_of_band_switch", "out_of_band_cable")
"""Parts, other than the nodes and their fabric, whose prices are compared with the quote."""
_NETWORKS = {
    "frontend": pattern(r"\b(?:front[- ]?end|in-?band)\b"),
    "out_of_band": pattern(r"\b(?:out[- ]of[- ]band|oob|management|mgmt|bmc)\b"),
}
"""For each other network, the pattern of words in a line for its parts."""
_NETWORK_RACK = pattern(r"\bnetwork racks?\b|\bracks? network\b")
_SEVERAL = pattern(r"\b(?:switches|cables|racks)\b")


class _Support(NamedTuple):
    """A support line, its price, and the years that it covers (None if unknown)."""

    line: Offered
    price: float
    years: float | None


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster) -> Iterator[Problem]:
    prices = procurement.prices
    if not prices:
        return
    for offered in offered_lines(procurement.quote or (), cluster):
        stated, each = prices.get(offered.kind), offered.unit_price
        if stated is None or each is None or not any(price_ends(stated)):
            continue
        low, high = price_ends(stated)
        may_be = (each, *(each / pieces for pieces in counts_in_text(offered)))
        if not any(low * (1 - SAME) <= price <= high * (1 + SAME) for price in may_be) and not offered.is_lot:
            message = f"the quote has {money_text(amount_text(each), procurement.currency)} for a {offered.kind.replace('_', ' ')}, but `prices.{offered.kind}` is {money_text(amount_text(low if each < low else high), procurement.currency)}"
            yield RULE.problem(quote_path(offered.index, "unit_price"), message, "correct the older of the two")
    yield from _hour_problem(procurement, cluster)
    yield from _side_part_problems(procurement, cluster)
    yield from _support_problem(procurement, cluster)
    total, counted = procurement.quoted_total, bill(design).total
    if procurement.quote or not total or counted is None or not is_bought(procurement, cluster):
        return
    if procurement.discount is None and total < counted.low * (1 - NEAR):
        message = f"the quoted total of {money_text(f'{total:,}', procurement.currency)} is {percent(1 - total / counted.low, 2)} below the {money_text(f'{counted.low:,.0f}', procurement.currency)} of the priced parts"
        yield RULE.problem(
            "procurement.quoted_total",
            message,
            "ask which parts the quote leaves out; state `discount` where it has one",
        )


def _hour_problem(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    """The problem of an hourly rent, in a line for all hours of all nodes over the term, that differs from the stated
    price.
    """
    stated, term = (procurement.prices or {}).get("node_hour"), procurement.term
    if stated is None or term is None or not any(price_ends(stated)):
        return
    low, high = price_ends(stated)
    hours = term.value / HOUR
    counted = (hours, hours * cluster.nodes, hours * cluster.nodes * cluster.accelerators_per_node)
    for index, line in enumerate(procurement.quote or ()):
        price, quantity = line_price(line), line.quantity or 0.0
        of_rent = HOURS.search(plain_part(line)) is not None and any(
            abs(quantity / each - 1) < SAME for each in counted
        )
        if not price or not of_rent or is_credit(line):
            continue
        each = float(price) / (hours * cluster.nodes)
        may_be = (each, each * (1 - (procurement.discount or 0.0)))
        if not any(low * (1 - NEAR) <= amount <= high * (1 + NEAR) for amount in may_be):
            message = f"the quote has {money_text(f'{each:,.2f}', procurement.currency)} for an hour of a node, but `prices.node_hour` is {money_text(amount_text(low if each < low else high), procurement.currency)}"
            at = quote_path(index, "unit_price")
            yield RULE.problem(at, message, "ask the provider which of the two is right")
            return


def _side_part_problems(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    """Problems of stated prices of racks, storage and other networks that match neither a line of the quote nor all
    lines of the kind together.
    """
    lines = [*offered_lines(procurement.quote or (), cluster)]
    for kind in SIDE_PARTS:
        stated = (procurement.prices or {}).get(kind)
        sold = [
            (line, float(price)) for line in lines if _is_side_part(line, kind) and (price := line_price(line.line))
        ]
        if stated is None or not any(price_ends(stated)) or not sold:
            continue
        low, high = price_ends(stated)
        whole = sum_of(price for _, price in sold)
        quantity = sum_of(float(line.line.quantity or 1) for line, _ in sold)
        each = [price / float(line.line.quantity or 1) for line, price in sold]
        may_be = (*each, whole / quantity, *([whole] if kind == "storage" else []))
        if not any(low * (1 - SAME) <= price <= high * (1 + SAME) for price in may_be):
            at = quote_path(sold[0][0].index, "unit_price")
            message = f"the quote has {money_text(amount_text(each[0]), procurement.currency)} for a {kind.replace('_', ' ')}, but `prices.{kind}` is {money_text(amount_text(low if each[0] < low else high), procurement.currency)}"
            yield RULE.problem(at, message, "correct the older of the two")


def _is_side_part(line: Offered, kind: str) -> bool:
    """Whether a line sells racks, the storage system, or parts of the frontend or out-of-band network."""
    text = plain_part(line.line)
    if kind in {"rack", "storage"}:
        return line.site_kind == kind or (kind == "rack" and _NETWORK_RACK.search(text) is not None)
    network, _, part = kind.rpartition("_")
    named = text == kind or (
        _NETWORKS[network].search(text) is not None and {*kinds_of_words(text)} & {*CABLING, "switch"} == {part}
    )
    if line.line.quantity == 1 and _SEVERAL.search(text) is not None:
        return False  # one lot
    return named and not is_credit(line.line) and not line.counts_periods


def _support_problem(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a stated yearly support price that is the price for several years, or that no support line of the
    quote matches.
    """
    stated = (procurement.prices or {}).get("support_per_year")
    if stated is None or not any(price_ends(stated)):
        return
    low, high = price_ends(stated)
    lines = [(line, plain_part(line.line)) for line in offered_lines(procurement.quote or (), cluster)]
    priced = [(line, text, line_price(line.line)) for line, text in support_lines(lines)]
    sold = [_Support(line, float(whole), years_of_support(line, text)) for line, text, whole in priced if whole]
    for one in sold:
        if one.years is not None and one.years > 1 and low * (1 - SAME) <= one.price <= high * (1 + SAME):
            each = money_text(f"{one.price / one.years:,.0f}", procurement.currency)
            message = f"`prices.support_per_year` is the price of the {one.years:g} years of `{name_of_part(one.line.line.part)}`"
            yield RULE.problem("procurement.prices.support_per_year", message, f"write {each}", severity="error")
            return
    term = (procurement.support.term if procurement.support is not None else None) or procurement.term
    years = term.value / YEAR if term is not None else 1.0
    if sold and all(not low / FAR <= amount <= high * FAR for amount in _yearly_amounts(sold, years)):
        whole = sum_of(one.price for one in sold)
        each = money_text(f"{whole / years:,.0f}", procurement.currency)
        message = f"the quote has {each} of support a year, but `prices.support_per_year` is {money_text(amount_text(low), procurement.currency)}"
        yield RULE.problem("procurement.prices.support_per_year", message, "correct the older of the two")


def _yearly_amounts(sold: Sequence[_Support], years: float) -> Iterator[float]:
    """The possible yearly amounts of support lines: each by its quantity, by its own years or those of the term, and
    all together.
    """
    for one in sold:
        yield from (
            one.price,
            one.price / (one.line.line.quantity or 1),
            one.price / (one.years or 1),
            one.price / years,
        )
    whole = sum_of(one.price for one in sold)
    yield from (whole, whole / years)
