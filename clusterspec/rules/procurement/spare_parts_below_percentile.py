"""The spare parts are fewer than the stated percentile asks for.

## What it finds

Lines for spare accelerators or NICs that are too few: the failures within the lead time exceed their number more often
than `stock.percentile` allows. The rule needs `operations.stock` and the failure rate of the part in `operations.failures`,
and takes the failures as Poisson distributed with the mean parts × rate × lead time. Lines of the quote are not judged
where the text mentions an existing stock.

A text that says a number of spare accelerators, NICs or transceivers suffices for a time, or with a probability, is
judged in the same way; the lead time and the percentile of `operations.stock` complete what the text omits.

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

```yaml description
clusterspec: 1
description: Twelve spare H200 modules on the shelf see us through the eight weeks of a repair at 95 %.
cluster: {platform: dgx-h200, nodes: 240}
operations: {failures: {accelerator: {afr: 0.09}}}
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

```yaml
clusterspec: 1
description: Forty spare H200 modules on the shelf see us through the eight weeks of a repair at 95 %.
cluster: {platform: dgx-h200, nodes: 240}
operations: {failures: {accelerator: {afr: 0.09}}}
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
from clusterspec.quantity import DAY, YEAR, Quantity
from clusterspec.rules.knowledge.failures import PART_WORDS, poisson_percentile, stated_part_failures
from clusterspec.rules.knowledge.purchases import name_of_kind, plural_of_kind
from clusterspec.rules.readers.quantities import SECOND, SHARE, sentence_quantities
from clusterspec.rules.readers.units import NUMBER_WORDS
from clusterspec.rules.readers.written_numbers import count_in_text, sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.spec.model import OperationsSpec, ProcurementSpec, Spec
from clusterspec.standard import pattern
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "error", "likely")
_IN_STOCK = pattern(
    r"(?i)\b(?:in stock|on hand|already (?:have|hold)|existing (?:spares|stock)|vorrätig|lagernd|bestand|en stock|existencias|em estoque|a magazzino|op voorraad|i lager)\b|재고|在庫|库存|庫存"
)

_NONE = pattern(r"(?i)\b(?:no|none|not|keine?|aucune?|sin|nenhum\w*|nessun\w*|geen|inga?)\b|없|なし|没有|沒有|无")
"""Pattern of words that negate a sentence."""


_COUNT = pattern(
    rf"(?i)(?<![\w.,-])(?P<n>\d{{1,4}}|{'|'.join(NUMBER_WORDS)}) (?:[\w-]{{1,20}} ){{0,3}}?(?:modules?|gpus?|accelerators?|chips?|transceivers?|optics|nics?|hcas?|adapters?|cards?|boards?|module?n?|karten|tarjetas|módulos)\b"
)
_SPARES = pattern(
    r"(?i)\b(?:spares?|on (?:the|our|a) shel(?:f|ves)|in (?:our |the )?stor(?:e|age)|in stock|stocked|in reserve|ersatz\w*|vorrätig|(?:auf|im) lager|en stock|de rechange|de repuesto|en almacén)\b"
)
_SUFFICE = pattern(
    r"(?i)\b(?:suffic\w+|enough|see us through|covers?|carry us|last|bridges?|probability|confidence|reichen|genügen|decken|suffisent|couvrent|bastan|cubren)\b"
)
_SHORT = pattern(
    r"(?i)\b(?:not|never|too few|would|instead|until|more than enough|nicht|kein\w*|pas|no|insufficient)\b"
)
"""Pattern of words in a sentence that denies that the spares suffice, or is about other ones."""
MOSTLY = 0.5
"""Smallest probability that a text calls sufficient."""


def check(
    procurement: ProcurementSpec | None, operations: OperationsSpec, cluster: Cluster, spec: Spec, remarks: str
) -> Iterator[Problem]:
    if operations.failures is None:
        return
    rates = list(stated_part_failures(operations.failures, cluster, spec.cluster))
    if remarks and rates:
        yield from _text_problems(remarks, operations, rates)
    stock = operations.stock
    if procurement is None or not procurement.quote or stock is None:
        return
    if stock.lead_time is None or stock.percentile is None or _has_stock(remarks):
        return
    lines = [line for line in offered_lines(procurement.quote, cluster) if line.is_spare and line.line.quantity]
    for kind, number, yearly in rates:
        own = [line for line in lines if line.kind == kind]
        if not own:
            continue
        total = offered_quantity(own)
        needed, why = _sufficient_spares((kind, number, yearly), stock.lead_time, stock.percentile)
        if total < needed:
            parts = plural_of_kind(kind) if total != 1 else name_of_kind(kind)
            message = f"{total:,.0f} spare {parts} {'is' if total == 1 else 'are'} quoted: {why}"
            at = quote_path(own[0].index, "quantity")
            yield RULE.problem(at, message, f"order {needed:,}")


def _sufficient_spares(each: tuple[str, int, float], lead: Quantity, share: float) -> tuple[int, str]:
    """The number of spare parts that suffices for a lead time with the probability ``share``, and a clause that says
    so; ``each`` is a kind of part, its number and the yearly failures of one.
    """
    kind, number, yearly = each
    mean = number * yearly * lead.value / YEAR
    needed = poisson_percentile(mean, share)
    failing = f"of {number:,} {plural_of_kind(kind)}, {plain(mean, 3)} fail in {lead.written} on average"
    return needed, f"{failing}, and {needed:,} suffice with a probability of {percent(share)}"


def _text_problems(remarks: str, operations: OperationsSpec, rates: list[tuple[str, int, float]]) -> Iterator[Problem]:
    """Problems of a number of spare parts that a sentence calls sufficient, although it is not."""
    stock = operations.stock
    for sentence in sentences_of(" ".join(remarks.split())):
        found = _COUNT.search(sentence)
        if found is None or not (_SPARES.search(sentence) and _SUFFICE.search(sentence)) or _SHORT.search(sentence):
            continue
        quantities = [each for _, all_ in sentence_quantities(sentence) for each in all_]
        shares = [each.value for each in quantities if each.unit == SHARE and each.value >= MOSTLY]
        times = [each.value for each in quantities if each.unit == SECOND and each.value >= DAY]
        lead = times[0] if len(times) == 1 else None
        if not times and stock and stock.lead_time:
            lead = stock.lead_time.value
        share = shares[0] if len(shares) == 1 else stock.percentile if stock and not shares else None
        kinds = [each for each in rates if PART_WORDS[each[0]].search(sentence)] or (rates if len(rates) == 1 else [])
        if lead is None or share is None or share >= 1 or len(kinds) != 1:
            continue
        needed, why = _sufficient_spares(kinds[0], Quantity(lead, "s", display(lead, "s")), share)
        if count_in_text(found["n"].lower()) < needed:
            advice = f"keep {needed:,} in stock, or shorten the lead time"
            yield RULE.problem("description", f"`{found[0]}`: {why}", advice)
            return


def _has_stock(remarks: str) -> bool:
    """Whether a sentence of a text says that spare parts are in stock.

    >>> _has_stock("Five modules are in stock."), _has_stock("Nothing is in stock: no spare module is there.")
    (True, False)
    """
    return any(_IN_STOCK.search(each) and _NONE.search(each) is None for each in sentences_of(remarks))
