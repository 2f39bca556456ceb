"""The modules at the two ends of a link cannot communicate.

## What it finds

A list of two optics for one level whose medium (multimode or single mode), class (SR, DR, FR, LR) or rate of a lane
differs; or that joins a module with a cable that has fixed ends.

## Why it matters

Multimode modules send 850 nm over multimode fiber, single-mode modules 1,310 nm over single-mode fiber. DR sends each
lane on its own fiber, FR all lanes on one. A lane of 50 Gb/s does not link with a lane of 100 Gb/s, and modules cannot
change the lane rate.

## What to do

Use modules of one class at both ends.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.optics.node_leaf
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    optics: {node_leaf: [mma4z00-ns-flt, mms4x00-ns]}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 31
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    optics: {node_leaf: [mma4z00-ns-flt, mma4z00-ns]}
```

## Sources

- Modulation and modes: https://docs.nvidia.com/networking/display/400g100gpam4ovpub/linkx-100g-pam4-product-line-overview
- Fibers and wavelengths by class: https://www.flexoptix.net/en/blog/2018/06/the-400g-overview/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Optics
from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error")


def check(scale_out: ScaleOut) -> Iterator[Problem]:
    if not scale_out.optics:
        return
    for one in level_optics(scale_out):
        unlike = _difference_text(one.lower_end, one.upper_end) if one.listed else ""
        if unlike:
            message = f"{one.lower_end.name} and {one.upper_end.name} cannot be joined: {unlike}"
            yield RULE.problem(
                f"cluster.scale_out.optics.{one.level}", message, "use modules of one class at both ends"
            )


def _difference_text(lower: Optics, upper: Optics) -> str:
    """The reason why two ends cannot communicate; empty if they can."""
    if lower.id != upper.id and "module" in {lower.type, upper.type} and lower.type != upper.type:
        return "a cable with fixed ends takes no module"
    if lower.media != upper.media:
        return f"{lower.media} and {upper.media}"
    if lower.reach_class != upper.reach_class:
        return f"{lower.reach_class} and {upper.reach_class}"
    one, other = lower.lane_bandwidth, upper.lane_bandwidth
    if one is not None and other is not None and one.value != other.value:
        return f"lanes of {display_bits(one.value)} and {display_bits(other.value)}"
    return ""
