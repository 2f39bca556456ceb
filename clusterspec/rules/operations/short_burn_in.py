"""The burn-in is missing or too short.

## What it finds

`operations` or `procurement` with a `burn_in` of less than 24 hours, a warning, or of less than 48 hours or without one,
a note.

## Why it matters

3 to 10 % of new parts fail early. During burn-in the supplier replaces them; later they stop jobs and engines.

## What to do

Run 72 hours under load, network included, before acceptance.

## When to ignore it

Ignore it in clouds, where the provider runs the burn-in.

## Fires

```yaml operations.burn_in
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {burn_in: 12 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64}
operations: {burn_in: 72 h}
```

## Sources

- Early failures: https://imbue.com/research/70b-infrastructure/
- What to ask of a provider: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, ProcurementSpec

RULE = Rule.of(__name__, "warning", "heuristic")
LEAST = 48 * 3600.0
A_DAY = 24 * 3600.0


def check(
    operations: OperationsSpec | None, procurement: ProcurementSpec | None, cluster: Cluster
) -> Iterator[Problem]:
    if cluster.cloud or (operations is None and procurement is None):
        return
    burn_in = operations.burn_in if operations else None
    if burn_in is None:
        at = "operations.burn_in" if operations else "procurement"
        yield RULE.problem(
            at,
            "no burn-in is planned, so parts that fail early stop jobs and engines",
            "write `burn_in: 72 h`",
            severity="note",
        )
    elif burn_in.value < LEAST:
        yield RULE.problem(
            "operations.burn_in",
            f"a burn-in of {burn_in.written} is shorter than 48 h: parts that fail early stop jobs and engines",
            "write `burn_in: 72 h`",
            severity="note" if burn_in.value >= A_DAY else "",
        )
