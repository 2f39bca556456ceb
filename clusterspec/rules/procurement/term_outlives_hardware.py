"""The cost is spread over more years than the accelerators will be used.

## What it finds

A bought machine with a `term` above 6 years: a note, and a warning above 8. A note where accelerators that shipped six years or more before
`as_of` are bought for three years or more.

## Why it matters

Operators write accelerators off over 5 to 6 years, and a generation appears every year or two. After that, power and
repairs cost more per token than new hardware, so the last years bring no return and the stated cost per year is too
low.

## What to do

Use 4 to 6 years.

## When to ignore it

Ignore it where a contract guarantees repairs over the whole term.

## Options

`thresholds = {term-outlives-hardware = 6.0}` in the configuration sets the years above which the rule reports. The
default is 6.0. The warning and the note on old parts have no threshold.

## Fires

```yaml procurement.term
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 10 years, prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2025-11-01, term: 5 years, prices: {node: 310000}}
```

## Sources

- Useful life of servers, 5 to 6 years: Alphabet, annual report 2023, https://abc.xyz/investor/
- 5 years for a part of the servers: Amazon, annual report 2024, https://ir.aboutamazon.com/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import YEAR
from clusterspec.rules.knowledge.purchases import date_of_text, is_bought
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "warning", "heuristic")
MOST = 6.0
LONGEST = 8.0
"""Number of years up to which machines are kept on purpose where power and space are cheap."""
OLD, LONG = 6, 3.0
"""Smallest age of a generation and length of the term, both in years, at which the rule notes an old generation."""


def check(thresholds: Thresholds, procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    term = procurement.term
    if term is None or not is_bought(procurement, cluster):
        return
    years, most = term.value / YEAR, thresholds.of(RULE.name, MOST)
    if years > most + 0.01:
        message = f"accelerators are written off over 5 to 6 years, not over {term.written}"
        help_ = "use 4 to 6 years, or state who repairs after that"
        yield RULE.problem("procurement.term", message, help_, severity="note" if years <= LONGEST + 0.01 else "")
        return
    as_of, year = date_of_text(procurement.as_of), cluster.accelerator.year
    if as_of is not None and year is not None and as_of.year - year >= OLD and years >= LONG - 0.01:
        message = f"{cluster.accelerator.name} shipped in {year}: it is {as_of.year - year} years old when it is bought for {term.written}"
        yield RULE.problem(
            "procurement.term", message, "compare the cost per token with a current generation", severity="note"
        )
