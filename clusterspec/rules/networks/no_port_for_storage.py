"""Storage shares the fabric, and nodes take all of its ports.

## What it finds

`networks.storage` with `shares: scale_out`, no `extra_endpoints`, and fewer free ports on the leaf switches than the
storage systems have (one system where `systems` is absent). The ports of a system come from its catalog entry, at the
rate of the fabric's links; a system that the catalog lacks has at least one port. The leaf switches are those that the
spec states.

## Why it matters

Storage systems on the fabric are endpoints as nodes are. Without ports they are not connected, and another leaf
also needs ports on every spine.

## What to do

Add leaves or leave nodes out, and declare the ports as `extra_endpoints`; or give storage a separate network.

## When to ignore it

Ignore it where the systems are connected to spines or to a router.

## Fires

```yaml cluster.networks.storage.shares
clusterspec: 1
cluster:
  platform: dgx-h200
  nodes: 64
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    leaf_switches: 16
    spine_switches: 8
  networks:
    storage: {shares: scale_out, system: ddn-ai400x2-turbo, systems: 4, bandwidth: 250 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h200
  nodes: 60
  scale_out:
    technology: infiniband-ndr
    switch: quantum-2-qm9700
    topology: rail-optimized
    leaf_switches: 16
    spine_switches: 8
    extra_endpoints: 18
  networks:
    storage: {shares: scale_out, system: ddn-ai400x2-turbo, systems: 4, bandwidth: 250 GB/s}
```

## Sources

- Ports of a storage system: https://github.com/mlcommons/storage_results_v1.0/blob/64c2ce48578aabb20cff572c0495564d289e4955/Closed/DDN/systems/AI400X2T_24x14TiB_nvme_8xNDR200_18clients.json
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from clusterspec.catalog import Catalog
from clusterspec.catalog.facilities import StorageSystem
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount, link_rate
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, ScaleOutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error", "likely")


def check(
    counts: FabricCount,
    written_scale_out: ScaleOutSpec | None,
    cluster: Cluster,
    scale_out: ScaleOut,
    networks: NetworksSpec,
    catalog: Catalog,
) -> Iterator[Problem]:
    store, fabric = networks.storage, counts.fabric
    if store is None or store.shares != "scale_out" or scale_out.extra_endpoints:
        return
    leaves = written_scale_out.leaf_switches if written_scale_out is not None else None
    if fabric is None or not fabric.fits or not leaves:
        return
    free = leaves // fabric.planes * fabric.down_ports - cluster.all_nodes * scale_out.nics_per_node
    entry = catalog.find("storage-system", store.system) if store.system else None
    each = _ports_of(entry, scale_out) if isinstance(entry, StorageSystem) else 1
    systems = store.systems or 1
    if free < systems * each:
        needed = f"{plural(systems, 'storage system')} of {plural(each, 'port')} {'share' if systems > 1 else 'shares'} the fabric"
        message = f"{needed}, but the NICs leave {plural(max(0, free), 'port')} of {plural(leaves, 'leaf')} free"
        help_ = f"leave {plural(systems * each, 'port')} free, and declare {'it' if systems * each == 1 else 'them'} as `extra_endpoints`"
        yield RULE.problem("cluster.networks.storage.shares", message, help_)


def _ports_of(entry: StorageSystem, scale_out: ScaleOut) -> int:
    """Number of fabric ports that a storage system needs at the rate of the fabric's links; at least one."""
    if entry.ports is None or entry.port_bandwidth is None:
        return 1
    return max(1, ceil(entry.ports * entry.port_bandwidth.value / link_rate(scale_out)))
