"""A stated bisection is more than the fabric has.

## What it finds

A `bisection` more than 5 % above endpoints × NIC rate / 2 / oversubscription, per direction. The message says when it is the injection
bandwidth. A note where it is the sum of both directions and does not say so.

## Why it matters

Sales material calls the sum of all NICs the bisection. Half of the machine talking to the other half gets half of that at best, and a
half again for each 2:1 of oversubscription.

## What to do

State endpoints × NIC rate / 2 / oversubscription, per direction, or leave the key out: nothing uses it.

## When to ignore it

Never.

## Fires

```yaml cluster.scale_out.bisection
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 64
  scale_out: {bisection: 25.6 TB/s}
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
from clusterspec.cost.formulas import links
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import say
from clusterspec.units.slips import near

RULE = Rule.of(__name__, "error")
ROUNDED = 0.05


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut, rated: Cluster) -> Iterator[Problem]:
    said = written_scale_out.bisection
    if said is None:
        return
    ratio, injection = max(1.0, scale_out.taper), rated.all_nodes * scale_out.node_bandwidth
    bisection = links.bisection(rated.all_nodes, scale_out.node_bandwidth) / ratio
    if said.per_direction <= bisection * (1 + ROUNDED):
        return
    over = f" at {ratio:g}:1" if ratio > 1 else ""
    is_injection = near(said.per_direction, injection, ROUNDED) or near(
        said.per_direction, rated.nodes * scale_out.node_bandwidth, ROUNDED
    )
    both_ways = near(said.value, 2 * bisection, ROUNDED) and said.direction is None and not is_injection
    yield RULE.problem(
        "cluster.scale_out.bisection",
        f"{said.written} is more than the {say(bisection, 'B/s')} per direction that {rated.nodes:,} nodes have between two "
        f"halves{over}{_meaning(said, is_injection, both_ways)}",
        f"write {say(bisection, 'B/s')}, or {say(2 * bisection, 'B/s')} duplex",
        severity="note" if both_ways else "error",
    )


def _meaning(said: Quantity, is_injection: bool, both_ways: bool) -> str:
    if is_injection:
        return ": it is the injection bandwidth, the sum of all NICs"
    return ": it counts both directions, without saying so" if both_ways else ""
