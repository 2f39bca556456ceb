"""The machine is kept longer than its warranty and support.

## What it finds

A bought machine whose `term` is more than a month longer than its `warranty` and, where stated, its `support.term`. The
finding is a warning, or a note if only the last year is uncovered, the quote is below 100,000 US dollars,
a line sells used machines, or warranty and support would reach the end of the term one after the other. Where the text says that the
support follows the warranty, both count. Priced support (`prices.support_per_year`, or
a line of the quote that names support) covers the whole term, unless `support.term` states when it ends. It is also a
note where a priced machine with a term of three years or more states neither warranty nor support. A line of the quote whose
warranty begins on a date and ends before `needed_by` is an error.

## Why it matters

After the warranty each failed accelerator, board or module is paid for. Machines of this kind lose several percent of
their accelerators a year, and support costs 5 to 10 % of the hardware a year.

## What to do

Ask for a warranty over the whole term, or price the support of the years after it.

## When to ignore it

Ignore it where the operator keeps its own spare parts and repairs.

## Fires

```yaml procurement.warranty
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 5 years, warranty: 1 year, prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 5 years, warranty: 5 years, prices: {node: 310000}}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 5 years, warranty: 3 years, support: {term: 5 years}, prices: {node: 310000}}
```

```yaml
clusterspec: 1
description: The maker repairs for two years under its warranty; the paid support follows for the other three.
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 5 years, warranty: 2 years, support: {term: 3 years}, prices: {node: 310000}}
```

## Sources

- Failures of accelerators in operation, section 3.3.4: https://arxiv.org/abs/2407.21783
- What to ask of a provider: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import DAY, YEAR
from clusterspec.rules.knowledge.purchases import date_of_text, is_bought, is_small
from clusterspec.rules.readers.purchases.orders import states_previous_owner
from clusterspec.rules.readers.purchases.warranties import (
    MONTH,
    covered_time,
    follows_warranty,
    is_covered_by_price,
    time_in_turn,
)
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units import years_text

RULE = Rule.of(__name__, "warning", "likely")
LONG = 2.99 * YEAR
FEW = YEAR + MONTH
"""Time without warranty or support up to which many buyers pay for repairs or sell the machine."""
_USED_MACHINES = pattern(
    r"(?i)\b(?:refurbished|second[- ](?:hand|life)|pre-owned|remarketed|ex-lease|used (?:machines?|servers?|nodes?|hardware|gpus?|accelerators?)|(?:bought|buy|purchased) used"
    r"|gebraucht\w*|d['’]occasion|de segunda mano|usat[oi]|tweedehands|begagnad\w*|używan\w*)\b"
)


_FROM_DATE = pattern(
    r"(?i)\b(?:warrant\w*|guarantee\w*|garant\w*|gewährleistung)\b\D{0,20}?(\d{1,3})[- ](days?|months?|tage?|monate?|jours|mois|días|meses)\b[^.;]{0,60}?(20\d\d-\d\d-\d\d)"
)
"""Pattern of a warranty of some days or months that begins on a date."""


def _early_end_problem(procurement: ProcurementSpec) -> Iterator[Problem]:
    """Problems of a warranty that begins on a stated date and ends before the machine is needed."""
    needed = date_of_text(procurement.needed_by)
    for index, line in enumerate(procurement.quote or ()):
        found = _FROM_DATE.search(line.part or "")
        start = date_of_text(found[3]) if found is not None else None
        if found is None or start is None or needed is None:
            continue
        days = int(found[1]) * (1.0 if found[2][0].lower() in "dtj" else MONTH / DAY)
        if start.toordinal() + days < needed.toordinal():
            message = f"`{name_of_part(line.part)}` has a warranty of {found[1]} {found[2]} from {start}, which ends before the machine runs ({needed})"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "ask for a warranty from the acceptance", severity="error")


def check(procurement: ProcurementSpec, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    yield from _early_end_problem(procurement)
    term, support = procurement.term, procurement.support.term if procurement.support else None
    stated = support or procurement.warranty
    if term is None or not is_bought(procurement, cluster):
        return
    if stated is None:
        if term.value >= LONG and procurement.prices and not is_covered_by_price(procurement):
            message = f"neither a warranty nor support is stated for the term of {term.written}"
            yield RULE.problem(
                "procurement", message, "state `warranty`, or `prices.support_per_year`", severity="note"
            )
        return
    covered, in_turn = covered_time(procurement), time_in_turn(procurement)
    one_by_one = in_turn > 0 and follows_warranty(remarks)
    covered = in_turn if one_by_one else covered
    if covered is None or (uncovered := term.value - covered) <= MONTH or is_covered_by_price(procurement):
        return
    key, what = ("procurement.support.term", "support") if support else ("procurement.warranty", "warranty")
    of_what = f"the {what} of {stated.written}" if not one_by_one else "the warranty and the support after it"
    message = f"the term of {term.written} is {years_text(uncovered / YEAR)} longer than {of_what}: repairs of these years are not paid for"
    other = "" if support else ", or state `prices.support_per_year`"
    used = states_previous_owner(
        *(line.part or "" for line in procurement.quote or ())
    )  # sold with a few months, as a rule
    used = used or _USED_MACHINES.search(remarks) is not None
    exact = abs(in_turn - term.value) <= MONTH
    severity = "note" if uncovered <= FEW or used or exact or is_small(procurement) else ""
    yield RULE.problem(key, message, f"ask for {term.written}{other}", severity=severity)
