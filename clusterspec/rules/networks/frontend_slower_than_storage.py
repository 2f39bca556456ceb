"""The network to the storage system is slower than the storage system.

## What it finds

`networks.storage.bandwidth` or `read` above nodes × frontend NICs × their rate, where storage has no NICs of its own and does not
share the fabric; or above the rate of the out-of-band network, if storage shares it. The finding is a note below twice
the network's rate, since a storage system may also serve other machines, a warning from twice on, and an error from six
times on; for `read`, from twice these ratios on. A `per_client` above the rate of the NICs of one node is a warning. Where
`per_client` is lower, nodes × `per_client` is compared: a note, and a warning from three times on, since other mounts and more
streams raise the rate of a client.

## Why it matters

The nodes cannot use the rate of the storage system: eight nodes with 2 × 100 Gb/s read at most 200 GB/s from a storage
system of 400 GB/s.

## What to do

Use more frontend NICs, separate storage NICs, or a smaller storage system.

## When to ignore it

Ignore it where the storage system also serves other machines.

## Fires

```yaml cluster.networks.storage.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 100 Gb/s}
    storage: {bandwidth: 400 GB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s}
```

```yaml cluster.networks.storage.per_client
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks: {storage: {bandwidth: 100 GB/s, nics_per_node: 2, nic_bandwidth: 200 Gb/s, per_client: 90 GB/s}}
```

```yaml cluster.networks.storage.read
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 40 GB/s, read: 4 TB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s}
```

```yaml cluster.networks.storage.bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  networks: {storage: {bandwidth: 400 GB/s, nics_per_node: 2, nic_bandwidth: 200 Gb/s, per_client: 8 GB/s}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 8
  networks:
    frontend: {nics_per_node: 2, nic_bandwidth: 200 Gb/s}
    storage: {bandwidth: 400 GB/s}
    out_of_band: {nic_bandwidth: 1 Gb/s}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  networks: {storage: {bandwidth: 400 GB/s, nics_per_node: 2, nic_bandwidth: 200 Gb/s, per_client: 26 GB/s}}
```

## Sources

- Networks of a node: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L96
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.storage import node_rate, path_to_store
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec
from clusterspec.units import display
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning")
MOST = 6.0
"""Smallest ratio of the storage rate to the rate of the network path at which the two are out of proportion."""
READS = 2.0
"""Ratio of the read rate to the write rate of usual storage systems, which are sold by their write rate."""
MUCH = 2.0
"""Ratio of the storage rate to the rate that nodes reach above which most of the storage system is idle."""
TUNED = 3.0
"""Ratio of the storage rate to that of all clients that other mounts and more streams do not close."""


def check(networks: NetworksSpec, cluster: Cluster) -> Iterator[Problem]:
    storage, reached = networks.storage, path_to_store(networks)
    if storage is None or storage.bandwidth is None or reached is None or reached[1].nic_bandwidth is None:
        return
    which, path = reached[0].replace("_", "-"), reached[1]
    of_node = node_rate(path)
    nics = f"{path.nics_per_node or 1} × {reached[1].nic_bandwidth.written}"
    means = f"{nics} of {which}"
    client, help_, severity = storage.per_client, "use more NICs, or a smaller storage system", _severity
    if client is not None and client.per_direction > of_node:
        message = f"one node reaches {display(of_node, 'B/s')} over {nics}, less than `per_client: {client.written}`"
        yield RULE.problem("cluster.networks.storage.per_client", message, "state the bandwidth of its NICs")
    elif client is not None:
        of_node, means = client.per_direction, f"{client.written} each (`per_client`)"
        help_, severity = "raise the rate of each node, or use a smaller storage system", _severity_of_clients
    total = cluster.nodes * of_node
    writes, reads = storage.bandwidth, storage.read or storage.bandwidth
    key, most = ("bandwidth", writes) if writes.per_direction > total or reads is writes else ("read", reads)
    if most.per_direction > total:
        message = (
            f"{plural(cluster.nodes, 'node')} with {means} read at most {display(total, 'B/s')}, less than the "
            f"{most.written} of the storage system"
        )
        yield RULE.problem(
            f"cluster.networks.storage.{key}",
            message,
            help_,
            severity=severity(most.per_direction / total / (1 if most is writes else READS)),
        )


def _severity(times: float) -> str:
    return "error" if times >= MOST else "warning" if times >= MUCH else "note"


def _severity_of_clients(times: float) -> str:
    return "warning" if times >= TUNED else "note"
