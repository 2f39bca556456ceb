"""The transfer of new weights takes a noticeable part of the step.

## What it finds

More than 10 % of the predicted step in which the engines wait for new weights.

Severity follows the predicted loss: a note below the half-width of the prediction's range, a warning above it, and an
error where even the low end of the range loses a quarter of the step. For files it follows the loss that the stated
rates of the store and of the link allow at least, since the rate of one node is assumed where `per_client` is not stated; it is
at most a warning where nothing is stated. Over a network it is a warning, too, where the bytes alone take a
quarter of the step, or a tenth of it on the link between two pools. Where rollout runs ahead, only the bytes count, since the
trainer works meanwhile: from half of the step on they are an error.

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

from clusterspec.cluster.variation import Changes
from clusterspec.cost.reinforcement.times import RlTimes
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.1
MOST_HIDDEN = 0.5
"""Share of the step that the bytes alone may take if rollout runs ahead; a longer transfer cannot be hidden."""
MOST_OF_FABRIC, MOST_OF_LINK = 0.25, 0.1
"""Shares of the step that the bytes alone may take if rollout runs ahead, on the fabric and on the link between two pools: engines
that load weights answer no requests meanwhile.
"""
SHORTER = 0.8
"""Share of the present transfer time above which another method is not proposed."""
PACKED = ("gather", "load")


def check(rl: RlTimes, thresholds: Thresholds, what_if: WhatIf) -> Iterator[Problem]:
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
        + (f" and {sync.messages:,.0f} messages of single tensors" if sync.messages else ""),
        _transfer_advice(rl, what_if),
        severity=_hidden_severity(rl) if ahead else _waiting_severity(rl, (low / rl.step, high / rl.step)),
    )


def _transfer_advice(rl: RlTimes, what_if: WhatIf) -> str:
    """Advice with the changes that shorten the weight transfer, each with its predicted seconds."""
    at = ("workload", "rl", "weight_sync")
    tries: list[tuple[str, Changes]] = [
        (f"`weight_sync.method: {each}`", {(*at, "method"): each})
        for each in ("rdma", "nccl")
        if each != rl.sync.method
    ]
    if rl.sync.messages:
        tries.append(("`weight_sync.gather: packed` and `load: packed`", {(*at, each): "packed" for each in PACKED}))
    kept = ("workload", "rl", "rollout", "parameter_precision")
    words = "`weight_sync.precision: fp8` with `rollout.parameter_precision: fp8`"
    tries.append((words, {(*at, "precision"): "fp8", kept: "fp8"}))
    found = []
    for words, changes in tries:
        plan = what_if.estimate(changes) if what_if.advises else None
        other = plan.rl if plan is not None else None
        if other is not None and other.sync.seconds < SHORTER * rl.sync.seconds:
            found.append((other.sync.seconds, f"{words} ({display(other.sync.seconds, 's')})"))
    offered = [text for _, text in sorted(found)[:2]]
    if rl.rl.rollout_pool is not None:
        offered.append("a faster link between the pools")
    return f"use {', or '.join(offered)}" if offered else "send less often: let rollout run more steps ahead"


def _waiting_severity(rl: RlTimes, band: tuple[float, float]) -> str:
    """Severity if rollout waits for the weights: by their whole time, and over a network by their wire time, too. Through
    files, by their least time.
    """
    lost = rl.sync.seconds / rl.step
    if rl.sync.method != "disk":
        severity = cost_severity(lost, band)
        return _hidden_severity(rl) if severity == "note" else severity
    if not rl.sync.stated_wire:
        return cost_severity(lost, band, most="warning")
    least = rl.sync.least_seconds
    return cost_severity(least / (rl.step - rl.sync.seconds + least), band)


def _hidden_severity(rl: RlTimes) -> str:
    """Severity if rollout runs ahead, so that the transfer may overlap: by its wire time relative to the step."""
    share = rl.sync.wire / rl.step
    if share > MOST_HIDDEN:
        return "error"
    return "warning" if share > (MOST_OF_LINK if rl.rl.rollout_pool is not None else MOST_OF_FABRIC) else "note"
