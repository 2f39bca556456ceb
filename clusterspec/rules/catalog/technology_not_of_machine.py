"""The scale-out technology does not connect nodes, or is not one of this machine.

## What it finds

- A `scale_out.technology` that joins the parts of a node, such as PCIe (an error).
- Ports that are on the chip of another vendor, such as those of Gaudi 3 on an Instinct (an error).
- Without a platform, the network of a cloud that has no instance with this accelerator and this network, although it
  has others with the accelerator (a warning).

## Why it matters

The adapters, switches and collective library of the plan do not exist for the machine, and its predicted times hold for
another network.

## What to do

Name the technology of the adapters of a node.

## When to ignore it

Ignore it for an instance that the catalog does not have yet.

## Fires

```yaml cluster.scale_out.technology
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: pcie-5, nics_per_node: 8}
```

```yaml cluster.scale_out.technology
clusterspec: 1
cluster:
  accelerator: a100-sxm-40gb
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: efa-v4, nics_per_node: 4, nic_bandwidth: 100 Gb/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: a100-sxm-40gb
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: efa-v1, nics_per_node: 4, nic_bandwidth: 100 Gb/s}
```

## Sources

- Instances and their networks: https://github.com/aws/aws-ofi-nccl/blob/2daf7d303aa139a03140aa530957d10521e4478d/src/platform-aws.cpp
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "error", yields_to=("contradicts-platform",))
AT = "cluster.scale_out.technology"


def check(
    written_scale_out: ScaleOutSpec, scale_out: ScaleOut, cluster: Cluster, catalog: Catalog
) -> Iterator[Problem]:
    if written_scale_out.technology is None:
        return
    technology, accelerator = scale_out.technology, cluster.accelerator
    if technology.scope == "host-bus":
        message = f"{technology.name} joins the parts of a node: no network between nodes uses it"
        yield RULE.problem(AT, message, "name the technology of the adapters, such as `infiniband-ndr` or `roce-v2`")
    elif technology.on_accelerator and accelerator.vendor != technology.vendor:
        message = f"the ports of {technology.id} belong to accelerators of {technology.vendor}, but {accelerator.id} is from {accelerator.vendor}"
        yield RULE.problem(AT, message, "name the technology of the adapters of a node")
    elif technology.cloud and technology.scope == "scale-out" and cluster.platform is None:
        instances = [one for one in catalog.platforms_with(accelerator.id) if one.cloud and one.technologies]
        of_vendor = [one for one in instances if one.vendor == technology.vendor]
        if of_vendor and not any(technology.id in one.technologies for one in of_vendor):
            offered = sorted({each for one in of_vendor for each in one.technologies})
            message = f"{technology.vendor} offers no machine with {accelerator.id} and {technology.id}"
            yield RULE.problem(
                AT, message, f"write `technology: {offered[0]}`, or name the platform", severity="warning"
            )
