"""A stated bisection bandwidth differs from the fabric's.

## What it finds

A `bisection` more than 5 % above endpoints × NIC rate / 2 / oversubscription, per direction. The message says so where
the figure is the injection bandwidth. The finding is an error. In a 1:1 fabric, a figure that sums both directions
without `duplex` is a note; at 2:1 it is an error, since that sum also equals the bisection of a 1:1 fabric. A
figure below 45 % of it is a warning, and below a fifth an error.

## Why it matters

Sales material calls the sum of all NICs the bisection bandwidth. The bandwidth between two halves of the machine is at
most half of that, and 2:1 oversubscription halves it again.

## What to do

State endpoints × NIC rate / 2 / oversubscription, per direction; or remove the key, which is only checked.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.bisection
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {bisection: 25.6 TB/s}
```

```yaml cluster.scale_out.bisection
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {bisection: 12.8 Tb/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {bisection: 12.8 TB/s}
```

## Sources

- Bisection bandwidth of folded Clos networks: https://doi.org/10.1145/1402958.1402967
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cost.formulas import topologies
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import display, percent
from clusterspec.units.display import agrees_within

RULE = Rule.of(__name__, "error")
ROUNDED = 0.05
SHORT, FAR_SHORT = 0.45, 0.2
"""Shares of the topology's bisection bandwidth below which a stated figure is reported, and is an error; counting one
of two directions gives half.
"""


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut, rated: Cluster) -> Iterator[Problem]:
    written = written_scale_out.bisection
    if written is None:
        return
    ratio, injection = max(1.0, scale_out.taper), rated.all_nodes * scale_out.node_bandwidth
    bisection = topologies.bisection_bandwidth(rated.all_nodes, scale_out.node_bandwidth) / ratio
    over = f" at {ratio:g}:1" if ratio > 1 else ""
    if written.per_direction < bisection * SHORT and not scale_out.levels:
        yield RULE.problem(
            "cluster.scale_out.bisection",
            f"{written.written} is {percent(written.per_direction / bisection, 2)} of the bisection of {display(bisection, 'B/s')} per direction of {rated.nodes:,} nodes{over}",
            f"write `bisection: {display(bisection, 'B/s')}`, or state the oversubscription that reduces it",
            severity="warning" if written.per_direction > bisection * FAR_SHORT else "error",
        )
    if written.per_direction <= bisection * (1 + ROUNDED):
        return
    is_injection = agrees_within(written.per_direction, injection, ROUNDED) or agrees_within(
        written.per_direction, rated.nodes * scale_out.node_bandwidth, ROUNDED
    )
    both_ways = agrees_within(written.value, 2 * bisection, ROUNDED) and written.direction is None and not is_injection
    untapered = ratio > 1 and agrees_within(written.per_direction, bisection * ratio, ROUNDED)
    yield RULE.problem(
        "cluster.scale_out.bisection",
        f"{written.written} exceeds the bisection of {display(bisection, 'B/s')} per direction of {rated.nodes:,} "
        f"nodes{over}{_meaning_text(is_injection, untapered, both_ways)}",
        f"write `bisection: {display(bisection, 'B/s')}`, or `{display(2 * bisection, 'B/s')} duplex`",
        severity="note" if both_ways and not untapered else "error",
    )


def _meaning_text(is_injection: bool, untapered: bool, both_ways: bool) -> str:
    if is_injection:
        return ": it is the injection bandwidth, the sum of all NICs"
    if untapered:
        return ": it is the figure at 1:1, without the oversubscription"
    return ": it is the sum of both directions, and not stated as `duplex`" if both_ways else ""
