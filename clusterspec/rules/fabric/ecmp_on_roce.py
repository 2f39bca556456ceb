"""ECMP distributes few large flows unevenly.

## What it finds

`load_balancing: ecmp` with RoCE on more than a single switch, or with any technology on a `dragonfly` or `dragonfly+`,
whose groups have few direct links. Where the step is predicted, the rule predicts it again with NICs at half their
rate: a note where the step grows by less than the half-width of the range of that difference, and for a service whose engines
each fit on a node; else a warning. It is never an error, since collisions vary from run to run.

## Why it matters

A collective consists of few large flows. Hashing places several flows on one link and none on another: in one
measurement, three nodes ran at half the bandwidth of two. Meta replaced plain ECMP in its RoCE clusters for this
reason.

## What to do

Use adaptive routing or packet spraying; else pinned paths, or many queue pairs per connection.

## When to ignore it

Ignore it where a measured all-to-all shows no loss.

## Fires

```yaml cluster.scale_out.load_balancing
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: roce-v2, topology: fat-tree, load_balancing: ecmp, flow_control: {pfc: true, ecn: true}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {technology: roce-v2, topology: fat-tree, load_balancing: adaptive, flow_control: {pfc: true, ecn: true}}
```

## Sources

- Three nodes slower than two: https://github.com/NVIDIA/nccl/issues/1453
- Meta's clusters: https://glennklockwood.com/garden/systems/meta's-h100-clusters
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.parts import engines_stay_on_nodes
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning")


def check(
    cluster: Cluster, scale_out: ScaleOut, workload: Workload | None, layout: Layout | None, what_if: WhatIf
) -> Iterator[Problem]:
    hashed = scale_out.technology.family == "roce" and scale_out.load_balancing == "ecmp"
    if scale_out.load_balancing == "ecmp" and scale_out.topology in {"dragonfly", "dragonfly+"} and cluster.nodes > 2:
        message = "equal-cost routing keeps the traffic of two groups on their few links between them and leaves the links of other groups idle"
        yield RULE.problem("cluster.scale_out.load_balancing", message, "use `load_balancing: adaptive`")
        return
    if hashed and scale_out.topology != "single-switch" and cluster.nodes > 2:
        message = "ECMP hashes the few large flows of a collective onto some links and leaves others idle"
        now, half = what_if.step_time, what_if.at_half_rate(scale_out)
        lost = 1 - now / half if now and half else None
        times = f"; at half the rate, a step of {display(now, 's')} takes {display(half, 's')}" if now and half else ""
        severe = lost is None or what_if.severity(lost) != "note"
        severe = severe and not engines_stay_on_nodes(cluster, workload, layout)
        yield RULE.problem(
            "cluster.scale_out.load_balancing",
            f"{message}{times}",
            "use `load_balancing: adaptive` or `spray`, else `path-pinning`",
            severity="warning" if severe else "note",
        )
