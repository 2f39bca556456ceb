"""A setting cannot work where rollout is placed.

## What it finds

- `weight_sync.method: ipc` where rollout has nodes of its own (`split` or `partial`).
- `max_staleness` above 0 where rollout shares the accelerators of the trainer (`colocated`).
- `rollout.nodes` where rollout shares the accelerators of the trainer.

## Why it matters

A handle of device memory is valid on the machine that made it, so engines on other nodes never get new weights.
Rollout that takes turns with the trainer cannot generate while the trainer works: frameworks refuse to run ahead there.

## What to do

Send over the network (`nccl` or `rdma`) to engines on other nodes. Give rollout nodes of its own to run ahead, or write
`max_staleness: 0`.

## When to ignore it

Ignore it where the age stems from long samples that are interrupted and continued with new weights.

## Fires

```yaml workload.rl.weight_sync.method
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, rollout: {nodes: 2, tp: 1}, weight_sync: {method: ipc}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

```yaml workload.rl.max_staleness
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, placement: colocated, max_staleness: 2, rollout: {tp: 1}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 1500, placement: colocated, rollout: {tp: 1}, weight_sync: {method: ipc}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Handles of device memory between processes of one machine: https://docs.nvidia.com/cuda/cuda-c-programming-guide/#interprocess-communication
- Asynchronous training refused on shared accelerators: https://github.com/THUDM/slime/blob/main/train_async.py#L11 (read 2026-11-21)
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(written_workload: WorkloadSpec, training: Workload) -> Iterator[Problem]:
    rl, written = training.rl, written_workload.rl
    if rl is None or written is None:
        return
    if rl.placement != "colocated":
        if rl.sync.method == "ipc" and rl.rollout_nodes:
            yield RULE.problem(
                "workload.rl.weight_sync.method",
                f"handles of device memory do not reach the {plural(rl.rollout_nodes, 'node')} of rollout",
                "use `nccl` or `rdma`",
            )
        return
    if rl.max_staleness:
        yield RULE.problem(
            "workload.rl.max_staleness",
            f"colocated rollout waits while the trainer works, so it cannot run {plural(rl.max_staleness, 'step')} ahead",
            "write 0, or give rollout nodes of its own (`placement: split`)",
        )
    if written.rollout is not None and written.rollout.nodes:
        yield RULE.problem(
            "workload.rl.rollout.nodes",
            f"colocated rollout runs on the trainer's nodes, and {plural(written.rollout.nodes, 'node')} of its own are stated",
            "drop the key, or write `placement: split`",
        )
