"""The frontend, storage or out-of-band network is not described.

## What it finds

A spec with `cluster.networks` or `procurement`, in which the frontend, storage or out-of-band network is missing: a
note, since it may be part of the site.

## Why it matters

A node needs three networks in addition to the scale-out fabric. If a quote omits them, data, logs and users share one port,
and a hung node cannot be reached.

## What to do

Declare all three with their rates; `shares: scale_out` or `shares: frontend` states that one uses another.

## When to ignore it

Ignore it in studies of the fabric alone; better, remove `networks` there.

## Fires

```yaml cluster.networks.storage
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks: {frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}, out_of_band: {nic_bandwidth: 1 Gb/s}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, shares: frontend}
    out_of_band: {nic_bandwidth: 1 Gb/s}
```

## Sources

- Networks of a node: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L96
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import NetworksSpec, ProcurementSpec, Spec

RULE = Rule.of(__name__, "note")
NAMES = ("frontend", "storage", "out_of_band")
USUAL = {"frontend": "200 Gb/s", "storage": "200 Gb/s", "out_of_band": "1 Gb/s"}
"""For each network, an example rate for the advice."""


def check(
    spec: Spec, procurement: ProcurementSpec | None, networks: NetworksSpec | None, cluster: Cluster
) -> Iterator[Problem]:
    """Problems of networks that are not described. In a cloud, the provider runs the out-of-band network."""
    if networks is None and (procurement is None or cluster.cloud):
        return
    written = networks or NetworksSpec()
    wanted = [name for name in NAMES if name != "out_of_band" or not cluster.cloud]
    missing = [
        name for name in wanted if getattr(written, name) is None and not spec.unreadable(("cluster", "networks", name))
    ]
    if missing:
        at = f"cluster.networks.{missing[0]}" if networks else "cluster.networks"
        named = and_list(name.replace("_", "-") for name in missing)
        plural, its = ("s are", "their") if len(missing) > 1 else (" is", "its")
        yield RULE.problem(
            at,
            f"the {named} network{plural} not described: {its} ports, switches and rate are not checked",
            f"declare {'each' if len(missing) > 1 else 'it'} under `networks` with its rate (`nic_bandwidth: {USUAL[missing[0]]}`, for example), or with `shares: scale_out` where it has no links of its own",
        )
