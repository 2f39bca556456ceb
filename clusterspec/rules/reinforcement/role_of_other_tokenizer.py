"""The reference or critic has another vocabulary than the trained model.

## What it finds

A `reference` or `critic` whose vocabulary differs by more than 2 % from that of the trained model. Smaller differences
are padding.

## Why it matters

The divergence from the reference and the values of a critic are computed for each token of a sample. Another tokenizer
cuts the text elsewhere, so the ids of the sample are other tokens for it, or none at all.

## What to do

Use the model from which training starts as the reference, and a critic of the same family. A reward model may have
another tokenizer, since it scores the text.

## When to ignore it

Ignore it where the framework converts between the two vocabularies.

## Fires

```yaml workload.rl.reference.model
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  sequence_length: 9216
  rl:
    algorithm: grpo
    prompts_per_step: 128
    samples_per_prompt: 8
    input_tokens: 1024
    output_tokens: {mean: 2500, max: 8192}
    placement: split
    rollout: {nodes: 2, framework: vllm, tp: 1}
    reference: {model: llama-3.1-8b}
layout: {framework: fsdp, nodes: 2, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  sequence_length: 9216
  rl:
    algorithm: grpo
    prompts_per_step: 128
    samples_per_prompt: 8
    input_tokens: 1024
    output_tokens: {mean: 2500, max: 8192}
    placement: split
    rollout: {nodes: 2, framework: vllm, tp: 1}
    reference: {model: qwen2.5-32b}
layout: {framework: fsdp, nodes: 2, sharding: fsdp}
```

## Sources

- Divergence token by token: https://arxiv.org/abs/2402.03300
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.role_models import may_share_tokenizer, models_of_roles
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "error")


def check(written_workload: WorkloadSpec, workload: Workload, catalog: Catalog) -> Iterator[Problem]:
    if written_workload.rl is None:
        return
    own = workload.model
    for name, model in models_of_roles(written_workload.rl, catalog):
        if name == "reward" or not model.vocab or not own.vocab:
            continue  # a reward model scores the text
        if not may_share_tokenizer(model.vocab, own.vocab):
            message = f"the {name} has {model.vocab:,} tokens, but the trained model {own.vocab:,}: it cannot score the tokens of its samples"
            yield RULE.problem(f"workload.rl.{name}.model", message, f"use a {name} with the vocabulary of {own.id}")
