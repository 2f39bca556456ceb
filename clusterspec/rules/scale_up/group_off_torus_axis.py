"""A group does not fill whole axes of the torus.

## What it finds

`topology: torus` and a tp (or tp × cp), in accelerators, that is no product of whole axes of the shape.

## Why it matters

Rings close over whole axes. Part of an axis is an open line: half the bandwidth, and neighbours' traffic passes through.

## What to do

Map each axis of the layout to axes of the torus: on 4×4 chips, groups of 4 or 16.

## When to ignore it

Where the compiler maps groups onto sub-tori in a way of its own.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 4, scale_out: {placement: cluster-placement-group, collective_plugin: neuron}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: neuronx-distributed, tp: 32}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 4, scale_out: {placement: cluster-placement-group, collective_plugin: neuron}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: neuronx-distributed, tp: 16}
```

## Sources

- The torus of Trn2: https://github.com/aws-neuron/aws-neuron-sdk/blob/81ce03ae261e12925e53437a0f690478e6366155/about-neuron/arch/neuron-hardware/trn2-arch.rst
- Tori and rings: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import prod

from clusterspec.cluster.model import Cluster, Layout, ScaleUp
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "likely")


def check(facts: Facts, cluster: Cluster, layout: Layout, scale_up: ScaleUp) -> Iterator[Problem]:
    if scale_up.topology != "torus" or not scale_up.shape or "cluster.scale_up.shape" in facts.assumed:
        return
    whole = {prod(axes) for many in range(len(scale_up.shape) + 1) for axes in combinations(scale_up.shape, many)}
    for at, name, ranks in _groups(layout):
        size = -(-ranks // cluster.ranks_per_accelerator)
        if size <= scale_up.domain and size not in whole:
            shape = "×".join(map(str, scale_up.shape))
            fits = ", ".join(str(each * cluster.ranks_per_accelerator) for each in sorted(whole) if each > 1)
            message = f"{name} = {ranks} ranks on {size} accelerators fills no whole axes of the {shape} torus"
            yield RULE.problem(at, message, f"whole axes are groups of {fits} ranks")
            return


def _groups(layout: Layout) -> Iterator[tuple[str, str, int]]:
    if layout.tp > 1:
        yield "layout.tp", "tp", layout.tp
    if layout.cp > 1:
        yield "layout.cp", "tp × cp", layout.tp * layout.cp
