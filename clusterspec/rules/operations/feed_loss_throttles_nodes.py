"""After the loss of one power feed, the power supplies that are left do not carry the nodes at full load.

## What it finds

The power supplies of a node, or of a rack that is sold whole, are assumed to be spread evenly over the feeds of a rack.
After a feed fails, half of them remain with `feeds: 2N`, and two thirds with `N+1`. The finding is a warning where each
accelerator then has to reduce its power by a tenth or more, else a note. The rule is silent where neither
`cluster.power.supplies` nor the catalog states the supplies.

## Why it matters

`2N` promises that the job does not notice the loss of a feed. A DGX B200 draws up to 14.3 kW, and three of its six
supplies give 9.9 kW: until the feed is back, its accelerators are throttled, and every collective waits for them.

## What to do

Cap the accelerators by `accelerator_cap`, so that the remaining feeds carry the nodes, or plan with the slower step,
which `clusterspec faults` estimates. `operations.targets.max_single_failure_slowdown` states the slowdown that the job
tolerates.

## When to ignore it

Ignore it where the load never reaches the nameplate, or a slower step until the feed is back is accepted.

## Fires

```yaml cluster.power.feeds
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 16
  power: {feeds: 2N}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 16
  power: {feeds: 2N, accelerator_cap: 400 W}
```

```yaml
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 18
  power: {feeds: 2N}
```

## Sources

- DGX B200, power specifications: https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html
- Power shelves of a GB200 rack: https://docs.nvidia.com/base-command-manager/product-manuals/nvidia-mission-control/powershelf.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.feed_loss import feed_loss
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.units import percent

RULE = Rule.of(__name__, "note", "likely")
CLEAR = 0.1
"""Share of the accelerators' power from which on the loss is a warning."""


def check(power: PowerSpec, cluster: Cluster) -> Iterator[Problem]:
    if power.feeds is None or power.feeds == "N":
        return
    loss = feed_loss(cluster, power)
    if loss is None or not loss.lost:
        return
    share = percent(loss.lost, 2)
    if loss.lost < 1:
        message = f"{loss.why}, each accelerator by {share} of its power"
        remedy = f"cap the accelerators at {percent(1 - loss.lost, 2)} of their power, or count with the slower step of `clusterspec faults`"
    else:
        message = f"{loss.why}, and stops"
        remedy = "use more supplies or feeds"
    yield RULE.problem("cluster.power.feeds", message, remedy, severity="warning" if loss.lost >= CLEAR else "")
