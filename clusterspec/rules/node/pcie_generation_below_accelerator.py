"""The slots are a PCIe generation behind the accelerator.

## What it finds

A stated `pcie` generation of the host below the generation of the accelerator's entry: a note, and a warning where it
is two generations below or more, since such hosts are not sold with the accelerator. A generation above 6 is a warning:
no host has it yet.

## Why it matters

All traffic between host and accelerator runs at half rate: data loading, offloaded optimizer states, checkpoints, and
peer traffic where there is no scale-up interconnect.

## What to do

Use slots of the accelerator's generation, unless little traffic crosses them.

## When to ignore it

Ignore it where training data is small and nothing is offloaded.

## Fires

```yaml cluster.pcie
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1, pcie: 4}
```

```yaml cluster.pcie
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1, pcie: 1}
```

```yaml cluster.pcie
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1, pcie: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 1, pcie: 5}
```

## Sources

- Rates by generation: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec

RULE = Rule.of(__name__, "note", yields_to=("nic-exceeds-pcie-slot", "contradicts-platform"))


NEWEST = 6
"""Newest PCIe generation of hosts and accelerators on sale, as on GB300 and MI455X in the catalog."""
FAR = 2
"""Smallest number of generations between host and accelerator at which the figure is more likely a mistake."""


def check(written_cluster: ClusterSpec, accelerator: Accelerator) -> Iterator[Problem]:
    host = written_cluster.pcie.host if written_cluster.pcie else None
    if host is not None and host > NEWEST:
        message = f"no host has slots of PCIe {host}, only up to {NEWEST}"
        yield RULE.problem("cluster.pcie", message, "write the generation of the slots", severity="warning")
    if host is not None and accelerator.pcie is not None and host < accelerator.pcie:
        halves = 2 ** (accelerator.pcie - host)
        message = (
            f"PCIe {host} slots give {accelerator.name} 1/{halves} of the host bandwidth of PCIe {accelerator.pcie}"
        )
        yield RULE.problem(
            "cluster.pcie",
            message,
            f"use PCIe {accelerator.pcie} slots, where data loading or offload matters",
            severity="warning" if accelerator.pcie - host >= FAR else "",
        )
