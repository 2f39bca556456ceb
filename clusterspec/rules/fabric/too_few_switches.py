"""The order has fewer switches than the endpoints need.

## What it finds

`leaf_switches`, `spine_switches` or `core_switches`, or the `count` of a level of `levels`, below the number that the
nodes, spares and extra endpoints need at the stated oversubscription, over all planes. In a rail fabric, leaves come in multiples of the rails; fewer are enough
where a leaf has ports for several whole rails, and extra endpoints may use leaves of their own. The rule is silent
where the tiers cannot connect the endpoints at all.

The finding is an error, a warning where the ports of a switch are only assumed, and a note where `topology: unknown`
states no ratio: switches may then be joined by fewer links.

## Why it matters

Some nodes have no port, or the fabric is oversubscribed and the spec does not state it.

## What to do

Order the computed number; `clusterspec bom` shows its derivation.

## When to ignore it

Do not ignore it. If some ports run at twice the rate, without breakout, state `switch_ports` as the count after
breakout.

## Fires

```yaml cluster.scale_out.leaf_switches
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, leaf_switches: 8, spine_switches: 8}
```

```yaml cluster.scale_out.levels[0].count
clusterspec: 1
cluster:
  platform: hgx-h200
  nodes: 48
  scale_out:
    technology: roce-v2
    nics_per_node: 8
    nic_bandwidth: 400 Gb/s
    topology: fat-tree
    levels: [{name: leaf, nodes: 6, switch_ports: 64, oversubscription: 1, count: 8}, {name: spine, nodes: 48, switch_ports: 64}]
    flow_control: {pfc: true, ecn: true}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, leaf_switches: 16, spine_switches: 8}
```

## Sources

- Counts of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-h100/latest/network-fabrics.html
- A design whose tables do not agree: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, ordered_switches
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(counts: FabricCount, written_scale_out: ScaleOutSpec) -> Iterator[Problem]:
    fabric = counts.fabric
    if fabric is None or not fabric.fits:
        return
    needs = {
        "leaf": (fabric.leaf_switches, fabric.leaf_switches),
        "spine": (fabric.least_spine_switches, fabric.spine_switches),
        "core": (fabric.least_core_switches, fabric.core_switches),
    }
    open_ratio = written_scale_out.topology == "unknown" and written_scale_out.oversubscription is None
    severity = "note" if open_ratio else counts.severity
    for tier, at, written in ordered_switches(written_scale_out):
        needed, counted = needs[tier]
        if written < needed:
            least = f", at least {needed:,}" if counted > needed else ""
            how = fabric.derivations[f"{tier}_switches"]
            message = f"{plural(written, f'{tier} switch')} stated, {counted:,} needed{least}: {how}"
            yield RULE.problem(at, message, f"order {counted:,}{least}", severity=severity)
