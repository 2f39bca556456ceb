"""Expert-parallel groups lie in several scale-up domains.

## What it finds

A model with experts, ep above 1, and an expert group, enumerated from `layout.order`, with members in two domains.

## Why it matters

Dispatch and combine are all-to-alls that stand on the critical path twice a layer in each pass, forward and backward. Across nodes each accelerator
sends the share (N − g)/N of it through its NIC: 50 GB/s where the domain has 450.

## What to do

ep inside the domain (with `expert_tp: 1` its ranks can be those of tp); else a dispatcher that overlaps, fp8 dispatch, and
routing limited to a few nodes.

## When to ignore it

For models with hundreds of experts no domain is large enough: DeepSeek-V3 ran ep 64 over 8 nodes with its own kernels, and says
so by `overlap: {ep: true}` and `routing`.

## Fires

```yaml layout.ep
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {tp: 4, ep: 8, expert_tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {tp: 4, ep: 8, expert_tp: 1}
```

## Sources

- Guidance: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L84
- What users measure: https://github.com/NVIDIA/Megatron-LM/issues/1456 https://github.com/NVIDIA/nccl-tests/issues/130
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Model
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.domains import tiers, used_domain
from clusterspec.rules.knowledge.ranks import straddlers
from clusterspec.rules.knowledge.shares import exposed, share
from clusterspec.rules.rule import Rule
from clusterspec.units import percent, say

RULE = Rule.of(__name__, "warning")


def check(facts: Facts, model: Model, cluster: Cluster, layout: Layout) -> Iterator[Problem]:
    if model.experts == 0 or layout.ep == 1:
        return
    placement = facts.placement("ep")
    if placement is None or placement.straddling == 0:
        return
    most = used_domain(cluster, layout) // max(1, layout.expert_tp)
    help_ = f"ep of at most {most} inside the domain" + (", or `expert_tp: 1`" if layout.expert_tp > 1 else "")
    if not layout.overlap["ep"]:
        help_ += "; or a dispatcher that overlaps (`overlap: {ep: true}`)"
    yield RULE.problem("layout.ep", f"{straddlers(placement)}, {tiers(cluster, placement)}{_exposed(facts)}", help_)


def _exposed(facts: Facts) -> str:
    """What the all-to-alls cost that nothing hides."""
    if facts.training is None or facts.plan is None or not facts.step_time:
        return ""
    seconds = exposed(facts.plan, {"ep"})
    if seconds <= 0:
        return ""
    return f"; {say(seconds, 's')} of a step ({percent(share(seconds, facts.plan), 2)}) is exposed all-to-all"
