"""The logits of the last stage take more than a tenth of the memory.

## What it finds

4 bytes × micro-batch × sequence × vocabulary / (tp × cp) above 10 % of a rank's memory. The rule is silent where the
plan, logits included, leaves a tenth of the memory free. The finding is a warning where the plan does not fit or its
memory is not known, and a note where it fits with a smaller margin. It is also a note where another 1.5 times the
logits would not fit, since a loss that is not fused keeps the logits in 16 and in 32 bits and their gradient; in
frameworks whose ranks each compute the loss of whole rows of logits, such as plain PyTorch, that is a warning. It is an
error where the logits in 16 and in 32 bits alone exceed the memory, except on TPUs, whose compiler splits the loss.

## Why it matters

Logits exist only on the last stage and only for a short time, so they are easily overlooked. 8,192 tokens over a
vocabulary of 128,256 are 4.2 GB in fp32, and the loss keeps several copies unless it is fused.

## What to do

Use a fused or chunked cross-entropy, tp (which splits the vocabulary), or a smaller micro-batch.

## When to ignore it

Ignore it where the loss is fused with the output projection, so that the logits are never in memory as a whole. Better,
state how the loss runs, so that the rule compares the memory that the plan counts: `loss: chunked` in the layout,
`fused` where one kernel writes the gradient over the logits, `compiled` where a compiler sees the loss, or `plain`
where every copy counts.

## Options

`thresholds = {logits-fill-memory = 0.10}` in the configuration sets the share above which the rule reports. The number
is a share of a rank's memory. The default is 0.10.

## Fires

```yaml layout.micro_batch
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 56}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 7}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8, recompute: full, micro_batch: 4}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 4}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 56}
layout: {tp: 1, sharding: fsdp, recompute: full, micro_batch: 7, loss: chunked}
```

## Sources

- Memory of large vocabularies: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/performance/README.md
- Cut cross-entropy: https://arxiv.org/abs/2411.09009
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.formulas.memory import logits_bytes
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.10
MORE_COPIES = 1.5
"""Further logits of an unfused loss, relative to the fp32 logits: a 16-bit copy and an fp32 gradient."""
LEAST_COPIES = 1.5
"""Logits that exist at least, relative to fp32 logits: in 16 bits as the head writes them, and in fp32 as the loss
reads them.
"""
FILLED = 0.9
"""Share of the memory up to which a plan leaves enough free, as in `tight-memory`."""
FP32 = 4


def check(
    thresholds: Thresholds, training: Workload, model: Model, cluster: Cluster, layout: Layout, plan: Plan | None
) -> Iterator[Problem]:
    loss = layout.stack.loss if layout.stack is not None else None
    if cluster.accelerator.memory is None or loss == "chunked":
        return
    memory = cluster.accelerator.memory.value / cluster.ranks_per_accelerator
    tokens = layout.micro_batch * training.sequence_length / layout.cp
    logits = logits_bytes(tokens, model.vocab, layout.tp, FP32)
    severity = (
        _severity(plan, cluster, logits, memory, loss) if logits > thresholds.of(RULE.name, MOST) * memory else ""
    )
    if severity:
        message = f"the fp32 logits of one micro-batch take {display(logits, 'B')} on the last stage, {percent(logits / memory, 2)} of its memory"
        help_ = "use a fused or chunked cross-entropy, more tp, or a smaller micro-batch"
        yield RULE.problem("layout.micro_batch", message, help_, severity=severity)


def _severity(plan: Plan | None, cluster: Cluster, logits: float, memory: float, loss: str | None) -> str:
    """Severity by the memory of the plan with its logits; empty if enough memory is free. With a stated ``loss``, the
    plan counts all copies of the logits.
    """
    links = cluster.scale_up.interconnect
    compiled = links is not None and links.family == "ici"
    if LEAST_COPIES * logits > memory and not compiled and loss not in {"fused", "compiled"}:
        return "error"
    if plan is None or plan.memory_bytes is None or plan.memory_capacity is None or not plan.fits:
        return "warning"
    copies_fit = plan.memory_bytes + (0.0 if loss else MORE_COPIES * logits) <= plan.memory_capacity
    stack = plan.design.layout.stack if plan.design.layout else None
    if not copies_fit and stack is not None and stack.memory.whole_logits:
        return "warning"
    return "" if copies_fit and plan.memory_bytes <= FILLED * plan.memory_capacity else "note"
