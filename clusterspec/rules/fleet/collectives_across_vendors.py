"""One communicator has accelerators of two vendors.

## What it finds

A job of reinforcement learning whose `weight_sync` is `nccl` and whose trainer and engines run on pools with
accelerators of different vendors.

## Why it matters

A broadcast needs one communicator with all its ranks. NCCL runs on the accelerators of NVIDIA, RCCL on those of AMD; their
bootstrap messages and kernels differ, so that the ranks of one do not join a communicator of the other.

## What to do

Send weights by RDMA or over files (`method: rdma` or `disk`), or place both on accelerators of one vendor.

## When to ignore it

Ignore it where the collectives run on hosts, as with Gloo.

## Fires

```yaml jobs.grpo.workload.rl.weight_sync.method
clusterspec: 1
pools:
  train: {platform: dgx-h200, nodes: 8}
  sample: {platform: mi300x-ubb8, nodes: 8}
pool_links:
  - {between: [train, sample], bandwidth: 400 GB/s}
jobs:
  grpo:
    pool: train
    nodes: 8
    workload:
      kind: rl
      model: qwen3-32b
      rl: {algorithm: grpo, placement: split, rollout: {pool: sample, nodes: 8}, weight_sync: {method: nccl}}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-h200, nodes: 8}
  sample: {platform: mi300x-ubb8, nodes: 8}
pool_links:
  - {between: [train, sample], bandwidth: 400 GB/s}
jobs:
  grpo:
    pool: train
    nodes: 8
    workload:
      kind: rl
      model: qwen3-32b
      rl: {algorithm: grpo, placement: split, rollout: {pool: sample, nodes: 8}, weight_sync: {method: disk}}
```

## Sources

- What RCCL supports: https://rocm.docs.amd.com/projects/rccl/en/latest/what-is-rccl.html
- What NCCL supports: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/overview.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, named_engines
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(fleet: Fleet) -> Iterator[Problem]:
    for name, job in (fleet.spec.jobs or {}).items():
        rl = job.workload.rl if job.workload is not None else None
        if rl is None or rl.weight_sync is None or rl.weight_sync.method != "nccl":
            continue
        trainer = _vendor_of(fleet, job.pool)
        for engines in named_engines(job.workload):
            sampler = _vendor_of(fleet, engines.pool)
            if engines.role == "rollout" and trainer and sampler and trainer != sampler:
                message = f"pool `{job.pool}` has accelerators of {trainer} and `{engines.pool}` of {sampler}: no collective library joins both in one communicator"
                at = ("jobs", name, "workload", "rl", "weight_sync", "method")
                yield RULE.problem(at, message, "use `method: rdma` or `disk`")


def _vendor_of(fleet: Fleet, pool: str | None) -> str:
    """The vendor of the accelerators of a pool; empty if unknown."""
    known = fleet.pools.get(pool) if pool is not None else None
    return known.cluster.accelerator.vendor if known is not None and known.cluster is not None else ""
