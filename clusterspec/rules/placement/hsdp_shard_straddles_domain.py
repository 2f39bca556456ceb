"""The shard groups of hsdp span scale-up domains.

## What it finds

`sharding: hsdp` with a `shard_group` × tp that neither divides the domain nor is a multiple of it; or that spans
several domains although the states would fit in one.

The second case is a note where groups of one domain are predicted to save less of the step than the half-width of the
range of that difference, a warning above it, and an error if at least a quarter of the step is lost even at the low end
of the range.

## Why it matters

hsdp keeps the all-gathers inside the domain. With domains of 8, a group of 12 sends half of them over NICs, and a group
of 16 all of them.

## What to do

Use the ranks of one domain over tp.

## When to ignore it

Ignore it where the states do not fit in one domain. Whole multiples of the domain are not reported.

## Fires

```yaml layout.shard_group
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 6}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 96}
layout: {tp: 1, sharding: hsdp, shard_group: 12}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 6}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 96}
layout: {tp: 1, sharding: hsdp, shard_group: 8}
```

## Sources

- ZeRO++: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/docs/_tutorials/zeropp.md#L28
- DeepSpeed's groups: https://github.com/deepspeedai/DeepSpeed/blob/edaa7221267243c7be7fb49c5d5f5c4fb97b4641/deepspeed/utils/groups.py#L879
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import WhatIf
from clusterspec.rules.knowledge.domains import straddling_groups, used_domain
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "warning")


def check(placements: Placements, cluster: Cluster, layout: Layout, what_if: WhatIf) -> Iterator[Problem]:
    if layout.sharding != "hsdp" or cluster.scale_up.domain == 1:
        return
    domain, block = used_domain(cluster, layout), layout.shard_group * layout.tp
    placement = placements.of("shard")
    if placement is None or domain % block == 0 or placement.straddling == 0:
        return
    own = max(1, domain // layout.tp)
    if block % domain:
        message = f"{straddling_groups(placement)}: {layout.shard_group} ranks × tp {layout.tp} = {block} is neither a divisor nor a multiple of the domain of {domain}"
        inside = gcd(own, layout.dp * layout.cp)
        which = (
            ", the ranks of a domain over tp" if inside == own else ", which a domain holds and dp × cp divides into"
        )
        yield RULE.problem("layout.shard_group", message, f"write `shard_group: {inside}`{which}")
        return
    fits = what_if.fitting_alternatives([{"shard_group": own}]) if (layout.dp * layout.cp) % own == 0 else []
    if fits and (what_if.saved_share(fits[0]) or 0) > 0:
        message = (
            f"{straddling_groups(placement)}, although one domain holds the states: {what_if.comparison_text(fits[0])}"
        )
        severity = what_if.severity(what_if.saved_share(fits[0]))
        yield RULE.problem("layout.shard_group", message, f"write `shard_group: {own}`", severity=severity)
