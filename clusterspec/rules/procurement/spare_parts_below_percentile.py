"""The quote has fewer spare parts than its own percentile asks for.

## What it finds

Lines for spare accelerators or NICs beside `operations.stock` and a failure rate of the part in `operations.failures`, in a
number that the failures of the lead time exceed more often than `stock.percentile` allows. The failures of the lead time are
taken as Poisson distributed with the mean parts × rate × lead time. The rule is silent where the text speaks of a stock
that is there.

## Why it matters

A stock of the mean number of failures is empty in about half of all lead times, and a node then waits for weeks.

## What to do

Order the number of the percentile, or shorten the lead time.

## When to ignore it

Ignore it where the maker's support replaces the parts faster than the stated lead time.

## Fires

```yaml procurement.quote[0].quantity
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 64}
operations: {stock: {percentile: 0.95, lead_time: 12 weeks}, failures: {accelerator: {afr: 0.03}}}
procurement:
  currency: USD
  quote:
    - {part: "spare H100 SXM GPU module", quantity: 4, unit_price: 31000, price: 124000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: hgx-h100, nodes: 64}
operations: {stock: {percentile: 0.95, lead_time: 12 weeks}, failures: {accelerator: {afr: 0.03}}}
procurement:
  currency: USD
  quote:
    - {part: "spare H100 SXM GPU module", quantity: 7, unit_price: 31000, price: 217000}
```

## Sources

- Spares by the Poisson distribution: https://www.weibull.com/hotwire/issue36/relbasics36.htm
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.offered import offered_lines
from clusterspec.procurement.quotes import offered_quantity
from clusterspec.quantity import YEAR
from clusterspec.rules.knowledge.failures import poisson_percentile
from clusterspec.rules.knowledge.purchases import name_of_kind, plural_of_kind
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import percent, plain

RULE = Rule.of(__name__, "error", "likely")
_IN_STOCK = pattern(
    r"(?i)\b(?:in stock|on hand|already (?:have|hold)|existing (?:spares|stock)|vorrätig|lagernd|bestand|en stock|existencias|em estoque|a magazzino|op voorraad|i lager)\b|재고|在庫|库存|庫存"
)


_NONE = pattern(r"(?i)\b(?:no|none|not|keine?|aucune?|sin|nenhum\w*|nessun\w*|geen|inga?)\b|없|なし|没有|沒有|无")
"""Words of a sentence that denies what it names."""


def check(
    procurement: ProcurementSpec, operations: OperationsSpec, cluster: Cluster, remarks: str
) -> Iterator[Problem]:
    if not procurement.quote or operations.stock is None or operations.failures is None:
        return
    stock = operations.stock
    if stock.lead_time is None or stock.percentile is None or _has_stock(remarks):
        return
    lines = [line for line in offered_lines(procurement.quote, cluster) if line.is_spare and line.line.quantity]
    nics = cluster.scale_out.nics_per_node if cluster.scale_out is not None else 0
    rates = (
        ("accelerator", operations.failures.accelerator, cluster.accelerators),
        ("nic", operations.failures.nic, cluster.nodes * nics),
    )
    for kind, rate, number in rates:
        own = [line for line in lines if line.kind == kind]
        if not own or rate is None or rate.afr is None:
            continue
        mean = number * rate.afr * stock.lead_time.value / YEAR
        needed, total = poisson_percentile(mean, stock.percentile), offered_quantity(own)
        if total < needed:
            parts = plural_of_kind(kind)
            message = f"{total:,.0f} spare {parts if total != 1 else name_of_kind(kind)} {'is' if total == 1 else 'are'} quoted: of {number:,} {parts}, {plain(mean, 3)} fail in {stock.lead_time.written} on average, and {needed:,} suffice with a probability of {percent(stock.percentile)}"
            at = ("procurement", "quote", own[0].index, "quantity")
            yield RULE.problem(at, message, f"order {needed:,}")


def _has_stock(remarks: str) -> bool:
    """Whether a sentence of a text says that spare parts are there.

    >>> _has_stock("Five modules are in stock."), _has_stock("Nothing is in stock: no spare module is there.")
    (True, False)
    """
    return any(_IN_STOCK.search(each) and _NONE.search(each) is None for each in sentences_of(remarks))
