"""The NICs are not those of the cloud instance.

## What it finds

A cloud `platform` with more `nics_per_node` than the instance has, or with a `nic_bandwidth` that it does not have.

## Why it matters

The instance does not exist with these NICs. A plan for p5 (32 × 100 Gb/s) with 32 × 200 Gb/s has twice the real
bandwidth.

## What to do

Remove the keys: the platform supplies them. Or name the instance that has these NICs.

## When to ignore it

Ignore it when the provider has changed the instance since the catalog was written.

## Fix safety

The fix is unsafe: it writes the number of NICs of the instance. The platform may be the wrong one instead.

## Fires

```yaml cluster.scale_out.nics_per_node
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {nics_per_node: 64}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 4
  scale_out: {nics_per_node: 32, nic_bandwidth: 100 Gb/s}
```

## Sources

- EFA cards by instance: https://github.com/awslabs/awsome-distributed-training/blob/0edaf1526bc47185ce5f827100416f99bd7b69e1/4.validation_and_observability/2.gpu-cluster-healthcheck/instance-profiles.conf
- NICs of the large clouds: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L566
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.knowledge.nics import includes_frontend
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import display_bits
from clusterspec.units.display import agrees_within

RULE = Rule.of(__name__, "error")


def check(
    deviations: Deviations, cluster: Cluster, written_scale_out: ScaleOutSpec, platform: Platform
) -> Iterator[Problem]:
    if not platform.cloud or includes_frontend(platform, cluster, written_scale_out):
        return
    nics, written = platform.nics_per_node, written_scale_out.nics_per_node
    if nics is not None and written is not None and written > nics:
        message = f"{platform.name} has {nics} NICs, not {written}"
        at = "cluster.scale_out.nics_per_node"
        yield RULE.problem(at, message, "remove the key: the platform supplies it", fix=value_fix(at, str(nics)))
    rate, quantity = platform.nic_bandwidth, written_scale_out.nic_bandwidth
    if rate is None or quantity is None or deviations.has_any_of("nic"):
        return
    if not agrees_within(quantity.per_direction, rate.value, 0.03):
        message = (
            f"the NICs of {platform.name} run at {display_bits(rate.value)}, not {display_bits(quantity.per_direction)}"
        )
        yield RULE.problem("cluster.scale_out.nic_bandwidth", message, "remove the key: the platform supplies it")
