"""The shape is not a slice that the cloud offers.

## What it finds

A TPU with a stated `scale_up.shape` that is no slice of its generation. v4, v5p and v7x: every side a multiple of 4, or
one of the small shapes inside a cube (2×2×1, 2×2×2, 2×2×4, 2×4×4). v5e and v6e: one of 1×1, 2×2, 2×4, 4×4, 4×8, 8×8,
8×16, 16×16. Also a slice with more chips than the cloud schedules for one job: 6,144 on v5p, whose pods have 8,960.

## Why it matters

The request is refused. The nearest shape has another number of chips, and therefore another world size.

## What to do

Use a shape from the list.

## When to ignore it

Ignore it when the provider offers newer shapes.

## Fires

```yaml cluster.scale_up.shape
clusterspec: 1
cluster:
  accelerator: tpu-v5p
  accelerators_per_node: 4
  nodes: 54
  scale_up: {shape: [6, 6, 6]}
```

```yaml cluster.scale_up.shape
clusterspec: 1
cluster:
  accelerator: tpu-v5p
  accelerators_per_node: 4
  nodes: 2048
  scale_up: {shape: [16, 16, 32]}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: tpu-v5p
  accelerators_per_node: 4
  nodes: 48
  scale_up: {shape: [4, 4, 12]}
```

## Sources

- Slices of v5p: https://docs.cloud.google.com/tpu/docs/v5p
- Slices of v6e: https://docs.cloud.google.com/tpu/docs/v6e
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from clusterspec.cluster.model import ScaleUp
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.tpu_slices import consists_of_cubes, slice_exists
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleUpSpec

RULE = Rule.of(__name__, "error")


def check(written_scale_up: ScaleUpSpec, scale_up: ScaleUp) -> Iterator[Problem]:
    entry, shape = scale_up.interconnect, written_scale_up.shape
    if not shape or entry is None or entry.family != "ici":
        return
    written, chips = "×".join(map(str, shape)), prod(shape)
    if slice_exists(shape, entry):
        if entry.largest_slice is not None and chips > entry.largest_slice:
            message = (
                f"the {written} slice has {chips:,} accelerators, but one job gets {entry.largest_slice:,} at most"
            )
            yield RULE.problem(
                "cluster.scale_up.shape", message, "use several slices, with data parallelism between them"
            )
        return
    if consists_of_cubes(entry):
        help_ = "make every side a multiple of 4, or use 2×2×1, 2×2×2, 2×2×4 or 2×4×4"
    else:
        help_ = "use 1×1, 2×2, 2×4, 4×4, 4×8, 8×8, 8×16 or 16×16"
    yield RULE.problem("cluster.scale_up.shape", f"{entry.name} has no {written} slice", help_)
