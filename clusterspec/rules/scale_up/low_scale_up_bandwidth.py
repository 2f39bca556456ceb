"""Memory bandwidth is more than 12 times the scale-up bandwidth.

## What it finds

Memory bandwidth more than 12 times the scale-up bandwidth per direction. The rule is silent where the layout has tp 1.

## Why it matters

The higher the ratio, the larger the share of communication in a tensor-parallel layer. It is 7.4 on H100, 8.9 on B200,
11.8 on MI300X, and 27 on an L40S, which has only PCIe 4. Above 12, use tensor parallelism only where the model does not
fit otherwise.

## What to do

Keep tp small, and prefer pp and dp.

## When to ignore it

Ignore it where the model needs tp to fit.

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
from clusterspec.cluster.model import Layout, ScaleUp
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.units import display, rounded

RULE = Rule.of(__name__, "note")
MOST = 12


def check(
    deviations: Deviations, accelerator: Accelerator, scale_up: ScaleUp, layout: Layout | None
) -> Iterator[Problem]:
    memory = accelerator.memory_bandwidth
    if layout is not None and layout.tp == 1:
        return
    if memory is None or scale_up.bandwidth.value <= 0 or deviations.has_any_of("scale-up"):
        return
    ratio = memory.value / scale_up.bandwidth.value
    if ratio > MOST:
        links, fast = display(scale_up.bandwidth.value, "B/s"), display(memory.value, "B/s")
        message = (
            f"memory bandwidth ({fast}) is {display(rounded(ratio), '1')} times the scale-up bandwidth ({links} per direction): "
            "tensor parallelism is bound by communication"
        )
        yield RULE.problem("cluster.scale_up", message, "keep tp small, and prefer pp and dp")
