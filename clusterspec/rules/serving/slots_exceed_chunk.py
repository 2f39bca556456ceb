"""The token limit of a step is below the number of slots of the engine.

## What it finds

A `serving.chunk_tokens` below `serving.max_sequences`, both as stated: an error where the framework refuses to start with
it, otherwise a warning.

## Why it matters

Each sequence that decodes takes one token of a step, so at most `chunk_tokens` of the slots can decode in one step, and
no tokens remain for prompts. vLLM ends with "max_num_batched_tokens must be greater than or equal to max_num_seqs".

## What to do

Raise `chunk_tokens`, or lower `max_sequences` to the sequences that are in flight.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.serving.chunk_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 600, output_tokens: 200, concurrency: 256, max_sequences: 1024, chunk_tokens: 512}
layout: {framework: vllm, tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-8b
  serving: {input_tokens: 600, output_tokens: 200, concurrency: 256, max_sequences: 512, chunk_tokens: 2048}
layout: {framework: vllm, tp: 1}
```

## Sources

- vLLM: https://github.com/vllm-project/vllm/blob/01230b40128e570a58e54e75f7e55c4d5cd9246d/vllm/config/scheduler.py
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "warning")


def check(written_workload: WorkloadSpec, layout: Layout) -> Iterator[Problem]:
    load = written_workload.serving
    if load is None or load.chunk_tokens is None or load.max_sequences is None:
        return
    if load.chunk_tokens >= load.max_sequences:
        return
    refused = layout.capabilities.has("requires.chunk_holds_sequences")
    release = layout.capabilities.release or layout.framework
    ends = f"; {release} refuses to start with it" if refused else ""
    yield RULE.problem(
        "workload.serving.chunk_tokens",
        f"a step takes {load.chunk_tokens:,} tokens, but {load.max_sequences:,} sequences may decode, each with one of these tokens{ends}",
        f"use `chunk_tokens: {1 << (load.max_sequences - 1).bit_length()}` or more, or fewer sequences",
        severity="error" if refused else "",
    )
