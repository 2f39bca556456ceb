"""The order has noticeably more switches or cables than the endpoints need.

## What it finds

Stated leaves, spines, cores or links more than 10 % above the computed number; for spines and cores, more than the next
number over which the uplinks of each leaf or pod spread evenly. The finding is a note. It is a warning from four times
the number on, where that is more than eight parts and the topology is not `unknown`. Core switches with `tiers: 1` or
`tiers: 2` are an error, and so are spines with `topology: single-switch` or `tiers: 1`. A stated third tier is a
warning where two tiers of these switches connect four times the endpoints at the same oversubscription, and a note
where they connect twice as many.

## Why it matters

The surplus costs money and adds no bandwidth, unless the machine is to grow. Spines that let the uplinks of a leaf
spread evenly are no surplus: with 3 links to one spine and 4 to another, traffic saturates the three first. A third
tier adds switches, optics and two hops to every message between pods.

## What to do

Reduce the order, or state the purpose of the parts in a comment.

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

```yaml cluster.scale_out.tiers
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: fat-tree, tiers: 3}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch_ports: 64, topology: rail-optimized, leaf_switches: 16, spine_switches: 8}
```

```yaml
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 144
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: rail-optimized, spine_switches: 16}
```

## Sources

- Counts of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300-xdr/latest/dgx-superpod-architecture.html
- Free ports for growth: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.fabric import LEVELS, Fabric
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import (
    FabricCount,
    is_far_surplus,
    links_and_cables,
    ordered_switches,
)
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import percent, plural

RULE = Rule.of(__name__, "note")
MOST = 1.10
HELP = "reduce the order, or state their purpose"
TWICE, FOUR_TIMES = 2.0, 4.0
"""Ratios of the endpoints that two tiers can connect to the required endpoints. From `TWICE` on, a third tier is a
note, since growth may be planned; from `FOUR_TIMES` on, it is a warning.
"""


def check(counts: FabricCount, written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    fabric = counts.fabric
    if fabric is None or not fabric.fits:
        return
    if written_scale_out.core_switches and fabric.tiers < 3 and written_scale_out.tiers in {1, 2}:
        has = "two tiers: leaves and spines" if fabric.tiers == 2 else "one tier of switches"
        message = f"{plural(written_scale_out.core_switches, 'core switch')} stated, but the fabric has {has}"
        yield RULE.problem(
            "cluster.scale_out.core_switches", message, "remove the key, or write `tiers: 3`", severity="error"
        )
    if (
        written_scale_out.spine_switches
        and fabric.tiers == 1
        and (written_scale_out.tiers or scale_out.topology == "single-switch")
    ):
        message = f"{plural(written_scale_out.spine_switches, 'spine switch')} stated, but the fabric has one tier of switches"
        help_ = "remove the key, or write `topology: fat-tree` and `tiers: 2`"
        yield RULE.problem("cluster.scale_out.spine_switches", message, help_, severity="error")
    yield from _needless_tier_problem(fabric, written_scale_out, scale_out)
    for tier, at, written in ordered_switches(written_scale_out):
        needed = getattr(fabric, f"{tier}_switches")
        if written and needed:
            needed = max(needed, _even_count(fabric, f"{tier}_switches", written))
        if written and needed and written > MOST * needed:
            parts = plural(written, f"{tier} switch")
            message = f"{parts} stated, {percent(written / needed - 1, 2)} more than the {needed:,} needed: they add no bandwidth"
            known = written_scale_out.topology != "unknown"
            severity = "warning" if known and is_far_surplus(written, needed) else "note"
            yield RULE.problem(at, message, HELP, severity=severity)
    for level in LEVELS:
        wanted = fabric.links[level] or 0
        orders = links_and_cables(written_scale_out, level)
        if fabric.links[level] == 0:
            yield from _absent_level_problem(level, written_scale_out)
            continue
        stated = next((each for each in orders if wanted and each.links > MOST * wanted), None)
        if stated is not None:
            message = f"{stated.how}, {percent(stated.links / wanted - 1, 2)} more links than the {wanted:,} needed: they add no bandwidth"
            yield RULE.problem(
                stated.at, message, HELP, severity="warning" if is_far_surplus(stated.links, wanted) else "note"
            )


def _even_count(fabric: Fabric, key: str, most: int) -> int:
    """The smallest sufficient number of spines or cores, at most ``most``, over which the uplinks of each leaf or pod
    spread evenly; 0 if there is none, and 0 for leaf switches.
    """
    level, below = {
        "spine_switches": ("leaf_spine", fabric.leaf_switches),
        "core_switches": ("spine_core", fabric.pods),
    }.get(key, ("", 0))
    sets = fabric.planes * (fabric.pods if key == "spine_switches" else 1)
    links = (fabric.links.get(level) or 0) // max(1, below * (fabric.planes if key == "core_switches" else 1))
    least = parts_needed(getattr(fabric, key), sets)
    return sets * next((count for count in range(least, min(most // sets, links) + 1) if links % count == 0), 0)


def _absent_level_problem(level: str, written: ScaleOutSpec) -> Iterator[Problem]:
    """The problem of stated links or cables for a level that the fabric does not have, if the spec states no switches
    for that level.
    """
    lower, _, upper = level.partition("_")
    if getattr(written, f"{upper}_switches", None) or written.levels:
        return
    beyond = next(links_and_cables(written, level), None)
    if beyond is not None and beyond.links:
        message = f"{beyond.how} between {lower} and {upper} stated, but the fabric has no {upper} switches"
        yield RULE.problem(beyond.at, message, "remove the key, or state the switches", severity="warning")


def _needless_tier_problem(fabric: Fabric, written: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    """The problem of a stated third tier where two tiers connect at least twice the endpoints."""
    ports = fabric.switch_ports
    if fabric.tiers != 3 or not ports or scale_out.levels or scale_out.pod_nodes or len(scale_out.oversubscription) > 1:
        return
    joined = ports * fabric.down_ports
    if not (written.tiers or written.core_switches) or joined < TWICE * fabric.endpoints:
        return
    at = "tiers" if written.tiers else "core_switches"
    message = f"{fabric.endpoints:,} endpoints have three tiers of switches, but two tiers of {ports} ports connect {joined:,}"
    yield RULE.problem(
        f"cluster.scale_out.{at}",
        f"{message}: another tier adds switches, optics and latency, but no bandwidth",
        "write `tiers: 2`, without core switches, unless more nodes are planned",
        severity="warning" if joined >= FOUR_TIMES * fabric.endpoints else "note",
    )
