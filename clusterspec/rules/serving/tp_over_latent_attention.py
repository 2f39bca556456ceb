"""Tensor parallelism over latent attention keeps the whole cache on every rank.

## What it finds

A serving layout with tp above 1 of a model with latent attention. It is a warning where attention data parallelism over the
same ranks is predicted to give over 15 % more throughput within the targets, else a note.

## Why it matters

The latent vector of a token belongs to all heads. tp cuts the heads and not the cache: each of eight ranks keeps and
reads the same cache, and the engine holds the requests of one rank. With `attention_dp` each rank keeps the cache of its
own requests.

## What to do

Use `attention_dp` in place of tp where many requests are in flight, with experts over all ranks (`ep`).

## When to ignore it

Where few requests are in flight: then tp reads the weights of attention faster.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 1000, concurrency: 512}}
layout: {tp: 8, ep: 8, framework: sglang}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 1}
workload: {kind: serve, model: deepseek-v3, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 1000, concurrency: 512}}
layout: {tp: 1, attention_dp: 8, ep: 8, framework: sglang}
```

## Sources

- Latent attention and its deployment: https://arxiv.org/abs/2412.19437
- Attention data parallelism: https://lmsys.org/blog/2024-12-04-sglang-v0-4/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.serving import best, compared
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.rule import Rule
from clusterspec.units import say

RULE = Rule.of(__name__, "note", "likely", yields_to=("tp-crosses-scale-up-domain",))


def check(served: Served, legality: Legality) -> Iterator[Problem]:
    if not served.workload.model.latent:
        return
    for key, layout in served.pools:
        if layout.tp == 1 or (key != "layout" and key.endswith("prefill")):
            continue
        gain = best(served, legality, _candidates(layout)) if key == "layout" else None
        beside = f"; {compared(gain)}" if gain and gain.share > 0 else ""
        yield RULE.problem(
            f"{key}.tp",
            f"tp {layout.tp} does not cut the cache of latent attention, {say(served.times.kv_bytes_per_token, 'B')} a token: "
            f"every rank keeps all of it{beside}",
            f"use `{gain.words}`"
            if gain and gain.share > 0
            else "use `attention_dp` where many requests are in flight",
            severity=gain.severity if gain else "note",
        )


def _candidates(layout: Layout) -> Iterator[dict[str, object]]:
    """The same ranks with tp halved until it is 1, the rest as attention data parallelism."""
    ranks, tp = layout.tp * layout.attention_dp, 1
    while tp < layout.tp:
        if ranks % tp == 0:
            yield {"tp": tp, "attention_dp": ranks // tp}
        tp *= 2
