"""The parameter count of the model contradicts its name.

## What it finds

A model described in place whose parameters, computed from the mapping, differ by more than 10 % from the size in the
spec's name (`llama-70b-east`). The names of accelerators (`ascend-910b`) and the number of tokens in a name are no sizes. With `base`, the rule applies only where the name contains the size of the base, and
keys next to `base` change the count.

## Why it matters

A missing `gated_ffn: true` removes a third of the feed-forward network; a missing `experts` removes most of a mixture
of experts; an `ffn_hidden` copied from a smaller model of the family replaces that of `base`. Memory and time are then
predicted for another model.

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

```yaml workload.model
clusterspec: 1
name: llama-70b-continued
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: {base: llama-3.1-70b, ffn_hidden: 14336}, sequence_length: 8192, global_batch: 512}
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

```yaml
clusterspec: 1
name: llama-70b-longer-context
cluster: {platform: dgx-h100, nodes: 32}
workload: {model: {base: llama-3.1-70b, max_sequence_length: 262144}, sequence_length: 8192, global_batch: 512}
```

## Sources

- The count: `clusterspec estimate SPEC --explain parameters`
- Parameters of a transformer, term by term: https://arxiv.org/abs/2104.04473
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.catalog.models import Model
from clusterspec.cost.parameters import model_weights
from clusterspec.finding import Problem
from clusterspec.records import fields
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.spec.model import ModelSpec, Spec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
OFF = 0.10
CUT = 0.15
"""Relative difference allowed where the name has the same whole billions: names often cut digits, as in Salamandra 7B
with 7.77 billion.
"""
EASILY_FORGOTTEN = "gated_ffn, kv_heads, experts, expert_ffn_hidden and vocab"
SIZE = re.compile(r"(?<![a-z0-9.])(?P<number>\d+(?:\.\d+)?)b(?![a-z0-9])", re.IGNORECASE)
"""A size such as 70b or 6.7b; not the 7b of 8x7b, nor the a3b that counts active parameters."""


def check(spec: Spec, written_model: ModelSpec, model: Model, catalog: Catalog) -> Iterator[Problem]:
    named = _named_size(spec, catalog)
    if named is None:
        return
    counted = model_weights(model).total
    base = catalog.model(written_model.base) if written_model.base is not None else None
    if _fits_named_size(counted, named) or (
        base is not None and not _fits_named_size(model_weights(base).total, named)
    ):
        return
    off = counted / (float(named["number"]) * 1e9) - 1
    changed = "" if base is None else f" with changes to {base.id}"
    keys = EASILY_FORGOTTEN if base is None else _changed_keys(written_model, base)
    yield RULE.problem(
        "workload.model",
        f"the model as described{changed} has {display(counted, '1')} parameters, {percent(abs(off))} "
        f"{'more' if off > 0 else 'fewer'} than the {named[0]} of its name",
        f"check {keys}",
        related=[("name", named[0])],
    )


def _named_size(spec: Spec, catalog: Catalog) -> re.Match[str] | None:
    """The first size in the name of a spec that is neither a part of an accelerator's name nor its number of tokens."""
    tokens = spec.workload.tokens.value if spec.workload is not None and spec.workload.tokens is not None else 0.0
    for named in SIZE.finditer((spec.name or "").replace("_", "-")):
        if float(named["number"]) * 1e9 != tokens and not _is_of_accelerator(named[0].lower(), catalog):
            return named
    return None


def _is_of_accelerator(word: str, catalog: Catalog) -> bool:
    return any(word in each.split("-") for each in catalog.ids("accelerator"))


def _fits_named_size(counted: float, named: re.Match[str]) -> bool:
    """Whether a parameter count fits the size in a name: within 10 %, or within 15 % with the same whole billions."""
    billions = float(named["number"])
    off = counted / (billions * 1e9) - 1 if billions else 0.0
    return abs(off) <= OFF or (off < CUT and counted // 10**9 == billions)


def _changed_keys(written: ModelSpec, base: Model) -> str:
    """The keys whose values differ from the base, each with the value of the base if it has one."""
    texts = []
    for field in fields(written):
        value, of_base = getattr(written, field.name), getattr(base, field.name, None)
        if field.name != "base" and value is not None and value != of_base:
            texts.append(f"{field.name} ({of_base:,} in {base.id})" if type(of_base) is int else field.name)
    return and_list(texts)
