"""The stated power of a switch leaves out its optical modules, or is more than the switch can draw.

## What it finds

`power.switch` below 70 % of the largest power of the fabric's switch with modules in the ports that links use, where they
are not all passive copper (`cable_type` of `dac`), or below 70 % of its typical power in any case. Where the catalog has only the rating of a
power supply, the limit is a quarter of that rating. It is a note where the figure is a tenth or more above the typical
power, and so has some modules in it, where all switches together lack less than 3 % of the power of the nodes, and where nodes and switches at their largest
power keep `power.budget`. A figure above twice the largest power is a warning, too.

## Why it matters

Data sheets print two figures: the typical power with passive cables, and the largest power with optical modules in all
cages. A QM9700 draws 747 W with the former and 1,720 W with the latter. With the smaller figure, feeds and cooling of
the network racks are planned for half of the load.

## What to do

State the largest power, or a measured one with the modules that are bought.

## When to ignore it

Ignore it where the figure was measured with the modules in place.

## Fires

```yaml cluster.power.switch
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 63
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: rail-optimized
    switch: quantum-2-qm9700
    cable_type: {node_leaf: fiber, leaf_spine: fiber}
  power: {switch: 0.75 kW}
```

```yaml cluster.power.switch
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 63
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: rail-optimized
    switch: quantum-2-qm9700
  power: {switch: 13.6 kW}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 63
  scale_out:
    technology: infiniband-ndr
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: rail-optimized
    switch: quantum-2-qm9700
    cable_type: {node_leaf: fiber, leaf_spine: fiber}
  power: {switch: 1.6 kW}
```

## Sources

- Both figures of a switch: `clusterspec catalog show switch/quantum-2-qm9700`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec, ScaleOutSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
LEAST = 0.7
"""Share of the catalog's power below which no mix of cables explains a stated power; the project's choice."""

LEAST_OF_SUPPLY = 0.25
"""Share of the rating of the power supplies below which a figure cannot be the power of the switch, by judgment."""

BARE = 1.1
"""Ratio to the power with passive cables up to which a stated power includes no optical modules, by judgment."""

MOST = 2.0
"""Ratio to the largest power above which a figure covers several switches or has a wrong unit, by judgment."""

LITTLE = 0.03
"""Share of the power of all nodes below which the power that the switches lack changes no feed, by judgment."""


def check(
    power: PowerSpec, written_scale_out: ScaleOutSpec, scale_out: ScaleOut, counts: FabricCount, cluster: Cluster
) -> Iterator[Problem]:
    switch, stated = scale_out.switch, power.switch
    if stated is None or switch is None or switch.power is None:
        return
    at = "cluster.power.switch"
    if stated.value > MOST * switch.power.value:
        message = (
            f"{stated.written} for each switch, but {switch.name} takes {display(switch.power.value, 'W')} at most"
        )
        yield RULE.problem(at, message, "state the power of one switch")
        return
    types = (written_scale_out.cable_type or {}).values()
    copper = bool(types) and set(types) == {"dac"}
    known = switch.power_typical if copper and switch.power_typical else switch.power
    least = known.value
    if switch.power_typical is not None and not copper:  # modules in the ports in use add to what passive copper takes
        bare = switch.power_typical.value
        least = bare + _share_of_ports(counts.fabric) * (known.value - bare)
    if stated.value >= (LEAST if switch.power_typical else LEAST_OF_SUPPLY) * least:
        return
    cables = "with cables of `dac`" if copper else "with modules in its cages"
    message = f"{stated.written} for each switch, but {switch.name} takes up to {display(known.value, 'W')} {cables}"
    help_ = "state the largest power, or what was measured with the modules that are bought"
    between = switch.power_typical is not None and stated.value > BARE * switch.power_typical.value
    harmless = between or _is_little(power, cluster, _switches(counts.fabric), least - stated.value)
    yield RULE.problem(at, message, help_, severity="note" if harmless else "")


def _is_little(power: PowerSpec, cluster: Cluster, switches: int, lacking: float) -> bool:
    """Whether the watts that each switch lacks are few relative to the power of the nodes, or keep the stated budget."""
    if cluster.node_power is None or power.switch is None:
        return False
    nodes = cluster.node_power.value * cluster.all_nodes
    whole = nodes + switches * (power.switch.value + lacking)
    return switches * lacking < LITTLE * nodes or (power.budget is not None and whole <= power.budget.value)


def _switches(fabric: Fabric | None) -> int:
    """The switches of the fabric; one if it could not be counted."""
    return fabric.leaf_switches + fabric.spine_switches + fabric.core_switches if fabric is not None else 1


def _share_of_ports(fabric: Fabric | None) -> float:
    """The share of all switch ports that links use; 1 if the fabric could not be counted."""
    if fabric is None or not fabric.switch_ports:
        return 1.0
    ports = _switches(fabric) * fabric.switch_ports
    ends = sum(links * (1 if level == "node_leaf" else 2) for level, links in fabric.links.items())
    return min(1.0, ends / ports) if ports else 1.0
