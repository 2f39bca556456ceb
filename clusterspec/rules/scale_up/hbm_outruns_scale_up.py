"""Memory is much faster than the links between accelerators.

## What it finds

Memory bandwidth more than 12 times the scale-up bandwidth of one direction.

## Why it matters

The ratio says how much a tensor-parallel group loses to talking: 7.4 on H100, 8.9 on B200, 11.8 on MI300X, 27 on an
L40S, which has PCIe 4 alone. Above 12, tensor parallelism pays only to make the model fit.

## What to do

Keep tp small; prefer pp and dp.

## When to ignore it

When nothing is cut by tp.

## Fires

```yaml cluster.scale_up
clusterspec: 1
cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
```

## Sources

- Bandwidth of both, part by part: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L300
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import ScaleUp
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.slips import slipped
from clusterspec.rules.rule import Rule
from clusterspec.units import plain, say

RULE = Rule.of(__name__, "note")
MOST = 12


def check(facts: Facts, accelerator: Accelerator, scale_up: ScaleUp) -> Iterator[Problem]:
    memory = accelerator.memory_bandwidth
    if memory is None or scale_up.bandwidth.value <= 0 or slipped(facts, "scale-up"):
        return
    ratio = memory.value / scale_up.bandwidth.value
    if ratio > MOST:
        links, fast = say(scale_up.bandwidth.value, "B/s"), say(memory.value, "B/s")
        message = (
            f"memory ({fast}) is {plain(ratio)} times as fast as the links between accelerators ({links} per direction)"
        )
        yield RULE.problem("cluster.scale_up", message, "keep tp small; prefer pp and dp")
