"""The plan uses fewer of the instance's NICs than it has.

## What it finds

A cloud `platform` whose stated `nics_per_node` × `nic_bandwidth` is below the instance's total. A machine with a part of
the accelerators of a host has that part of its NICs.

## Why it matters

The remaining NICs are paid for and idle. Infrastructure code attaches only the EFA interfaces that it lists, and a p5
with one EFA card has 100 Gb/s of its 3,200 Gb/s.

## What to do

Attach every card: in Terraform and CloudFormation, one network interface for each `network_card_index`.

## When to ignore it

Ignore it where cards are reserved on purpose, such as for pods that share the node.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {nics_per_node: 1}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {nics_per_node: 32}
```

A machine of four chips has half of the four NICs of a host:

```yaml
clusterspec: 1
cluster:
  platform: tpu-v6e
  accelerators_per_node: 4
  nodes: 128
  scale_out: {nics_per_node: 2}
```

## Sources

- One of many cards attached: https://github.com/hashicorp/terraform-provider-aws/issues/24289
- The same through EKS: https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3653
- What it does to collectives: https://github.com/aws/aws-ofi-nccl/issues/53
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.units import display_bits, percent

RULE = Rule.of(__name__, "warning")
ROUNDED = 0.02


def check(deviations: Deviations, platform: Platform, scale_out: ScaleOut) -> Iterator[Problem]:
    if not platform.cloud or platform.nics_per_node is None or platform.nic_bandwidth is None:
        return
    total, planned = platform.nics_per_node * platform.nic_bandwidth.value, scale_out.node_bandwidth
    if planned >= total * (1 - ROUNDED) or deviations.has_any_of("nic"):
        return
    yield RULE.problem(
        "cluster.scale_out.nics_per_node",
        f"{scale_out.nics_per_node} × {display_bits(scale_out.nic_bandwidth.value)} is {percent(planned / total)} of "
        f"the {display_bits(total)} that {platform.name} has",
        f"attach all {platform.nics_per_node} cards",
    )
