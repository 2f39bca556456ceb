"""Two pools share one fabric, but their NICs cannot be on the same fabric.

## What it finds

`fabric: shared` in `pool_links` between pools whose technologies are of unlike families, one of them InfiniBand,
Omni-Path or Elastic Fabric Adapter, which NICs of no other family join; and between two pools if one has no scale-out
fabric.

## Why it matters

Weights, samples and caches would cross a gateway, or the Ethernet of the hosts, at a fraction of the rate of the NICs.
The estimate takes the rate of the slower NICs.

## What to do

State the rate of the link between the two fabrics, `{between: [a, b], bandwidth: 400 Gb/s}`, or use NICs of one family
in both pools.

## When to ignore it

Ignore it where the nodes of one pool also have NICs of the other family, which the spec does not state.

## Fires

```yaml pool_links[0].fabric
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  rollout: {platform: gcp-a3-ultragpu-8g, nodes: 2}
pool_links: [{between: [train, rollout], fabric: shared}]
jobs:
  a: {pool: train}
  b: {pool: rollout}
```

```yaml pool_links[0].fabric
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  serve: {platform: hgx-h20, nodes: 1}
pool_links: [{between: [train, serve], fabric: shared}]
jobs:
  a: {pool: train}
  b: {pool: serve}
```

## Silent

```yaml
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  rollout: {platform: dgx-a100, nodes: 2}
pool_links: [{between: [train, rollout], fabric: shared}]
jobs:
  a: {pool: train}
  b: {pool: rollout}
```

## Sources

- Links between pools: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error", "likely")
CLOSED = frozenset({"infiniband", "omni-path", "efa"})
"""Families of fabrics that cannot connect NICs of another family."""


def check(fleet: Fleet) -> Iterator[Problem]:
    for number, link in enumerate(fleet.spec.pool_links or ()):
        clusters = [(name, fleet.pools[name].cluster) for name in link.between or () if name in fleet.pools]
        if link.fabric != "shared" or link.bandwidth is not None or len(clusters) != 2:
            continue
        fabrics = [(name, cluster.scale_out) for name, cluster in clusters if cluster is not None]
        at, help_ = ("pool_links", number, "fabric"), "state the `bandwidth` of what joins the two pools"
        bare = [name for name, fabric in fabrics if fabric is None]
        if bare:
            yield RULE.problem(at, f"pool `{bare[0]}` has no scale-out fabric to share", help_)
            continue
        families = [(name, fabric.technology) for name, fabric in fabrics if fabric is not None]
        known = {technology.family for _, technology in families if technology.family}
        if len(known) == 2 and known & CLOSED:
            (one, first), (other, second) = families
            message = f"pool `{one}` has {first.name} and `{other}` {second.name}: NICs of one do not reach those of the other"
            yield RULE.problem(at, message, f"{help_}, or use NICs of one technology in both")
