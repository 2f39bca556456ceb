"""The utilization is not a fraction between 0 and 1.

## What it finds

`utilization` above 1, or of 0 or less; a percentage typed as a number is the usual cause.

## Why it matters

The cost per hour of use divides by the utilization.

## What to do

Write the fraction: 0.85.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is safe: it divides a percentage by 100. The rule offers it only for values above 1 and up to 100.

## Fires

```yaml procurement.utilization
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, utilization: 85}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, utilization: 0.85}
```

## Sources

- Utilization in cost models: https://ai-infrastructure.net/build-vs-rent-gpu-cost-model/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import plain

RULE = Rule.of(__name__, "error")


def check(procurement: ProcurementSpec) -> Iterator[Problem]:
    at, used = "procurement.utilization", procurement.utilization
    if used is not None and not 0 < used <= 1:
        fix = value_fix(at, plain(used / 100), safe=True) if 1 < used <= 100 else None
        yield RULE.problem(
            at, f"utilization is a fraction between 0 and 1, not {used:g}", "write 0.85 for 85 %", fix=fix
        )
