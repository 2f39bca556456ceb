"""A measurement has the bandwidth of plain TCP sockets.

## What it finds

Over several domains, at 1 GiB and more, a bus bandwidth below 15 % of the ceiling of the NICs.

## Why it matters

The collective library did not find its network plugin and silently fell back to TCP sockets: 5.4 GB/s instead of 122.6
GB/s on one cluster, 4 instead of 340 GB/s on another.

## What to do

Look for `NET/Socket` in `NCCL_DEBUG=INFO`; install the plugin of the network, and pin `NCCL_NET` to it, so that jobs
fail without it.

## When to ignore it

Do not ignore it. If the cluster has only TCP, declare `technology: ethernet`.

## Fires

```yaml measured[0].busbw
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 4, scale_out: {collective_plugin: aws-ofi-nccl, placement: cluster-placement-group}}
measured:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 5.4 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 4, scale_out: {collective_plugin: aws-ofi-nccl, placement: cluster-placement-group}}
measured:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- 5.4 against 122.6: https://github.com/aws/aws-ofi-nccl/issues/803
- Fallback in vLLM and Slurm jobs: https://github.com/vllm-project/vllm/issues/6610 https://github.com/vllm-project/vllm/pull/20593
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cost.measured import Measurement, expected_cost
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import GIB, SOCKETS, measurement_name
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "error", "likely")
ONE_NIC = (0.6, 1.03)
"""Range of a collective's rate over one NIC, as shares of its line rate; a lower rate has another cause."""


def check(measurements: tuple[Measurement, ...], rated: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    for measurement in measurements:
        row, ranks = measurement.largest, measurement.ranks
        if row is None or row.size < GIB or not ranks or ranks <= rated.ranks_per_domain:
            continue
        best = expected_cost(rated, measurement, row.size)
        if best is None or row.busbw >= SOCKETS * best.ceiling_busbw:
            continue
        nic = scale_out.nic_bandwidth.value
        if scale_out.nics_per_node > 1 and ONE_NIC[0] * nic <= row.busbw <= ONE_NIC[1] * nic:
            yield RULE.problem(
                measurement.at,
                f"{measurement_name(measurement)}: {display(row.busbw, 'B/s')} is {percent(row.busbw / best.ceiling_busbw, 2)} of what the "
                f"{scale_out.nics_per_node} NICs of a node carry, and {percent(row.busbw / nic, 2)} of one NIC",
                "look for the NICs that NCCL_DEBUG=INFO lists, and at NCCL_IB_HCA",
            )
            continue
        plugin = next(iter(scale_out.technology.plugins), "its plugin").replace("built-in", "IB")
        yield RULE.problem(
            measurement.at,
            f"{measurement_name(measurement)}: {display(row.busbw, 'B/s')} is {percent(row.busbw / best.ceiling_busbw, 2)} of what the NICs carry, "
            "which is typical of plain TCP sockets",
            f"look for NET/Socket in NCCL_DEBUG=INFO, and pin NCCL_NET to {plugin}",
        )
