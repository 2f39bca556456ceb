"""The stated power of a node does not exceed the power of its accelerators.

## What it finds

`power.node` at or below accelerators per node × the accelerator's power, or `accelerator_cap` where that is lower. The
finding is an error. A node of four accelerators or more that has less than a tenth of their power for all else is a warning.
It is a note at half of that product and more for modules that include the processor (GH200), whose
power limit the operator sets.

## Why it matters

CPUs, NICs, fans and power conversion add to the power of the accelerators: a node draws 1.3 to 1.8 times the power of
its accelerators. A published report counted a 660 W CPU as 350 W.

## What to do

Use the platform's figure, or a measured one.

## When to ignore it

Do not ignore it. If power is capped, state `accelerator_cap`.

## Fires

```yaml cluster.power.node
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, power: {node: 4 kW}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8, power: {node: 10.2 kW}}
```

## Sources

- The report: https://neocloud.kedios.io/full-network-topology-report/Kedios-B300-Full-Network-Topology-Report.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error")
LEAST_REST, SEVERAL = 0.1, 4
"""Least share of the accelerators' power that processors, memory, NICs and fans add, for nodes with several
accelerators. On the platforms of the catalog they add 12 % (trays of NVL72) to 82 % (DGX H100).
"""
PROCESSOR = "processor"
"""Name of the part whose power a module with a processor includes. Operators set the power of such modules: GH200 from
450 W to 1,000 W.
"""


def check(deviations: Deviations, power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    each = cluster.accelerator.power
    if power.node is None or each is None or deviations.has_any_of("power"):
        return
    own = min(each.value, power.accelerator_cap.value) if power.accelerator_cap else each.value
    parts = own * cluster.accelerators_per_node
    settable = PROCESSOR in cluster.accelerator.power_includes
    rest = power.node.value - parts
    drawn = f"{cluster.accelerators_per_node} accelerators of {display(own, 'W')} draw {display(parts, 'W')}: the {power.node.written} of the node leave"
    if rest > 0:
        if rest < LEAST_REST * parts and cluster.accelerators_per_node >= SEVERAL and not settable:
            message, help_ = f"{drawn} {display(rest, 'W')} for processors, NICs and fans", "use a measured figure"
            yield RULE.problem("cluster.power.node", message, help_, severity="warning", confidence="likely")
        return
    message = f"{drawn} nothing for processors, NICs and fans"
    known = cluster.platform.power if cluster.platform else None
    help_ = (
        f"use the {display(known.value, 'W')} of {cluster.platform.id}"
        if known and cluster.platform
        else "use a measured figure"
    )
    if settable:
        help_ += "; state `accelerator_cap` where modules run below their largest power"
    explained = settable and power.node.value >= parts / 2
    yield RULE.problem("cluster.power.node", message, help_, severity="note" if explained else "error")
