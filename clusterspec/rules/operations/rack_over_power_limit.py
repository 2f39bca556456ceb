"""The equipment of a rack draws more than its power limit.

## What it finds

`power.node` (else the platform's) × `nodes_per_rack` + `rack_overhead` above `rack_limit`. Where neither power is
known, the rule takes the power of the accelerators and the range that servers draw in addition, and the message says
so: a limit below the low end is an error, one below the middle a note. For a rack with a whole domain of a rack-scale
system, it uses the platform's figure for the rack, which includes the scale-up switches. Without `nodes_per_rack`, such
a rack has the nodes that it is sold with.

## Why it matters

The breaker trips, or nodes stay off. Five nodes of 10.2 kW exceed 44 kW. The 18 trays of a GB200 NVL72 draw 97 kW, the
whole rack with its nine NVLink switch trays 120 kW.

## What to do

Use fewer nodes per rack, or a rack with more power.

## When to ignore it

Do not ignore it. If power is capped below the nameplate, state the capped power of a node.

## Fires

```yaml cluster.power.nodes_per_rack
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  power: {node: 10.2 kW, rack_limit: 44 kW, nodes_per_rack: 5}
```

```yaml cluster.power.nodes_per_rack
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 18
  power: {rack_limit: 100 kW, nodes_per_rack: 18}
```

```yaml cluster.power.nodes_per_rack
clusterspec: 1
cluster:
  platform: mi355x-ubb8
  nodes: 16
  power: {rack_limit: 140 kW, nodes_per_rack: 8}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  power: {node: 10.2 kW, rack_limit: 44 kW, nodes_per_rack: 4}
```

## Sources

- Nodes in a rack: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300/latest/dgx-superpod-architecture.html
- A published design that overloads its racks: https://neocloud.kedios.io/full-network-topology-report/Kedios-B300-Full-Network-Topology-Report.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import host_shares, node_nameplates, overhead_of_rack
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error")


def check(deviations: Deviations, power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    limit, platform = power.rack_limit, cluster.platform
    nodes = power.nodes_per_rack or (nodes_of_rack(platform) if platform and platform.form == "rack" else None)
    if limit is None or nodes is None or deviations.has_any_of("power"):
        return
    found = node_nameplates(cluster)
    if found is None:
        return
    lowest, middle, highest = (figure.value for figure in found)
    overhead = overhead_of_rack(cluster, power).value
    surely = lowest * nodes + overhead > limit.value
    each = lowest if surely else middle
    drawn = each * nodes + overhead
    if drawn <= limit.value:
        return
    fit = max(0, int((limit.value - overhead) // each))
    stated = cluster.node_power is not None
    least = "" if stated else f" at least (accelerators and {host_shares(cluster)[0]:.0%} of their power for the rest)"
    least = least if surely else f" ({display(lowest, 'W')} to {display(highest, 'W')}: their power is assumed)"
    what = "rack overhead" if power.rack_overhead else "scale-up switches and power conversion"
    and_overhead = f" and {display(overhead, 'W')} of {what}" if overhead else ""
    yield RULE.problem(
        "cluster.power.nodes_per_rack" if power.nodes_per_rack else "cluster.power.rack_limit",
        f"{plural(nodes, 'node')} of {display(each, 'W')}{least}{and_overhead} {'draws' if nodes == 1 and not and_overhead else 'draw'} {display(drawn, 'W')}, above the rack limit of {display(limit.value, 'W')}",
        f"use at most {plural(fit, 'node')} per rack, in {plural(-(-cluster.all_nodes // fit), 'rack')}"
        if fit and power.nodes_per_rack and not (platform and platform.form == "rack")
        else "use a rack with more power",
        confidence="certain" if stated else "likely",
        severity="error" if surely else "note",
    )
