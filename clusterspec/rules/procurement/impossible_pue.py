"""The power usage effectiveness is below 1.

## What it finds

`pue` below 1.

## Why it matters

PUE is facility power divided by the power of the IT equipment, so it is at least 1.

## What to do

Use the figure of the site; 1.1 to 1.6 is usual.

## When to ignore it

Do not ignore it.

## Fires

```yaml procurement.pue
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, pue: 0.9}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, pue: 1.1}
```

## Sources

- PUE defined: https://en.wikipedia.org/wiki/Power_usage_effectiveness
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec

RULE = Rule.of(__name__, "error")


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    if procurement.pue is not None and procurement.pue < 1:
        message = f"a PUE of {procurement.pue:g} is impossible: the building draws at least what its computers draw"
        yield RULE.problem("procurement.pue", message, "use 1.1 to 1.6, which is usual")
