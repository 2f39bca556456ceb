"""A single request meets a latency target, but the load of the spec does not.

## What it finds

A predicted time to first token or time per output token above its target at the stated load, if a single request
meets the target. The times are those at the percentile in `targets.percentile`. The finding is a warning if the
low end of the range of a prediction misses its target, too; otherwise a note.

## Why it matters

Every request in flight adds the time to read its cache to a step, and every prefill interrupts decoding. The message
states the concurrency up to which the median meets both targets.

## What to do

Add replicas, which lowers the concurrency of each, or use the layout that `clusterspec search` finds for the load.

## When to ignore it

Ignore it when the targets are not contractual.

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

from clusterspec.cost.serving.explain import missed_targets, percentile_factors, tpot_percentile, ttft_percentile
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both
from clusterspec.units import display, plain, plural

RULE = Rule.of(__name__, "warning", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, times = served.load, served.times
    late = missed_targets(times, load)
    alone = served.alone() if late else None
    if alone is None:
        return
    late = tuple(name for name in late if name not in missed_targets(alone.times, load))
    if not late:
        return
    times_of = {"ttft": (ttft_percentile, load.ttft_target), "tpot": (tpot_percentile, load.tpot_target)}
    missed = {name: (at(times, load), target or 0.0) for name, (at, target) in times_of.items() if name in late}
    parts = [
        f"{name} {display(seconds, 's')} against {display(target, 's')}" for name, (seconds, target) in missed.items()
    ]
    severities = {
        target_severity(target, seconds, percentile_factors(times, load, name))
        for name, (seconds, target) in missed.items()
    }
    most = times.max_concurrency or 0.0
    bound = f"; the median meets the targets up to a concurrency of {int(most):,}" if 1 <= most < times.offered else ""
    yield RULE.problem(
        f"{LOAD}.targets",
        f"with {plural(round(times.offered), 'request')} in flight, {'the median' if load.percentile == 50 else f'percentile {plain(load.percentile)}'} misses its target: {both(parts)}{bound}",
        "add replicas, lower the concurrency, or let `clusterspec search` find a layout for the load",
        severity="warning" if "warning" in severities else "note",
    )
