"""Optics do not run at the rate or technology of the link.

## What it finds

Named optics whose port rate is below the link rate of the level or not a whole multiple of it, whose lanes have another
rate than the technology's, or which do not support the technology's family.

## Why it matters

A module of 200 Gb/s ports does not carry a link of 400 Gb/s, and modules with lanes of 200 Gb/s do not run at 100.

## What to do

Use the optics of the port: two ports of 400 Gb/s in an OSFP cage of 800 Gb/s, one in the cage of a NIC.

## When to ignore it

Do not ignore it. If a part runs at this rate, too, correct its entry in a company catalog.

## Fires

```yaml cluster.scale_out.optics.leaf_spine
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    optics: {leaf_spine: acc-mca1j00}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    optics: {leaf_spine: acc-mca4j80}
```

## Sources

- Rates by part: https://docs.nvidia.com/networking/display/400g100gpam4ovpub/linkx-100g-pam4-product-line-overview
- No downshift of lanes of 200 Gb/s: https://docs.nvidia.com/networking/display/800g200pam4list
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Interconnect, Optics
from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.fabric_parts import link_rate
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error")
SAME = 0.01
SIGNALING = 0.1
"""Largest relative difference between the line rate and the signaling rate of a lane, with a margin."""


def check(deviations: Deviations, scale_out: ScaleOut) -> Iterator[Problem]:
    if not scale_out.optics or deviations.has_any_of("nic"):
        return
    for one in level_optics(scale_out):
        for end, part in enumerate(one.ends):
            at = f"cluster.scale_out.optics.{one.level}" + f".{end}" * one.listed
            yield from _link_rate_problem(at, part, scale_out)


def _link_rate_problem(at: str, part: Optics, scale_out: ScaleOut) -> Iterator[Problem]:
    rate, technology = link_rate(scale_out), scale_out.technology
    if part.families and technology.family not in part.families:
        message = f"{part.name} is for {and_list(part.families)}, not for {technology.name}"
        yield RULE.problem(at, message, f"use optics for {technology.family}")
    elif (
        technology.lane_rate is not None
        and part.lane_bandwidth is not None
        and not _has_same_lane_rate(part, technology)
    ):
        lanes = f"lanes of {display_bits(part.lane_bandwidth.value)}"
        message = (
            f"{part.name} has {lanes}, but those of {technology.name} run at {display_bits(technology.lane_rate.value)}"
        )
        yield RULE.problem(at, message, f"use optics for {technology.name}: modules do not change the rate of a lane")
    elif part.bandwidth is not None and not _carries_whole_links(rate, part.bandwidth.value / part.ports):
        each = display_bits(part.bandwidth.value / part.ports)
        ports = f"{part.ports} ports of {each}" if part.ports > 1 else f"one port of {each}"
        yield RULE.problem(
            at,
            f"{part.name} has {ports}, but the links run at {display_bits(rate)}",
            "use optics of the rate of the links",
        )


def _has_same_lane_rate(part: Optics, technology: Interconnect) -> bool:
    """Whether a part and a technology have the same lane rate; signaling rates are up to 7 % above line rates."""
    own, other = part.lane_bandwidth, technology.lane_rate
    return own is None or other is None or abs(own.value / other.value - 1) < SIGNALING


def _carries_whole_links(rate: float, port: float) -> bool:
    """Whether a port's rate is a whole multiple of a link's rate."""
    links = round(port / rate)
    return links >= 1 and abs(port / (links * rate) - 1) < SAME
