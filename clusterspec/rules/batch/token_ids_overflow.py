"""The token ids of the vocabulary do not fit into the bytes per token of the data set.

## What it finds

`dataset_token_bytes: 1` or `2` with a vocabulary of more words than an unsigned integer of that size can number: 256 or
65,536.

## Why it matters

Ids are written as unsigned integers. A larger id wraps around without an error: 70,000 becomes 4,464, another word. The
loss still falls, since the data are consistent, but the model learns wrong words. The whole data set has to be written
again, and takes twice the planned capacity and read bandwidth.

## What to do

Store ids in 4 bytes, and plan capacity and bandwidth of the storage system for them.

## When to ignore it

Ignore it where the number is the mean size of a token in another format: compressed text, or packed ids.

## Fires

```yaml workload.dataset_token_bytes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 600B, dataset_tokens: 600B, dataset_token_bytes: 2}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-2-7b, sequence_length: 4096, global_batch: 512, tokens: 600B, dataset_tokens: 600B, dataset_token_bytes: 2}
layout: {tp: 1}
```

## Sources

- The type that holds every id of a vocabulary, `DType.optimal_dtype`: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/datasets/indexed_dataset.py
- Integers out of the range of a type wrap around: https://numpy.org/doc/stable/user/basics.types.html#overflow-errors
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "error", "likely")


def check(written_workload: WorkloadSpec, model: Model) -> Iterator[Problem]:
    width = written_workload.dataset_token_bytes
    if width not in {1, 2} or model.vocab <= 256**width:
        return
    yield RULE.problem(
        "workload.dataset_token_bytes",
        f"ids of {'1 byte' if width == 1 else '2 bytes'} have {256**width:,} values, but the vocabulary has {model.vocab:,} tokens: "
        "larger ids are stored as those of other tokens",
        "store ids in 4 bytes",
    )
