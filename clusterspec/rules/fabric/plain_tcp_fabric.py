"""Training traffic runs over plain TCP.

## What it finds

Training over several nodes on a technology without RDMA (`ethernet`), except in clouds with their own protocol: a
warning, and a note where all exposed traffic between nodes takes less of the step than the half-width of the range of
that difference.

## Why it matters

Kernel TCP copies every byte twice and takes 10 to 50 µs per message where RDMA takes 2 µs. One connection reaches some
40 Gb/s of a 100 Gb/s port. Collectives of many small messages lose the most.

## What to do

Use RoCE on the same NICs where they support it (`technology: roce-v2`, with PFC and ECN), else several sockets per NIC
(`NCCL_SOCKET_NTHREADS`) and a layout that sends little.

## When to ignore it

Ignore it for fine-tuning on a few nodes, where the step is long and gradients are small.

## Fires

```yaml cluster.scale_out.technology
clusterspec: 1
cluster:
  accelerator: l40s
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: ethernet, nics_per_node: 2, nic_bandwidth: 100 Gb/s}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}
layout: {pp: 4, tp: 1, sharding: zero1, recompute: full}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: l40s
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s, flow_control: {pfc: true, ecn: true}}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}
layout: {pp: 4, tp: 1, sharding: zero1, recompute: full}
```

## Sources

- Sockets against RDMA in NCCL: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
- Users on TCP: https://github.com/vllm-project/vllm/issues/6610
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut, Workload
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import share_of_step, step_severity
from clusterspec.rules.rule import Rule
from clusterspec.standard import sum_of

RULE = Rule.of(__name__, "warning", "likely")


def check(training: Workload, cluster: Cluster, scale_out: ScaleOut, timed: Plan | None) -> Iterator[Problem]:
    technology = scale_out.technology
    if technology.rdma or technology.cloud or technology.family != "tcp" or cluster.nodes < 2:
        return
    message = f"{technology.name} has no RDMA: every byte is copied through the kernel, at 10 to 50 µs per message"
    yield RULE.problem(
        "cluster.scale_out.technology",
        message,
        "use `technology: roce-v2` on the same NICs, with PFC and ECN, where they support it",
        severity=_severity(timed) if timed is not None else "",
    )


def _severity(timed: Plan) -> str:
    """The severity if all exposed traffic between nodes were saved; no other technology saves more."""
    exposed = sum_of(row.exposed for row in timed.communication if row.tier == "scale-out")
    return step_severity(share_of_step(exposed, timed), timed, most="warning")
