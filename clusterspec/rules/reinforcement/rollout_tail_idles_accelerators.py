"""Accelerators wait for the longest samples of a batch.

## What it finds

More than 15 % of the predicted step in which slots of rollout stay empty until the longest sample ends, in a plan that
waits for all samples: colocated rollout, or `max_staleness: 0`. Time that samples wait for their environment is reported
by `rollout-waits-for-environment`.

The finding is a note up to 60 % of the step, which is also the predicted loss of published synchronous runs, a warning
above it, and an error from 70 % on.

## Why it matters

Lengths of answers vary. The mean sample ends long before the longest of hundreds, and an engine with few samples left
still reads all weights for each token.

## What to do

Let rollout run ahead of the weights (`max_staleness: 1`), give the longest samples separate nodes (`placement:
partial`), raise the samples of a step, or cut answers earlier.

## When to ignore it

Ignore it where the algorithm has to be on policy and the number of samples per step is fixed.

## Options

`thresholds = {rollout-tail-idles-accelerators = 0.15}` in the configuration sets the share above which the rule reports.
The number is a share of the predicted step time. The default is 0.15.

## Fires

```yaml workload.rl.output_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 1500, p99: 12000, max: 16384}, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: {mean: 1500, p99: 12000, max: 16384}, max_staleness: 4, rollout: {nodes: 2, tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Waiting for the longest samples: https://arxiv.org/abs/2509.21009
- Rollout that runs ahead of the weights: https://arxiv.org/abs/2505.24298
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import USUAL_TAIL
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.15
WASTED = 0.7
"""Smallest share of the step at which the finding is an error."""

REMEDIES = {
    "split": "let rollout run ahead (`max_staleness: 1`), or cut answers earlier",
    "colocated": "give rollout nodes of its own (`placement: split` with `rollout.nodes`) and let it run ahead "
    "(`max_staleness: 1`), or cut answers earlier",
    "partial": "give the longest samples more nodes (`rollout.nodes`), or cut answers earlier",
}
"""For each placement, the remedy that shortens the wait; engines that share nodes with the trainer cannot run ahead."""


def check(rl: RlTimes, thresholds: Thresholds) -> Iterator[Problem]:
    if rl.rl.placement == "split" and rl.rl.max_staleness > 0:
        return
    rollout = rl.rollout
    lost = (rollout.idle_share * rollout.batch - rollout.waiting) / rl.step
    if lost <= thresholds.of(RULE.name, MOST):
        return
    yield RULE.problem(
        "workload.rl.output_tokens",
        f"{percent(lost, 2)} of the step of {display(rl.step, 's')} passes while slots are empty: the longest of {rl.rl.samples:,} samples has "
        f"{rollout.longest:,.0f} tokens, the mean {rollout.mean:,.0f}",
        REMEDIES[rl.rl.placement],
        severity="error" if lost >= WASTED else "warning" if lost > USUAL_TAIL else "note",
    )
