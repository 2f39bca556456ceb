"""A latency target is met by a single request, and missed at the load of the spec.

## What it finds

A predicted time to the first token or time per output token above its target at the stated load, where one request
alone meets it. The times are those of the percentile in `targets.percentile`.

## Why it matters

Every request in flight adds its cache to a step, and every prompt interrupts decoding. The message gives the
concurrency up to which the median meets both targets.

## What to do

Lower the concurrency of a replica by adding replicas, or use the layout that `clusterspec search` finds for the load.

## When to ignore it

Where the targets are goals and not contracts.

## Fires

```yaml workload.serving.targets
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 128, targets: {tpot: 30 ms}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 8, targets: {tpot: 30 ms}}}
layout: {tp: 8}
```

## Sources

- Throughput under latency targets: https://arxiv.org/abs/2401.09670
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.targets import missed, tpot_at, ttft_at
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both
from clusterspec.units import plain, plural, say

RULE = Rule.of(__name__, "warning", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, times = served.load, served.times
    late = missed(times, load)
    alone = served.alone() if late else None
    if alone is None:
        return
    late = tuple(name for name in late if name not in missed(alone.times, load))
    if not late:
        return
    seen = {"ttft": (ttft_at, load.ttft_target), "tpot": (tpot_at, load.tpot_target)}
    parts = [
        f"{name} {say(at(times, load), 's')} against {say(target or 0.0, 's')}"
        for name, (at, target) in seen.items()
        if name in late
    ]
    most = times.max_concurrency or 0.0
    bound = f"; the median meets the targets up to a concurrency of {int(most):,}" if 1 <= most < times.offered else ""
    yield RULE.problem(
        f"{LOAD}.targets",
        f"percentile {plain(load.percentile)} of {plural(round(times.offered), 'request')} in flight misses {both(parts)}{bound}",
        "add replicas, lower the concurrency, or let `clusterspec search` find a layout for the load",
    )
