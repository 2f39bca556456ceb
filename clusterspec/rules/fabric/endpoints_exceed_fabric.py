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
from clusterspec.cluster.fabric import Fabric, counted_fabric
from clusterspec.cluster.model import Design, ScaleOut
from clusterspec.cluster.variation import design_with_keys
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")
COUNTS = ("leaf_switches", "spine_switches", "core_switches")


def check(
    counts: FabricCount, design: Design, scale_out: ScaleOut, assumed: Mapping[str, str], catalog: Catalog
) -> Iterator[Problem]:
    fabric, cluster = counts.fabric, design.cluster
    if scale_out.topology == "direct" and cluster is not None and cluster.all_nodes > 2:
        message = f"without a switch, cables join two nodes, not {cluster.all_nodes:,}"
        yield RULE.problem("cluster.scale_out.topology", message, "add a switch: `topology: single-switch`")
    if fabric is None or fabric.fits or fabric.capacity is None:
        return
    at = "cluster.scale_out.tiers" if scale_out.tiers else "cluster.scale_out.topology"
    if not scale_out.tiers and scale_out.topology not in {"single-switch", "rail-only"}:
        at = "cluster.nodes"
    planes = " in each plane" if fabric.planes > 1 else ""
    of = "one switch" if scale_out.topology == "single-switch" else plural(fabric.tiers, "tier")
    assumed_switch = "cluster.scale_out.switch" in assumed
    limit = _maximum_endpoints(fabric, scale_out, catalog) if assumed_switch else 0
    yield RULE.problem(
        at,
        f"{fabric.endpoints:,} endpoints{planes} exceed the {fabric.capacity:,} that {of} of {fabric.switch_ports}-port switches connect"
        + (" (every rail by itself)" if scale_out.rails > 1 and fabric.endpoints <= fabric.capacity else ""),
        _connection_advice(design, fabric, scale_out),
        severity="note" if assumed_switch and fabric.endpoints <= limit else "error",
        related=[("cluster.nodes", f"{scale_out.nics_per_node} NICs each")],
    )


def _connection_advice(design: Design, fabric: Fabric, scale_out: ScaleOut) -> str:
    """Text with the changes that would connect all endpoints, with the new switch counts if the spec states any."""
    single = scale_out.topology == "single-switch"
    tier = _counts_after(design, {"topology": "fat-tree"} if single else {"tiers": fabric.tiers + 1})
    planes = next(
        (each for each in (2, 4) if _counts_after(design, {"planes": each * fabric.planes}) is not None), None
    )
    written = f"`topology: fat-tree`{tier}" if single else f"`tiers: {fabric.tiers + 1}`{tier}"
    ways = [f"add a tier ({written})"] if tier is not None else []
    ways.append("use switches with more ports")
    if planes:
        unstated = ", without `switch_ports`" if _written_fabric(design).switch_ports else ""
        ways.append(f"several planes (`planes: {planes * fabric.planes}`{unstated})")
    return ", or ".join(ways)


def _written_fabric(design: Design) -> ScaleOutSpec:
    """The section of the fabric as the spec states it."""
    written = design.spec.cluster.scale_out if design.spec.cluster else None
    return written or ScaleOutSpec()


def _counts_after(design: Design, changes: Mapping[str, object]) -> str | None:
    """The switch counts after a change to the fabric, as text; empty if the spec states no counts, and None if the
    changed fabric cannot connect the endpoints either.
    """
    stated = [key for key in COUNTS if getattr(_written_fabric(design), key) is not None]
    keys = {("cluster", "scale_out", key): None for key in (*stated, "links", "cables")}
    if "planes" in changes:
        keys["cluster", "scale_out", "switch_ports"] = None
    changed = design_with_keys(design, keys | {("cluster", "scale_out", key): value for key, value in changes.items()})
    fabric = counted_fabric(changed)
    if fabric is None or not fabric.fits:
        return None
    found = (plural(getattr(fabric, key), f"{key.removesuffix('_switches')} switch") for key in COUNTS)
    return f" with {and_list(each for each in found if not each.startswith('0 '))}" if stated else ""


def _maximum_endpoints(fabric: Fabric, scale_out: ScaleOut, catalog: Catalog) -> float:
    """Number of endpoints that the largest switch of the technology would connect with the same number of tiers;
    infinite if the catalog has no such switch.
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
