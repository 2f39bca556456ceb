"""The job uses every node of every rack-scale domain, so no spare node is inside them.

## What it finds

A layout that fills all nodes of a machine whose domains have several nodes: a note if there are no `spare_nodes`. With
several racks and fewer spares than a domain has nodes, the spares are outside the domains that need them where each
group of tensor or expert parallelism over several nodes is inside one domain: a note, and a warning with `recovery:
hot-spare`, or with a `restart_time` shorter than the `repair_time`, which counts on a spare. Where such groups span domains already, a spare anywhere replaces a failed node.

## Why it matters

One failed tray stops a job on 72 accelerators until it is repaired: the other 17 trays are idle. With 16 of 18 trays in
use, a spare tray replaces it within minutes. A spare in another rack cannot: its group would reach it over the fabric
between the racks, at a small part of the bandwidth.

## What to do

Use 16 of 18 trays (`nodes_per_domain: 16`); 64 accelerators also divide more easily than 72.

## When to ignore it

Ignore it for short benchmarks.

## Fires

```yaml layout
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 144}
layout: {tp: 8}
```

```yaml cluster.spare_nodes
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 144, spare_nodes: 2}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 1152}
layout: {framework: megatron-core, ep: 8, tp: 1, pp: 1, dp: 576}
operations: {recovery: hot-spare}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 18}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 128}
layout: {tp: 8, nodes_per_domain: 16}
```

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 128, spare_nodes: 16}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 4096}
layout: {framework: megatron-core, nodes: 128, nodes_per_domain: 16, tp: 1, ep: 64, pp: 4, stage_layers: [15, 16, 16, 14], dp: 128}
operations: {recovery: hot-spare}
```

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 144, spare_nodes: 2}
workload: {model: deepseek-v3, sequence_length: 4096, global_batch: 1152}
layout: {framework: megatron-core, ep: 64, tp: 1, pp: 1, dp: 576}
operations: {recovery: hot-spare}
```

## Sources

- Trays held back in practice: https://github.com/nebius/nebius-solutions-library/pull/1110
- Jobs on 64 of 72: https://github.com/NVIDIA-NeMo/Megatron-Bridge/blob/067f987df03b8355b03192d88d70f1709fedf51a/docs/performance-guide.md#L153
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost.standby import ONE_NODE, Standbys
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "note")


def check(
    cluster: Cluster,
    layout: Layout,
    workload: Workload | None,
    operations: OperationsSpec | None,
    what_if: WhatIf,
) -> Iterator[Problem]:
    there = nodes_of_domain(cluster)
    switched = cluster.scale_up.topology == "switched"
    if there == 1 or not switched or layout.nodes < cluster.nodes:
        return
    if cluster.spare_nodes:
        yield from _problem_of_spares_elsewhere(cluster, layout, there, operations, what_if)
        return
    serves = workload is not None and workload.kind == "serve"
    effect = "stops its engines" if serves else "stops it"
    used = f"{'the plan' if serves else 'the job'} uses all {cluster.nodes:,} nodes ({there} per domain)"
    message = f"{used} without a spare: one failed node {effect}"
    fewer = _fewer_nodes_text(what_if, cluster, there)
    yield RULE.problem("layout", message, f"{fewer}, or add `spare_nodes`" if fewer else "add `spare_nodes`")


def _fewer_nodes_text(what_if: WhatIf, cluster: Cluster, there: int) -> str:
    """Advice to leave two nodes of each domain free, with the remaining replicas; empty if the layout cannot run on the
    other nodes.
    """
    if there <= 3 or not what_if.advises:
        return ""
    if what_if.design.workload is None:
        return f"use {there - 2} of {there} nodes (`nodes_per_domain: {there - 2}`)"
    found = what_if.estimated_alternatives([{"nodes_per_domain": there - 2}])
    runs = [each for each in found if not each.stored.refused and each.idle_nodes(cluster)]
    return f"use {there - 2} of {there} nodes (`{runs[0].words}`)" if runs else ""


def _problem_of_spares_elsewhere(
    cluster: Cluster, layout: Layout, there: int, operations: OperationsSpec | None, what_if: WhatIf
) -> Iterator[Problem]:
    """The problem of spares in other domains, which groups that fill their domain cannot reach over scale-up links."""
    standbys = Standbys.from_design(what_if.design)._replace(provided=False)
    if layout.nodes_per_domain is not None or not standbys.bound or standbys.replaced_share(1, ONE_NODE):
        return
    groups = {"tp": layout.tp, "ep": layout.ep * layout.expert_tp}
    axis = max(groups, key=groups.__getitem__)
    spares = f"the {plural(cluster.spare_nodes, 'spare node')} {'is' if cluster.spare_nodes == 1 else 'are'}"
    message = (
        f"the job uses all {there} nodes of each domain, and {spares} outside: {'an' if axis == 'ep' else 'a'} {axis} group of "
        f"{groups[axis]} ranks with a replaced node communicates over the fabric between the domains"
    )
    fewer, whole = _fewer_nodes_text(what_if, cluster, there), f"spare a whole domain of {there} nodes"
    help_ = f"{fewer}, or {whole}" if fewer else whole
    counted_on = operations is not None and _counts_on_spare(operations)
    yield RULE.problem("cluster.spare_nodes", message, help_, severity="warning" if counted_on else "note")


def _counts_on_spare(operations: OperationsSpec) -> bool:
    """Whether a job goes on, by the plan, before a failed node is repaired."""
    restart, repair = operations.restart_time, operations.repair_time
    if operations.recovery == "hot-spare":
        return True
    if operations.recovery != "restart" or restart is None or repair is None:
        return False
    return restart.value < repair.value
