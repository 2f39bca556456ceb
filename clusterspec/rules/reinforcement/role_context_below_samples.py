"""A model that scores samples has a shorter context than the samples need.

## What it finds

The longest sample of reinforcement learning, prompt and output together, above the context of the reward model, the reference
or the critic that the spec names.

## Why it matters

The end of a long sample, which holds its answer, is cut before it is scored, or lies at positions that the model never saw.
Long reasoning is rewarded by chance.

## What to do

Use a model with a longer context, or cut samples at its context.

## When to ignore it

Ignore it where the model reads only the end of a sample.

## Fires

```yaml workload.rl.reward.model
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 1500, p99: 12000, max: 16384}, rollout: {tp: 1}, reward: {model: llama-3-8b}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 1500, p99: 12000, max: 16384}, rollout: {tp: 1}, reward: {model: llama-3.1-8b}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Contexts of models: `clusterspec catalog show llama-3-8b`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.role_models import models_of_roles
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "error", "likely")


def check(written_workload: WorkloadSpec, workload: Workload, catalog: Catalog) -> Iterator[Problem]:
    if written_workload.rl is None or workload.rl is None:
        return
    longest = workload.rl.longest_sample
    for name, model in models_of_roles(written_workload.rl, catalog):
        if model.max_sequence_length and longest > model.max_sequence_length:
            message = f"the longest sample has {longest:,} tokens, but the {name} {model.name} a context of {model.max_sequence_length:,}"
            help_ = f"use a {name} with a longer context, or cut samples at {model.max_sequence_length:,} tokens"
            yield RULE.problem(f"workload.rl.{name}.model", message, help_)
