"""Tensor parallelism reaches beyond the scale-up domain.

## What it finds

A tp that needs more accelerators than one domain has, where the fabric does not reduce in the network. Within one node that
has only PCIe, `tp-over-pcie` speaks instead.

## Why it matters

Tensor parallelism reduces activations four times a layer, and little of it hides. Inside a domain of H100 that runs at 450 GB/s,
beyond it at the 50 GB/s of a NIC: 9 times as long, with the latency of the network on top. The message gives the predicted step
time on both sides of the boundary.

## What to do

tp within the domain, and pipeline stages, context parallelism or sharded data parallelism across it.

## When to ignore it

For serving one very large model where latency is not the point, and where a measured step time says that it pays.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 16, pp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 288}
layout: {tp: 8, pp: 2}
```

## Sources

- Tensor parallelism inside the node: https://arxiv.org/abs/2104.04473
- vLLM users across nodes: https://github.com/vllm-project/vllm/issues/17006 https://github.com/vllm-project/vllm/pull/20593
- Guidance for training: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L153
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import beside, severity_of
from clusterspec.rules.advice.within import inside
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.domains import beyond, tiers
from clusterspec.rules.knowledge.ranks import straddlers
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(facts: Facts, cluster: Cluster, layout: Layout) -> Iterator[Problem]:
    if not beyond(cluster, layout) or (cluster.scale_out is not None and cluster.scale_out.in_network_reduction):
        return
    placement = facts.placement("tp")
    if placement is None or (placement.nodes == 1 and cluster.scale_up.topology == "pcie"):
        return
    best = inside(facts)
    loss = best.saving(facts) if best else None
    yield RULE.problem(
        "layout.tp",
        f"tp {layout.tp} does not fit a domain of {cluster.scale_up.domain} accelerators: {straddlers(placement)}, "
        f"{tiers(cluster, placement)}{beside(facts, best)}",
        f"tp within the domain: `{best.words}`"
        if best
        else f"tp of at most {cluster.ranks_per_domain}, and pp across domains",
        severity=severity_of(loss),
        related=[("cluster.scale_up.domain", f"{cluster.scale_up.domain} accelerators")],
    )
