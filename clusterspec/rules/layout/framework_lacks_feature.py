"""The release of the framework does not have a feature that the design uses.

## What it finds

A pipeline schedule, or speculative decoding over a pipeline, that the catalog entry of the framework states as not
supported in the named release (`software`) or year (`software_year`). An error where the entry cites a document, else a
warning. Features that the entry does not state are not reported; `clusterspec catalog show framework/ID` lists them.

## Why it matters

The framework stops at start, or runs without the feature.

## What to do

Use a release that has the feature, another framework, or a layout without it.

## When to ignore it

Ignore it for a fork that adds the feature; better, describe the fork by a catalog entry with this framework as its
`base`.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32, speculative: {tokens: 3, acceptance: 0.7}}}
layout: {software: vllm 0.9, tp: 8, pp: 2}
```

```yaml layout.schedule
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, pp: 4, schedule: zero-bubble}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 32, speculative: {tokens: 3, acceptance: 0.7}}}
layout: {software: vllm 0.9, tp: 8}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: megatron-core, pp: 4, schedule: 1f1b}
```

## Sources

- vLLM 0.9 on pipelines: https://docs.vllm.ai/en/v0.9.1/features/spec_decode.html
- SGLang asserts it: https://github.com/sgl-project/sglang/blob/001067fffe33427bee0ed2f007fb7551a1d76b44/python/sglang/srt/server_args.py
- The schedules of Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/pipeline_parallel/schedules.py#L53
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.frameworks import Feature
from clusterspec.cluster.legality import refused_statements, schedule_refused
from clusterspec.cluster.model import Design, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.support import refusal
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(design: Design, workload: Workload, layout: Layout) -> Iterator[Problem]:
    if not layout.capabilities.refused and not layout.capabilities.refuses(f"schedule.{layout.schedule}"):
        return
    for statement, used in refused_statements(design):
        if statement.combination.uses and design.cluster is not None:  # the others concern the accelerator alone
            found = refusal(_release(layout), statement, used, design.cluster.accelerator.id)
            severity = "error" if statement.feature.sourced else "warning"
            yield RULE.problem(statement.combination.key(used), found.message, found.help, severity=severity)
    if schedule_refused(workload, layout):
        feature = layout.capabilities.framework.features[f"schedule.{layout.schedule}"]
        message = f"{_release(layout)} does not have the {layout.schedule} schedule (pp {layout.pp})"
        severity = "error" if feature.sourced else "warning"
        yield RULE.problem("layout.schedule", message, f"write `schedule: 1f1b`{_later(feature)}", severity=severity)


def _release(layout: Layout) -> str:
    """The framework with its release, or its year where the spec states no release."""
    return layout.capabilities.release or f"{layout.framework} of {layout.software_year}"


def _later(feature: Feature) -> str:
    """The release from which the framework has the feature, as an alternative; empty where none is known."""
    return f", or use release {feature.since} or later" if feature.value and feature.since else ""
