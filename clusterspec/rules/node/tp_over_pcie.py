"""Tensor parallelism over PCIe.

## What it finds

`tp` above 2 on accelerators that communicate over PCIe only. The finding is a warning, and in training an error where a
tp of 1 or 2, with the freed ranks as shards, stages or replicas, is predicted to save a quarter of the step, even at
the low end of the predicted range; in serving with a tp of up to 4 it is a note. A smaller saving does not make it a
note: accelerators under one root share its lanes.

## Why it matters

Tensor parallelism reduces activations four times per layer in training, and twice in serving. Over PCIe each reduction
has some 20 µs of latency and 31 to 63 GB/s, shared by all accelerators under the same root: with more than two
accelerators, communication takes most of the step.

## What to do

Use pp or dp between the accelerators; or an accelerator with a scale-up interconnect where the model needs tp to fit.

## When to ignore it

Ignore it for serving a model that does not fit otherwise, where latency matters little.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {accelerator: l40s, accelerators_per_node: 8, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 64}
layout: {tp: 2}
```

## Sources

- Slow tensor parallelism over PCIe in vLLM: https://github.com/vllm-project/vllm/issues/56128 https://github.com/vllm-project/vllm/issues/732
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.advice.what_if import Alternative, WhatIf
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
MOST = 2
SERVED = 4


def check(cluster: Cluster, layout: Layout, workload: Workload, what_if: WhatIf) -> Iterator[Problem]:
    scale_up = cluster.scale_up
    if scale_up.topology != "pcie" or not MOST < layout.tp <= cluster.ranks_per_node:
        return
    entry = scale_up.interconnect
    stated = entry is None or entry.family == "pcie"  # else the bandwidth is that of an interconnect that is not there
    rate = f", at {display(scale_up.bandwidth.value, 'B/s')}" if stated else ","
    times = "four times" if workload.kind == "train" else "twice"
    message = f"tp {layout.tp} reduces activations {times} per layer over PCIe{rate} shared under the same root"
    better = _smaller_tp_alternative(what_if, layout) if workload.kind == "train" else None
    yield RULE.problem(
        "layout.tp",
        message + what_if.comparison(better),
        f"use `{better.words}`; or an accelerator with a scale-up interconnect"
        if better
        else "use tp of 1 or 2, and pp or dp for the rest; or an accelerator with a scale-up interconnect",
        severity=_severity(workload, layout, what_if, better),
    )


def _severity(workload: Workload, layout: Layout, what_if: WhatIf, better: Alternative | None) -> str:
    """The severity: a note for serving engines of up to `SERVED` ranks, since servers of cards without links split a
    model to gain memory; else by the time that another layout saves.
    """
    if workload.kind == "serve" and layout.tp <= SERVED:
        return "note"
    return "error" if better and what_if.severity(what_if.saved_share(better), "") == "error" else ""


def _smaller_tp_alternative(what_if: WhatIf, layout: Layout) -> Alternative | None:
    """The fastest layout that fits with a tp of 1 or 2, where the freed ranks become shards, stages or replicas; None
    if none fits.
    """
    sharded = {"sharding": "fsdp"}
    candidates = [
        candidate
        for tp in range(1, MOST + 1)
        if layout.tp % tp == 0
        for candidate in (
            {"tp": tp},
            {"tp": tp, "pp": layout.pp * layout.tp // tp, "stage_layers": None},
            {"tp": tp} | sharded,
        )
    ]
    found = what_if.fitting_alternatives(candidates)
    return found[0] if found else None
