"""Several accelerators share a NIC.

## What it finds

More than one scale-up domain, fewer NICs than accelerators in a node (packages, not ranks), and less bandwidth for each
accelerator than usual. The NICs sold with the accelerator give the usual bandwidth, at most the bandwidth per dense
bf16 FLOP of a DGX H100. The rule is silent for accelerators that share NICs by design (a TPU host has a NIC for four
chips), where no group of the layout leaves its domain and its node, and where one NIC for each accelerator is predicted
to save at most 2 % of the step. Where the step is predicted, the finding is a note below the half-width of the range of
that difference, a warning above it, and an error if at least a quarter of the step is lost even at the low end of the
range. Where no step is predicted it is a warning, and a note for an unmodified platform, at three quarters of the
usual bandwidth and more, and for PCIe cards without a workload, whose engines mostly stay in a node.

## Why it matters

Accelerators that send at the same time share the NICs. With four NICs of 400 Gb/s for eight H100, each accelerator has
25 GB/s instead of 50 GB/s for gradient reductions, all-gathers of fsdp and all-to-alls across nodes.

## What to do

Use one NIC per accelerator, or a layout that sends little between nodes (hsdp, pp).

## When to ignore it

Ignore it where the sharing is planned: instances such as p4d have two accelerators per NIC. Inference inside a node is
not affected.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 1
  scale_out: {nics_per_node: 4}
```

## Sources

- NCCL's maintainers on two GPUs behind one NIC: https://github.com/NVIDIA/nccl/issues/820
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import NOTICEABLE, WhatIf
from clusterspec.rules.knowledge.nics import ROUNDED, network_of_peak
from clusterspec.rules.parts import Placements, groups_use_nics
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain, plural

RULE = Rule.of(
    __name__,
    "warning",
    yields_to=("uneven-nics", "fewer-nics-than-instance", "nic-starved-accelerators", "single-nic-across-sockets"),
)

NEARLY = 0.75
"""Smallest share of the usual bandwidth at which NICs are shared on purpose, as in machines with two 200 Gb/s NICs for four
A100.
"""


def check(
    placements: Placements | None,
    workload: Workload | None,
    cluster: Cluster,
    layout: Layout | None,
    scale_out: ScaleOut,
    what_if: WhatIf,
) -> Iterator[Problem]:
    nics, accelerators = scale_out.nics_per_node, cluster.accelerators_per_node
    by_design = min(1.0, cluster.accelerator.nics_per_accelerator or 1.0)
    if cluster.accelerators <= cluster.scale_up.domain or not 0 < nics < accelerators * by_design:
        return
    share, rate = scale_out.node_bandwidth / accelerators, scale_out.nic_bandwidth.value
    usual = network_of_peak(cluster.accelerator)
    if usual is not None and share >= usual * (1 - ROUNDED):
        return  # as much for each FLOP as the machines that train on one NIC per accelerator
    if placements and layout and workload and not groups_use_nics(placements, layout, workload):
        return
    saved, times = what_if.with_nic_rate(rate * accelerators * by_design / nics)
    if saved is not None and saved <= NOTICEABLE:
        return
    sold = cluster.platform.nics_per_node if cluster.platform else None
    as_sold = nics == sold or (usual is not None and share >= NEARLY * usual)
    if workload is None and cluster.accelerator.topology == "pcie":  # engines of such cards mostly stay in a node
        as_sold = True
    yield RULE.problem(
        "cluster.scale_out.nics_per_node",
        f"{accelerators} accelerators share {plural(nics, 'NIC')}: {display(share, 'B/s')} each under full load "
        f"instead of {display(rate, 'B/s')}{times}",
        f"use one NIC per accelerator, or a layout that sends little between nodes ({plain(accelerators / nics)} accelerators share one NIC here)",
        severity=what_if.severity(saved, "note" if as_sold else "warning"),
    )
