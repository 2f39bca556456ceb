"""The order has noticeably more switches or cables than the endpoints need.

## What it finds

Stated leaves, spines, cores or links more than 10 % above the number computed: a note. Core switches beside `tiers: 2`
are an error.

## Why it matters

The surplus costs money and adds no bandwidth, unless the machine is to grow.

## What to do

Reduce the order, or state in a comment what the parts are for.

## When to ignore it

Ignore it where the parts are meant for growth or are spare parts.

## Fires

```yaml cluster.scale_out.spine_switches
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 16, spine_switches: 16}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 16, spine_switches: 8}
```

## Sources

- Counts of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html
- Free ports for growth: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fabric import LEVELS
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_counts import FabricCount, ordered
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import percent, plural

RULE = Rule.of(__name__, "note")
MOST = 1.10


def check(counts: FabricCount, written_scale_out: ScaleOutSpec) -> Iterator[Problem]:
    fabric = counts.fabric
    if fabric is None or not fabric.fits:
        return
    if written_scale_out.core_switches and fabric.tiers == 2 and written_scale_out.tiers == 2:
        message = f"{plural(written_scale_out.core_switches, 'core switch')} stated, and the fabric has two tiers: leaves and spines"
        yield RULE.problem(
            "cluster.scale_out.core_switches", message, "remove the key, or write `tiers: 3`", severity="error"
        )
    for key in ("leaf_switches", "spine_switches", "core_switches"):
        written, needed = getattr(written_scale_out, key), getattr(fabric, key)
        if written and needed and written > MOST * needed:
            parts = plural(written, f"{key.removesuffix('_switches')} switch")
            message = f"{parts} stated, {percent(written / needed - 1, 2)} more than the {needed:,} needed: they add no bandwidth"
            yield RULE.problem(f"cluster.scale_out.{key}", message, "reduce the order, or state what they are for")
    for level in LEVELS:
        stated, wanted = ordered(written_scale_out, level), fabric.links[level]
        if stated and wanted and stated.links > MOST * wanted:
            message = f"{stated.how}, {percent(stated.links / wanted - 1, 2)} more links than the {wanted:,} needed: they add no bandwidth"
            yield RULE.problem(stated.at, message, "reduce the order, or state what they are for")
