"""The release of the framework does not have a feature that the design uses.

## What it finds

A feature, or a combination of features, that the support matrix in the catalog entry of the framework refuses for the
named release (`software`) or year (`software_year`): schedules, shardings, expert and context parallelism, kinds of
attention, precision recipes, formats of weights and caches, optimizers, speculation, on this accelerator. Training with
a serving engine is an error, serving with a library of training a warning. The finding is an error where the entry
cites a document, and a warning otherwise. It is also a warning where only the year is stated and a later release has
the feature, since a commit of that year may already have it. FlashAttention with software of a year before its publication,
2022, is an error. Software of a year more than one year before the accelerator's is a warning. Combinations that the entry does not state are not
reported; `clusterspec catalog show framework/ID` prints the matrix.

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

- FlashAttention: https://arxiv.org/abs/2205.14135
- vLLM up to 0.15 on pipelines: https://github.com/vllm-project/vllm/blob/v0.19.0/docs/features/speculative_decoding/README.md
- SGLang asserted it up to 0.5.20: https://github.com/sgl-project/sglang/blob/v0.5.20/python/sglang/srt/arg_groups/validation_hook.py#L83
- The schedules of Megatron Core: https://github.com/NVIDIA/Megatron-LM/blob/d98e8a64ddf34856e74b24714e3bedb2f5a39553/megatron/core/pipeline_parallel/schedules.py#L53
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.legality import refused_statements
from clusterspec.cluster.model import Design, Layout
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.support import refusal_message
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
FLASH_YEAR = 2022
"""The year in which FlashAttention was published (arXiv 2205.14135)."""


def check(design: Design, accelerator: Accelerator, layout: Layout) -> Iterator[Problem]:
    yield from _serving_engine_problem(design, layout)
    yield from _training_library_problem(design, layout)
    yield from _early_flash_problem(design)
    yield from _early_software_problem(design, accelerator)
    if not layout.capabilities.refused:
        return
    release = layout.capabilities.release or f"{layout.framework} of {layout.software_year}"
    for statement, used in refused_statements(design):
        if statement.combination.uses:  # the others concern the accelerator alone
            found = refusal_message(release, statement, used, accelerator.id)
            feature = statement.feature
            merged = (
                feature.value and feature.since and not layout.capabilities.release
            )  # a commit of the year may have it
            severity = "error" if feature.is_sourced and not merged else "warning"
            yield RULE.problem(statement.combination.key(used), found.message, found.help, severity=severity)


def _early_flash_problem(design: Design) -> Iterator[Problem]:
    """The problem of FlashAttention in software that is older than FlashAttention."""
    workload, layout = design.spec.workload, design.spec.layout
    year = layout.software_year if layout is not None else None
    if year is not None and year < FLASH_YEAR and workload is not None and workload.attention == "flash":
        message = f"the software is of {year}, but FlashAttention was published in {FLASH_YEAR}: its memory and time differ from this release's"
        help_ = "write `attention: plain`, or the year of the software that runs it"
        yield RULE.problem("workload.attention", message, help_)


EARLIEST = 1
"""Years before an accelerator from which software may support it: toolkits appear before the parts."""


def _early_software_problem(design: Design, accelerator: Accelerator) -> Iterator[Problem]:
    """The problem of software of a year in which the accelerator was not yet known."""
    year, known = design.spec.layout.software_year if design.spec.layout else None, accelerator.year
    if year is not None and known is not None and year < known - EARLIEST:
        message = (
            f"the software is of {year}, but {accelerator.name} of {known}: no release of that year has kernels for it"
        )
        yield RULE.problem(
            "layout.software_year", message, "state the year of the software that runs", severity="warning"
        )


def _serving_engine_problem(design: Design, layout: Layout) -> Iterator[Problem]:
    """The problem of a serving-only framework that is named for training."""
    purposes, workload = layout.capabilities.framework.purposes, design.workload
    if workload is None or workload.kind != "train" or not purposes or "train" in purposes:
        return
    named = "layout.framework" if design.spec.layout and design.spec.layout.framework else "layout.software"
    message = f"{layout.framework} serves models and has no backward pass: it cannot train"
    yield RULE.problem(named, message, "name a framework that trains, or write `kind: serve`")


def _training_library_problem(design: Design, layout: Layout) -> Iterator[Problem]:
    """The problem of a training library that is named for serving."""
    framework, workload = layout.capabilities.framework, design.workload
    if workload is None or workload.kind != "serve" or framework.purposes != ("train",):
        return
    named = "layout.framework" if design.spec.layout and design.spec.layout.framework else "layout.software"
    message = (
        f"{layout.framework} is a training library: services run on engines with a request scheduler and a paged cache"
    )
    help_ = "name an engine that serves, such as `vllm`, or write `kind: train`"
    yield RULE.problem(named, message, help_, severity="warning")
