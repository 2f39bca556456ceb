"""With latent attention, tensor parallelism replicates the cache on every rank.

## What it finds

A serving layout with tp above 1 for a model with latent attention. The severity follows the throughput that attention
data parallelism over the same ranks is predicted to gain within the targets: a note below the half-width of the range
of that difference, a warning above it, and, where there is a target for the time per output token, an error if at least
a quarter is lost even at the low end of the range. It is also a warning where, because of the copies, the cache holds
fewer requests than are in flight, and an error where it holds less than half of them and attention data parallelism
would hold all.

## Why it matters

All heads share the latent vector of a token. tp shards the heads but not the cache: with tp 8, each of the eight ranks
stores and reads the same cache, and the engine holds no more requests than one rank. With `attention_dp`, each rank
stores only the cache of its own requests.

## What to do

Use `attention_dp` instead of tp when many requests are in flight, with the experts distributed over all ranks (`ep`).

## When to ignore it

Ignore it when few requests are in flight: tp then reads the attention weights faster.

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
from clusterspec.rules.advice.serving import Gain, best_gain, comparison_text
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "note", "likely", yields_to=("tp-crosses-scale-up-domain",))
FAR = 2.0
"""Ratio of requests in flight to cache capacity that the uncertainty of buffers cannot explain."""


def check(served: Served, legality: Legality) -> Iterator[Problem]:
    if not served.workload.model.latent:
        return
    for key, layout in served.pools:
        if layout.tp == 1 or (key != "layout" and key.endswith("prefill")):
            continue
        gain = best_gain(served, legality, _candidates(layout)) if key == "layout" else None
        gain_text = f"; {comparison_text(gain)}" if gain and gain.is_worth_it else ""
        yield RULE.problem(
            f"{key}.tp",
            f"tp {layout.tp} does not shard the cache of latent attention ({display(served.times.kv_bytes_per_token, 'B')} per token): "
            f"every rank stores all of it{gain_text}",
            _help(served, gain, compared=key == "layout"),
            severity=_severity(served, gain),
        )


def _help(served: Served, gain: Gain | None, *, compared: bool) -> str:
    """Advice to use the faster layout; if no tried layout is faster and the cache has free space, the load at which one
    would be faster.
    """
    if gain and gain.is_worth_it:
        return f"use `{gain.words}`"
    if compared and (gain is None or gain.share <= 0) and _severity(served, gain) == "note":
        return "keep tp at this load, and use `attention_dp` where many more requests are in flight"
    return "use `attention_dp` when many requests are in flight"


def _severity(served: Served, gain: Gain | None) -> str:
    """Severity by the gain, or by the requests in flight that do not fit in the cache with its copies."""
    times = served.times
    if served.load.load == "offline" or times.placed_requests <= times.kv_capacity_sequences:
        return gain.severity if gain else "note"
    if gain is None or served.load.requests is not None or FAR * times.kv_capacity_sequences >= times.placed_requests:
        return "warning"
    apart = served.with_layout(tp=1, attention_dp=served.layout.tp * served.layout.attention_dp)
    return "error" if apart and times.placed_requests <= apart.times.kv_capacity_sequences else "warning"


def _candidates(layout: Layout) -> Iterator[dict[str, object]]:
    """Layouts on the same ranks: tp is halved down to 1, and attention data parallelism takes the other ranks."""
    ranks, tp = layout.tp * layout.attention_dp, 1
    while tp < layout.tp:
        if ranks % tp == 0:
            yield {"tp": tp, "attention_dp": ranks // tp}
        tp *= 2
