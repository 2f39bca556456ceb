"""The optics of a level contradict its cable type.

## What it finds

A fabric level whose `cable_type` differs from the type of its `optics`: `dac` with a transceiver module.

## Why it matters

Only one of the two can be bought, and the bill counts modules and fibers separately from cables with fixed ends.

## What to do

Remove `cable_type`: it follows from the optics.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is unsafe: it writes the type of the optics. The optics may be the wrong ones instead.

## Fires

```yaml cluster.scale_out.cable_type.leaf_spine
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    optics: {leaf_spine: mms4x00-ns}
    cable_type: {leaf_spine: dac}
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
    optics: {leaf_spine: mms4x00-ns}
    cable_type: {leaf_spine: fiber}
```

## Sources

- Types of the parts: `clusterspec catalog list --kind optics`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fabric import level_optics
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "error")


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    if not scale_out.optics:
        return
    for one in level_optics(scale_out):
        stated = (written_scale_out.cable_type or {}).get(one.level)
        if stated is not None and stated != one.cable_type:
            at = f"cluster.scale_out.cable_type.{one.level}"
            message = f"`{stated}` contradicts {one.lower_end.name}, which is {one.cable_type}"
            yield RULE.problem(
                at, message, "remove the key: it follows from the optics", fix=value_fix(at, one.cable_type)
            )
