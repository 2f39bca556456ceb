"""The weights leave too little memory for the cache of one request.

## What it finds

Engines whose weights fit but, after framework memory and the activations of one step, leave too little of
`memory_fraction` for the cache of one request of full length.

## Why it matters

The engine refuses to start, or rejects every request of that length. vLLM and TensorRT-LLM use 0.90 of the memory by
default; 2 to 3 GB of that hold buffers, captured graphs and activations.

## What to do

Raise tp or pp, store weights in fewer bytes (`parameter_precision`), store the cache in fp8 (`kv_precision`), or
shorten the requests. A smaller `chunk_tokens` reduces the activations of a step, and fewer `max_sequences` what the engine
keeps free to sample them: 7.4 GB for 1,024 sequences and 201,088 tokens.

## When to ignore it

Ignore it when a measured run holds the request.

## Fires

```yaml workload.serving
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 120000, output_tokens: 2000, concurrency: 4}}
layout: {tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 120000, output_tokens: 2000, concurrency: 4}}
layout: {tp: 4}
```

## Sources

- Memory of an engine: https://docs.vllm.ai/en/stable/configuration/conserving_memory.html
- Cache and weights in memory: https://arxiv.org/abs/2309.06180
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.memory.fullest import Memory
from clusterspec.cost.serving.handoff import request_bytes
from clusterspec.finding import Problem
from clusterspec.rules.advice.remedies import with_narrower_weights
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")


def check(served: Served) -> Iterator[Problem]:
    stored = served.plan.stored
    if stored is None or stored.capacity is None:
        return
    capacity = stored.capacity.value
    weights = sum(line.value for line in stored.rank.weights) * stored.ranks
    if weights > capacity or stored.total <= capacity:
        return
    load, layout = served.load, stored.job.layout
    needed = request_bytes(stored.job.workload, layout, load.tokens) / layout.pp * stored.ranks
    yield RULE.problem(
        LOAD,
        f"{display(weights, 'B')} of weights leave too little of the {display(capacity, 'B')} that an engine may use on each accelerator: "
        f"one request of {load.tokens:,} tokens needs {display(needed, 'B')} of cache",
        f"{_fewer_sequences_advice(stored)}{with_narrower_weights(served.plan)}, store the cache in fp8 (`kv_precision`), or raise tp or pp",
    )


def _fewer_sequences_advice(stored: Memory) -> str:
    """Advice to keep less memory free for sampling, if the software reserves some; else empty."""
    sampling = next((line.value for line in stored.rank.reserved if line.name == "sampling"), 0.0)
    serving = stored.job.workload.serving
    if not sampling or serving is None:
        return ""
    kept = f"{display(sampling, 'B')} are kept free to sample {serving.sampled_sequences:,} sequences"
    return f"state fewer `max_sequences` ({kept}), "
