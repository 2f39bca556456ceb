"""The transfer of new weights takes a noticeable part of the step.

## What it finds

More than 10 % of the predicted step in which the engines wait for new weights.

Severity follows the predicted loss: a note below the half-width of the prediction's range, a warning above it, and an
error where even the low end of the range loses a quarter of the step. Where rollout runs ahead and the weights cross a
network, it is a note, since the trainer works meanwhile, and an error where the transfer of the bytes alone takes more
than half of the step.

## Why it matters

Engines stop while they load weights. Sending through a file system, from one NIC to all engines, or one tensor at a
time takes many times as long as the scale-out network needs.

## What to do

Send over the scale-out network in large buckets (`nccl`), each rank to the engines that need its part (`rdma`), fewer
bytes (`precision: fp8`), or let rollout run ahead and send after several steps.

## When to ignore it

Ignore it where a measured transfer is faster.

## Options

`thresholds = {weight-sync-exposed = 0.1}` in the configuration sets the share above which the rule reports. The number is
a share of the predicted step time. The default is 0.1.

## Fires

```yaml workload.rl.weight_sync
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 300, rollout: {nodes: 2, tp: 1}, weight_sync: {method: disk}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  kind: rl
  model: qwen2.5-7b
  rl: {algorithm: dapo, prompts_per_step: 64, samples_per_prompt: 8, input_tokens: 512, output_tokens: 300, rollout: {nodes: 2, tp: 1}, weight_sync: {method: nccl}}
layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Sources

- Transfers of weights by bucket: https://github.com/MoonshotAI/checkpoint-engine/blob/415c3205fdf8d3e0bf39deec87db9d73b1c64bba/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.1
MOST_HIDDEN = 0.5
"""Share of the step that the bytes alone may take where rollout runs ahead: beyond it nothing hides the transfer."""


def check(rl: RlTimes, thresholds: Thresholds) -> Iterator[Problem]:
    lost = rl.sync.seconds / rl.step
    if lost <= thresholds.of(RULE.name, MOST):
        return
    low, high = rl.band
    sync = rl.sync
    ahead = rl.rl.max_staleness > 0 and sync.method != "disk"
    yield RULE.problem(
        "workload.rl.weight_sync",
        f"{display(sync.weights, 'B')} of weights by {sync.method} take {display(sync.seconds, 's')}, {percent(lost, 2)} of the step of "
        f"{display(rl.step, 's')}: {display(sync.wire, 's')} for the bytes, the rest for {sync.tensors:,.0f} tensors"
        + (f" and {sync.messages:,.0f} messages of single ones" if sync.messages else ""),
        "send tensors together (`gather`, `load`), send each rank its part (`rdma`), or fewer bytes"
        if sync.messages
        else "send over the scale-out network in buckets, to each rank its part (`rdma`), or in fewer bytes",
        severity=_hidden_severity(rl) if ahead else cost_severity(lost, (low / rl.step, high / rl.step)),
    )


def _hidden_severity(rl: RlTimes) -> str:
    """Severity where rollout runs ahead, so the transfer may overlap: by its wire time relative to the whole step."""
    return "error" if rl.sync.wire > MOST_HIDDEN * rl.step else "note"
