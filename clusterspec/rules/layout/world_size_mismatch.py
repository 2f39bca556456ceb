"""The degrees of the layout do not multiply to the ranks of the job.

## What it finds

Ranks (nodes of the job × accelerators per node × ranks per accelerator) that tp × cp × pp does not divide; a stated
`dp` with which tp × cp × pp × dp is not the number of ranks; a `layout.nodes` above the nodes of the cluster. Spares do
not run the job, and the rule does not count them. It counts `nodes_per_domain`. The finding is an error; a
warning where the stated engines leave a node and the ranks of a further engine idle, and a note where they leave less.

## Why it matters

The job does not start: every framework compares the product with the world size first. On 96 ranks, tp 8 × pp 8 gives
one and a half replicas.

## What to do

Change a degree, the nodes of the job, or drop `dp`: it is derived.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is unsafe: it writes the `dp` that follows from the other degrees. One of those may be wrong instead. There is no
fix where that `dp` breaks another condition, such as the division of the global batch.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 12}
layout: {tp: 8, pp: 8}
```

```yaml layout.dp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 12}
layout: {tp: 8, pp: 4, dp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16, spare_nodes: 1}
layout: {tp: 8, pp: 8, dp: 2}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L433
- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/distributed/parallel_dims.py#L182
- accelerate: https://github.com/huggingface/accelerate/blob/16cb6eb80dd9aa8b4df1a63ef57863e455d53b83/src/accelerate/parallelism_config.py#L328
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import plural

FACTORS = (
    *("cluster.nodes", "layout.nodes", "cluster.accelerators_per_node", "cluster.ranks_per_accelerator"),
    *(f"layout.{axis}" for axis in ("tp", "cp", "pp", "dp", "attention_dp")),
)
"""The keys whose product is the world size."""

RULE = Rule.of(__name__, "error", reads=FACTORS)


def check(
    legality: Legality, written_layout: LayoutSpec, cluster: Cluster, layout: Layout, workload: Workload | None
) -> Iterator[Problem]:
    nodes, each = layout.nodes, cluster.ranks_per_node
    if nodes > cluster.nodes:
        message = f"the layout uses {plural(nodes, 'node')} of a cluster of {cluster.nodes:,}"
        yield RULE.problem("layout.nodes", message, f"write `nodes: {cluster.nodes}` or fewer; spares are not counted")
        return
    if workload is not None and workload.serving is not None:
        yield from _engine_rank_problems(written_layout, cluster, layout)
        return
    ranks, cut = nodes * each, layout.replica_ranks
    there = f"{plural(nodes, 'node')} of {each} {'is' if nodes == ranks == 1 else 'are'} {ranks:,} ranks"
    product = f"tp {layout.tp} × cp {layout.cp} × pp {layout.pp}"
    if layout.attention_dp > 1:
        product = f"attention_dp {layout.attention_dp} × {product}"
    if ranks % cut:
        yield RULE.problem(
            f"layout.{_first_indivisible_axis(layout, ranks)}",
            f"{there}, which {product} = {cut:,} does not divide",
            legality.advice(RULE.name, "tp", "pp", otherwise="change a degree, or the nodes of the job"),
        )
    elif written_layout.dp is not None and cut * written_layout.dp != ranks:
        wanted, derived = cut * written_layout.dp, str(ranks // cut)
        message = f"{there}, but {product} × dp {written_layout.dp} = {wanted:,}"
        legal = legality.breaks_no_other(RULE.name)
        remedies = [f"write `dp: {derived}`, or drop the key: dp is derived"] if legal else []
        remedies += [_nodes_advice(wanted // each, cluster)] if wanted % each == 0 else []
        advice = "; or ".join(remedies) or "change dp, a degree, or the nodes of the job"
        yield RULE.problem("layout.dp", message, advice, fix=value_fix("layout.dp", derived) if legal else None)


def _nodes_advice(nodes: int, cluster: Cluster) -> str:
    """The advice to run the job on another number of nodes than the layout states."""
    if nodes < cluster.nodes:
        return f"run the job on {plural(nodes, 'node')} (`layout.nodes: {nodes}`)"
    return f"use {plural(nodes, 'node')}"


def _engine_rank_problems(written: LayoutSpec, cluster: Cluster, layout: Layout) -> Iterator[Problem]:
    """Problems of serving engines that need more ranks than the nodes have, or that leave ranks idle."""
    ranks, engine = layout.nodes * cluster.ranks_per_node, layout.ranks // layout.dp
    there = f"{plural(layout.nodes, 'node')} of {plural(cluster.ranks_per_node, 'rank')}"
    if layout.separate_engines:
        if layout.ranks > ranks:
            message = f"the engines have {layout.ranks:,} ranks, but there are {ranks:,} on {there}"
            yield RULE.problem("workload.serving.disaggregated", message, "fewer replicas, or more nodes")
        return
    wanted = engine * (written.dp or layout.dp)
    if wanted > ranks:
        key = "dp" if engine <= ranks else _first_indivisible_axis(layout, ranks)
        message = f"{plural(wanted // engine, 'engine')} of {plural(engine, 'rank')}: {wanted:,} in all, but there are {ranks:,} on {there}"
        yield RULE.problem(f"layout.{key}", message, "use fewer or smaller engines, or more nodes")
    elif wanted < ranks:
        most, engines = ranks // engine, plural(wanted // engine, "engine")
        message = f"with {engines} of {plural(engine, 'rank')}, {ranks - wanted:,} of {ranks:,} ranks {'is' if ranks - wanted == 1 else 'are'} idle"
        if written.dp is None:
            help_ = f"use engines that divide the nodes, or state their number (`dp: {most}`)"
            yield RULE.problem(f"layout.{_first_indivisible_axis(layout, ranks)}", message, help_)
            return
        counted = "; throughput per accelerator counts the accelerators in use, the cost of a token counts all"
        help_ = f"use `dp: {most}`, or fewer accelerators" if most > layout.dp else "use engines that divide the nodes"
        whole = most > layout.dp and ranks - wanted >= cluster.ranks_per_node
        severity = "warning" if whole else "note"
        yield RULE.problem("layout.dp", message + counted, help_, severity=severity)


def _first_indivisible_axis(layout: Layout, ranks: int) -> str:
    """The first axis at which the product of the degrees no longer divides the ranks."""
    cut = 1
    for axis in ("tp", "cp", "pp", "attention_dp"):
        cut *= getattr(layout, axis)
        if ranks % cut:
            return axis
    return "tp"
