"""The machine costs more than the budget.

## What it finds

An error: `quoted_total` above `budget`; without it, the sum of the lines of the quote less `discount` and with `tax`,
if each line has a price; else the sum of all priced parts or lines of the quote, or of the rent over the term, in the same
terms. Sums are taken at the low end of price ranges. Where the description or a comment says that the budget includes a tax of some percent, or
all taxes, and the prices or a line of the quote exclude it, and `tax` is absent, the tax is added to the quote. An
amount below `budget` that somebody approved according to the text is the limit. A quote within the budget that lacks nodes or parts of the network, with which it is above, is a warning.

## Why it matters

The order cannot be placed. A sum that lacks prices of parts is too low, so the excess is at least what the message
says.

## What to do

Raise the budget, take fewer nodes, or negotiate.

## When to ignore it

Do not ignore it.

## Fires

```yaml procurement.budget
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, budget: 20000000}
```

```yaml procurement.quoted_total
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, quoted_total: 21500000, budget: 21000000}
```

```yaml procurement.quoted_total
clusterspec: 1
description: The approved budget includes VAT at 21 %; all prices are excluding VAT.
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: EUR, as_of: 2026-11-01, quoted_total: 19500000, budget: 21000000}
```

```yaml procurement.quote
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000}
  quote:
    - {part: node, quantity: 3, unit_price: 310000, price: 930000}
  budget: 1000000
```

```yaml procurement.budget
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, tax: 0.19, budget: 2900000}
```

```yaml procurement.quoted_total
clusterspec: 1
description: The supervisory board approved EUR 8.9 million for everything in this quote, VAT of 21 % included.
cluster: {platform: dgx-h200, nodes: 20}
procurement: {currency: EUR, as_of: 2026-11-01, quoted_total: 9771404}
```

```yaml procurement.quoted_total
clusterspec: 1
description: The appropriation for this purchase is EUR 19.2 million, taxes included; nothing above it may be committed.
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: EUR, as_of: 2026-11-01, quoted_total: 20500000, budget: 21000000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, budget: 21500000}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
procurement:
  currency: USD
  as_of: 2026-11-01
  prices: {node: 310000}
  quote:
    - {part: node, quantity: 4, unit_price: 310000, price: 1240000}
  budget: 1250000
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}, discount: 0.2, budget: 2000000}
```

## Sources

- The bill of materials: docs/commands.md
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

from clusterspec.cluster.model import Cluster, Design
from clusterspec.finding import Problem, Severity
from clusterspec.money import Money
from clusterspec.procurement.amounts import amount_of_quote, amount_with_terms, terms_text, total_of_lines
from clusterspec.procurement.bill import bill
from clusterspec.rules.knowledge.purchases import (
    ROUNDED,
    amount_text,
    lowest_rent,
    money_text,
)
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.purchases.orders import tax_of_budget
from clusterspec.rules.readers.quotes.fabric import parts_of_quote
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "error")
HELP = "raise the budget, or take fewer nodes: `clusterspec bom` lists the parts"


def check(procurement: ProcurementSpec, design: Design, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    if not (procurement.budget or remarks):
        return
    budget, quoted = procurement.budget, amount_of_quote(procurement)
    if not budget:
        yield from _unapproved_problem(procurement, quoted, remarks)
        return
    limit = money_text(f"{budget:,}", procurement.currency)
    if quoted is not None:
        if quoted > budget:
            lacking = _lacking_parts(procurement, design, cluster, remarks)
            lacking_text = f", and it lacks parts of {money_text(f'{lacking:,.0f}', procurement.currency)}{terms_text(procurement)}"
            message = f"the quoted total of {money_text(amount_text(quoted), procurement.currency)} is {money_text(amount_text(quoted - budget), procurement.currency)} above the budget of {limit}{lacking_text if lacking else ''}"
            key = "procurement.quoted_total" if procurement.quoted_total is not None else "procurement.quote"
            yield RULE.problem(key, message, HELP)
        elif procurement.tax is None and quoted * (1 + (tax := _tax_to_add(procurement, remarks))) > budget:
            gross = quoted * (1 + tax)
            message = f"according to the text, the budget includes a tax of {percent(tax)}, but the prices do not: the quoted total is {money_text(f'{gross:,.0f}', procurement.currency)} with it, {money_text(f'{gross - budget:,.0f}', procurement.currency)} above the budget of {limit}"
            key = "procurement.quoted_total" if procurement.quoted_total is not None else "procurement.quote"
            yield RULE.problem(key, message, f"{HELP}; state `tax` if it is to be paid")
        else:
            yield from _unapproved_problem(procurement, quoted, remarks)
            if procurement.quote:
                yield from _lacking_part_problem(procurement, design, cluster, remarks, float(budget) - quoted)
        return
    what, least = (
        ("the rent over the term", lowest_rent(procurement, cluster))
        if procurement.is_rent
        else _lowest_price(procurement, design)
    )
    if least is not None and least > (ROUNDED if procurement.is_rent else 1.0) * budget:
        message = f"{what} {'costs' if procurement.is_rent else 'cost'} {money_text(f'{least:,.0f}', procurement.currency)} or more{terms_text(procurement)}, {percent(least / budget - 1, 2)} above the budget of {limit}"
        yield RULE.problem("procurement.budget", message, HELP)


SAME_PURCHASE = 2.0
"""Ratio of the quoted total to an approved amount up to which both are for the same purchase."""


def _unapproved_problem(procurement: ProcurementSpec, quoted: float | None, remarks: str) -> Iterator[Problem]:
    """The problem of a quoted total above the amount that somebody approved according to the text."""
    currency = procurement.currency
    if quoted is None or currency is None or not remarks:
        return
    from clusterspec.rules.readers.plans.limits import approved_amount  # few texts state one

    approved = approved_amount(remarks[:MOST_CHARACTERS], currency)
    if (
        approved is not None
        and approved.value < float(procurement.budget or inf)
        and 1 < quoted / approved.value < SAME_PURCHASE
    ):
        more = money_text(amount_text(quoted - approved.value), currency)
        message = f"the quoted total of {money_text(amount_text(quoted), currency)} is {more} above the limit of {approved.words} in the text"
        key = "procurement.quoted_total" if procurement.quoted_total is not None else "procurement.quote"
        yield RULE.problem(key, message, HELP, confidence="likely")


def _lacking_part_problem(
    procurement: ProcurementSpec, design: Design, cluster: Cluster, remarks: str, left: float
) -> Iterator[Problem]:
    """The problem of missing parts that cost more than the rest of the budget after the quote."""
    lacking = _lacking_parts(procurement, design, cluster, remarks)
    if lacking > left:
        currency, more = procurement.currency, f"{lacking - left:,.0f}"
        message = f"the quote lacks parts of {money_text(f'{lacking:,.0f}', currency)}{terms_text(procurement)}, with which it is {money_text(more, currency)} above the budget of {money_text(f'{procurement.budget:,}', currency)}"
        yield RULE.problem("procurement.quote", message, f"ask for the parts; {HELP}", severity="warning")


def _lacking_parts(procurement: ProcurementSpec, design: Design, cluster: Cluster, remarks: str) -> float:
    """The lowest price of the parts that a quote lacks, with its discount and tax; 0 if `quote-off-bill` reports at
    most notes.
    """
    if not procurement.quote:
        return 0.0
    from clusterspec.rules.procurement import quote_off_bill  # lacking_text a quote of parts alone

    parts = parts_of_quote(design, cluster, bill(design), remarks)
    if not any(part.quoted for part in parts if part.kind in {"node", "accelerator"}):
        return 0.0  # a line may be for the whole machine
    off = quote_off_bill.check(procurement, design, cluster, remarks)
    if all(problem.severity is Severity.NOTE for problem in off):
        return 0.0  # spare parts, a part of the machine, or lines that may offer the others
    missing = [part.missing for part in parts if part.has_too_few and part.missing is not None]
    return Money.total(missing).low


def _tax_to_add(procurement: ProcurementSpec, remarks: str) -> float:
    """The tax rate that the budget includes and the quote does not, by the text and the lines of the quote."""
    lines = (f"{line.part}. " for line in procurement.quote or () if line.part)
    return tax_of_budget(f"{remarks}. {' '.join(lines)}")


def _lowest_price(procurement: ProcurementSpec, design: Design) -> tuple[str, float]:
    """The larger of two lower limits of the price, with its name; both omit parts without a price."""
    total, lines = bill(design).total, total_of_lines(procurement) or 0.0
    parts = amount_with_terms(total, procurement).low if total is not None else 0.0
    return ("the priced parts", parts) if parts >= lines else ("the priced lines of the quote", lines)
