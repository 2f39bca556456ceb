"""The number of rails does not fit the NICs of a node.

## What it finds

`rails` above the ports of the NICs of a node (an error), or rails that do not divide the NICs (a warning). One rail
for several NICs with a `topology` of rails (a warning).

## Why it matters

A rail joins one NIC of every node. With eight rails and four NICs, four rails have no member; the bill then counts
twice the leaves and spines. With three rails and eight NICs, two rails carry three NICs of each node and one only two,
so that some of its ports stay unused. With one rail all NICs of a node share their leaves, as in a fat tree: the counts
of leaves and the hops of a collective are then those of a fat tree.

## What to do

Leave `rails` out: it follows from `nics_per_node`. Or correct the number of NICs.

## When to ignore it

Do not ignore it.

## Fix safety

The fix is unsafe: it writes the number of NICs as `rails`. The number of NICs may be wrong instead.

## Fires

```yaml cluster.scale_out.rails
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 64
  scale_out: {technology: infiniband-ndr, nics_per_node: 4, nic_bandwidth: 400 Gb/s, topology: rail-optimized, rails: 8}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 64
  scale_out: {technology: infiniband-ndr, nics_per_node: 8, nic_bandwidth: 400 Gb/s, topology: rail-optimized, rails: 4}
```

## Sources

- One rail for each NIC: https://docs.nvidia.com/dgx-superpod/reference-architecture/scalable-infrastructure-b300/latest/dgx-superpod-architecture.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule, value_fix
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error")
AT = "cluster.scale_out.rails"


def check(written_scale_out: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    rails, nics = written_scale_out.rails, scale_out.nics_per_node
    if rails == 1 and nics > 1 and scale_out.topology.startswith("rail"):
        message = f"1 rail for {nics} NICs of a node, but `topology: {scale_out.topology}` gives each NIC its own rail"
        yield RULE.problem(AT, message, "write `topology: fat-tree`, or leave `rails` out", severity="warning")
    if rails is None or nics % rails == 0:
        return
    ports = nics * ((scale_out.nic.ports if scale_out.nic else None) or 1)
    if rails > ports:
        message = (
            f"{rails} rails, but a node has {plural(nics, 'NIC')}: {plural(rails - ports, 'rail')} would have no member"
        )
        fix = value_fix(AT, str(nics))
        yield RULE.problem(AT, message, "leave `rails` out, or correct `nics_per_node`", fix=fix)
    elif ports % rails:
        message = (
            f"{rails} rails do not divide the {plural(nics, 'NIC')} of a node: some rails have fewer NICs than others"
        )
        yield RULE.problem(AT, message, "use a number of rails that divides the NICs", severity="warning")
