"""The spare nodes do not fit the number of nodes.

## What it finds

A bought machine of several nodes whose spares do not fit its failures. The finding is a warning if there are fewer spares
than nodes in repair on average. The rule takes the failure rate of Llama 3's training, and a repair of one day unless
`repair_time` states another. Where the spec states both, `too-few-spares` decides. The finding is a note if the spares are
more than four and more than a quarter of the nodes.

## Why it matters

Failures grow with the number of nodes, and so must spares. One spare for 2,000 nodes is used up by the first failure of
the day; a quarter of the nodes as spares is capital without use.

## What to do

Use the number in the help; 2 to 10 % is usual.

## When to ignore it

Ignore it where a contract replaces nodes within hours, or the spares serve another job.

## Fires

```yaml cluster.spare_nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2048, spare_nodes: 1}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

```yaml cluster.spare_nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 32}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, spare_nodes: 4}
procurement: {currency: USD, as_of: 2026-11-01, prices: {node: 310000}}
```

## Sources

- One interruption in 50,700 accelerator-hours, section 3.3.4: https://arxiv.org/abs/2407.21783
- Spares and replacement: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/fault-tolerance/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.knowledge.failures import FailureRate, failure_rate, poisson_percentile
from clusterspec.rules.knowledge.purchases import is_bought
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, ProcurementSpec
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "warning", "heuristic", yields_to=("too-few-spares",))
MOST, SOME = 0.25, 4
SURE = 0.95


def check(
    procurement: ProcurementSpec,
    cluster: Cluster,
    failures: FailureRate,
    operations: OperationsSpec | None,
    catalog: Catalog,
) -> Iterator[Problem]:
    spares = cluster.spare_nodes
    if not spares or cluster.nodes < 2 or not is_bought(procurement, cluster):
        return
    if spares > MOST * cluster.nodes and spares > SOME:
        message = f"{spares:,} spare nodes are {percent(spares / cluster.nodes, 2)} of {cluster.nodes:,} nodes: they do no work"
        yield RULE.problem("cluster.spare_nodes", message, "use 2 to 10 %", severity="note")
        return
    repair = operations.repair_time if operations else None
    between = failures.stated or failure_rate(None, cluster, cluster.nodes, catalog).usual
    if (failures.stated and repair) or not between:
        return
    mean = (repair.value if repair else DAY) / between
    if spares < mean:
        wanted = poisson_percentile(mean, SURE)
        message = f"at one failure every {display(between, 's')}, {plain(mean, 2)} of {cluster.nodes:,} nodes are in repair on average, but {spares:,} {'is' if spares == 1 else 'are'} spare"
        yield RULE.problem("cluster.spare_nodes", message, f"plan {wanted} spare nodes, or a faster repair")
