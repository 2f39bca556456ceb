"""Tensor parallelism over PCIe.

## What it finds

`tp` above 2 on accelerators whose only way to each other is PCIe.

## Why it matters

Tensor parallelism reduces activations four times a layer. Over PCIe each takes some 20 µs to start and runs at 31 to
63 GB/s, shared by all who cross the same root: beyond two accelerators, communication is most of the step.

## What to do

pp or dp between the accelerators; or a part with a scale-up interconnect where tp is needed to fit the model.

## When to ignore it

For serving a model that does not fit otherwise, where latency matters little.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 2}
```

## Sources

- Slow tensor parallelism over PCIe in vLLM: https://github.com/vllm-project/vllm/issues/56128 https://github.com/vllm-project/vllm/issues/732
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import say

RULE = Rule.of(__name__, "warning", "likely")
MOST = 2


def check(cluster: Cluster, layout: Layout) -> Iterator[Problem]:
    scale_up = cluster.scale_up
    if scale_up.topology != "pcie" or not MOST < layout.tp <= cluster.ranks_per_node:
        return
    rate = say(scale_up.bandwidth.value, "B/s")
    message = f"tp {layout.tp} reduces activations four times a layer over PCIe, at {rate} shared by all who cross the same root"
    yield RULE.problem(
        "layout.tp", message, "tp of 1 or 2, and pp or dp for the rest; or a part with a scale-up interconnect"
    )
