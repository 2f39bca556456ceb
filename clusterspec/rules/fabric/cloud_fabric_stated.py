"""The number of switches, links or optics of a fabric is stated for an instance of a cloud.

## What it finds

Numbers of switches and of their ports, `links`, `cables`, `transceivers` or `optics` below `scale_out` for a platform
that a cloud rents out by the instance. The model of the switch alone is not reported, since some providers name it.

## Why it matters

The provider builds the fabric, shares it between customers and does not let anybody choose its parts. Counts and prices
of them belong to another machine, and so may the rest of a section that was copied from it.

## What to do

Remove the keys, or name the platform that is bought.

## When to ignore it

Ignore it where the provider has published these figures for its cluster.

## Fires

```yaml cluster.scale_out.leaf_switches
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 32
  scale_out: {placement: cluster-placement-group, collective_plugin: aws-ofi-nccl, leaf_switches: 8, spine_switches: 4}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: aws-p5-48xlarge
  nodes: 32
  scale_out: {placement: cluster-placement-group, collective_plugin: aws-ofi-nccl}
```

## Sources

- What an instance includes: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ScaleOutSpec

RULE = Rule.of(__name__, "warning")
PARTS = (
    "switch_ports",
    "leaf_switches",
    "spine_switches",
    "core_switches",
    "links",
    "cables",
    "transceivers",
    "optics",
)


def check(written_scale_out: ScaleOutSpec, cluster: Cluster) -> Iterator[Problem]:
    stated = [key for key in PARTS if getattr(written_scale_out, key)]
    if stated and cluster.platform is not None and cluster.platform.cloud:
        keys = ", ".join(f"`{key}`" for key in stated)
        message = (
            f"{cluster.platform.name} is rented with the fabric of its cloud, but the spec states its parts: {keys}"
        )
        help_ = "remove the keys, or name the platform that is bought"
        yield RULE.problem(f"cluster.scale_out.{stated[0]}", message, help_)
