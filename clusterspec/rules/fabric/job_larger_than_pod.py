"""The job spans several pods.

## What it finds

More nodes in the job than `pod_nodes`, or than one block of the fabric level below an oversubscribed level; or a job
that fits in a pod, with its spares in another pod. The finding is a warning, and a note where `oversubscribed-fabric`
reports the lost time.

## Why it matters

The slowest link sets the speed of every collective that crosses it. A replacement node in another pod makes a job cross
pods that fitted in one before.

## What to do

Keep the job in a pod, spares included.

## When to ignore it

Ignore it where only the gradients of hsdp or the activations between pipeline stages cross the pods.

## Fires

```yaml layout.nodes
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: 2:1, pod_nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 2, nodes: 64}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 128
  scale_out: {technology: infiniband-ndr, topology: fat-tree, oversubscription: 2:1, pod_nodes: 32}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 1024}
layout: {tp: 2, nodes: 32}
```

## Sources

- One weak link: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
- Pods and placement: https://glennklockwood.com/garden/systems/meta's-h100-clusters
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut, Workload
from clusterspec.cluster.planes import fabric_levels
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import oversubscription
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "warning", "likely")


def check(
    training: Workload | None, written_layout: LayoutSpec, cluster: Cluster, layout: Layout, scale_out: ScaleOut
) -> Iterator[Problem]:
    """Problems of jobs and spares. A job that uses the whole cluster cannot choose its pods and is not reported."""
    if not scale_out.pod_nodes and not scale_out.levels:
        return
    pod = _nodes_of_pod(cluster, scale_out)
    if pod is None:
        return
    if written_layout.nodes is not None and layout.nodes > pod:
        pods = -(-layout.nodes // pod)
        message = (
            f"{layout.nodes:,} nodes span {pods} pods of {pod:,}: the links between pods set the speed of collectives"
        )
        help_ = f"use at most {pod:,} nodes, spares included, or hsdp and pp between pods"
        known = (
            training is not None and oversubscription(cluster, layout.nodes) > 1
        )  # oversubscribed-fabric has the numbers
        yield RULE.problem("layout.nodes", message, help_, severity="note" if known else "warning")
    elif layout.nodes == cluster.nodes <= pod < layout.nodes + cluster.spare_nodes:
        outside = layout.nodes + cluster.spare_nodes - pod
        message = f"{outside:,} of {cluster.spare_nodes:,} spare nodes are in another pod than the job's {layout.nodes:,} nodes"
        help_ = f"use {max(1, pod - cluster.spare_nodes):,} nodes, so that the spares are in the same pod"
        yield RULE.problem("cluster.spare_nodes", message, help_)


def _nodes_of_pod(cluster: Cluster, fabric: ScaleOut) -> int | None:
    """Nodes of the smallest block below an oversubscribed level; None if the spec has none."""
    if fabric.pod_nodes or not fabric.levels:
        return fabric.pod_nodes
    tapered = (level.nodes for level in fabric_levels(cluster) if level.oversubscription > 1 and level.nodes)
    return next(tapered, None)
