"""The capacity of the experts drops tokens, or the key has no effect.

## What it finds

A `capacity_factor` of 0.75 or less, which drops a quarter of the tokens or more, is an error. Below 1, and below 2 in
serving, it is a warning. Exactly 1 is a warning where the spec states the `tokens` of the run, and a note otherwise, as
in a benchmark. Any value in a model without experts is a note.

## Why it matters

An expert takes capacity factor × tokens × experts per token / experts. Below 1, tokens are dropped even where all
experts are equally loaded: at 0.8, at least a fifth. At 1, every token above the mean of an expert is dropped, and no
router balances exactly. In serving, the dropped tokens depend on the other requests of the batch, so that the same
prompt gets different answers.

## What to do

Remove the key, as for recent models, which drop no tokens; otherwise use 1.25 in training with a balancing loss, and 2
in serving.

## When to ignore it

Ignore it where the recipe of the model was trained with it.

## Fires

```yaml layout.capacity_factor
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 512}
layout: {tp: 1, pp: 4, ep: 8, capacity_factor: 0.8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
workload: {model: mixtral-8x7b, sequence_length: 4096, global_batch: 512}
layout: {tp: 1, pp: 4, ep: 8, capacity_factor: 1.25}
```

## Sources

- Capacity factors of 1.0 to 1.25: Fedus et al., Switch Transformers, https://arxiv.org/abs/2101.03961
- 2 in evaluation: Zoph et al., ST-MoE, https://arxiv.org/abs/2202.08906
- No dropped tokens: Gale et al., MegaBlocks, https://arxiv.org/abs/2211.15841
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Workload
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec
from clusterspec.units import percent, plain

RULE = Rule.of(__name__, "warning", "likely")
SERVING = 2.0
WORST = 0.75
"""Capacity factor at or below which at least a quarter of the tokens is dropped even with balanced routing."""
KEY = "layout.capacity_factor"


def check(written_layout: LayoutSpec, workload: Workload, model: Model) -> Iterator[Problem]:
    factor = written_layout.capacity_factor
    if factor is None:
        return
    if not model.experts:
        yield RULE.problem(
            KEY, "the model has no experts, so a capacity factor has no effect", "remove the key", severity="note"
        )
    elif factor < 1:
        message = f"a capacity factor of {plain(factor)} drops at least {percent(1 - factor, 2)} of the tokens at each layer with experts"
        severity = "error" if factor <= WORST else "warning"
        yield RULE.problem(KEY, message, "remove the key, so that no token is dropped, or use 1.25", severity=severity)
    elif workload.kind == "train" and factor == 1:
        message = "a capacity factor of 1 drops the tokens above the mean of each expert"
        severity = "warning" if workload.tokens else "note"
        yield RULE.problem(KEY, message, "remove the key, so that no token is dropped, or use 1.25", severity=severity)
    elif workload.kind == "serve" and factor < SERVING:
        message = f"with a capacity factor of {plain(factor)} the answer to a request depends on the other requests of its batch"
        yield RULE.problem(KEY, message, "remove the key, so that no token is dropped, or use 2")
