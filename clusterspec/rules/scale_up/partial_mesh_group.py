"""A group smaller than the full mesh leaves links of its accelerators idle.

## What it finds

`topology: full-mesh` and a tensor-parallel group, or a shard group of fsdp or hsdp, of more than one and fewer than all
accelerators of the domain.

In training, the severity depends on the share of the predicted step that the idle links would save: a note below the
half-width of the range of that difference and where the time is not known, a warning above it. In serving, where every
token waits for the group, the finding is a warning where more than three quarters of the links are idle (two of eight)
and one accelerator, or all of them, are predicted to give at least a fifth more throughput, unless the plan meets the
targets that are stated.

## Why it matters

In a full mesh each pair has its own link. A group of n uses n − 1 of the links of each accelerator: two MI300X reach
47.7 GB/s of bus bandwidth over their 64 GB/s link, all eight reach 312.9 GB/s, 6.5 times as much.

## What to do

Use groups of one accelerator or of the whole mesh: tp 1 or 8 on eight.

## When to ignore it

Ignore it where memory requires tp 2 or 4 and the measured time is sufficient. In serving, latency may still improve.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving: {input_tokens: 2000, output_tokens: 500, concurrency: 64}
layout: {framework: vllm, tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: mi300x-ubb8, nodes: 1}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 64}
layout: {tp: 8, sharding: fsdp}
```

## Sources

- 47.7 and 312.9 GB/s: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/network/README.md#L193
- Links of the mesh in RCCL: https://github.com/ROCm/rccl/blob/0cbce2a7571c907554199fad7e905f16ec0a565c/README.md#L194
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from clusterspec.cluster.model import Cluster, Layout, ScaleUp, Workload
from clusterspec.cost.formulas.topologies import mesh_bandwidth
from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.knowledge.shares import SHARD_AXES, exposed_seconds, share_of_step, step_severity
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain, plural

RULE = Rule.of(__name__, "warning")
A_FIFTH = 0.2
"""Gain in throughput that exceeds the error of comparisons between layouts of one machine."""
MOST_IDLE = 0.75
"""Idle share of the links above which a serving layout is a warning: published engines use four of eight accelerators,
rarely two.
"""


def check(
    placements: Placements,
    cluster: Cluster,
    workload: Workload,
    layout: Layout,
    scale_up: ScaleUp,
    timed: Plan | None,
    served: Served | None,
    legality: Legality,
) -> Iterator[Problem]:
    if scale_up.topology != "full-mesh" or scale_up.domain < 3:
        return
    size = _package_count(placements, "tp") if layout.tp > 1 else 1
    if 1 < size < scale_up.domain:
        severity = _severity(workload, timed, {"tp"}, size, scale_up)
        if severity == "warning" and served is not None:
            from clusterspec.cost.serving.targets import meets_targets  # a training plan needs none of it

            meets = bool(served.load.targets) and meets_targets(served.times, served.load)
            severity = "note" if meets or not _loses_to_other_engines(served, legality, scale_up.domain) else severity
        yield _problem(f"tp {layout.tp}", "layout.tp", size, cluster, severity)
        return  # shard groups follow from tp
    sharded = layout.sharding in {"fsdp", "hsdp"}
    size = _package_count(placements, "shard") if sharded else 1
    if 1 < size < scale_up.domain:
        key = "layout.shard_group" if layout.sharding == "hsdp" else "layout.sharding"
        severity = _severity(workload, timed, SHARD_AXES, size, scale_up)
        yield _problem(f"a shard group of {layout.shard_group}", key, size, cluster, severity)


def _package_count(placements: Placements, axis: str) -> int:
    """Number of packages of a group that is within one domain; 1 for other groups."""
    placement = placements.of(axis)
    return placement.accelerators if placement and placement.domains == 1 else 1


def _severity(workload: Workload, timed: Plan | None, axes: Collection[str], size: int, scale_up: ScaleUp) -> str:
    """Severity by the exposed communication of some axes that the idle links would save."""
    idle = 1 - mesh_bandwidth(scale_up.peer_bandwidth.value, size) / scale_up.bandwidth.value
    if workload.kind == "serve":
        return "warning" if idle > MOST_IDLE else "note"
    if timed is None or timed.step is None:
        return "note"
    return step_severity(share_of_step(idle * exposed_seconds(timed, axes), timed), timed, most="warning")


def _loses_to_other_engines(served: Served, legality: Legality, domain: int) -> bool:
    """Whether engines of one accelerator, or of a whole domain, have a fifth more throughput than the plan's engines."""
    from clusterspec.rules.advice.serving import best_gain

    gain = best_gain(served, legality, ({"tp": 1}, {"tp": domain}))
    return gain is not None and gain.share >= A_FIFTH


def _problem(what: str, at: str, size: int, cluster: Cluster, severity: str) -> Problem:
    scale_up = cluster.scale_up
    peer, whole = scale_up.peer_bandwidth.value, scale_up.bandwidth.value
    links, together = size - 1, mesh_bandwidth(peer, size)
    return RULE.problem(
        at,
        f"{what} uses {size} of the {scale_up.domain} accelerators of a full mesh: {plural(links, 'link')} of "
        f"{display(peer, 'B/s')} {'carries' if links == 1 else 'carry'} {display(together, 'B/s')}; all {scale_up.domain - 1} links carry {display(whole, 'B/s')}, "
        f"{plain(whole / together, 2)} times as much",
        f"use groups of one accelerator, or of all {scale_up.domain}",
        severity=severity,
    )
