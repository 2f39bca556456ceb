"""The cache bytes per token in the text differ from those of the model.

## What it finds

In the description or a comment, the bytes of keys and values of one token (`64 KiB a token`) that differ by more than 6
% from what the model stores in the precision that the sentence names, else in `kv_precision`. Sentences about one
accelerator, one layer or another model are not compared, nor are models whose layers store different caches (sliding
windows, recurrent layers).

## Why it matters

The number of requests that fit follows from this figure: with a quarter of the bytes a plan promises four times the requests that
its cache holds.

## What to do

Take 2 x layers x key-value heads x head dimension x bytes of an element, or with latent attention layers x (rank of the latent
vector + rotary dimension) x bytes.

## When to ignore it

Ignore it where the sentence is about another model than the served one.

## Fires

```yaml description
clusterspec: 1
description: The cache of Qwen3 32B takes 64 KiB a token in bf16.
cluster: {platform: hgx-h20, nodes: 2}
workload:
  kind: serve
  model: qwen3-32b
  parameter_precision: bf16
  kv_precision: bf16
  serving: {input_tokens: 4000, output_tokens: 500, concurrency: 64}
layout: {framework: sglang, tp: 4}
```

## Silent

```yaml
clusterspec: 1
description: The cache of Qwen3 32B takes 256 KiB a token in bf16, half of it in fp8, and 64 KiB a token on each GPU.
cluster: {platform: hgx-h20, nodes: 2}
workload:
  kind: serve
  model: qwen3-32b
  parameter_precision: bf16
  kv_precision: bf16
  serving: {input_tokens: 4000, output_tokens: 500, concurrency: 64}
layout: {framework: sglang, tp: 4}
```

## Sources

- Keys and values of a token: https://arxiv.org/abs/2309.06180, section 3
- Latent attention: https://arxiv.org/abs/2405.04434, section 2.1
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.quantity import precision_width
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.readers.loads import MOST_CHARACTERS, place_of
from clusterspec.rules.readers.services.caches import bytes_of_tokens
from clusterspec.rules.readers.units import stored_precisions
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 0.06
"""Relative difference up to which two figures are equal: kB are 2.4 % smaller than KiB, and both are rounded."""
_WIDTH, _OF_WIDTH = pattern(r"[x×*] ?([12]) ?(?:B|bytes?)\b"), {"1": "fp8", "2": "bf16"}
"""Pattern of the bytes of one number in a written product, with the precision of that size."""


def check(own_remarks: str, spec: Spec, served: Served) -> Iterator[Problem]:
    text = own_remarks[:MOST_CHARACTERS]
    if "oken" not in text and "eton" not in text:
        return
    model, kept = served.workload.model, served.workload.kv_precision
    if model.window is not None or model.compressed is not None or model.linear is not None:
        return
    for sentence, stated in bytes_of_tokens(text):
        named = {_OF_WIDTH[each] for each in _WIDTH.findall(sentence)}
        named = named or stored_precisions(sentence) or {kept}
        widths = [precision_width(each) / precision_width(kept) for each in named]
        stored = [served.times.kv_bytes_per_token * width for width in widths]
        if any(abs(stated / each - 1) <= ROUNDED for each in stored):
            continue
        message = f"the text gives the cache of a token {display(stated, 'B')}, but {model.name} stores {display(stored[0], 'B')}"
        message += f" in {min(named)}" if len(named) == 1 else ""
        whole = stored[0] / stated
        if served.layout.tp > 1 and abs(whole / served.layout.tp - 1) <= ROUNDED:
            message += f": the figure is for one of {served.layout.tp} ranks"
        yield RULE.problem(
            place_of(sentence, spec), message, "correct the figure, and the requests that follow from it"
        )
        return
