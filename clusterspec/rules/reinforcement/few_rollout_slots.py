"""Engines of rollout generate few samples at a time.

## What it finds

Engines that hold at most half of their samples at a time, because of `max_sequences` or because the weights leave
little memory for the cache, where more slots shorten the predicted step by more than 10 %. The rule predicts the step
without the limit, or with engines of twice the tp.

Severity follows the predicted loss: a note below the half-width of the prediction's range, and a warning above it. The
severity goes no higher, since published runs have as few slots.

## Why it matters

A decoding step reads all weights whatever the number of sequences. With few of them, the engines generate the samples
of a step in many waves, each as long as its longest sample, while compute and cache stay unused.

## What to do

Raise or drop `max_sequences`, or use engines with more ranks, whose cache holds more samples.

## When to ignore it

Ignore it where a measured rollout is as fast.

## Options

`thresholds = {few-rollout-slots = 0.1}` in the configuration sets the share above which the rule reports. The number is a
share of the predicted step time. The default is 0.1.

## Fires

```yaml workload.rl.rollout.max_sequences
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 256, samples_per_prompt: 8, input_tokens: 512, output_tokens: 2000, max_staleness: 1, rollout: {nodes: 2, tp: 1, max_sequences: 8}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 256, samples_per_prompt: 8, input_tokens: 512, output_tokens: 2000, max_staleness: 1, rollout: {nodes: 2, tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Sequences that an engine runs at a time: https://docs.vllm.ai/en/stable/configuration/optimization.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.variation import design_with_keys
from clusterspec.cost.plan import Plan
from clusterspec.cost.reinforcement.rollout import rollout_of
from clusterspec.cost.reinforcement.times import RlTimes, composed_times
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import RolloutSpec, WorkloadSpec
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.1
WAVES = 2.0
"""Smallest ratio of the samples of a rank to its slots at which other engines are estimated."""


def check(written_workload: WorkloadSpec, rl: RlTimes, timed: Plan, thresholds: Thresholds) -> Iterator[Problem]:
    rollout = rl.rollout
    if rollout.samples < WAVES * rollout.slots:
        return
    written = (written_workload.rl and written_workload.rl.rollout) or RolloutSpec()
    limited = (
        written.max_sequences is not None
        and rollout.slots >= written.max_sequences / rollout.engine.layout.attention_dp
    )
    tp = 2 * rollout.engine.layout.tp
    if not limited and (tp > rollout.engine.cluster.ranks_per_domain or rollout.engine.workload.model.heads % tp):
        return
    key, value = ("max_sequences", None) if limited else ("tp", tp)
    nodes = rl.rl.rollout_nodes + (rl.rl.trainer_nodes if rl.rl.placement != "split" else 0)
    other = rollout_of(design_with_keys(timed.design, {("workload", "rl", "rollout", key): value}), rl.rl, nodes)
    if other is None or other.slots * other.ranks <= rollout.slots * rollout.ranks:
        return
    step = composed_times(timed, other).step
    lost = 1 - step / rl.step
    if lost <= thresholds.of(RULE.name, MOST):
        return
    low, high = rl.band
    remedy = "without `max_sequences`" if limited else f"with `tp: {tp}`"
    yield RULE.problem(
        "workload.rl.rollout.max_sequences" if limited else "workload.rl.rollout",
        f"{plain(rollout.samples, 3)} samples of an engine pass through {plain(rollout.slots, 3)} slots: predicted {display(rl.step, 's')} per step, "
        f"{display(step, 's')} {remedy} ({plain(other.slots, 3)} slots, {percent(lost, 2)} less)",
        "drop `max_sequences`, or raise it" if limited else f"use engines of more ranks: `tp: {tp}`",
        severity=cost_severity(lost, (low / rl.step, high / rl.step), most="warning"),
    )
