"""The trainer makes many optimizer steps on one batch of samples.

## What it finds

More than 32 optimizer steps (`minibatches` times `epochs`) on the samples of one step.

## Why it matters

The policy before the first update generated the samples. After dozens of updates, the probability ratio between the
current and that policy leaves the clipping range for most tokens: these tokens no longer contribute, and training
becomes unstable. Published recipes make 1 to 16 updates.

## What to do

Use fewer and larger minibatches, one epoch, or fewer prompts for each step.

## When to ignore it

Ignore it where quality with as many updates was measured on a run of this kind.

## Fires

```yaml workload.rl.minibatches
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 1024, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, minibatches: 32, epochs: 4, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 1024, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, minibatches: 16, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- 16 updates on a batch, and the clipping of ratios: DAPO, section 4.1, https://arxiv.org/abs/2503.14476
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning", "heuristic")
MOST = 32


def check(training: Workload) -> Iterator[Problem]:
    rl = training.rl
    if rl is None or rl.minibatches * rl.epochs <= MOST:
        return
    yield RULE.problem(
        "workload.rl.minibatches" if rl.minibatches >= rl.epochs else "workload.rl.epochs",
        f"`minibatches` and `epochs` make {rl.minibatches * rl.epochs} optimizer steps on one batch of samples; published runs make up to 16",
        "use larger and fewer parts of the batch, and use it once",
    )
