"""The job does not fit in one pod.

## What it finds

More nodes in the job than `pod_nodes`, or than a level's block below an oversubscribed one; or a job that fits, with spares that lie in
another pod.

## Why it matters

The weakest link sets the speed of every collective that crosses it, and a replacement node in another pod makes a job cross that did not
before.

## What to do

Bound the job to a pod, spares included.

## When to ignore it

Where only gradients of hsdp or pipeline stages cross.

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

from clusterspec.cluster.model import Layout, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "warning", "likely")


def check(said_layout: LayoutSpec, layout: Layout, scale_out: ScaleOut) -> Iterator[Problem]:
    """Only a job that is meant to be a part of the cluster: one that takes all of it has no choice of pods."""
    pod = scale_out.pod_nodes
    if pod is None or said_layout.nodes is None or layout.nodes <= pod:
        return
    pods = -(-layout.nodes // pod)
    message = f"{layout.nodes:,} nodes lie in {pods} pods of {pod}: what crosses between them sets the pace"
    yield RULE.problem("layout.nodes", message, f"at most {pod} nodes, spares included, or hsdp and pp between pods")
