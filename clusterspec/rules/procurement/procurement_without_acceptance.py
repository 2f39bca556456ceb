"""The procurement has no acceptance tests.

## What it finds

`procurement` without `acceptance`: a note, since another document of the tender may contain the tests. The rule is
silent for instances of a cloud that are rented by the hour.

## Why it matters

"3.2 Tb/s of InfiniBand" cannot be tested: the ports may exist while collectives run at half their rate. Without a
figure, a size and a number of nodes, acceptance proves nothing.

## What to do

Add an entry for each axis of the layout: all-reduce on one node and over four, all-gather for sharding, all-to-all for
experts.

## When to ignore it

Ignore it where the supplier's own acceptance procedure is part of the contract.

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

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import AcceptanceSpec, ProcurementSpec, Spec

RULE = Rule.of(__name__, "note")


def check(
    spec: Spec,
    procurement: ProcurementSpec,
    acceptance: tuple[AcceptanceSpec, ...] | None,
    cluster: Cluster | None,
) -> Iterator[Problem]:
    if cluster is not None and cluster.cloud and procurement.is_rent:
        return
    if not acceptance and not spec.unreadable(("acceptance",)):
        message = "the procurement has no acceptance test, so nothing binds the supplier"
        single = cluster is not None and cluster.nodes == 1
        sizes = "the node" if single else "one node and over four"
        yield RULE.problem(
            "procurement",
            message,
            f"add one test for each axis: all-reduce on {sizes}, and the other collectives of the layout",
        )
