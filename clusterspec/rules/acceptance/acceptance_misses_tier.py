"""No acceptance test covers one tier of the machine.

## What it finds

A cluster of several scale-up domains whose acceptance tests all stay inside one domain. On rack-scale systems also a
cluster without a test of one whole domain (the 72 accelerators of an NVL72, or the part of them that the job uses):
smaller tests leave links idle, and larger tests measure the fabric. Both are warnings. A `send-recv` between nodes of
one domain counts as a test of the fabric if it asks for the rate of the NICs.

The finding is a note where the tests of a rack-scale system use whole domains, and where the planned engines send no
traffic out of their domains. It is also a note where tests leave the domain but stay below one leaf (or one leaf of
each rail), in a fabric whose topology and switches are stated.

## Why it matters

A test inside a domain measures NVLink, not the fabric. On a rack of 72 a test over four trays leaves most of the NVLink
switch trays idle, so a faulty one is not found. A test below one leaf passes with half of the uplinks missing.

## What to do

Test one whole domain and at least two domains: 72 and 144 ranks on GB200 NVL72, one and four nodes on DGX.

## When to ignore it

Ignore it where the other tier is tested under another contract.

## Fires

```yaml acceptance
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 720 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: gb200-nvl72, nodes: 36}
acceptance:
  - {collective: all-reduce, nodes: 18, size: 8 GiB, busbw: 720 GB/s}
  - {collective: all-reduce, nodes: 36, size: 8 GiB, busbw: 340 GB/s}
```

## Sources

- Tests at the scale of the cluster: https://aidatacenterguide.com/part-13-commissioning-and-go-live/13-9-cluster-scale-benchmarking-reference-training-and-storage-scheduler-validat
- NCCL on rack-scale domains: https://github.com/NVIDIA/nccl/issues/1604
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cluster.planes import fabric_levels
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.benchmarks import measures_adapters, ranks_of
from clusterspec.rules.parts import Placements, may_use_nics
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import AcceptanceSpec, ClusterSpec, ScaleOutSpec

RULE = Rule.of(__name__, "warning", "likely")


def check(
    acceptance: tuple[AcceptanceSpec, ...],
    cluster: Cluster,
    written_cluster: ClusterSpec,
    placements: Placements | None,
    layout: Layout | None,
    workload: Workload | None,
) -> Iterator[Problem]:
    tested = [ranks for test in acceptance if (ranks := ranks_of(test, cluster)) is not None]
    domain, node = cluster.ranks_per_domain, cluster.ranks_per_node
    if not tested or len(tested) < len(acceptance) or domain == 1:
        return  # acceptance-incomplete reports tests without ranks
    missing = []
    used = layout.nodes_per_domain * node if layout is not None and layout.nodes_per_domain else domain
    if domain > node and not {domain, used} & {*tested} and cluster.accelerators >= cluster.scale_up.domain:
        missing.append(domain)
    if (
        cluster.accelerators > cluster.scale_up.domain
        and max(tested) <= domain
        and not any(measures_adapters(test, cluster) for test in acceptance)
    ):
        missing.append(min(max(2 * domain, 4 * node), cluster.nodes * node))
    if missing:
        message, help_ = _untested_ranks_texts(missing, domain, max(tested))
        crossed = may_use_nics(placements, layout, workload)
        yield RULE.problem(
            "acceptance",
            message,
            help_,
            severity="" if (crossed and domain == node) or domain in missing else "note",
        )
        return
    name, joined = _lowest_level(cluster, written_cluster.scale_out)
    if max(tested) <= joined * node < cluster.nodes * node:
        message = (
            f"one {name} joins {joined:,} nodes, but the tests use at most {max(tested) // node:,} of "
            f"{cluster.nodes:,}: no test leaves it, so missing uplinks remain undetected"
        )
        yield RULE.problem("acceptance", message, f"add an all-reduce over {cluster.nodes:,} nodes", severity="note")


def _untested_ranks_texts(missing: list[int], domain: int, most: int) -> tuple[str, str]:
    """The message and the help for numbers of ranks that no test covers; ``most`` is the number of ranks of the largest
    test.
    """
    if most > domain:
        message = (
            f"no acceptance test uses a domain of {domain:,} ranks alone: the test over {most:,} ranks also crosses "
            "the fabric, which limits its rate, so slow links inside a domain remain undetected"
        )
        return message, f"add an all-reduce over the {domain:,} ranks of one domain"
    message = (
        f"no acceptance test covers {and_list(f'{ranks:,} ranks' for ranks in missing)}: domains have {domain:,} ranks, but the tests "
        f"use at most {most:,}, so faults beyond that remain undetected"
    )
    return message, f"add an all-reduce over {and_list(f'{ranks:,}' for ranks in missing)} ranks"


def _lowest_level(cluster: Cluster, fabric: ScaleOutSpec | None) -> tuple[str, int]:
    """The name and the number of nodes of one lowest-level block of the fabric, such as a leaf; 0 if the spec does
    not state topology and switches.
    """
    if fabric is None or not fabric.topology or not (fabric.switch or fabric.switch_ports or fabric.levels):
        return "", 0
    return next(((level.name, level.nodes) for level in fabric_levels(cluster) if level.nodes), ("", 0))
