"""The scale-up domain is larger than any in which the accelerator is sold.

## What it finds

A stated `scale_up.domain` of directly linked or switched accelerators that exceeds every domain in the accelerator's
entry or, for bridged cards, differs from all of them; and a domain of one where the spec states a `topology` or an
`interconnect` that joins several accelerators of a node, except for parts that are also sold alone.

## Why it matters

A bridge of A100 PCIe cards joins two of them. With a domain of four, tensor parallelism of four is planned at
NVLink's rate; half of its traffic crosses PCIe, a tenth as fast.

## What to do

State a domain that is sold, or the accelerator that is sold in this one.

## When to ignore it

Ignore it for a product that the catalog does not have yet; better, describe it in a company catalog.

## Fires

```yaml cluster.scale_up.domain
clusterspec: 1
cluster:
  accelerator: a100-pcie-80gb
  accelerators_per_node: 8
  nodes: 1
  scale_up: {interconnect: nvlink-3-bridge, topology: bridge, domain: 4}
```

```yaml cluster.scale_up.domain
clusterspec: 1
cluster:
  accelerator: mi300a
  accelerators_per_node: 4
  nodes: 1
  scale_up: {interconnect: xgmi-mi300a, topology: full-mesh, domain: 1}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: a100-pcie-80gb
  accelerators_per_node: 8
  nodes: 1
  scale_up: {interconnect: nvlink-3-bridge, topology: bridge, domain: 2}
```

## Sources

- Bridges join pairs of cards: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/compute/accelerator/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import ScaleUpSpec, Spec

RULE = Rule.of(__name__, "error", "likely", yields_to=("domain-not-whole-nodes",))
APART = frozenset({"pcie", "torus"})
"""Topologies without a list of sold domain sizes: the domain is the slots of a host or a slice of a pod."""


def check(spec: Spec, cluster: Cluster) -> Iterator[Problem]:
    written = spec.cluster.scale_up if spec.cluster else None
    sold, stated = cluster.accelerator.domains, written.domain if written else None
    if stated is None or not sold or cluster.scale_up.topology in APART:
        return
    if stated == 1:
        yield from _single_problem(written, cluster)
    elif stated > max(sold) or (cluster.scale_up.topology == "bridge" and stated not in sold):
        least = min(sold, key=lambda size: (size > stated, stated - size))
        offered = or_list(sorted(sold, reverse=True)[:4])
        yield RULE.problem(
            "cluster.scale_up.domain",
            f"{cluster.accelerator.name} is sold in domains of {offered}, not of {stated}",
            f"write `domain: {least}`, or name the accelerator that is sold in domains of {stated}",
        )


def _single_problem(written: ScaleUpSpec | None, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a domain of one accelerator, although the spec states a connection between the accelerators of a
    node.
    """
    each, joined = cluster.accelerators_per_node, written is not None and (written.interconnect or written.topology)
    if 1 in cluster.accelerator.domains or each == 1 or not joined:
        return
    message = (
        f"a domain of 1 joins no accelerators, but a node has {each} of {cluster.accelerator.name} on one interconnect"
    )
    yield RULE.problem("cluster.scale_up.domain", message, "write the accelerators of a domain, or leave the key out")
