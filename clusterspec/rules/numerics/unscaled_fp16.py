"""Training in fp16 without loss scaling, or in fp16 where bf16 runs as fast.

## What it finds

`precision: fp16` with `loss_scaling: none`, an error; `gradient_precision: fp16` with GEMMs in bf16, whose loss nothing scales, a warning; and fp16 for a model of at least 20 billion parameters and a run of
at least 500 billion tokens on accelerators that also multiply bf16, a warning. `loss_scaling: static` is a warning in a run of 10
billion tokens and more.

## Why it matters

fp16 holds no number below 6e-8, and many gradients are smaller: without scaling they are zero. With scaling, large
models overflow: BLOOM's first tests in fp16 lost their runs, and OPT-175B restarted more than 35 times within 180
billion tokens. Gradients shrink during a run, so a constant scale that fits the start of the run loses them later, and
a scale that fits the end overflows at the start. bf16 has the range of fp32 and needs no scaling.

## What to do

Use bf16; on accelerators without it, dynamic loss scaling.

## When to ignore it

Ignore it where a run of this size in fp16 converged with the same software.

## Fires

```yaml workload.loss_scaling
clusterspec: 1
cluster: {platform: dgx-2, nodes: 4}
workload: {model: gpt3-6.7b, sequence_length: 2048, global_batch: 512, precision: fp16, loss_scaling: none}
layout: {tp: 8}
```

```yaml workload.precision
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 256}
workload: {model: falcon-180b, sequence_length: 2048, global_batch: 2048, tokens: 3T, precision: fp16}
layout: {tp: 8, pp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-2, nodes: 4}
workload: {model: gpt3-6.7b, sequence_length: 2048, global_batch: 512, precision: fp16, loss_scaling: dynamic}
layout: {tp: 8}
```

## Sources

- Loss scaling, and gradients that fp16 cannot hold: Micikevicius et al., https://arxiv.org/abs/1710.03740
- Why BLOOM was trained in bf16: https://github.com/bigscience-workshop/bigscience/blob/master/train/tr8-104B-wide/chronicles.md
- Restarts of OPT-175B, section 2.5: https://arxiv.org/abs/2205.01068
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
LARGE = 20e9
"""Smallest number of parameters at which published fp16 runs lost steps to overflow."""
RUN = 10e9
"""Smallest number of tokens at which a run is more than fine-tuning: gradients change by orders of magnitude within it."""
LONG = 500e9
"""Smallest number of tokens at which a large fp16 run is at risk: OPT-175B ended after 180 billion, with a restart every 5
billion.
"""


def check(training: Workload, written_workload: WorkloadSpec, cluster: Cluster) -> Iterator[Problem]:
    if training.precision != "fp16":
        if written_workload.gradient_precision == "fp16" and written_workload.loss_scaling in {None, "none"}:
            message = f"gradients of {training.precision} products are kept in fp16, and no scaled loss keeps them in its range"
            yield RULE.problem("workload.gradient_precision", message, "write `gradient_precision: fp32` or `bf16`")
        return
    if written_workload.loss_scaling == "none":
        message = "fp16 without loss scaling sets gradients below 6e-8 to zero"
        yield RULE.problem(
            "workload.loss_scaling", message, "write `loss_scaling: dynamic`, or use bf16", severity="error"
        )
        return
    size, tokens = model_weights(training.model).total, training.tokens or 0.0
    if written_workload.loss_scaling == "static" and tokens >= RUN:
        message = f"one factor scales the loss for all {display(tokens, '1')} tokens, within which gradients in fp16 vanish or overflow"
        yield RULE.problem("workload.loss_scaling", message, "write `loss_scaling: dynamic`, or use bf16")
    if size >= LARGE and tokens >= LONG and "bf16" in cluster.accelerator.peaks:
        message = (
            f"{display(tokens, '1')} tokens of a model of {display(size, '1')} parameters in fp16: runs of this size lose steps to "
            f"overflow, but {cluster.accelerator.name} runs bf16"
        )
        yield RULE.problem("workload.precision", message, "use bf16, which needs no loss scaling")
