"""The parameter count of the model contradicts its name.

## What it finds

A model described in place whose parameters, computed from the mapping, differ by more than 10 % from the size in the
spec's name (`llama-70b-east`).

## Why it matters

A missing `gated_ffn: true` removes a third of the feed-forward network; a missing `experts` removes most of a mixture
of experts. Memory and time are then predicted for another model.

## What to do

Check `gated_ffn`, `kv_heads`, `experts`, `expert_ffn_hidden` and `vocab` against the model card.

## When to ignore it

Ignore it when the number in the name is not a count of parameters.

## Fires

```yaml workload.model
clusterspec: 1
name: my-70b
cluster: {platform: dgx-h100, nodes: 8}
workload:
  model: {layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn_hidden: 28672, vocab: 128256, gated_ffn: false}
  sequence_length: 8192
  global_batch: 512
```

## Silent

```yaml
clusterspec: 1
name: my-70b
cluster: {platform: dgx-h100, nodes: 8}
workload:
  model: {layers: 80, hidden: 8192, heads: 64, kv_heads: 8, ffn_hidden: 28672, vocab: 128256, gated_ffn: true}
  sequence_length: 8192
  global_batch: 512
```

## Sources

- The count: `clusterspec estimate SPEC --explain parameters`
- Parameters of a transformer, term by term: https://arxiv.org/abs/2104.04473
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ModelSpec, Spec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
OFF = 0.10
CUT = 0.15
"""A name often cuts the digits behind the point: Salamandra 7B has 7.77 billion."""
SIZE = re.compile(r"(?<![a-z0-9.])(?P<number>\d+(?:\.\d+)?)b(?![a-z0-9])", re.IGNORECASE)
"""A size such as 70b or 6.7b; not the 7b of 8x7b, nor the a3b that counts active parameters."""


def check(spec: Spec, written_model: ModelSpec, model: Model) -> Iterator[Problem]:
    named = SIZE.search((spec.name or "").replace("_", "-"))
    if named is None or written_model.base is not None:
        return
    wanted, counted = float(named["number"]) * 1e9, model_weights(model).total
    off = counted / wanted - 1 if wanted else 0.0
    if abs(off) > OFF and not (off < CUT and int(counted / 1e9) == wanted / 1e9):
        yield RULE.problem(
            "workload.model",
            f"the model as described has {display(counted, '1')} parameters, {percent(abs(off))} {'more' if off > 0 else 'fewer'} than "
            f"the {named[0]} of its name",
            "check gated_ffn, kv_heads, experts, expert_ffn_hidden and vocab",
            related=[("name", named[0])],
        )
