"""The NIC does not speak the technology of the fabric.

## What it finds

A named `nic` that does not support the family of `technology`: an Ethernet adapter in an InfiniBand fabric, or an
adapter for Omni-Path under RoCE. Also an adapter of another vendor under a technology of one vendor's adapters, such as
Spectrum-X.

## Why it matters

The port does not come up. Many adapters exist in one variant for each technology, so a quote may contain the wrong one.

## What to do

Name the adapter of this technology, or the technology of this adapter.

## When to ignore it

Do not ignore it. If an adapter has gained a technology, correct its entry in a company catalog.

## Fires

```yaml cluster.scale_out.nic
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic: pollara-400}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic: connectx-7}
```

## Sources

- What each adapter carries: `clusterspec catalog show nic/connectx-7`
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "error")


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    nic, technology = scale_out.nic, scale_out.technology
    if written_scale_out.nic is None or nic is None or not nic.families or technology.cloud:
        return
    if technology.single_vendor and nic.vendor not in {"", technology.vendor}:
        message = f"{technology.name} works between {technology.vendor}'s own switches and NICs, but {nic.name} is from {nic.vendor}"
        yield RULE.problem(
            "cluster.scale_out.nic", message, f"use a NIC of {technology.vendor}, or write `technology: roce-v2`"
        )
    elif technology.family not in nic.families:
        yield RULE.problem(
            "cluster.scale_out.nic",
            f"{nic.name} supports {and_list(nic.families)}, not {technology.name}",
            f"use an adapter for {technology.family}, or change `technology`",
        )
