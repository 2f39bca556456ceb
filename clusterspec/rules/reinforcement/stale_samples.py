"""Samples are generated with weights that are many steps old.

## What it finds

`workload.rl.max_staleness` above 8 steps, up to which published asynchronous systems keep their quality.

## Why it matters

The trained policy and the policy that generated a sample differ more with every step between them. Beyond a few steps
most ratios are clipped, samples stop contributing, and training stalls or degrades, while a small staleness already
hides the rollout behind the training.

## What to do

Write 1 to 4, and give rollout more nodes where it still holds the trainer up.

## When to ignore it

Ignore it where quality at this staleness was measured on a run of this kind.

## Fires

```yaml workload.rl.max_staleness
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 1500, p99: 8000, max: 16384}, max_staleness: 32, rollout: {nodes: 2, tp: 1}}
layout: {framework: megatron-core, nodes: 2, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 1500, p99: 8000, max: 16384}, max_staleness: 2, rollout: {nodes: 2, tp: 1}}
layout: {framework: megatron-core, nodes: 2, tp: 2, recompute: full}
```

## Sources

- Quality against staleness, up to 8 steps with a decoupled objective: Fu et al., AReaL, section 7, https://arxiv.org/abs/2505.24298
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "heuristic")
MOST = 8


def check(training: Workload) -> Iterator[Problem]:
    if training.rl is None or training.rl.max_staleness <= MOST:
        return
    steps = training.rl.max_staleness
    yield RULE.problem(
        "workload.rl.max_staleness",
        f"samples may be {steps} steps older than the weights that they train; published systems use up to {MOST}",
        "write 1 to 4",
    )
