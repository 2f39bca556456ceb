"""With sequence parallelism, the sequence length is not divisible by tp.

## What it finds

`sequence_parallel` with tp above 1 and a `sequence_length` that is not a multiple of tp; with cp, of the least common
multiple of 2 × cp and cp × tp; in torchtitan, of 2 × cp × tp. The rule is silent where `sequence-indivisible-by-cp`
fires, and for `framework: custom`, which may pad sequences or shard another dimension. Where `sequence_parallel` is not
stated and the length does not divide, it is assumed off.

## Why it matters

Between the tensor-parallel blocks each rank keeps an equal share of the sequence. A length that does not divide is a
shape error in the first layer.

## What to do

Pad the sequence to the next multiple.

## When to ignore it

Ignore it where the framework pads the sequence itself.

## Fires

```yaml workload.sequence_length
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 4100, global_batch: 256}
layout: {tp: 8, sequence_parallel: true}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 4104, global_batch: 256}
layout: {tp: 8, sequence_parallel: true}
```

## Sources

- NeMo RL: https://github.com/NVIDIA-NeMo/RL/pull/3563
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/trainer.py#L299
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.legality import sequence_step
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality, near_multiples
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list

RULE = Rule.of(__name__, "error")


def check(legality: Legality, training: Workload, layout: Layout) -> Iterator[Problem]:
    if legality.breaks(RULE.name):
        length, ring = training.sequence_length, layout.cp_method != "all-to-all"
        step = sequence_step(layout.tp, layout.cp, layout.capabilities, ring=ring)
        near = or_list(near_multiples(length, step))
        and_cp = f" and cp {layout.cp}" if layout.cp > 1 else ""
        message = f"{length:,} tokens are not divisible by tp {layout.tp}{and_cp} with sequence parallelism; a multiple of {step:,} is required"
        yield RULE.problem("workload.sequence_length", message, f"pad to {near} tokens")
