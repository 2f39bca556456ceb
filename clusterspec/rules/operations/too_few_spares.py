"""There are fewer spare nodes than are in repair at peak.

## What it finds

`spare_nodes` below the 95th percentile of nodes in repair at once: Poisson with the mean `repair_time` / time between
failures. The rule needs a stated `repair_time`. The finding is a note where less than one node is in repair on average,
where the job leaves as many nodes idle, where the engines of a serving plan stay in single nodes and those in repair are
at most a tenth of the cluster, and where other jobs share the fabric and no spares are stated, so that other
nodes of the site can replace failed ones. It is an error where the job uses all nodes and the nodes in repair exceed
the spares for more than three quarters of the time. In all other cases it is a warning. Without a stated failure rate,
the rule compares spare and idle nodes with the mean number in repair at the rate of the most reliable published fleet,
and gives at most a warning. A `recovery: hot-spare` without any node to recover on is an error.

## Why it matters

Nodes fail while others are in repair. With a failure every 3 hours and a day per repair, 8 nodes are in repair on
average, and 13 in the worst 5 % of the time. A job that needs all nodes then stops.

## What to do

Add spare nodes on the same spine, as many as the message states; or shorten the repair.

## When to ignore it

Do not ignore it. If the provider replaces nodes within minutes, state that as `repair_time`.

## Fires

```yaml cluster.spare_nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 256, spare_nodes: 4}
operations: {mean_time_between_failures: 3 h, repair_time: 24 h}
```

```yaml cluster.spare_nodes
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 256, spare_nodes: 1}
operations: {repair_time: 14 days}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 256, spare_nodes: 13}
operations: {mean_time_between_failures: 3 h, repair_time: 24 h}
```

## Sources

- Spares and replacement: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/training/fault-tolerance/README.md
- What to ask of a provider: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/insights/how-to-choose-cloud-provider.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.knowledge.failures import FailureRate, poisson_percentile
from clusterspec.rules.knowledge.spares import advice_to_add
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec, OperationsSpec, ProcurementSpec
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "warning", "likely")
SURE = 0.95
SMALL = 0.1
"""Share of the nodes up to which a loss leaves a serving plan nearly all of its engines."""
MOSTLY = 0.25
"""Share of the time for the percentile of nodes in repair: if the spares are fewer even then, a job on all nodes rarely
runs.
"""


def check(
    operations: OperationsSpec,
    failures: FailureRate,
    cluster: Cluster,
    layout: Layout | None,
    workload: Workload | None,
    written_cluster: ClusterSpec,
    procurement: ProcurementSpec | None,
) -> Iterator[Problem]:
    between = failures.stated
    idle = 0 if layout is None else cluster.nodes - layout.nodes
    if operations.recovery == "hot-spare" and not cluster.spare_nodes and not idle:
        message = "after a failure the job moves to a spare node, but the cluster has neither a spare nor an idle one"
        yield RULE.problem(
            "operations.recovery", message, "add `spare_nodes`, or write `recovery: restart`", severity="error"
        )
        return
    if operations.repair_time is None:
        return
    if between is None:
        add = partial(advice_to_add, cluster=cluster, written=written_cluster, procurement=procurement)
        yield from _unstated_rate_problem(operations.repair_time, failures, cluster, layout, workload, add)
        return
    if between <= 0:
        return
    away = operations.repair_time.value / between
    needed = min(poisson_percentile(away, SURE), cluster.nodes)
    if cluster.spare_nodes < needed:
        repair = operations.repair_time.written
        message = (
            f"with a failure every {display(between, 's')} and {repair} per repair, {_nodes_in_repair(plain(away))} in repair on average and "
            f"{needed} or more in 5 % of the time; the cluster has {cluster.spare_nodes} spare"
        )
        missing = needed - cluster.spare_nodes
        apart = _engines_stay_in_nodes(cluster, layout, workload) and needed <= SMALL * cluster.nodes
        yield RULE.problem(
            "cluster.spare_nodes",
            message,
            f"{advice_to_add(missing, missing, cluster, written_cluster, procurement)}, or shorten the repair",
            severity="note" if apart else _severity(away, needed, idle, cluster, layout),
        )


def _engines_stay_in_nodes(cluster: Cluster, layout: Layout | None, workload: Workload | None) -> bool:
    """Whether each engine of a serving plan runs within one node, so that a failed node stops only its own engines."""
    serves = workload is not None and workload.kind == "serve"
    return serves and layout is not None and layout.replica_ranks <= cluster.ranks_per_node


def _nodes_in_repair(count: str) -> str:
    """A number of nodes, as printed, with the verb in the right number.

    >>> _nodes_in_repair("1"), _nodes_in_repair("1.5")
    ('1 node is', '1.5 nodes are')
    """
    return f"{count} node is" if count == "1" else f"{count} nodes are"


def _unstated_rate_problem(
    repair: Quantity,
    failures: FailureRate,
    cluster: Cluster,
    layout: Layout | None,
    workload: Workload | None,
    add: Callable[[int, int], str],
) -> Iterator[Problem]:
    """The problem of fewer spares than nodes in repair on average, even at the failure rate of the most reliable
    published fleet.
    """
    between = failures.best
    if not between or not failures.of_gpus:
        return
    away = repair.value / between
    idle = 0 if layout is None else cluster.nodes - layout.nodes
    if away < 1 or cluster.spare_nodes + idle >= away:
        return
    needed = min(poisson_percentile(away, SURE), cluster.nodes)
    message = (
        f"no failure rate is stated; with a failure every {display(between, 's')}, as in the most reliable published fleet, and {repair.written} "
        f"per repair, {_nodes_in_repair(plain(away, 2))} in repair on average, but the cluster has {cluster.spare_nodes} spare"
    )
    missing = needed - cluster.spare_nodes
    help_ = f"{add(missing, missing)}, shorten the repair, or state the failure rate"
    apart = _engines_stay_in_nodes(cluster, layout, workload) and needed <= SMALL * cluster.nodes
    severity = "note" if apart or _severity(away, needed, idle, cluster, layout) == "note" else "warning"
    yield RULE.problem("cluster.spare_nodes", message, help_, severity=severity)


def _severity(away: float, needed: int, idle: int, cluster: Cluster, layout: Layout | None) -> str:
    """Severity by the number of nodes in repair and idle, and by the share of the time in which a job on all nodes
    cannot run.
    """
    shared = cluster.scale_out is not None and cluster.scale_out.sharing == "shared"
    if away < 1 or idle >= needed or (shared and not cluster.spare_nodes):
        return "note"
    whole = layout is not None and layout.ranks == cluster.nodes * cluster.ranks_per_node
    return "error" if whole and poisson_percentile(away, MOSTLY) > cluster.spare_nodes else "warning"
