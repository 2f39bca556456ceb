"""A group covers only part of a torus axis, so it has no wrap-around ring.

## What it finds

`topology: torus` and a tp (or tp × cp), in accelerators, that covers no whole axis of the shape; or that covers whole
axes and a part of the next axis that does not divide it. The finding is a note where half of the exposed
tensor-parallel communication is less of the predicted step than the half-width of its range, a warning above it and
where the time is not known. The rule is silent for blocks such as 2 × 4 of a 4 × 4 torus, whose direct links form a
ring.

## Why it matters

A whole axis has a wrap-around link and forms a ring. Part of an axis is an open line: a ring over it uses the same
links in both directions, and may cross chips of other groups.

## What to do

Map each axis of the layout to axes of the torus: on 4 × 4 chips, groups of 4, 8 or 16.

## When to ignore it

Ignore it where the compiler maps groups onto sub-tori itself.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 4, scale_out: {placement: cluster-placement-group, collective_plugin: neuron}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: neuronx-distributed, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-trn2-48xlarge, nodes: 4, scale_out: {placement: cluster-placement-group, collective_plugin: neuron}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: neuronx-distributed, tp: 32}
```

## Sources

- The torus of Trn2: https://github.com/aws-neuron/aws-neuron-sdk/blob/81ce03ae261e12925e53437a0f690478e6366155/about-neuron/arch/neuron-hardware/trn2-arch.rst
- Tori and rings: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import prod

from clusterspec.cluster.model import Cluster, Layout, ScaleUp
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import exposed_seconds, share_of_step, step_severity
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.units import plural

RULE = Rule.of(
    __name__, "warning", "likely", yields_to=("neuron-core-group-unsupported", "tp-straddles-scale-up-domain")
)


def check(
    assumed: Mapping[str, str], cluster: Cluster, layout: Layout, scale_up: ScaleUp, timed: Plan | None
) -> Iterator[Problem]:
    if scale_up.topology != "torus" or not scale_up.shape or "cluster.scale_up.shape" in assumed:
        return
    closed = {1, *_ring_sizes(scale_up.shape)}
    for at, name, ranks in _group_sizes(layout):
        size = -(-ranks // cluster.ranks_per_accelerator)
        if size <= scale_up.domain and size not in closed:
            shape = " × ".join(map(str, scale_up.shape))
            fits = or_list(each * cluster.ranks_per_accelerator for each in sorted(closed) if each > 1)
            message = (
                f"{name} = {ranks} ranks on {plural(size, 'accelerator')} covers part of an axis of the {shape} torus: without "
                "a wrap-around ring, its bandwidth is halved"
            )
            lost = share_of_step(exposed_seconds(timed, {"tp", "cp"}) / 2, timed) if timed and timed.step else None
            severity = step_severity(lost, timed, "warning", most="warning")
            yield RULE.problem(at, message, f"use groups of {fits} ranks", severity=severity)
            return


def _ring_sizes(shape: tuple[int, ...]) -> Iterator[int]:
    """Group sizes, in accelerators, that form a ring: whole axes, or whole axes times a divisor of one more axis.

    >>> sorted(set(_ring_sizes((4, 4)))), sorted(set(_ring_sizes((2, 16))))
    ([4, 8, 16], [2, 4, 8, 16, 32])
    """
    for many in range(1, len(shape) + 1):
        for chosen in combinations(range(len(shape)), many):
            whole = prod(shape[axis] for axis in chosen)
            yield whole
            for axis in set(range(len(shape))) - set(chosen):
                yield from (whole * part for part in range(2, shape[axis]) if shape[axis] % part == 0)


def _group_sizes(layout: Layout) -> Iterator[tuple[str, str, int]]:
    if layout.tp > 1:
        yield "layout.tp", "tp", layout.tp
    if layout.cp > 1:
        yield "layout.cp", "tp × cp", layout.tp * layout.cp
