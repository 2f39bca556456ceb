"""The stated ports contradict the catalog entry of the switch.

## What it finds

A stated `switch_ports` that differs from the ports of the stated `switch`, or more of them in the first level of `levels`. The rule counts breakout: 64 ports of 800
Gb/s are 128 of 400 Gb/s. It is silent where a part of the ports is split and the others serve uplinks: 24 ports of 100
Gb/s are 96 of 25 Gb/s.

## Why it matters

Cages are not ports. A QM9700 has 32 cages and 64 ports; counted by cages, the fabric needs another tier.

## What to do

Remove `switch_ports`: it follows from the switch and the rate of the NICs.

## When to ignore it

Do not ignore it. If some ports are reserved, state them as `extra_endpoints`.

## Fix safety

The fix is unsafe: it writes the ports of the catalog entry after breakout. The switch may be the wrong one instead.

## Fires

```yaml cluster.scale_out.switch_ports
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, switch_ports: 32}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, switch_ports: 64}
```

## Sources

- Ports and cages: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Switch
from clusterspec.cluster.model import ScaleOut
from clusterspec.cluster.scaleout import broken_out_ports
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import LevelSpec, ScaleOutSpec
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "error")


def check(deviations: Deviations, written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    if written_scale_out.switch_ports is None and not written_scale_out.levels:
        return
    written, rate = written_scale_out.switch_ports, scale_out.nic_bandwidth.value / scale_out.planes
    known, at = broken_out_ports(scale_out.switch, rate), "cluster.scale_out.switch_ports"
    leaf = (written_scale_out.levels or (LevelSpec(),))[0]
    if written is None and (leaf.switch_ports or 0) > (known or 0) and leaf.uplink_bandwidth is None:
        written, at = (
            leaf.switch_ports,
            "cluster.scale_out.levels.0.switch_ports",
        )  # uplinks of another rate split others
    if written is None or scale_out.switch is None or known is None or written == known:
        return
    if deviations.has_any_of("nic") or _splits_some_ports(scale_out.switch, written, known):
        return
    message = f"{scale_out.switch.name} has {known} ports at {display_bits(rate)}, not {written}"
    yield RULE.problem(at, message, "remove the key: it follows from the switch", fix=value_fix(at, str(known)))


def _splits_some_ports(switch: Switch, stated: int, most: int) -> bool:
    """Whether ``stated`` ports result from splitting only some ports of a switch; splitting all gives ``most``."""
    parts = most // switch.ports if switch.ports else 1
    return parts > 1 and (switch.ports or most) < stated < most and stated % parts == 0
