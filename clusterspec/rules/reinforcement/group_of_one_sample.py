"""The algorithm compares samples of one prompt, and there is only one.

## What it finds

`samples_per_prompt: 1` with `grpo`, `rloo` or `dapo`, which take the mean reward of the other samples of the prompt as
the baseline.

## Why it matters

With one sample the reward equals its own baseline: every advantage is 0, and so is every gradient. Trainers refuse it.

## What to do

Write 8 to 16 samples for each prompt and fewer prompts, or use `algorithm: ppo`, whose baseline is a critic.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.rl.samples_per_prompt
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 512, samples_per_prompt: 1, input_tokens: 512, output_tokens: 1500, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: ppo, prompts_per_step: 512, samples_per_prompt: 1, input_tokens: 512, output_tokens: 1500, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- The advantage in a group: DeepSeekMath, section 4.1, https://arxiv.org/abs/2402.03300
- The mean of the other samples: RLOO, section 3.2, https://arxiv.org/abs/2402.14740
- Fewer than two samples refused: https://github.com/huggingface/trl/blob/main/trl/trainer/grpo_config.py (read 2026-11-21)
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec

RULE = Rule.of(__name__, "error")
COMPARED = ("grpo", "rloo", "dapo")
"""Algorithms that use the other samples of the same prompt as the baseline."""
GROUP = 8
"""Number of samples per prompt that the advice proposes: the smallest in published runs."""


def check(written_workload: WorkloadSpec, training: Workload) -> Iterator[Problem]:
    written = written_workload.rl
    if written is None or training.rl is None or written.samples_per_prompt != 1:
        return
    if training.rl.algorithm in COMPARED:
        yield RULE.problem(
            "workload.rl.samples_per_prompt",
            f"{training.rl.algorithm} compares the samples of one prompt; with 1 sample every advantage is 0",
            f"write 8 to 16 samples for each prompt{_same_batch(training.rl.prompts)}, or use `algorithm: ppo`",
        )


def _same_batch(prompts: int) -> str:
    """Keys for groups of `GROUP` samples that keep the samples per step, as text; empty if that is impossible."""
    fewer, left = divmod(prompts, GROUP)
    return "" if left or fewer < 2 else f" (`prompts_per_step: {fewer}, samples_per_prompt: {GROUP}` keep the batch)"
