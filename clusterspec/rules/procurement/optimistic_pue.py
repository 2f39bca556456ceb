"""The power usage effectiveness is lower than at any published site.

## What it finds

`pue` of 1 or more and below 1.03, or below 1.06 where air cools the data hall (`cluster.power.cooling: air`).

## Why it matters

The best published sites, cooled with warm water in a cool climate, reach 1.03 to 1.06 over a year; a new hall with liquid
cooling 1.1 to 1.3, and the average is 1.54. Fans, pumps and conversion always take a share.

## What to do

Use the yearly average of the site, not its best day.

## When to ignore it

Ignore it where the price of electricity includes cooling; state 1 and a comment.

## Fires

```yaml procurement.pue
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, pue: 1.01}
```

```yaml procurement.pue
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4, power: {cooling: air}}
procurement: {currency: USD, as_of: 2026-11-01, pue: 1.04}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, pue: 1.1}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, pue: 1}
```

## Sources

- 1.54 in 2025: https://intelligence.uptimeinstitute.com/resource/uptime-institute-global-data-center-survey-2025
- 1.03 to 1.04: https://www.nrel.gov/computational-science/reducing-water-usage.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec, ProcurementSpec

RULE = Rule.of(__name__, "warning", "heuristic")
BEST, BEST_AIR = 1.03, 1.06


def check(procurement: ProcurementSpec, written_cluster: ClusterSpec | None) -> Iterator[Problem]:
    pue, power = procurement.pue, written_cluster.power if written_cluster else None
    air = power is not None and power.cooling == "air"
    best = BEST_AIR if air else BEST
    if pue is not None and 1 < pue < best:
        message = (
            f"a PUE of {pue:g} is below the {best} of the best published sites{' with air cooling' if air else ''}"
        )
        yield RULE.problem(
            "procurement.pue", message, "use the yearly average of the site; 1.1 to 1.3 is usual with liquid cooling"
        )
