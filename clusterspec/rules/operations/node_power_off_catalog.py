"""The stated power of a node contradicts the platform.

## What it finds

`power.node` more than 15 % from the platform's entry: a warning, and an error where the figure is the power of the accelerators
alone, without processors, NICs, switches and fans.

## Why it matters

Racks, cooling and energy cost are computed from it.

## What to do

Use the platform's figure, or state in a comment what was measured and how.

## When to ignore it

Ignore it for a measured average under load, which is below the rated power.

## Fires

```yaml cluster.power.node
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, power: {node: 7 kW}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, power: {node: 9.5 kW}}
```

## Sources

- A report with nodes at the wrong power: https://neocloud.kedios.io/full-network-topology-report/Kedios-B300-Full-Network-Topology-Report.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely", yields_to=("node-power-below-accelerators",))
OFF = 0.15
ALONE = 1.03
"""A stated power up to this multiple of that of the accelerators is theirs: no host draws 3 % of them."""


def check(deviations: Deviations, power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    known = cluster.platform.power if cluster.platform else None
    if power.node is None or known is None or deviations.concern("power"):
        return
    parts = cluster.accelerator.power
    if parts is not None and power.node.value < parts.value * cluster.accelerators_per_node:
        return
    off = power.node.value / known.value - 1
    if abs(off) > OFF and cluster.platform is not None:
        way = "above" if off > 0 else "below"
        message = f"{power.node.written} per node is {percent(abs(off), 2)} {way} the {display(known.value, 'W')} of {cluster.platform.name}"
        alone = parts is not None and power.node.value < parts.value * cluster.accelerators_per_node * ALONE
        yield RULE.problem(
            "cluster.power.node",
            message + (f": it is the power of its {cluster.accelerators_per_node} accelerators alone" if alone else ""),
            "use the platform's figure, or state what was measured",
            severity="error" if alone else "",
        )
