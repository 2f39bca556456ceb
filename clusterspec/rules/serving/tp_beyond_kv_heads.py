"""The tensor-parallel degree exceeds the number of key-value heads, so ranks store copies of the cache.

## What it finds

A serving layout whose tp exceeds the `kv_heads` of the model. The severity follows the throughput that a tp equal to
`kv_heads` on the same accelerators is predicted to gain within the targets: a note below a tenth, else a warning, and,
where there is a target for the time per output token, an error if at least a quarter is lost even at the low end of the
range. It is also a warning where, because of the copies, the cache holds fewer requests than are in flight.

## Why it matters

A rank stores whole key-value heads. With more ranks than heads, several ranks store the same head: the additional ranks
neither let the cache hold more requests nor reduce the bytes that a rank reads per step.

## What to do

Use a tp of at most `kv_heads`, and the other ranks for attention data parallelism or replicas.

## When to ignore it

Ignore it when the latency of a single request matters most.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: qwen3-235b-a22b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 4000, output_tokens: 1000, concurrency: 64}}
layout: {tp: 8, ep: 8, framework: vllm}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: qwen3-235b-a22b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 4000, output_tokens: 1000, concurrency: 64}}
layout: {tp: 4, attention_dp: 2, framework: vllm}
```

## Sources

- Key-value heads over ranks: https://arxiv.org/abs/2211.05102
- Attention data parallelism: https://docs.vllm.ai/en/stable/serving/data_parallel_deployment.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.serving import Gain, best_gain, comparison_text
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import changed_keys
from clusterspec.units import plain

RULE = Rule.of(__name__, "note", "likely", yields_to=("tp-crosses-scale-up-domain",))
WORTH = 0.1
"""Smallest gain in throughput at which another layout is worthwhile for one copy of each head; the sign of the gain is then
certain.
"""


def check(served: Served, legality: Legality) -> Iterator[Problem]:
    model = served.workload.model
    if model.latent or model.compressed or not model.kv_heads:
        return
    for key, layout in served.pools:
        if layout.tp > model.kv_heads:
            yield _problem(served, legality, model, layout, key)


def _problem(served: Served, legality: Legality, model: Model, layout: Layout, key: str) -> Problem:
    copies = plain(layout.tp / model.kv_heads, 2)
    gain = best_gain(served, legality, _candidates(served, model, layout)) if key == "layout" else None
    gain_text = f"; {comparison_text(gain)}" if gain and gain.is_worth_it else ""
    return RULE.problem(
        f"{key}.tp",
        f"tp {layout.tp} exceeds the {model.kv_heads} key-value heads of the model: the ranks store {copies} copies of the cache{gain_text}",
        _remedy(served, model, layout, key, gain),
        severity=_severity(served, gain),
    )


def _remedy(served: Served, model: Model, layout: Layout, key: str, gain: Gain | None) -> str:
    """Advice: the layout with a gain; else as many ranks as heads, with stages if the weights need the other ranks."""
    if gain is not None and gain.is_worth_it:
        return f"use `{gain.words}`"
    fewer = _with_fewer_ranks(served, model, layout)
    alone = served.with_layout(**fewer) if key == "layout" and fewer else None
    words = f"`{changed_keys(fewer)}`" if fewer else f"tp {model.kv_heads}"
    if alone is not None and alone.plan.fits is False:
        return f"use {words}, and stages (`pp`) for the rest: without them the weights do not fit"
    return f"use {words}, and `attention_dp` or replicas for the rest"


def _severity(served: Served, gain: Gain | None) -> str:
    """Severity by the gain of the other layout; at least a warning if the gain is a tenth or the cache is too small."""
    found = gain.severity if gain is not None else "note"
    worth = gain is not None and gain.share >= WORTH
    return "warning" if _cache_is_short(served) or (found == "note" and worth) else found


def _cache_is_short(served: Served) -> bool:
    """Whether more requests are in flight than the cache, with its copied heads, can keep."""
    return served.load.load != "offline" and served.times.placed_requests > served.times.kv_capacity_sequences


def _with_fewer_ranks(served: Served, model: Model, layout: Layout) -> dict[str, int]:
    """Keys for smaller engines with one rank per key-value head, with the degrees of the experts adapted; empty if they
    cannot be divided.
    """
    section = served.design.spec.layout
    ranks = model.kv_heads * layout.attention_dp
    ep = layout.ep if ranks % layout.ep == 0 else ranks
    stated = section is not None and section.expert_tp is not None
    if not model.experts or (ep == layout.ep and not stated):
        return {"tp": model.kv_heads}
    if model.experts % ep:
        return {}
    changed = {"ep": ep} if ep != layout.ep else {}
    return {"tp": model.kv_heads} | changed | ({"expert_tp": ranks // ep} if stated else {})


def _candidates(served: Served, model: Model, layout: Layout) -> Iterator[Mapping[str, object]]:
    """Layouts with one tensor-parallel rank per key-value head; the other ranks become attention data parallelism or
    replicas.
    """
    if layout.tp % model.kv_heads == 0:
        yield {"tp": model.kv_heads, "attention_dp": layout.attention_dp * layout.tp // model.kv_heads}
        if fewer := _with_fewer_ranks(served, model, layout):
            yield fewer
