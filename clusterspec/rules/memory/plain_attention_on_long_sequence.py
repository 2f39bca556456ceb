"""Stored attention scores exceed all other activations of a layer.

## What it finds

`attention: plain` without recomputation, where the scores exceed all other activations that a layer stores: 5 × heads ×
sequence / hidden above 34. The finding is a warning, and a note in fp32 and tf32 and on accelerators older than Ampere, for which
FlashAttention has no kernels.

## Why it matters

Scores grow with the square of the sequence length. In GPT-3 at 2,048 tokens, scores take 2.4 times the memory of all
other activations of a layer; at 8,192 tokens, 9.4 times.

## What to do

Use `attention: flash`, which recomputes them in blocks and never stores them.

## When to ignore it

Ignore it where no memory-efficient kernel exists for the accelerator or the mask.

## Fix safety

The fix is unsafe: it writes `attention: flash`. The framework must have such a kernel for this model.

## Fires

```yaml workload.attention
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128, attention: plain}
layout: {tp: 4, recompute: none}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 128, attention: plain}
layout: {tp: 4, recompute: selective}
```

## Sources

- Activations of a layer, term by term: https://arxiv.org/abs/2205.05198
- Flash attention: https://arxiv.org/abs/2205.14135
- Accelerators that FlashAttention 2 supports, Ampere and later: https://github.com/Dao-AILab/flash-attention#nvidia-cuda-support
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.memory import scores_bytes
from clusterspec.finding import Problem
from clusterspec.quantity import activation_width
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.units import plain

RULE = Rule.of(__name__, "warning")
OLDER = ("sm_60", "sm_70", "sm_75")
"""Architectures on which FlashAttention 2 does not run; other libraries have kernels for some models."""

WIDE = ("fp32", "tf32")
"""Precisions for which FlashAttention has no kernels (https://github.com/Dao-AILab/flash-attention)."""


def check(training: Workload, model: Model, layout: Layout, accelerator: Accelerator) -> Iterator[Problem]:
    if training.attention != "plain" or layout.recompute != "none" or model.hidden <= 0:
        return
    width = activation_width(training.precision)
    scores = scores_bytes(1, training.sequence_length, model.heads, 1, width=width) / model.hidden
    rest = rest_of_a_layer(width)
    if scores > rest:
        at = "workload.attention"
        message = (
            f"stored attention scores take {plain(scores / rest)} times the memory of all other activations of a layer"
        )
        severity = "note" if accelerator.architecture in OLDER or training.precision in WIDE else ""
        yield RULE.problem(at, message, "write `attention: flash`", severity=severity, fix=value_fix(at, "flash"))


def rest_of_a_layer(width: float) -> float:
    """Bytes per token and hidden element that a layer stores, without attention scores: 16 activations and two masks,
    34 bytes in 16 bits (Korthikanti et al., section 4).
    """
    return 16 * width + 2
