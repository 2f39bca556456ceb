"""No acceptance test covers a collective that the plan depends on.

## What it finds

- No all-to-all test although ep is above 1: a warning. It is a note where expert-parallel groups stay in a scale-up
  domain, or where an all-reduce and the links (`send-recv`) are tested over several nodes.
- Neither an all-gather nor a reduce-scatter test although the shard groups of fsdp or hsdp leave a scale-up domain: a
  warning. It is a note where an all-reduce over several nodes is tested, since a ring all-reduce consists of both.

## Why it matters

A fabric can pass all-reduce and fail all-to-all: a ring uses each link once, while an all-to-all is limited by every
oversubscribed port and every hash collision.

## What to do

Add one test for each axis of the layout.

## When to ignore it

Ignore it where another acceptance procedure covers the collective.

## Fires

```yaml acceptance
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: qwen3-30b-a3b, sequence_length: 4096, global_batch: 256}
layout: {tp: 1, ep: 16}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 256}
layout: {tp: 1, ep: 8}
acceptance:
  - {collective: all-reduce, nodes: 4, size: 8 GiB, busbw: 340 GB/s}
  - {collective: all-to-all, nodes: 4, size: 8 GiB, busbw: 50 GB/s}
```

## Sources

- All-reduce good, all-to-all bad: https://github.com/NVIDIA/nccl/issues/2193
- Benchmarks at handover: https://aidatacenterguide.com/part-13-commissioning-and-go-live/13-9-cluster-scale-benchmarking-reference-training-and-storage-scheduler-validat
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.parts import Placements
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import AcceptanceSpec

RULE = Rule.of(__name__, "warning")


def check(acceptance: tuple[AcceptanceSpec, ...], layout: Layout, placements: Placements) -> Iterator[Problem]:
    tested = {test.collective for test in acceptance}
    if not acceptance:
        return  # procurement-without-acceptance reports that there are none
    missing = []
    if layout.ep > 1 and "all-to-all" not in tested:
        missing.append(f"all-to-all (ep {layout.ep})")
    shards = placements.of("shard") if layout.sharding in {"fsdp", "hsdp"} else None
    if shards is not None and shards.domains > 1 and not {"all-gather", "reduce-scatter"} & tested:
        missing.append(f"all-gather or reduce-scatter ({layout.sharding})")
    if missing:
        them = "them" if len(missing) > 1 else "it"
        message = f"the layout depends on {and_list(missing)}, but no acceptance test covers {them}: a fabric that passes all-reduce can fail {them}"
        between = {test.collective for test in acceptance if (test.nodes or 1) > 1}
        experts = placements.of("ep") if layout.ep > 1 else None
        inside = shards is None and experts is not None and experts.domains == 1
        otherwise = "all-reduce" in between and ("send-recv" in between if layout.ep > 1 else shards is not None)
        yield RULE.problem(
            "acceptance",
            message,
            "add a test for each" if len(missing) > 1 else "add a test for it",
            severity="note" if inside or otherwise else "",
        )
