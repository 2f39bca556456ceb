"""Rollout waits for the environments of its samples.

## What it finds

Samples that wait for their environment (`turns` times `environment_time`) during more than 15 % of the predicted step,
in a plan that waits for all samples: colocated or partial rollout, or `max_staleness: 0`.

Severity follows the predicted loss: a note below the half-width of the prediction's range, a warning above it, and an
error where even the low end of the range loses a quarter of the step.

## Why it matters

Tools, compilers and browsers take seconds to minutes for each turn. A batch ends only after all turns of its last
sample, and the accelerators wait for their sum.

## What to do

Let rollout run ahead of the weights (`max_staleness: 1` or more with separate nodes), so that other samples fill the
slots, make environments faster, or allow fewer turns.

## When to ignore it

Ignore it where the engines serve other work meanwhile.

## Options

`thresholds = {rollout-waits-for-environment = 0.15}` in the configuration sets the share above which the rule reports.
The number is a share of the predicted step time. The default is 0.15.

## Fires

```yaml workload.rl.environment_time
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, turns: 10, environment_time: 30 s, placement: colocated, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: grpo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, turns: 10, environment_time: 30 s, max_staleness: 2, rollout: {nodes: 2, tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Environments that take minutes, and rollout that does not wait for them: https://arxiv.org/abs/2505.24298
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.15


def check(rl: RlTimes, thresholds: Thresholds) -> Iterator[Problem]:
    plan, waiting = rl.rl, rl.rollout.waiting
    if plan.placement == "split" and plan.max_staleness > 0:
        return
    lost = waiting / rl.step
    if lost <= thresholds.of(RULE.name, MOST):
        return
    low, high = rl.band
    yield RULE.problem(
        "workload.rl.environment_time",
        f"{plural(plan.turns, 'turn')} of {display(plan.environment_time, 's')} keep a sample waiting for {display(waiting, 's')}, "
        f"{percent(lost, 2)} of the step of {display(rl.step, 's')}",
        "give rollout nodes of its own and let it run ahead (`max_staleness: 1`), or make environments faster",
        severity=cost_severity(lost, (low / rl.step, high / rl.step)),
    )
