"""The longest samples exceed the context of the model or the trainer's sequences.

## What it finds

A longest prompt plus output (`max`, else `p99`) above the context of the model, or above `workload.sequence_length`,
into which the trainer packs samples. Both are errors: the framework cuts or rejects samples that the stated lengths
allow. `sequence-exceeds-model-context` reports sequences of the trainer above the context.

## Why it matters

An engine refuses or cuts samples beyond the context of the model. The trainer drops or cuts samples that do not fit its
sequences, so rewards then score text that it never trains on.

## What to do

Cut answers earlier (`output_tokens.max`), or raise `sequence_length` with context parallelism.

## When to ignore it

Ignore it where the model's context is extended in the run.

## Fires

```yaml workload.rl.output_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload:
  kind: rl
  model: qwen2.5-7b
  sequence_length: 32768
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 4000, p99: 30000, max: 200000}, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 1500, p99: 12000, max: 16384}, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Answers cut by their length: https://arxiv.org/abs/2503.14476
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(training: Workload) -> Iterator[Problem]:
    if training.rl is None:
        return
    longest, context = training.rl.longest_sample, training.model.max_sequence_length
    if context is not None and longest > context >= training.sequence_length:
        yield RULE.problem(
            "workload.rl.output_tokens",
            f"the longest sample has {longest:,} tokens, but {training.model.name} a context of {context:,}",
            f"cut prompts and answers at {context:,} tokens together",
        )
    elif longest > training.sequence_length:
        yield RULE.problem(
            "workload.sequence_length",
            f"the longest sample has {longest:,} tokens, but the trainer's sequences {training.sequence_length:,}",
            "raise `sequence_length` to the longest sample, or cut answers earlier",
        )
