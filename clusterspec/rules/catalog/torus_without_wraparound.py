"""An axis of the TPU slice is an open line, not a ring.

## What it finds

A stated `shape` with an axis that has no wrap-around links: on v4, v5p and v7x a side that is not a multiple of 4, on
v5e and v6e a side below 16.

Severity follows the cost, which is half of the exposed time of collectives inside the slice: a note below the
half-width of the predicted step's range, or where no step is predicted, a warning above it, and an error if at least a
quarter of the step is lost even at the low end of the range.

## Why it matters

A ring over an open line uses the same links in both directions, so that the bandwidth along that axis halves.

## What to do

Use whole 4×4×4 cubes, or the whole 16×16 pod; or map the axis that communicates least to the open side.

## When to ignore it

Ignore it for small slices, such as 2×2×2 for debugging.

## Fires

```yaml cluster.scale_up.shape
clusterspec: 1
cluster:
  accelerator: tpu-v5p
  accelerators_per_node: 4
  nodes: 4
  scale_up: {shape: [2, 2, 4]}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: tpu-v5p
  accelerators_per_node: 4
  nodes: 16
  scale_up: {shape: [4, 4, 4]}
```

## Sources

- Wrap-around by slice: https://docs.cloud.google.com/tpu/docs/v5p
- What it does to collectives: https://jax-ml.github.io/scaling-book/tpus
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleUp
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import share_of_step, step_severity
from clusterspec.rules.knowledge.tpu_slices import consists_of_cubes, open_axes, slice_exists
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ScaleUpSpec

RULE = Rule.of(__name__, "warning")


HALVED = 0.5
"""Share of the ring time that wrap-around links save."""


def check(written_scale_up: ScaleUpSpec, scale_up: ScaleUp, timed: Plan | None) -> Iterator[Problem]:
    entry, shape = scale_up.interconnect, written_scale_up.shape
    if not shape or entry is None or entry.family != "ici" or not slice_exists(shape, entry):
        return
    if lines := open_axes(shape, entry):
        sides = and_list(str(shape[axis]) for axis in lines)
        plural = "s" if len(lines) > 1 else ""
        whole = "whole 4×4×4 cubes" if consists_of_cubes(entry) else "the whole 16×16 pod"
        yield RULE.problem(
            "cluster.scale_up.shape",
            f"{len(lines)} of {len(shape)} axes (side{plural} {sides}) have no wrap-around: rings along them run at half the bandwidth",
            f"use {whole}, or map the axis that communicates least to an open side",
            severity=step_severity(_wraparound_gain(timed), timed, unknown="note"),
        )


def _wraparound_gain(timed: Plan | None) -> float | None:
    """Upper limit of the share of the step that closed rings would save; None if no step time is predicted."""
    if timed is None or timed.step is None:
        return None
    inside = sum(row.exposed for row in timed.communication if row.tier == "scale-up")
    return share_of_step(HALVED * inside, timed)
