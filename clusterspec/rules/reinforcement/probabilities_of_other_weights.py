"""Recorded log-probabilities were computed with weights in another precision.

## What it finds

`log_probabilities: rollout` where the engines generate with weights in 4 or 8 bits and the trainer updates wider ones.

## Why it matters

The ratio of the new policy to the old one starts at 1 only if both are computed with the same weights. Quantized
engines sample from another policy than the trained one. Without a correction, the ratio is wrong from the first
minibatch on, and such runs have collapsed.

## What to do

Let the trainer compute the log-probabilities (`log_probabilities: trainer`), or generate with the trainer's precision.

## When to ignore it

Ignore it where the loss corrects for the mismatch, for example by truncated importance sampling.

## Fires

```yaml workload.rl.log_probabilities
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  sequence_length: 8192
  rl:
    algorithm: grpo
    prompts_per_step: 128
    samples_per_prompt: 16
    input_tokens: 500
    output_tokens: {mean: 2000, p99: 6000, max: 7500}
    log_probabilities: rollout
    rollout: {framework: vllm, tp: 1, memory_fraction: 0.6, parameter_precision: int4}
layout: {framework: megatron-core, tp: 4, micro_batch: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  sequence_length: 8192
  rl:
    algorithm: grpo
    prompts_per_step: 128
    samples_per_prompt: 16
    input_tokens: 500
    output_tokens: {mean: 2000, p99: 6000, max: 7500}
    log_probabilities: trainer
    rollout: {framework: vllm, tp: 1, memory_fraction: 0.6, parameter_precision: int4}
layout: {framework: megatron-core, tp: 4, micro_batch: 1}
```

## Sources

- Samples of another policy: https://fengyao.notion.site/off-policy-rl
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.quantity import precision_width
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "warning", "likely")


def check(written_workload: WorkloadSpec, training: Workload) -> Iterator[Problem]:
    written = written_workload.rl
    if written is None or training.rl is None or not training.rl.recorded or written.rollout is None:
        return
    stored = written.rollout.parameter_precision
    if stored is None or precision_width(stored) >= precision_width(training.parameter_precision):
        return
    yield RULE.problem(
        "workload.rl.log_probabilities",
        f"the engines generate with weights in {stored}, but the trainer takes their probabilities as those of its "
        "own weights in "
        f"{training.parameter_precision}: the samples are of another policy from the first step on",
        "write `log_probabilities: trainer`, or generate with the trainer's precision",
    )
