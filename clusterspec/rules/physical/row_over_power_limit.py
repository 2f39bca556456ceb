"""The racks of a row draw more than the row's limit.

## What it finds

Full racks (`power.node`, else the platform's, × `nodes_per_rack`, with the overhead of a rack) × `floor.racks_per_row`
above `power.row_limit`.

## Why it matters

The busway or the cooling of a row has its own limit, below the sum of the rack limits.

## What to do

Use fewer racks in a row, or more rows.

## When to ignore it

Do not ignore it. If power is capped, state the capped power of a node.

## Fires

```yaml cluster.power.row_limit
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  floor: {racks_per_row: 12}
  power: {nodes_per_rack: 4, row_limit: 400 kW}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  floor: {racks_per_row: 9}
  power: {nodes_per_rack: 4, row_limit: 400 kW}
```

## Sources

- 10.2 kW of a DGX H100: `clusterspec catalog show dgx-h100`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import rack_power
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error")


def check(deviations: Deviations, written_cluster: ClusterSpec, cluster: Cluster) -> Iterator[Problem]:
    power, floor = written_cluster.power, written_cluster.floor
    if power is None or floor is None or power.row_limit is None or floor.racks_per_row is None:
        return
    rack, limit = rack_power(cluster, power), power.row_limit.value
    if rack is None or power.nodes_per_rack is None or deviations.concern("power"):
        return
    racks = min(floor.racks_per_row, -(-cluster.all_nodes // power.nodes_per_rack))
    if racks * rack <= limit:
        return
    fit = int(limit // rack)
    message = f"{plural(racks, 'rack')} of {display(rack, 'W')} draw {display(racks * rack, 'W')}, above the row limit of {display(limit, 'W')}"
    yield RULE.problem(
        "cluster.power.row_limit",
        message,
        f"use at most {plural(fit, 'rack')} in a row" if fit else "use racks of less power",
    )
