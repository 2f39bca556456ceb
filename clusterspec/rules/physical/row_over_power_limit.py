"""The racks of a row draw more than the row's limit.

## What it finds

Full racks (`power.node`, else the platform's, × `nodes_per_rack`, with the overhead of a rack) × `floor.racks_per_row`
above `power.row_limit`, an error. Where all racks stand in one row with the network racks (`floor.network_racks`), and only the
switches bring it above the limit, the finding is a warning: they may be fed from another row.

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

```yaml cluster.power.row_limit
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  scale_out: {technology: infiniband-ndr, topology: rail-optimized, switch: quantum-2-qm9700}
  floor: {racks_per_row: 8, network_racks: middle-of-row}
  power: {nodes_per_rack: 4, row_limit: 335 kW}
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

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 32
  scale_out: {technology: infiniband-ndr, topology: rail-optimized, switch: quantum-2-qm9700}
  floor: {racks_per_row: 8, network_racks: separate-row}
  power: {nodes_per_rack: 4, row_limit: 335 kW}
```

## Sources

- 10.2 kW of a DGX H100: `clusterspec catalog show dgx-h100`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import power_draw, rack_power
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error")
IN_THE_ROW = frozenset({"middle-of-row", "end-of-row"})
"""Positions of network racks that are fed with the rows of nodes."""


def check(
    deviations: Deviations, written_cluster: ClusterSpec, cluster: Cluster, counts: FabricCount
) -> Iterator[Problem]:
    power, floor = written_cluster.power, written_cluster.floor
    if power is None or floor is None or power.row_limit is None or floor.racks_per_row is None:
        return
    rack, limit = rack_power(cluster, power), power.row_limit.value
    if rack is None or power.nodes_per_rack is None or deviations.has_any_of("power"):
        return
    all_racks = -(-cluster.all_nodes // power.nodes_per_rack)
    racks = min(floor.racks_per_row, all_racks)
    message = f"{plural(racks, 'rack')} of {display(rack, 'W')} draw {display(racks * rack, 'W')}"
    limit_text = f"above the row limit of {display(limit, 'W')}"
    if racks * rack > limit:
        fit = int(limit // rack)
        help_ = f"use at most {plural(fit, 'rack')} in a row" if fit else "use racks of less power"
        yield RULE.problem("cluster.power.row_limit", f"{message}, {limit_text}", help_)
        return
    if floor.network_racks not in IN_THE_ROW or racks < all_racks:
        return
    drawn = power_draw(cluster, counts.fabric, power)
    switches = drawn.switches * drawn.switch.value if drawn.switch else 0.0
    if racks * rack + switches > limit:
        message += f", and the {plural(drawn.switches, 'switch')} of the network racks in the same row {display(switches, 'W')} more"
        whole = display(racks * rack + switches, "W")
        help_ = "feed the network racks from another row, or use fewer racks of nodes"
        yield RULE.problem("cluster.power.row_limit", f"{message}: {whole}, {limit_text}", help_, severity="warning")
