"""Gradients are summed over many ranks in few bits.

## What it finds

A stated `gradient_precision` of bf16 with 256 or more replicas in the reduction: a note, and a warning from 1,024 on.
Since a rank also adds the gradients of its micro-batches one after the other, bf16 with 64 or more micro-batches is a
note, and a warning from 128 on. Gradients in 8 bits and fewer are a warning with any number of replicas.

## Why it matters

A bf16 sum of 256 equal numbers no longer grows, since the next one is below half of its last bit. Each addition of a
ring rounds, and the error grows with the ranks. Llama 3 reduced gradients in fp32 for this reason.

## What to do

Keep and reduce gradients in fp32, or reduce in bf16 within small groups and in fp32 across them.

## When to ignore it

Ignore it where the library or the switches add in fp32 and only send bf16, or convergence at this width was measured.

## Fires

```yaml workload.gradient_precision
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 4096, gradient_precision: bf16}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 128}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 4096, gradient_precision: fp32}
layout: {tp: 1}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 4096, gradient_precision: bf16}
layout: {tp: 1}
```

## Sources

- Reduction in fp32, section 3.3.2: https://arxiv.org/abs/2407.21783
- Significant bits of bf16: https://arxiv.org/abs/1905.12322
- fp8 gradients need scaling of their own: https://arxiv.org/abs/2310.18313
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.quantity import PRECISIONS
from clusterspec.rules.knowledge.shares import MANY, MANY_STEPS
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "warning", "heuristic")
VERY_MANY = 1024


def check(training: Workload, layout: Layout, written_workload: WorkloadSpec) -> Iterator[Problem]:
    written, replicas = written_workload.gradient_precision, layout.dp * layout.cp
    micro_batches = layout.micro_batches or 1
    if written is None or (replicas < 2 and micro_batches < MANY_STEPS):
        return
    bits = PRECISIONS[written].bits
    if bits <= 8:
        message = f"gradients are kept and summed in {written}: small ones vanish"
    elif written == "bf16" and micro_batches >= MANY_STEPS:
        message = f"the gradients of {micro_batches:,} micro-batches are summed in bf16, in which late ones hardly change the sum"
    elif written == "bf16" and replicas >= MANY:
        message = (
            f"{replicas:,} replicas sum their gradients in bf16, in which a sum of {MANY} equal terms no longer grows"
        )
    else:
        return
    few = replicas < VERY_MANY and micro_batches < MANY / 2
    severity = "note" if bits > 8 and few else "warning"
    yield RULE.problem("workload.gradient_precision", message, "use fp32 for the sum", severity=severity)
