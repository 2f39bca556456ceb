"""The catalog does not list the release of the framework.

## What it finds

A `software` whose release the catalog does not list. Predictions use the times and memory of the nearest listed
release, or of the newest year, and the features of the listed releases. The message says which times, memory and
features are not known.

## Why it matters

Features, requirements and costs of the stated release are not known; findings and predictions use another release.

## What to do

Name a release that the catalog lists, or describe the release by a catalog entry of your own.

## When to ignore it

Ignore it where the releases are known to be alike.

## Fires

```yaml layout.software
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {software: megatron-core 9.1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {software: megatron-core 0.15.2}
```

## Sources

- The releases of Megatron Core: https://github.com/NVIDIA/Megatron-LM/releases
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec

RULE = Rule.of(__name__, "note")


def check(written_layout: LayoutSpec, layout: Layout, assumed: Mapping[str, str]) -> Iterator[Problem]:
    written = written_layout.software
    if written is None:
        return
    if "layout.software" in assumed:
        used = f"the times and memory of {layout.software}"
    elif layout.software is None and layout.stack is not None:
        used = f"the times and memory of {layout.stack.id}"
    else:
        return
    message = f"the catalog has no release `{written}`: {used} are assumed"
    if layout.capabilities.lists_release:
        message = f"the catalog has no times of `{written}`: {used} are assumed"
    elif layout.capabilities.framework.statements:
        message += ", with the features of the known releases"
    yield RULE.problem("layout.software", message, "name a release of the catalog, or describe this one by an entry")
