"""GPUDirect RDMA is switched off.

## What it finds

More than one node, a technology with RDMA, and `gpudirect_rdma: false`. The rule is silent for parts that cannot do it,
such as GeForce cards.

## Why it matters

Every byte then crosses host memory and the PCIe root of the CPU, in and out: one cluster went from 33 to 93 GB/s of bus
bandwidth when GPUDirect RDMA was enabled.

## What to do

Load `nvidia-peermem`, or use DMA-BUF with a recent kernel and driver, and check that NCCL logs `GDRDMA` for each
channel.

## When to ignore it

Ignore it where virtualization does not allow it.

## Fix safety

The fix is unsafe: it writes `true`. The machine must be configured accordingly.

## Fires

```yaml cluster.scale_out.gpudirect_rdma
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {gpudirect_rdma: false}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {gpudirect_rdma: true}
```

## Sources

- 33 to 93 GB/s: https://github.com/NVIDIA/nccl/issues/1412
- Further cases: https://github.com/NVIDIA/nccl/issues/897 https://github.com/NVIDIA/nccl/issues/1537
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.scaleout import parts_without_gpudirect
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix

RULE = Rule.of(__name__, "warning")


def check(cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    if parts_without_gpudirect(cluster.accelerator, cluster.platform, scale_out.nic):
        return  # it cannot be switched on
    if cluster.nodes > 1 and scale_out.technology.rdma and not scale_out.gpudirect_rdma:
        at = "cluster.scale_out.gpudirect_rdma"
        message = f"without GPUDirect RDMA every byte over {scale_out.technology.name} crosses host memory"
        help_ = "load nvidia-peermem or use DMA-BUF, and write `gpudirect_rdma: true`"
        yield RULE.problem(at, message, help_, fix=value_fix(at, "true"))
