"""A served model is divided into pipeline stages, although a domain holds it.

## What it finds

A serving layout with pp above 1 for a model whose weights fill at most half of the memory that the ranks of one stage
have, where the same number of engines without stages is legal, fits, and is predicted to lose at most 5 % of the
throughput. The finding is a warning, since a failure of one node stops all stages, and an error where engines without
stages are predicted to gain a quarter even at the low end of the range. It is never a note.

## Why it matters

Pipeline stages are for models that do not fit otherwise. A smaller model gains nothing: every token passes all stages
one after the other, the requests in flight are divided among the stages, and one failed node stops the whole engine.
Replicas hold the same number of requests.

## What to do

Use replicas of one stage: a tp within the domain, and `dp` for the rest.

## When to ignore it

Ignore it where the memory of several nodes is needed for the cache of very long requests.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {kind: serve, model: llama-3.1-70b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}}
layout: {framework: vllm, tp: 8, pp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {kind: serve, model: llama-3.1-70b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}}
layout: {framework: vllm, tp: 8, pp: 1}
```

## Sources

- Pipeline stages for models that exceed a node: https://docs.vllm.ai/en/stable/serving/parallelism_scaling/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.memory import summed_bytes
from clusterspec.cost.serving.latency import loss_factors
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.serving import best_gain, comparison_text
from clusterspec.rules.advice.what_if import NOTICEABLE
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
EQUAL = -0.05
"""Smallest gain in throughput (negative: a loss) at which replicas count as equally fast."""
MOST = 0.5
"""Share of a stage's memory that weights may take; the rest is for a cache of equal size."""


def check(served: Served, legality: Legality) -> Iterator[Problem]:
    layout, stored = served.layout, served.plan.stored
    memory = served.cluster.accelerator.memory
    if layout.pp == 1 or layout.separate_engines or stored is None or memory is None:
        return
    weights = summed_bytes(stored.rank.weights) * layout.pp
    each = memory.value / served.cluster.ranks_per_accelerator
    if weights > MOST * each or layout.tp > served.cluster.ranks_per_domain:
        return
    gain = best_gain(served, legality, [{"pp": 1, "stage_layers": None}])
    if gain is None or gain.share < EQUAL:
        return
    lost = gain.share / (1 + gain.share)
    about = "" if gain.share > NOTICEABLE else ": about as fast, and a failure stops one engine instead of all stages"
    yield RULE.problem(
        "layout.pp",
        f"the weights of all {layout.pp} stages, {display(weights, 'B')} on a rank, are {percent(weights / each, 2)} of its memory: "
        f"one stage holds the model; {comparison_text(gain)}{about}",
        f"use `pp: 1` and {layout.pp} times the engines",
        severity="error" if cost_severity(lost, loss_factors(served.times)) == "error" else "",
    )
