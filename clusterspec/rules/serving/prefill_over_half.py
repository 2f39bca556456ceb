"""Prefill takes more than half of the time of the decode engines.

## What it finds

A predicted prefill share above one half, on engines that run both prefill and decode. The finding is a warning if the
low end of the range of the time per output token misses its target and a step without prefill would meet it; otherwise
a note.

## Why it matters

The prefill of each prompt delays decoding of all other requests of its engine. With a prefill share above one half, the
time per output token is more than twice the decode step alone.

## What to do

Run prefill on separate engines (`workload.serving.disaggregated`), or in chunks that limit the step time
(`chunk_tokens`). Prefixes found in the cache (`prefix_hit`) shorten prefill.

## When to ignore it

Ignore it in offline runs, where only throughput counts.

## Fires

```yaml workload.serving
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 16000, output_tokens: 500, concurrency: 32}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 32}}
layout: {tp: 8}
```

## Sources

- Chunked prefill: https://arxiv.org/abs/2403.02310
- Separate engines: https://arxiv.org/abs/2401.09670 https://arxiv.org/abs/2311.18677
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import range_factors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "note", "likely")
MOST = 0.5


def check(served: Served) -> Iterator[Problem]:
    load, times = served.load, served.times
    if load.prefill is not None or load.load in {"offline", "static"} or times.prefill_share <= MOST:
        return
    pure = times.tpot * (1 - times.prefill_share)
    missed = [each.seconds for each in load.targets if each.quantity == "tpot" and pure <= each.seconds < times.tpot]
    yield RULE.problem(
        LOAD,
        f"prefill takes {percent(times.prefill_share, 2)} of the engines' time: of {display(times.tpot, 's')} per output token, "
        f"{display(pure, 's')} are decoding",
        "run prefill on separate engines (`disaggregated`), or shorten each step by smaller chunks (`chunk_tokens`)",
        severity=target_severity(min(missed), times.tpot, range_factors(times, "tpot"), most="warning")
        if missed
        else "note",
    )
