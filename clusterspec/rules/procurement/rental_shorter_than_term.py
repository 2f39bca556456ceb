"""A rental ends before the term.

## What it finds

- A line of nodes or accelerators by the hour whose text multiplies nodes by hours (`12 nodes x 4380 h`), with fewer
  hours than `term` has: an error. The rounding of a month is allowed;
- a line by the day, week or month for storage, racks, power, maintenance or a connection, with fewer of them than
  `term` has: an error where another line of the quote covers the whole term.

## Why it matters

Nodes without their file system have no data and nowhere to save. The days that are missing are bought at the price of
that day, if they are to be had.

## What to do

Order the whole term, and the days of handover at both ends.

## When to ignore it

Ignore it where the part is needed for a phase only, and say so in its line.

## Fires

```yaml procurement.quote[1].quantity
clusterspec: 1
cluster: {platform: nebius-h200, nodes: 12}
procurement:
  currency: USD
  term: 184 days
  quote:
    - {part: "H200 node hours, reserved, 12 nodes x 4416 h", quantity: 52992, unit_price: 18.8}
    - {part: "shared file system 400 TB, one day", quantity: 120, unit_price: 950}
```

```yaml procurement.quote[0].quantity
clusterspec: 1
cluster: {platform: nebius-h200, nodes: 12}
procurement:
  currency: USD
  term: 184 days
  quote:
    - {part: "H200 node hours, reserved, 12 nodes x 4380 h", quantity: 52560, unit_price: 18.8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: nebius-h200, nodes: 12}
procurement:
  currency: USD
  term: 184 days
  quote:
    - {part: "H200 node hours, reserved, 12 nodes x 4416 h", quantity: 52992, unit_price: 18.8}
    - {part: "shared file system 400 TB, one day", quantity: 184, unit_price: 950}
    - {part: "connection of 10 Gb/s for the first copy, one week", quantity: 2, unit_price: 900}
```

## Sources

- Reserved terms: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.offered import Offered
from clusterspec.procurement.part_names import HOURS
from clusterspec.procurement.quotes import lines_with_texts
from clusterspec.quantity import DAY, HOUR
from clusterspec.rules.readers.written_numbers import products_in
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
SHORT_HOURS = 0.004
"""Share of the term up to which missing hours may be due to a time zone or a handover: half a day in four months."""
SHORT = 0.02
"""Share of the term that may be missing because days or months are rounded."""
LONGEST = 400
"""Longest term in days for which single days are counted; longer ones are years of 365 or 366 days."""
_UNITS = {
    "day": pattern(r"\b(?:per|one|a|each|every|by the) days?\b|/ ?days?\b|\bdaily\b|[a-z]-days\b"),
    "week": pattern(r"\b(?:per|one|a|each|every|by the) weeks?\b|/ ?weeks?\b|\bweekly\b"),
    "month": pattern(r"\b(?:per|one|a|each|every|by the) months?\b|/ ?months?\b|\bmonthly\b"),
}
_SECONDS = {"day": DAY, "week": 7 * DAY, "month": 30.4375 * DAY}
_KEPT = pattern(
    r"\b(?:storage|file ?systems?|object store|colocation|cabinets?|racks?|feeds?|kw|links?|connections?|maintenance|support|cross[- ]connects?|bandwidth|transit)\b"
)
"""Pattern of words for things that are needed as long as the nodes."""
_PHASE = pattern(
    r"\b(?:first|phase|migration|transition|overlap|copy|test|trial|burn-in|install\w*|acceptance|peak|until|during|for the|extra|additional|burst|option\w*|free)\b"
)
"""Pattern of words for a part that is needed only some of the time."""


def check(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    if not procurement.quote or procurement.term is None:
        return
    term, lines = procurement.term.value, lines_with_texts(procurement.quote, cluster)
    yield from _few_hours_problem(lines, cluster, term, procurement.term.written)
    yield from _few_periods_problem(lines, term, procurement.term.written)


def _few_hours_problem(
    lines: Sequence[tuple[Offered, str]], cluster: Cluster, term: float, written: str
) -> Iterator[Problem]:
    """The problem of a product whose hours per node (or accelerator) are fewer than the hours of the term."""
    numbers = {cluster.nodes, cluster.all_nodes, cluster.accelerators, cluster.accelerators_per_node}
    for line, text in lines if term <= LONGEST * DAY else ():
        for product in products_in(text) if HOURS.search(text) is not None else ():
            hours = max(product.factors)
            whole = prod(product.factors) // hours in {cluster.nodes, cluster.all_nodes, cluster.accelerators}
            missing = term / HOUR - hours
            if whole and hours not in numbers and hours * HOUR / term > 0.5 and missing > SHORT_HOURS * term / HOUR:
                message = f"`{name_of_part(line.line.part)}` counts {hours:,} hours of each, but the {term / HOUR:,.0f} hours of the term ({written}) are {missing:,.0f} more"
                at = quote_path(line.index, "quantity")
                yield RULE.problem(at, message, "order the hours of the whole term, or correct `term`")
                return


def _few_periods_problem(lines: Sequence[tuple[Offered, str]], term: float, written: str) -> Iterator[Problem]:
    """The problem of a part that is rented for less than the term, while another line covers the whole term."""
    if not (any(_covers_term(line, text, term) for line, text in lines) or _cover_in_parts(lines, term)):
        return
    for line, text in lines:
        unit, quantity = _unit_of(text), line.line.quantity
        rented = quantity is not None and quantity > 1 and _KEPT.search(text) is not None
        if not rented or not unit or quantity is None or _PHASE.search(text) is not None:
            continue
        needed = term / _SECONDS[unit]
        if needed / 2 * (1 - SHORT) < quantity < needed * (1 - SHORT):
            message = f"`{name_of_part(line.line.part)}` is rented for {plural(round(quantity), unit)}, but the term is {written}: {plural(round(needed - quantity), unit)} are missing"
            at = quote_path(line.index, "quantity")
            yield RULE.problem(at, message, f"order {needed:,.0f}, or say in the line what it is needed for")
            return


def _cover_in_parts(lines: Sequence[tuple[Offered, str]], term: float) -> bool:
    """Whether successive lines of hours together cover the whole term."""
    products = (next(iter(products_in(text)), None) for _, text in lines if HOURS.search(text) is not None)
    hours = [max(product.factors) for product in products if product is not None]
    return len(hours) > 1 and abs(sum(hours) * HOUR / term - 1) < SHORT


def _unit_of(text: str) -> str:
    """The period by which a line is sold; empty if it names none or several."""
    found = [unit for unit, words in _UNITS.items() if words.search(text) is not None]
    return found[0] if len(found) == 1 else ""


def _covers_term(line: Offered, text: str, term: float) -> bool:
    """Whether a line covers the whole term, by the hours of a product or by its number of periods."""
    unit = _unit_of(text)
    by_period = bool(unit) and abs((line.line.quantity or 0) * _SECONDS[unit] / term - 1) < SHORT
    by_hours = any(abs(max(product.factors) * HOUR / term - 1) < SHORT for product in products_in(text))
    return by_period or (by_hours and HOURS.search(text) is not None)
