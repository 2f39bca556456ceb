"""One cluster lies in two availability zones.

## What it finds

Two zones in the description or a comment (`us-east-1b`, `europe-west4-a`), where `scale_out.placement` states a
placement group or the fabric is EFA.

## Why it matters

A cluster placement group lies in one zone, and RDMA does not leave it. Between zones, traffic takes the routed network
of the region, with a latency of about a millisecond.

## What to do

Plan all nodes of a job in one zone, or two jobs.

## When to ignore it

Ignore it where the text names a zone for something else, such as a copy of the data.

## Fires

```yaml cluster.scale_out.placement
clusterspec: 1
description: Eight instances in us-east-1b and eight in us-east-1d.
cluster: {platform: aws-p5-48xlarge, nodes: 16, scale_out: {placement: cluster-placement-group}}
```

## Silent

```yaml
clusterspec: 1
description: Sixteen instances in us-east-1b.
cluster: {platform: aws-p5-48xlarge, nodes: 16, scale_out: {placement: cluster-placement-group}}
```

## Sources

- One zone for each placement group: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
- EFA within a zone: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_ZONE = pattern(r"\b(?:us|eu|ap|ca|sa|me|af)-[a-z]+-\d[a-f]\b|\b[a-z]+-[a-z]+\d-[a-f]\b")


def check(own_remarks: str, written_cluster: ClusterSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    if not own_remarks:
        return
    section = written_cluster.scale_out
    placed = section.placement if section is not None else None
    if placed is None and scale_out.technology.family != "efa":
        return
    zones = sorted({*_ZONE.findall(own_remarks)})
    if len(zones) > 1:
        message = f"the text places nodes in {' and '.join(zones[:2])}, and `placement` is {placed or 'not stated'}: a group lies in one zone, and RDMA does not leave it"
        yield RULE.problem("cluster.scale_out.placement", message, "plan all nodes of a job in one zone")
