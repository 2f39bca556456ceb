"""Traffic crosses rails that no switch connects.

## What it finds

`topology: rail-only` on several rails. It is an error where no scale-up domain joins the accelerators of a node (a note
for a service whose engines each fit on one node). Otherwise it is a warning where tensor-, context- or data-parallel
groups cross nodes and their members lie on different rails. Expert-parallel groups are an error in published engines with the
`deepep` dispatcher, whose low-latency kernels for decoding send from each rank to every other by RDMA. Other expert-parallel
groups are not reported: the other dispatchers, and NCCL with `PXN`, first move a token to the rail of its destination
inside the domain.

## Why it matters

Without spines, data reaches another rail only through an accelerator of the sender's node. Without a scale-up domain
this path does not exist: ranks of different rails cannot reach each other. With a scale-up domain, reductions between
nodes also use scale-up bandwidth; NCCL's maintainers call rail-only fabrics a significant risk.

## What to do

Use `rail-optimized` (spines connect the rails), or groups that stay on their rail.

## When to ignore it

Ignore it where the additional hop through NVLink (`PXN`) was measured and is acceptable.

## Fires

```yaml cluster.scale_out.topology
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 12
  scale_out: {technology: infiniband-ndr, topology: rail-only}
workload: {model: llama-3.1-8b, sequence_length: 12288, global_batch: 256}
layout: {tp: 2, cp: 3, sequence_parallel: true}
```

```yaml cluster.scale_out.topology
clusterspec: 1
cluster:
  accelerator: l40s
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, topology: rail-only, nics_per_node: 8, nic_bandwidth: 100 Gb/s, flow_control: {pfc: true, ecn: true}}
```

```yaml cluster.scale_out.topology
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, topology: rail-only}
workload: {kind: serve, model: deepseek-v3, serving: {input_tokens: 3000, output_tokens: 1000, concurrency: 512}}
layout: {framework: sglang, attention_dp: 32, ep: 32, dispatcher: deepep}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  scale_out: {technology: infiniband-ndr, topology: rail-only}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {tp: 4, ep: 16, expert_tp: 1}
```

## Sources

- "Significant risk": https://github.com/NVIDIA/nccl/issues/836
- "Pure RDMA", all ranks to all, in the low-latency kernels: https://github.com/deepseek-ai/DeepEP
- Rail-only for dense models: https://arxiv.org/abs/2307.12169
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements, engines_stay_on_nodes
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list

RULE = Rule.of(__name__, "warning", "likely")
AT = "cluster.scale_out.topology"
AXES = ("tp", "cp", "dp")


def check(
    placements: Placements | None,
    cluster: Cluster,
    workload: Workload | None,
    layout: Layout | None,
    scale_out: ScaleOut,
) -> Iterator[Problem]:
    if scale_out.topology != "rail-only" or scale_out.rails == 1:
        return
    if not _domain_joins_rails(cluster):
        message = (
            f"the {scale_out.rails} rails are separate: no spine connects them, and {_within_domain_text(cluster)}, so that ranks of "
            "different rails cannot reach each other"
        )
        yield RULE.problem(
            AT,
            message,
            "use `topology: rail-optimized`, whose spines connect the rails",
            severity="note" if engines_stay_on_nodes(cluster, workload, layout) else "error",
        )
        return
    if placements is None or layout is None:
        return
    if _experts_exchange_across_rails(placements, workload, layout):
        message = f"the low-latency kernels of DeepEP send from each of the {layout.ep} ranks to every other by RDMA, but no spine connects the {scale_out.rails} rails: ranks of other nodes on other rails cannot be reached"
        help_ = "use `topology: rail-optimized`, or engines that stay inside a node"
        yield RULE.problem(AT, message, help_, severity="error")
    crossing = [f"{axis} {getattr(layout, axis)}" for axis in AXES if _is_off_rail(placements, cluster, layout, axis)]
    if crossing:
        message = f"groups of {and_list(crossing)} have members on different rails, but no spine connects the rails"
        yield RULE.problem(AT, message, "use `topology: rail-optimized`, or groups that stay on their rail")


def _experts_exchange_across_rails(placements: Placements, workload: Workload | None, layout: Layout) -> bool:
    """Whether serving engines that span nodes exchange tokens with DeepEP, which decodes without a hop inside a node.

    In-house engines, which have no releases, may have kernels with such a hop: DeepSeek serves on separate planes.
    """
    if workload is None or workload.kind != "serve" or layout.ep < 2 or layout.dispatcher.kind != "deepep":
        return False
    if not layout.capabilities.framework.releases:
        return False
    placement = placements.of("ep")
    return placement is not None and placement.domains > 1 and placement.ranks_per_node > 1


def _domain_joins_rails(cluster: Cluster) -> bool:
    """Whether a scale-up domain connects the accelerators of a node, and so the rails."""
    return cluster.scale_up.topology != "pcie" and cluster.scale_up.domain >= cluster.accelerators_per_node


def _within_domain_text(cluster: Cluster) -> str:
    if cluster.scale_up.topology == "pcie":
        return "the accelerators of a node have no scale-up domain"
    return f"a scale-up domain holds {cluster.scale_up.domain} of the {cluster.accelerators_per_node} accelerators of a node"


def _is_off_rail(placements: Placements, cluster: Cluster, layout: Layout, axis: str) -> bool:
    """Whether members of a group are on different rails.

    A group that fills whole nodes reduces inside each node first, so every member uses its own rail.
    """
    placement = placements.of(axis) if getattr(layout, axis) > 1 else None
    if placement is None or placement.nodes < 2 or placement.rail_aligned:
        return False
    return placement.ranks_per_node > 1 and placement.ranks_per_node * placement.stride != cluster.ranks_per_node
