"""A link between pools carries more than the nodes of a pool can send.

## What it finds

A `pool_links[].bandwidth` above the line rate of all fabric NICs of one of its two pools: a note, and a warning from four
times on.

## Why it matters

The pool cannot fill the link, and estimates count with the stated rate. Such a figure is mostly in bytes for bits, or that of
the fabric inside a pool.

## What to do

State the rate of the link in bits per second, or `fabric: shared` where both pools are on one fabric.

## When to ignore it

Ignore it where the link also serves other machines.

## Fires

```yaml pool_links[0].bandwidth
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [train, serve], bandwidth: 400 Tb/s}]
jobs:
  tune:
    pool: train
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
    layout: {framework: megatron-core, tp: 2, micro_batch: 1}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: dgx-h100, nodes: 2}
pool_links: [{between: [train, serve], bandwidth: 800 Gb/s}]
jobs:
  tune:
    pool: train
    workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
    layout: {framework: megatron-core, tp: 2, micro_batch: 1}
```

## Sources

- Pools, links and engines on pools of their own: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Pool
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "note")
MUCH = 4.0
"""At this multiple of what the smaller pool sends or above, the figure is in another unit or of another link."""


def check(fleet: Fleet) -> Iterator[Problem]:
    for number, written in enumerate(fleet.spec.pool_links or ()):
        if written.bandwidth is None:
            continue
        ends = [
            (rate, name) for name in written.between or () if (rate := _line_rate(fleet.pools.get(name))) is not None
        ]
        if not ends or written.bandwidth.per_direction <= min(ends)[0]:
            continue
        rate, name = min(ends)
        message = f"the link carries {written.bandwidth.written}, and all NICs of pool `{name}` together {display(rate, 'B/s')}"
        severity = "warning" if written.bandwidth.per_direction >= MUCH * rate else ""
        yield RULE.problem(("pool_links", number, "bandwidth"), message, "check bits and bytes", severity=severity)


def _line_rate(pool: Pool | None) -> float | None:
    """B/s per direction of all fabric NICs of a pool; None where they are not known."""
    fabric = pool.cluster.scale_out if pool is not None and pool.cluster is not None else None
    return fabric.node_bandwidth * pool.nodes if fabric is not None and pool is not None and pool.nodes else None
