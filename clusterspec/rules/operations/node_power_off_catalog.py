"""The stated power of a node contradicts the platform.

## What it finds

`power.node` more than 15 % from the platform's entry, less what an `accelerator_cap` saves: a warning, a note up to 30 %
above it, since feeds and cooling then have reserve, and an error
where the figure is the power of the accelerators alone, without processors, NICs, switches and fans, or is 25 % and
more below the entry, which suggests an older system. A figure up to the node's share of the power of a rack that is sold
whole is silent without a `rack_overhead`: it holds switch trays, fans and conversion.

## Why it matters

Rack power, cooling and energy cost are computed from the figure.

## What to do

Use the platform's figure, or describe the measurement in a comment.

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

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18, power: {node: 7.2 kW}}
```

## Sources

- A report with nodes at the wrong power: https://neocloud.kedios.io/full-network-topology-report/Kedios-B300-Full-Network-Topology-Report.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import share_of_rack
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely", yields_to=("node-power-below-accelerators",))
OFF = 0.15
FAR = 0.25
"""Share below the rated power from which a figure cannot be an average either: nodes in training draw above 70 % of it.
"""
ABOVE = 0.30
"""Share above the rated power up to which a figure may include fans, switches and losses that the rating omits."""
ALONE = 1.03
"""Ratio to the power of the accelerators up to which a stated power covers only them: hosts add more than 3 %."""


def check(deviations: Deviations, power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    known = cluster.platform.power if cluster.platform else None
    if power.node is None or known is None or deviations.has_any_of("power"):
        return
    parts = cluster.accelerator.power
    own = parts.value if parts else 0.0
    capped = min(own, power.accelerator_cap.value) if power.accelerator_cap else own
    number = cluster.accelerators_per_node
    if power.node.value < capped * number:
        return
    rated = known.value - (own - capped) * number
    off, share = power.node.value / rated - 1, share_of_rack(cluster.platform) or 0.0
    if off > 0 and power.rack_overhead is None and power.node.value <= (1 + OFF) * share:
        return  # with switch trays, fans and conversion
    if abs(off) > OFF and cluster.platform is not None:
        way = "above" if off > 0 else "below"
        saved = f" at a cap of {display(capped, 'W')}" if capped < own else ""
        message = f"{power.node.written} per node is {percent(abs(off), 2)} {way} the {display(rated, 'W')} of {cluster.platform.name}{saved}"
        alone = power.node.value < capped * number * ALONE
        yield RULE.problem(
            "cluster.power.node",
            message + (f": it is the power of its {number} accelerators alone" if alone else ""),
            "use the platform's figure, or state what was measured",
            severity="error" if alone or off < -FAR else "note" if 0 < off <= ABOVE else "",
        )
