"""The tiers of the fabric cannot connect all endpoints.

## What it finds

More endpoints per plane (nodes and spares × NICs, and `extra_endpoints`) than the stated tiers of these switches
connect: the ports of a single switch; the ports of a rail's switch in a rail-only fabric of one tier; ports² × r / (1 +
r) in two tiers at oversubscription r; ports³ / 4 in three. A rail-only fabric of several tiers has such a tree for each
rail. More than two nodes with `topology: direct`.

The finding is an error, and a note where the switch is only assumed and the largest one of the technology in the catalog
would connect them.

## Why it matters

The fabric cannot be built. Switches of 64 ports connect 2,048 endpoints in two tiers, which is 256 nodes of eight NICs.

## What to do

Add a tier, use switches with more ports, or several planes.

## When to ignore it

Do not ignore it.

## Fires

```yaml cluster.scale_out.tiers
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 300
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: fat-tree, tiers: 2}
```

```yaml cluster.scale_out.topology
clusterspec: 1
cluster:
  platform: dgx-spark
  nodes: 3
  scale_out: {technology: roce-v2, topology: direct}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-spark
  nodes: 2
  scale_out: {technology: roce-v2, topology: direct}
```

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 256
  scale_out: {technology: infiniband-ndr, switch: quantum-2-qm9700, topology: fat-tree, tiers: 2}
```

## Sources

- Sizes of reference designs: https://docs.nvidia.com/dgx-superpod/reference-architecture-scalable-infrastructure-b200/latest/dgx-superpod-architecture.html
- Folded Clos networks: https://doi.org/10.1145/1402958.1402967
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Switch
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(
    counts: FabricCount, cluster: Cluster, scale_out: ScaleOut, assumed: Mapping[str, str], catalog: Catalog
) -> Iterator[Problem]:
    fabric = counts.fabric
    if scale_out.topology == "direct" and cluster.all_nodes > 2:
        message = f"cables alone join two nodes, not {cluster.all_nodes:,}"
        yield RULE.problem("cluster.scale_out.topology", message, "add a switch: `topology: single-switch`")
    if fabric is None or fabric.fits or fabric.capacity is None:
        return
    at = "cluster.scale_out.tiers" if scale_out.tiers else "cluster.scale_out.topology"
    if not scale_out.tiers and scale_out.topology not in {"single-switch", "rail-only"}:
        at = "cluster.nodes"
    planes = " in each plane" if fabric.planes > 1 else ""
    of = "one switch" if scale_out.topology == "single-switch" else plural(fabric.tiers, "tier")
    assumed_switch = "cluster.scale_out.switch" in assumed
    limit = _most_endpoints(fabric, scale_out, catalog) if assumed_switch else 0
    yield RULE.problem(
        at,
        f"{fabric.endpoints:,} endpoints{planes} exceed the {fabric.capacity:,} that {of} of {fabric.switch_ports}-port switches connect"
        + (" (every rail by itself)" if scale_out.rails > 1 and fabric.endpoints <= fabric.capacity else ""),
        "add a tier, use switches with more ports, or several planes",
        severity="note" if assumed_switch and fabric.endpoints <= limit else "error",
        related=[("cluster.nodes", f"{scale_out.nics_per_node} NICs each")],
    )


def _most_endpoints(fabric: Fabric, scale_out: ScaleOut, catalog: Catalog) -> float:
    """Endpoints that the largest switch of the technology would connect in as many tiers; infinite if the catalog has
    none.
    """
    rate = scale_out.nic_bandwidth.value / max(1, fabric.planes)
    entries = (catalog.find("switch", id_) for id_ in catalog.ids("switch"))
    ports = [
        entry.ports * max(1.0, entry.port_bandwidth.value / rate)
        for entry in entries
        if isinstance(entry, Switch)
        and scale_out.technology.family in entry.families
        and entry.ports is not None
        and entry.port_bandwidth is not None
    ]
    if not ports or fabric.capacity is None or fabric.switch_ports is None:
        return inf
    return float(fabric.capacity) * (max(ports) / fabric.switch_ports) ** fabric.tiers
