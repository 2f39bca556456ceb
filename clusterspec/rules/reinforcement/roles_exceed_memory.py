"""Roles that share accelerators do not fit in their memory.

## What it finds

Rollout on the trainer's nodes (`placement: colocated` or `partial`), with more memory than an accelerator has in one
phase of the step: generation (the engine's `memory_fraction` and the data that the trainer keeps), training (the
trainer and the data that the engine keeps), or the transfer of weights (the weights of both, and one bucket). A critic
on the trainer's nodes counts with weights, gradients and optimizer states, unless it is offloaded.

## Why it matters

The step ends out of memory when the roles change: often at the first transfer of weights, after a long rollout.

## What to do

Lower `rollout.memory_fraction`, shard the trainer's states or the engine over more ranks, send smaller buckets, or give
rollout separate nodes.

## When to ignore it

Ignore it where a measured run fits.

## Fires

```yaml workload.rl.rollout
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1000, placement: colocated, rollout: {tp: 1, memory_fraction: 0.99}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

```yaml workload.rl.algorithm
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: llama-3.1-70b
  rl: {algorithm: ppo, prompts_per_step: 128, samples_per_prompt: 4, input_tokens: 512, output_tokens: 700, placement: colocated, rollout: {tp: 8, memory_fraction: 0.5}}
layout: {framework: megatron-core, tp: 8, pp: 4, sharding: zero1, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1000, placement: colocated, rollout: {tp: 1, memory_fraction: 0.6}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Roles that share accelerators: https://arxiv.org/abs/2409.19256
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely", yields_to=("states-exceed-memory", "activations-exceed-memory"))


def check(rl: RlTimes, written_workload: WorkloadSpec) -> Iterator[Problem]:
    memory = rl.memory
    if memory is None or memory.capacity is None or memory.fullest_bytes <= memory.capacity:
        return
    phases = {
        "generation": memory.rollout,
        "training": memory.training,
        "the transfer of weights": memory.sync,
        "scoring": memory.scoring,
    }
    phase, size = max(phases.items(), key=lambda each: each[1])
    rest = max(memory.training - memory.scorers, memory.rollout - memory.scorers, memory.sync)
    if memory.scorers and rest <= memory.capacity and phase != "the transfer of weights":
        yield RULE.problem(
            _path_of_scorers(written_workload),
            f"an accelerator of the trainer needs {display(size, 'B')} of its {display(memory.capacity, 'B')} during {phase}: the weights of "
            f"models that score samples take {display(memory.scorers, 'B')}",
            "give these models nodes of their own, or `offload: true`; or shard over more ranks",
        )
        return
    if memory.critic and memory.training - memory.critic <= memory.capacity < memory.training == size:
        yield RULE.problem(
            "workload.rl.critic" if written_workload.rl and written_workload.rl.critic else "workload.rl.algorithm",
            f"trainer and critic need {display(size, 'B')} of an accelerator's {display(memory.capacity, 'B')}: the states of the critic take "
            f"{display(memory.critic, 'B')}",
            "give the critic nodes of its own, a smaller model, or `offload: true`; or shard over more ranks",
        )
        return
    yield RULE.problem(
        "workload.rl.rollout",
        f"trainer and engine need {display(size, 'B')} of an accelerator's {display(memory.capacity, 'B')} during {phase}",
        "lower `memory_fraction`, shard over more ranks, or give rollout nodes of its own",
    )


def _path_of_scorers(written_workload: WorkloadSpec) -> str:
    """The key of the scoring models: the reward model if written, else the reference, else the algorithm."""
    rl = written_workload.rl
    written = next((name for name in ("reward", "reference") if rl is not None and getattr(rl, name)), "algorithm")
    return f"workload.rl.{written}"
