"""The sequence length is not divisible by cp.

## What it finds

`cp` above 1 and a `sequence_length` that is not a multiple of 2 × cp (of cp with `cp_method: all-to-all`).

## Why it matters

With a causal mask, contiguous shards would give the first ranks less work. Ring attention therefore gives each rank two
chunks of equal length, one from the front and one from the back. Frameworks assert it.

## What to do

Pad the sequence to the next multiple, or use another cp.

## When to ignore it

Ignore it where the data loader pads each batch to the multiple.

## Fires

```yaml workload.sequence_length
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8200, global_batch: 256}
layout: {cp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8208, global_batch: 256}
layout: {cp: 8}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1337
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/trainer.py#L299
- TRL: https://github.com/huggingface/trl/pull/3994
"""

from __future__ import annotations

from collections.abc import Iterator
from math import lcm

from clusterspec.cluster.legality import sequence_chunks, sequence_step
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality, near_multiples
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list

RULE = Rule.of(__name__, "error")


def check(legality: Legality, training: Workload, layout: Layout) -> Iterator[Problem]:
    step = sequence_chunks(layout.cp, ring=layout.cp_method != "all-to-all")
    if legality.breaks(RULE.name):
        sharded = legality.numbers.sequence_parallel and layout.tp > 1
        shards = sequence_step(layout.tp, layout.cp, layout.capabilities, ring=layout.cp_method != "all-to-all")
        near = near_multiples(training.sequence_length, lcm(step, shards) if sharded else step)
        longest = training.model.max_sequence_length
        held = [length for length in near if longest is None or length <= longest] or near
        why = f"cp {layout.cp}" if step == layout.cp else f"2 × cp {layout.cp} (two chunks per rank)"
        message = f"{training.sequence_length:,} tokens do not divide by {why}"
        yield RULE.problem("workload.sequence_length", message, f"pad to {or_list(held)} tokens, or use another cp")
