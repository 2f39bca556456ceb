"""A collective between nodes is bound by latency.

## What it finds

A collective of the plan that crosses nodes with messages below 64 MiB, whose predicted time is mostly latency, and of
which more than 2 % of the step is exposed.

## Why it matters

Over four nodes, an all-reduce of 32 KiB takes as long as one of several MiB: the links are idle most of the time, and
faster NICs do not help.

## What to do

Use larger messages: larger gradient buckets, a larger micro-batch, fewer and longer parts of the sequence. Or keep the
axis inside the domain, where the latency is a tenth.

## When to ignore it

Ignore it where the traffic overlaps with computation.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 1024, global_batch: 64}
layout: {tp: 32}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8}
```

## Sources

- Bandwidth by message size: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L1394
- The latency-bandwidth model: https://doi.org/10.1177/1094342005051521
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.cost.collectives.model import CollectiveCost, CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.cost.plan import Plan
from clusterspec.cost.term import Communication
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE
from clusterspec.rules.knowledge.shares import share
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
SMALL = float(64 << 20)
KEYS = {"dp_cp": "dp", "expert_dp": "dp", "shard": "shard_group", "replicate": "shard_group"}


def check(placements: Placements, training: Workload, cluster: Cluster, timed: Plan) -> Iterator[Problem]:
    for row in timed.communication:
        small = row.tier == "scale-out" and row.calls > 0 and 0 < row.bytes / row.calls < SMALL
        if not small or row.collective == "send-recv" or share(row.exposed, timed) <= NOTICEABLE:
            continue
        cost = _cost(placements, cluster, row)
        if cost is not None and cost.bound_by == "latency":
            lost = percent(share(row.exposed, timed), 2)
            message = (
                f"each {row.collective} of {KEYS.get(row.axis, row.axis)} over {row.ranks:,} ranks is {display(cost.size, 'B')}, and latency is "
                f"most of its {display(cost.seconds, 's')}: {lost} of the step"
            )
            yield RULE.problem(
                f"layout.{KEYS.get(row.axis, row.axis)}",
                message,
                "use larger messages, or keep the axis inside the domain",
            )
            return


def _cost(placements: Placements, cluster: Cluster, row: Communication) -> CollectiveCost | None:
    placement = placements.of(row.axis)
    try:
        return collective_cost(cluster, row.collective, placement, row.bytes / row.calls) if placement else None
    except CollectiveUnavailableError:
        return None
