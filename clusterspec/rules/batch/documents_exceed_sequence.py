"""Packed documents are longer than the sequences that hold them.

## What it finds

`workload.document_tokens` with a mean above `sequence_length` (an error), or a longest document above it (a note: longer
ones are cut).

## Why it matters

A sequence packs whole documents, so that none is longer than the sequence. The packer cuts longer documents: the model
never attends over more than `sequence_length` tokens, and part of the attention time in the plan never occurs.

## What to do

State the lengths after cutting, or raise `sequence_length`.

## When to ignore it

Ignore it where it is a note and documents are cut on purpose.

## Fires

```yaml workload.document_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, document_tokens: 16384}
layout: {framework: megatron-core}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, document_tokens: {mean: 600, p99: 4000, max: 8192}}
layout: {framework: megatron-core}
```

## Sources

- Packing of documents: https://arxiv.org/abs/2107.02027
- Masks between documents of one sequence: https://arxiv.org/abs/2407.21783
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "error")
AT = "workload.document_tokens"


def check(written_workload: WorkloadSpec) -> Iterator[Problem]:
    if written_workload.document_tokens is None or written_workload.sequence_length is None:
        return
    lengths, sequence = written_workload.document_tokens, written_workload.sequence_length
    mean = lengths if isinstance(lengths, int) else lengths.mean or 0
    longest = mean if isinstance(lengths, int) else max(lengths.max or 0, lengths.p99 or 0)
    if mean > sequence:
        message = f"a document has {mean:,} tokens on average, but a sequence that should hold several has {sequence:,}"
        yield RULE.problem(AT, message, "state the lengths after cutting, or raise `sequence_length`")
    elif longest > sequence:
        message = (
            f"the longest documents have {longest:,} tokens, but a sequence has {sequence:,}: longer documents are cut"
        )
        yield RULE.problem(AT, message, "state the lengths after cutting, or raise `sequence_length`", severity="note")
