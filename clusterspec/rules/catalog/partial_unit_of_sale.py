"""The cluster has only a part of a system that is sold as a whole.

## What it finds

Nodes (with spares) that are not a whole number of racks of a rack-scale system, or of UltraServers in a cloud; and
`accelerators_per_node` that no baseboard has: neither a divisor nor a multiple of a scale-up domain in which the
accelerator is sold. The finding is an error. It is a warning where a part of a rack is neither bought (`procurement`)
nor rented from a cloud that sells whole units, since another provider may rent it out. It is a note for less than one
rack that is not bought. It is also a note where the nodes are a multiple of `layout.nodes_per_domain`, or of the
largest power of two in a rack: published runs use 64 accelerators of each NVL72.

## Why it matters

An NVL72 rack is built, sold and cooled whole: 20 nodes are two racks of 18, and the bill counts 36. SXM and OAM
modules come on baseboards of four or eight: a node of six does not exist.

## What to do

Use a whole number of racks, or a node with as many accelerators as a baseboard.

## When to ignore it

Ignore it where a provider rents out a part of a rack, or a machine built for one customer has another board.

## Fires

```yaml cluster.nodes
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 20}
```

```yaml cluster.accelerators_per_node
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 6
  nodes: 10
  scale_out: {technology: infiniband-ndr, nics_per_node: 6, nic_bandwidth: 400 Gb/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 34, spare_nodes: 2}
```

## Sources

- Baseboards of four and eight: https://knowledgebase.rackmountnts.com/blog/what-is-hgx-platform/
- Racks of 18 compute trays: https://github.com/nebius/nebius-solutions-library/pull/1110
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Platform
from clusterspec.cluster.degrees import nodes_of_rack
from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import LayoutSpec, ProcurementSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")


def check(
    cluster: Cluster, procurement: ProcurementSpec | None, written_layout: LayoutSpec | None
) -> Iterator[Problem]:
    if cluster.platform is not None:
        bought = cluster.platform.sold_nodes > 1 or procurement is not None
        rack = nodes_of_rack(cluster.platform)
        used = (written_layout.nodes_per_domain if written_layout else None) or 1 << (rack.bit_length() - 1)
        rented = "note" if cluster.all_nodes < rack or cluster.all_nodes % used == 0 else "warning"
        yield from _partial_rack_problem(cluster, cluster.platform, "" if bought else rented)
    else:
        yield from _unsold_board_problem(cluster)


def _partial_rack_problem(cluster: Cluster, platform: Platform, severity: str) -> Iterator[Problem]:
    unit = platform.sold_nodes if platform.sold_nodes > 1 else nodes_of_rack(platform)
    if platform.form != "rack" and platform.sold_nodes == 1:
        return
    whole = -(-cluster.all_nodes // unit) * unit
    if whole == cluster.all_nodes or unit == 1:
        return
    more = f" with the {plural(cluster.spare_nodes, 'spare')}" if cluster.spare_nodes else ""
    message = f"{platform.id} is sold in units of {unit} nodes: {plural(cluster.all_nodes, 'node')}{more} {'is' if cluster.all_nodes == 1 else 'are'} a part of {whole}"
    spares_alone = cluster.spare_nodes > 0 and cluster.nodes % unit == 0
    yield RULE.problem(
        "cluster.spare_nodes" if spares_alone else "cluster.nodes",
        message,
        _whole_units_text(cluster, unit, whole, spares_alone=spares_alone),
        severity=severity,
    )


def _whole_units_text(cluster: Cluster, unit: int, whole: int, *, spares_alone: bool) -> str:
    """Advice for whole units: change the spares if the other nodes are whole units, else the nodes (their number
    excludes spares).
    """
    if spares_alone:
        return f"use {whole - cluster.nodes} spare nodes, or none"
    spares = f" in addition to the {plural(cluster.spare_nodes, 'spare')}" if cluster.spare_nodes else ""
    nodes = whole - cluster.spare_nodes
    return f"use {nodes} nodes{spares}, or {nodes - unit}" if nodes > unit else f"use {nodes} nodes{spares}"


def _unsold_board_problem(cluster: Cluster) -> Iterator[Problem]:
    node, sold = cluster.accelerators_per_node, cluster.accelerator.domains
    if not sold or any(node % size == 0 or size % node == 0 for size in sold):
        return
    message = f"no baseboard has {node} {cluster.accelerator.id}: they are sold in groups of {or_list(sorted(sold))}"
    yield RULE.problem("cluster.accelerators_per_node", message, "use the number of a baseboard")
