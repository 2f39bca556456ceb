"""Dispatch and combine take longer than the experts compute.

## What it finds

A model with experts, where dispatch and combine take longer than the GEMMs of the experts, and `overlap.ep` is not
true.

Severity follows the lost share of the step: a note below the half-width of the range of that difference, a warning
above it, and an error if even the low end of the range loses a quarter of the step.

## Why it matters

The all-to-alls are on the critical path four times per layer (twice forward, twice backward). Where they take longer
than the experts, more than half of the layer is communication.

## What to do

Keep ep inside the domain, or use fp8 dispatch, fewer experts per token across nodes (`routing.max_nodes`), or a
dispatcher that overlaps two micro-batches (`overlap: {ep: true}`).

## When to ignore it

Do not ignore it. If the framework overlaps the all-to-alls, state `overlap: {ep: true}`.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 8, scale_out: {technology: roce-v2, flow_control: {pfc: true, ecn: true}}}
workload: {model: qwen3-30b-a3b, sequence_length: 4096, global_batch: 4096}
layout: {tp: 1, ep: 4, micro_batch: 4, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: qwen3-235b-a22b, sequence_length: 4096, global_batch: 4096}
layout: {tp: 1, pp: 2, ep: 64, recompute: full, overlap: {ep: true}}
```

## Sources

- Costs of expert parallelism: https://github.com/deepspeedai/DeepSpeed/pull/8213 https://github.com/NVIDIA/Megatron-LM/issues/1456
- Kernels that overlap: https://github.com/deepseek-ai/DeepEP/issues/59
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.parameters import model_weights
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import (
    computing_seconds,
    exposed_seconds,
    sent_seconds,
    share_of_step,
    step_severity,
)
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely", yields_to=("ep-crosses-scale-up-domain",))


def check(training: Workload, model: Model, layout: Layout, timed: Plan) -> Iterator[Problem]:
    if layout.ep == 1 or model.experts == 0 or layout.overlap.ep:
        return
    if timed.step is None:
        return
    experts, sending = computing_seconds(timed) * _expert_share(model), sent_seconds(timed, {"ep"})
    if sending <= experts:
        return
    lost = share_of_step(exposed_seconds(timed, {"ep"}), timed)
    yield RULE.problem(
        "layout.ep",
        f"dispatch and combine take {display(sending, 's')} per step, the GEMMs of the experts {display(experts, 's')}: "
        f"{percent(lost, 2)} of the step is exposed all-to-all",
        "keep ep inside the domain, use fp8 dispatch, or a dispatcher that overlaps (`overlap: {ep: true}`)",
        severity=step_severity(lost, timed),
    )


def _expert_share(model: Model) -> float:
    """The share of the multiplied weights that belongs to routed experts."""
    weights = model_weights(model)
    routed = weights.moe_layers * weights.experts_per_token * weights.expert
    return routed / weights.multiplied_weights if weights.multiplied_weights else 0.0
