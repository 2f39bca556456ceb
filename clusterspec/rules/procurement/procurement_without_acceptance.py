"""Something is to be bought, and nothing says how it is proved to work.

## What it finds

`procurement` without `acceptance`.

## Why it matters

"3.2 Tb/s of InfiniBand" is no clause that can be tested: the ports may be there and the collectives at half their rate. Without a figure,
a size and a number of nodes, acceptance is a signature.

## What to do

An entry for each axis of the layout: all-reduce on one node and over four, all-gather for sharding, all-to-all for experts.

## When to ignore it

For price studies.

## Fires

```yaml procurement
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- What to ask of a provider: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "warning")


def check(facts: Facts, procurement: ProcurementSpec) -> Iterator[Problem]:
    if not facts.acceptance and not facts.spec.unreadable(("acceptance",)):
        message = "there are prices and no acceptance test: nothing says what the supplier has to show"
        yield RULE.problem(
            "procurement",
            message,
            "one test for each axis: all-reduce on one node and over four, and what else the layout sends",
        )
