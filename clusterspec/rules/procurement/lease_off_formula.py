"""The instalment of a lease does not follow from its terms.

## What it finds

A lease with a monthly rate, a purchase price and perhaps a residual value in the description, whose instalment

- pays back the whole purchase price, with a line that pays a residual value at the end;
- fits payments in arrears, where the text says that payments are due in advance.

With the rate i of a month, n months, the price A, the residual R and v = 1 / (1 + i), the instalment in arrears is (A -
R vⁿ) i / (1 - vⁿ); in advance it is this instalment divided by 1 + i.

It is also a warning where the rent is the stated rate times a price with tax, by two amounts of the description, and
`tax` is added to the rent again.

## Why it matters

The lessee pays a part of the machine twice, or interest for a month in which no money was owed: half a percent of
every instalment at 6 % a year.

## What to do

Ask the lessor for the instalment by the terms.

## When to ignore it

Ignore it where the instalment contains services.

## Fires

```yaml procurement.quote[0].unit_price
clusterspec: 1
description: "Lease of 2,000,000 EUR over 48 months at 0.5 % per month, with a residual value."
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: EUR
  quote:
    - {part: "monthly lease of the servers", quantity: 48, unit_price: 46970.06, price: 2254562.88}
    - {part: "residual value at the end", quantity: 1, unit_price: 200000, price: 200000}
```

```yaml procurement.quote[0].unit_price
clusterspec: 1
description: "Lease of 2,000,000 EUR over 48 months at 0.5 % per month, due in advance."
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: EUR
  quote:
    - {part: "monthly lease of the servers", quantity: 48, unit_price: 46970.06, price: 2254562.88}
```

## Silent

```yaml
clusterspec: 1
description: "Lease of 2,000,000 EUR over 48 months at 0.5 % per month, due in advance."
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: EUR
  quote:
    - {part: "monthly lease of the servers", quantity: 48, unit_price: 46736.38, price: 2243346.24}
```

## Sources

- The annuity formula: https://openstax.org/books/principles-finance/pages/8-2-annuities
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit, line_price
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import plain_part
from clusterspec.records import dataclass
from clusterspec.rules.knowledge.purchases import amount_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.contract_words import AMOUNT, IN_ADVANCE, IN_ARREARS, RESIDUAL
from clusterspec.rules.readers.written_numbers import amount_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
MOST_MONTHS = 600.0
"""Largest number of months of a lease."""
SAME = 0.003
"""Relative difference up to which two instalments are equal, because of days per month and rounding."""
SAME_TERMS = 0.001
"""Relative difference up to which instalments in advance or in arrears are equal; these differ by one month's rate."""
NEAR = 60
"""Largest distance, in characters, between the word for a residual value and its amount."""
_MONTHLY_RATE = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,4})?) ?% ?(?:a |im |per |pro |al |por |ao |i |om )?months?\b")


_RATE = pattern(r"(?<![\d.,])(\d{1,2}(?:[.,]\d{1,4})?) ?%")


@dataclass(frozen=True)
class _Lease:
    """A lease: its purchase price, its monthly rate as a share, and its number of months."""

    price: float
    rate: float
    months: float

    def instalment(self, residual: float, early: bool) -> float:
        """The monthly instalment that leaves a residual value; it is paid at the beginning of each month if ``early``,
        else at the end.
        """
        kept: float = (1 + self.rate) ** -min(self.months, MOST_MONTHS)
        late = (self.price - residual * kept) * self.rate / (1 - kept)
        return late / (1 + self.rate) if early else late


def check(procurement: ProcurementSpec, cluster: Cluster, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    text = texts.description
    rates = {float(each.replace(",", ".")) / 100 for each in _MONTHLY_RATE.findall(text)}
    amounts = _amounts_in(text)
    offered = [line for line in offered_lines(procurement.quote, cluster) if not is_credit(line.line)]
    rents = [line for line in offered if line.counts_periods and (line.line.quantity or 0) > 1 and line.line.unit_price]
    if not rents or not amounts:
        return
    yield from _taxed_base_problem(procurement, rents, text, amounts)
    if len(rates) != 1 or 0.0 in rates:
        return
    rent = max(rents, key=lambda line: line_price(line.line) or 0)
    lease = _Lease(max(amounts), rates.pop(), float(rent.line.quantity or 0))
    each, residual = float(rent.line.unit_price or 0), _paid_residual(offered)
    if residual is not None:
        for early in (False, True):
            reduced = lease.instalment(residual, early)
            if abs(each / lease.instalment(0.0, early) - 1) < SAME < abs(each / reduced - 1):
                message = f"the instalment of {amount_text(each)} pays back all of {amount_text(lease.price)}, but {amount_text(residual)} are paid at the end as well: {amount_text(reduced)} a month with this residual value"
                help_ = "ask the lessor for the instalment down to the residual value"
                yield RULE.problem(quote_path(rent.index, "unit_price"), message, help_)
                return
    if IN_ADVANCE.search(text) is None or IN_ARREARS.search(text) is not None:
        return
    for value in {residual or 0.0, _stated_residual(text)}:
        late = lease.instalment(value, early=False)
        if late > 0 and abs(each / late - 1) < SAME_TERMS:
            due = lease.instalment(value, early=True)
            message = f"the instalment of {amount_text(each)} fits payments in arrears, but according to the text they are due in advance: {amount_text(due)} a month"
            help_ = "ask the lessor for the instalment of payments in advance"
            yield RULE.problem(quote_path(rent.index, "unit_price"), message, help_)
            return


def _taxed_base_problem(
    procurement: ProcurementSpec, rents: Sequence[Offered], text: str, amounts: Sequence[float]
) -> Iterator[Problem]:
    """The problem of a rent that is computed from a price with tax, and to which `tax` is added again."""
    tax = procurement.tax or 0.0
    net = [each for each in amounts if tax and any(abs(other / each / (1 + tax) - 1) < SAME_TERMS for other in amounts)]
    shares = [float(each.replace(",", ".")) / 100 for each in _RATE.findall(text)]
    for line in rents:
        rent = float(line.line.unit_price or 0)
        for price in net:
            if any(abs(rent / (price * (1 + tax) * share) - 1) < SAME_TERMS for share in shares):
                message = f"the rent of {amount_text(rent)} is computed from the price with tax, but `tax: {tax:g}` is added to it again: {amount_text(round(rent / (1 + tax)))} from the price without"
                help_ = "ask the lessor for a rent computed from the price without tax"
                yield RULE.problem(quote_path(line.index, "unit_price"), message, help_)
                return


def _amounts_in(text: str) -> list[float]:
    """The amounts of money in a text."""
    return [amount_in_text(each) for each in AMOUNT.findall(text)]


def _stated_residual(text: str) -> float:
    """The smallest amount near the word for a residual value in a text; 0 if there is none."""
    found = RESIDUAL.search(text)
    return min(_amounts_in(text[found.end() : found.end() + NEAR]), default=0.0) if found is not None else 0.0


def _paid_residual(offered: Sequence[Offered]) -> float | None:
    """The residual value that exactly one line pays; else None."""
    paid = [
        float(line_price(line.line) or 0)
        for line in offered
        if line.line.quantity == 1 and RESIDUAL.search(plain_part(line.line)) is not None
    ]
    return paid[0] if len(paid) == 1 and paid[0] else None
