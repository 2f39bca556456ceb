"""Tensor-parallel groups are larger than the scale-up domain.

## What it finds

A tp that needs more accelerators than one domain has, where the fabric has no in-network reduction. Inside one node
with only PCIe, `tp-over-pcie` reports it instead. In training the finding is an error where exposed tensor-parallel
communication is predicted to take a quarter of the step, where a layout within domains is predicted to save a quarter
even at the low end of the range, or where the time is not known. It is a warning where such a layout saves more than
the half-width of the range of that difference; else a note. In serving, the same limits apply to the predicted
throughput, and a gain of 20 % is at least a warning. Without a target for the time between tokens the finding is at
most a warning; where no throughput is predicted, it is a note. For rollout engines it is a note, since published
recipes of reinforcement learning generate with tp 16 and 32 over nodes of eight.

## Why it matters

Tensor parallelism reduces activations four times per layer (twice in serving), and little of that communication
overlaps with computation. Across domains it runs over the NICs: one H100 has 450 GB/s of NVLink per direction and 50
GB/s of NIC, and a group with eight rails can use all eight NICs of its node. The message gives the predicted bus
bandwidth and step time on both sides of the boundary.

## What to do

Keep tp within the domain, and use pipeline stages, context parallelism or sharded data parallelism across domains.

## When to ignore it

Ignore it for serving a very large model where throughput matters more than latency, and where a measured step time
confirms the layout.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 256}
layout: {tp: 16, pp: 2}
```

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}}
layout: {tp: 16}
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

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.domain_layouts import fastest_within_domain
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.what_if import Alternative, WhatIf
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.domains import bandwidth_across, exceeds_domain, straddling_groups
from clusterspec.rules.knowledge.served import DECODE, Served
from clusterspec.rules.knowledge.shares import A_QUARTER, exposed_seconds, share_of_step
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error")
A_FIFTH = 0.2
"""Gain in throughput of pipeline stages over tensor parallelism across nodes that exceeds the model's error."""


def check(
    deviations: Deviations,
    placements: Placements,
    served: Served | None,
    legality: Legality,
    cluster: Cluster,
    layout: Layout,
    workload: Workload | None,
    timed: Plan | None,
    what_if: WhatIf,
) -> Iterator[Problem]:
    if not exceeds_domain(cluster, layout) or (
        cluster.scale_out is not None and cluster.scale_out.in_network_reduction
    ):
        return
    placement = placements.of("tp")
    if placement is None or (placement.nodes == 1 and cluster.scale_up.topology == "pcie"):
        return
    if served is not None:
        yield _serving_problem(served, legality, cluster, placement)
        return
    best = fastest_within_domain(what_if, cluster, layout)
    yield RULE.problem(
        "layout.tp",
        f"tp {layout.tp} exceeds the domain of {plural(cluster.scale_up.domain, 'accelerator')}: {straddling_groups(placement)}"
        f"{bandwidth_across(deviations, cluster, placement, 'all-reduce')}{what_if.comparison(best)}",
        f"keep tp within the domain: `{best.words}`"
        if best
        else f"use tp of at most {cluster.ranks_per_domain}, and pp across domains",
        severity=_severity(workload, timed, what_if, best),
        related=[("cluster.scale_up.domain", plural(cluster.scale_up.domain, "accelerator"))],
    )


def _severity(workload: Workload | None, timed: Plan | None, what_if: WhatIf, best: Alternative | None) -> str:
    if workload is not None and workload.kind == "serve":
        return "note"
    if timed is not None and share_of_step(exposed_seconds(timed, {"tp"}), timed) >= A_QUARTER:
        return "error"
    return what_if.severity(what_if.saved_share(best) if best else None)


def _serving_severity(severity: str, gain: float) -> str:
    """The severity of a gain in throughput. Both layouts compute the same, so only a part of the prediction's range
    applies.
    """
    return "warning" if severity == "note" and gain >= A_FIFTH else severity


def _serving_problem(served: Served, legality: Legality, cluster: Cluster, placement: Placement) -> Problem:
    """The problem of a serving plan: the loss is in throughput, and stages replace the ranks beyond the domain."""
    from clusterspec.rules.advice.serving import best_gain, comparison_text

    layout, domain = served.layout, cluster.ranks_per_domain
    stages = layout.pp * -(-layout.tp // domain)
    candidates = ({"tp": domain, "pp": stages}, {"tp": domain})
    gain = best_gain(served, legality, candidates) if not layout.separate_engines else None
    found = gain if gain and gain.is_worth_it else None
    key = DECODE if layout.separate_engines else "layout.tp"
    return RULE.problem(
        key,
        f"tp {layout.tp} exceeds the domain of {plural(cluster.scale_up.domain, 'accelerator')}: {straddling_groups(placement)}"
        f"{'; ' + comparison_text(found) if found else ''}",
        f"keep tp within the domain: `{found.words}`"
        if found
        else f"use tp of at most {domain}, and pp across domains",
        severity=_serving_severity(found.severity, found.share) if found else "note",
        related=[("cluster.scale_up.domain", plural(cluster.scale_up.domain, "accelerator"))],
    )
