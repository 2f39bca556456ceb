"""torchtitan does not tie embeddings across a pipeline.

## What it finds

torchtitan with pp above 1 and a model with `tied_embeddings`.

## Why it matters

The embedding table would be on the first and the last stage, and its gradients would have to be summed between them,
which torchtitan does not implement.

## What to do

Untie the embeddings, or set pp to 1.

## When to ignore it

Do not ignore it.

## Fires

```yaml layout.pp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload:
  model: {base: llama-3.1-8b, tied_embeddings: true}
  sequence_length: 8192
  global_batch: 256
layout: {framework: torchtitan, pp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256}
layout: {framework: torchtitan, pp: 4}
```

## Sources

- torchtitan: https://github.com/pytorch/torchtitan/blob/b5bcd76c66d0acb1a08b176d9639425bc55e0b2a/torchtitan/models/common/decoder.py#L170
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.legality import refuses_tied_pipeline
from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(model: Model, layout: Layout) -> Iterator[Problem]:
    if refuses_tied_pipeline(model, layout):
        message = f"{layout.framework} does not support tied embeddings with pp {layout.pp}"
        yield RULE.problem("layout.pp", message, "untie the embeddings, or set pp to 1")
