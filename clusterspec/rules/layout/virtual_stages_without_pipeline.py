"""Virtual stages without a pipeline to interleave.

## What it finds

`virtual_stages` above 1 with pp 1; in Megatron Core or NeMo also with pp 2 and `overlap.pp: false`.

## Why it matters

With one stage there is nothing to interleave. With two, Megatron's schedule deadlocks without overlapped transfers, so
Megatron asserts them.

## What to do

Raise pp, or drop `virtual_stages`.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.virtual_stages
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 1, virtual_stages: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {pp: 2, virtual_stages: 2}
```

## Sources

- Megatron-LM: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/training/arguments.py#L1008
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.cluster.pipelines import lacks_stages_to_interleave
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "error")


def check(written_layout: LayoutSpec, layout: Layout) -> Iterator[Problem]:
    if layout.virtual_stages == 1:
        return
    if not lacks_stages_to_interleave(layout, forbids_overlap=written_layout.forbids_overlap("pp")):
        return
    at, help_ = "layout.virtual_stages", "raise pp, or drop `virtual_stages`"
    if layout.pp == 1:
        yield RULE.problem(at, f"{layout.virtual_stages} virtual stages with pp 1: there is no pipeline", help_)
    else:
        message = "with pp 2, the interleaved schedule needs overlapped transfers, but `overlap.pp` is false"
        yield RULE.problem(at, message, "write `overlap: {pp: true}`, or " + help_)
