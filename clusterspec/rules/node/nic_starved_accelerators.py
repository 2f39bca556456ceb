"""The accelerators have less than half of their usual network bandwidth.

## What it finds

Training on more than one node, where the NIC rate per accelerator is below half of the usual rate. The usual rate is
the one in the accelerator's entry (400 Gb/s for Hopper, Blackwell and MI300X), limited to the rate per dense bf16 FLOP
of a DGX H100 (126 Gb/s for an A100, 60 Gb/s for an H20). The severity follows the share of the step that the usual rate
would save: a note below the half-width of the range of that difference, a warning above it and where the time is not
known, and an error if at least a quarter of the step is lost even at the low end of the range. A warning becomes a note
where a cloud sells the instance only with these NICs, since no key of the fabric can change them.

## Why it matters

Compute grows with each generation and gradients do not shrink. 100 Gb/s per H100 is a quarter of the network bandwidth
of the reference design. Users report ZeRO-3 over 100 Gb/s per node as unusable, over 200 to 400 Gb/s as workable.

## What to do

Use more or faster NICs; else keep communication inside the node, by hsdp, pipeline stages across nodes and large
micro-batches.

## When to ignore it

Ignore it for fine-tuning of adapters, and for cloud instances without an alternative if the step time was measured.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 2}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {nics_per_node: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {tp: 1}
```

## Sources

- ZeRO-3 over slow networks: https://github.com/deepspeedai/DeepSpeed/issues/2928
- What each generation is sold with: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L1394
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.nics import WORKABLE, is_starved, network_of_peak
from clusterspec.rules.rule import Rule
from clusterspec.units import display_bits

RULE = Rule.of(__name__, "warning", "likely", yields_to=("fewer-nics-than-instance",))


def check(
    deviations: Deviations, training: Workload, cluster: Cluster, scale_out: ScaleOut, what_if: WhatIf
) -> Iterator[Problem]:
    if cluster.nic_bandwidth_per_accelerator is None:
        return
    usual = network_of_peak(cluster.accelerator)
    if usual is None or not is_starved(cluster, deviations):
        return
    saved, times = what_if.with_nic_rate(usual * cluster.accelerators_per_node / scale_out.nics_per_node)
    severity = what_if.severity(saved, "warning")
    enough = WORKABLE * usual * cluster.accelerators_per_node
    sold = cluster.cloud and saved is not None and severity == "warning"
    yield RULE.problem(
        "cluster.scale_out.nics_per_node",
        f"each {cluster.accelerator.name} has {display_bits(cluster.nic_bandwidth_per_accelerator)} of network bandwidth, less than half of the usual {display_bits(usual)}{times}",
        f"use more or faster NICs, {display_bits(enough)} or more for each node together, or a layout that keeps traffic in the "
        "node (hsdp, pp across nodes)",
        severity="note" if sold else severity,
    )
