"""Packed documents are much shorter than the long sequences that hold them.

## What it finds

With a `sequence_length` of 16,384 tokens or more, `workload.document_tokens` whose longest document is at most half of
it, or whose 99th percentile (`p99`) is at most an eighth of it. The finding is a warning. It is a note

- for adapters,
- for sequences of at most 32,768 tokens without context parallelism, which are often packed to enlarge the micro-batch,
- where a single length above an eighth is stated for all documents, since some may be longer.

## Why it matters

With a mask between the documents of a sequence, no token attends beyond its document. If training is to extend the
context to 131,072 tokens, but documents have at most 16,384, it extends the context only to 16,384. Context parallelism
then exchanges keys and values that no rank needs.

## What to do

Train on documents as long as the intended context, or use sequences as long as the documents, without context
parallelism.

## When to ignore it

Ignore it where you lengthen sequences only to enlarge the micro-batch.

## Fires

```yaml workload.document_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: {base: llama-3.1-8b}, sequence_length: 131072, global_batch: 32, document_tokens: {mean: 900, p99: 8000, max: 16384}}
layout: {framework: megatron-core, tp: 2, cp: 8, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: {base: llama-3.1-8b}, sequence_length: 131072, global_batch: 32, document_tokens: {mean: 9000, p99: 100000, max: 131072}}
layout: {framework: megatron-core, tp: 2, cp: 8, recompute: full}
```

## Sources

- Masks between documents, and long documents for long contexts: https://arxiv.org/abs/2407.21783 (sections 3.2 and 3.4.2)
- Upsampled long documents when a context is extended: https://arxiv.org/abs/2402.10171
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Design
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "warning", "likely")
FEW = 8
"""A sequence of at least this multiple of the 99th percentile of document lengths is almost never one document; the
project's choice.
"""
LONG = 16_384
"""Sequences of at least this many tokens serve long context; shorter ones are packed to make GEMMs large."""

PACKED = 32_768
"""A sequence of at most this many tokens on one rank may be packed only to make the micro-batch large."""


def check(written_workload: WorkloadSpec, design: Design) -> Iterator[Problem]:
    if written_workload.document_tokens is None or (written_workload.sequence_length or 0) < LONG:
        return
    lengths, sequence = written_workload.document_tokens, written_workload.sequence_length or 0
    longest = lengths if isinstance(lengths, int) else lengths.max or lengths.p99 or lengths.mean or 0
    usual = longest if isinstance(lengths, int) else lengths.p99 or longest
    packed = sequence <= PACKED and (design.layout is None or design.layout.cp == 1)
    rough = isinstance(lengths, int) and sequence < FEW * lengths
    severity = "note" if packed or rough or written_workload.trainable else ""
    if FEW * usual <= sequence < 2 * longest:
        message = f"99 % of the documents have at most {usual:,} tokens, so most tokens in a sequence of {sequence:,} attend to no more: the model does not learn longer contexts"
        help_ = "draw more long documents, or shorten sequences"
        yield RULE.problem("workload.document_tokens", message, help_, severity=severity)
    elif 2 * longest <= sequence:
        message = f"the longest documents have {longest:,} tokens, so no token in a sequence of {sequence:,} attends to more: the model does not learn longer contexts"
        yield RULE.problem(
            "workload.document_tokens",
            message,
            f"train on documents of up to {sequence:,} tokens, or shorten sequences",
            severity=severity,
        )
