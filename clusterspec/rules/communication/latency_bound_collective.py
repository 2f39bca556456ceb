"""A collective between nodes is bound by latency.

## What it finds

A collective between nodes with messages below 64 MiB, whose predicted time is mostly latency and whose exposed time is
more than 2 % of the step.

Severity follows the lost share of the step: a note below the half-width of the range of that difference, a warning
above it, and an error if even the low end of the range loses a quarter of the step.

## Why it matters

Over four nodes, an all-reduce of 32 KiB takes as long as an all-reduce of several MiB: the links are idle most of the
time, and faster NICs do not help.

## What to do

Use larger messages: larger gradient buckets, a larger micro-batch, fewer and longer parts of the sequence. Or keep the
axis inside the domain, where the latency is a tenth.

## When to ignore it

Ignore it where the traffic overlaps with computation.

## Fires

```yaml layout.dp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: {layers: 24, hidden: 1024, heads: 16, ffn_hidden: 4096, vocab: 32000}, sequence_length: 2048, global_batch: 1024}
layout: {tp: 1, sharding: fsdp}
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
from clusterspec.cost.collectives import CollectiveCost, CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.cost.plan import Communication, Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE
from clusterspec.rules.knowledge.shares import share_of_step, step_severity
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(
    __name__,
    "warning",
    "likely",
    yields_to=("tp-crosses-scale-up-domain", "tp-straddles-scale-up-domain", "ep-crosses-scale-up-domain"),
)
SMALL = float(64 << 20)
KEYS = {"dp_cp": "dp", "expert_dp": "dp", "shard": "shard_group", "replicate": "shard_group"}


def check(placements: Placements, training: Workload, cluster: Cluster, timed: Plan) -> Iterator[Problem]:
    for row in timed.communication:
        small = row.tier == "scale-out" and row.calls > 0 and 0 < row.bytes / row.calls < SMALL
        if not small or row.collective == "send-recv" or share_of_step(row.exposed, timed) <= NOTICEABLE:
            continue
        cost = _cost(placements, cluster, row)
        if cost is not None and cost.bound_by == "latency":
            lost = percent(share_of_step(row.exposed, timed), 2)
            message = (
                f"each {row.collective} of {KEYS.get(row.axis, row.axis)} over {row.ranks:,} ranks carries {display(cost.size, 'B')}, and latency is "
                f"most of its {display(cost.seconds, 's')}: {lost} of the step"
            )
            yield RULE.problem(
                f"layout.{KEYS.get(row.axis, row.axis)}",
                message,
                "use larger messages, or keep the axis inside the domain",
                severity=step_severity(share_of_step(row.exposed, timed), timed),
            )
            return


def _cost(placements: Placements, cluster: Cluster, row: Communication) -> CollectiveCost | None:
    placement = placements.of(row.axis)
    try:
        return collective_cost(cluster, row.collective, placement, row.bytes / row.calls) if placement else None
    except CollectiveUnavailableError:
        return None
