"""A quarter of the engines would serve all requests within the targets.

## What it finds

Engines in a multiple of four, with stated targets and a stated load, where a quarter of the engines hold all requests
in their cache and meet every target at the high end of the predicted latencies. The finding is a note, since the other
engines may serve growth, peaks and failures, which a steady load does not show. Twice the necessary engines are not
reported. The rule is also silent where fewer engines would occupy the same number of nodes.

## Why it matters

The other engines cost as much as the busy ones, and their memory stays empty.

## What to do

Plan fewer engines, or state the load that they are for.

## When to ignore it

Ignore it where the other engines are for growth, peaks or failures.

## Fires

```yaml workload.serving.concurrency
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 64, targets: {ttft: 2 s, tpot: 50 ms}}}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 2048, targets: {ttft: 2 s, tpot: 50 ms}}}
layout: {tp: 1}
```

## Sources

- Engines for a goodput under targets: https://arxiv.org/abs/2401.09670
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.targets import target_results
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "note", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, engines = served.load, served.layout.dp
    if load.load not in {"closed", "open"} or load.prefill is not None or engines < 4 or engines % 4:
        return
    if not load.targets:
        return
    enough, found = engines // 4, _with_engines(served, engines // 4)
    if found is None:
        return
    nodes = served.layout.nodes
    if -(-nodes * enough // engines) >= nodes:
        return
    times = found.times
    used = times.offered / max(1, times.places * found.layout.data_ranks)
    yield RULE.problem(
        f"{LOAD}.{'concurrency' if load.concurrency is not None else 'request_rate'}",
        f"{plural(enough, 'engine')} of {engines:,} would serve the {plural(round(times.offered), 'request')} in flight, in {percent(min(1.0, used), 2)} "
        f"of their cache: predicted {display(times.ttft, 's')} to the first token and {display(times.tpot, 's')} per output token",
        "plan fewer engines, or state the load that the others are for",
    )


def _with_engines(served: Served, engines: int) -> Served | None:
    """The plan with another number of engines, if it certainly meets all targets and serves all requests; else None."""
    found = served.with_layout(dp=engines)
    if found is None or found.layout.dp != engines or found.plan.fits is False:
        return None
    times, load = found.times, served.load
    held = times.offered <= times.kv_capacity_sequences
    return found if held and all(each.surely_met for each in target_results(times, load)) else None
