"""In-network reduction is declared on hardware without it.

## What it finds

`scale_up.in_network_reduction: true` on an interconnect without it (before NVLink 4, or without a switch), or
`scale_out.in_network_reduction: true` on a technology that is not InfiniBand HDR or later. An acceptance test
whose `algorithm` is `nvls` over more nodes than a domain has or where
`scale_up.in_network_reduction` is false, or `collnet` on a fabric that does not reduce.

## Why it matters

The plan assumes all-reduces 1.2 to 1.5 times as fast as rings, which this hardware does not reach.

## What to do

Write `false`, or remove the key.

## When to ignore it

Ignore it for fabrics with in-network reduction that the catalog does not have.

## Fix safety

The fix is unsafe: it writes `false`. The interconnect or the technology may be the wrong key instead.

## Fires

```yaml cluster.scale_up.in_network_reduction
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 4, scale_up: {in_network_reduction: true}}
```

```yaml cluster.scale_out.in_network_reduction
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: roce-v2, in_network_reduction: true, flow_control: {pfc: true, ecn: true}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_up: {in_network_reduction: true}
  scale_out: {technology: infiniband-ndr, in_network_reduction: true}
```

## Sources

- What NVLS gives: https://github.com/NVIDIA/nccl-tests/issues/212 https://github.com/NVIDIA/nccl/issues/1374
- What SHARP gives: https://github.com/NVIDIA/nccl-tests/issues/153 https://github.com/NVIDIA/nccl-tests/issues/366
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import AcceptanceSpec, ScaleOutSpec, ScaleUpSpec

RULE = Rule.of(__name__, "error")


def check(
    written_scale_up: ScaleUpSpec | None,
    written_scale_out: ScaleOutSpec | None,
    cluster: Cluster,
    acceptance: tuple[AcceptanceSpec, ...] | None,
) -> Iterator[Problem]:
    written, up = written_scale_up, cluster.scale_up
    entry = up.interconnect
    if (
        written
        and written.in_network_reduction
        and entry
        and not (entry.in_network_reduction and up.topology == "switched")
    ):
        at = "cluster.scale_up.in_network_reduction"
        without = "" if entry.in_network_reduction else f"{entry.name} has no in-network reduction"
        message = without or f"in-network reduction needs switches, but the topology is {up.topology}"
        yield RULE.problem(
            at, message, "write `in_network_reduction: false`, or remove the key", fix=value_fix(at, "false")
        )
    written_out, out = written_scale_out, cluster.scale_out
    if written_out and written_out.in_network_reduction and out and not out.technology.in_network_reduction:
        at = "cluster.scale_out.in_network_reduction"
        message = f"{out.technology.name} has no in-network reduction"
        yield RULE.problem(
            at, message, "write `in_network_reduction: false`, or remove the key", fix=value_fix(at, "false")
        )
    if acceptance is not None:
        off = written is not None and written.in_network_reduction is False
        yield from _test_problems(acceptance, cluster, off)


def _test_problems(acceptance: tuple[AcceptanceSpec, ...], cluster: Cluster, off: bool) -> Iterator[Problem]:
    """Problems of tests that name an in-switch algorithm, if no such switches connect their ranks or the design turns
    it ``off``.
    """
    domain = max(1, cluster.scale_up.domain // cluster.accelerators_per_node)
    links = cluster.scale_up.interconnect
    for number, test in enumerate(acceptance):
        nodes = test.nodes or (test.ranks // cluster.ranks_per_node if test.ranks else 1)
        if test.algorithm == "nvls" and nodes > domain:
            message = (
                f"`nvls` reduces in the switches of one domain, but the test spans {nodes} nodes: a domain has {domain}"
            )
            yield RULE.problem(
                ("acceptance", number, "algorithm"), message, "write `algorithm: nvls-tree`, or remove the key"
            )
        elif test.algorithm in {"nvls", "nvls-tree"} and links is not None and not links.in_network_reduction:
            message = (
                f"`{test.algorithm}` reduces in the switches of a domain, but {links.name} has no in-network reduction"
            )
            yield RULE.problem(
                ("acceptance", number, "algorithm"), message, "write `algorithm: ring` or `tree`, or remove the key"
            )
        elif test.algorithm in {"nvls", "nvls-tree"} and off:
            message = (
                f"`{test.algorithm}` reduces in the switches of a domain, but `scale_up.in_network_reduction` is false"
            )
            help_ = "write `algorithm: ring` or `tree` with the bandwidth that it reaches, or switch the reduction on"
            yield RULE.problem(("acceptance", number, "algorithm"), message, help_)
        elif test.algorithm == "collnet" and cluster.scale_out and not cluster.scale_out.in_network_reduction:
            message = "`collnet` reduces in the switches of the fabric, but the design does not"
            help_ = "write `in_network_reduction: true` of the fabric, or another algorithm"
            yield RULE.problem(("acceptance", number, "algorithm"), message, help_)
