"""A bound that the text sets is not kept by a key.

## What it finds

A sentence of the description or a comment that says what a contract, a site or the users demand, and a key with another value.
The sentence may state the figure, or a share of a count, an amount of each of a count, or an amount that is kept for a time:

- the share that is paid with the order or kept until acceptance, the discount, the time of delivery, the warranty, and the
  response time of support;
- targets of the time to the first token and between tokens, the share of requests that meets them, the requests in flight,
  and their rate;
- the interval between checkpoints, how many are kept or for how long, how long one pauses the run and is written, the time and
  the tokens of the run and of a step, the goodput, the burn-in, and the samples for each prompt;
- the accelerators or nodes of a license, the accelerators of an engine, the NICs of a node, and the racks;
- the commitment of a price, and the term;
- the nodes and the power of a rack, the PUE, the distance between leaf and spine, the capacity and the rates of the storage
  system, and the memory of a host.

Also a release of a software, a branch of the driver and two feeds of a rack that the text fixes and a key contradicts, and
data that the storage system cannot write within the daily hours of the text.

Sentences about another machine, order or offer, and those that suppose something, are not read.

## Why it matters

The text repeats what somebody demands. A plan that breaks it is refused at the tender, by the auditors or at the acceptance.

## What to do

Correct the key, or the text if the demand has changed.

## When to ignore it

Ignore it where the text states the bound of something else.

## Fires

```yaml procurement.payment.order
clusterspec: 1
description: The terms of the grant allow an advance of at most 20 percent of the price.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, as_of: 2026-11-01, payment: {order: 0.4, acceptance: 0.6}}
```

```yaml procurement.warranty
clusterspec: 1
description: The tender demands a warranty of at least five years.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, as_of: 2026-11-01, warranty: 3 years}
```

```yaml workload.serving.targets.ttft
clusterspec: 1
description: Nach dem Vertrag kommt das erste Token in höchstens 800 ms.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 3000, output_tokens: 350, request_rate: 0.5, targets: {ttft: {p99: 3 s}}}
layout: {framework: vllm, tp: 8}
```

```yaml workload.serving.concurrency
clusterspec: 1
description: The insurer has 850 assessors, and in the morning 30 % of them have a request running at the same moment.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 3000, output_tokens: 350, concurrency: 64}
layout: {framework: vllm, tp: 8}
```

```yaml operations.checkpoint.keep
clusterspec: 1
description: The auditors demand that all checkpoints of the last seven days can be read at any time.
cluster: {platform: dgx-h100, nodes: 8}
operations: {checkpoint: {interval: 3 h, keep: 8}}
```

```yaml layout.tp
clusterspec: 1
description: Each of the engines takes four cards.
cluster: {platform: dgx-h200, nodes: 1}
workload:
  kind: serve
  model: llama-3.3-70b
  serving: {input_tokens: 3000, output_tokens: 350, concurrency: 64}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
description: The terms of the grant allow an advance of at most 20 percent of the price. The old contract had a warranty of at least five years.
cluster: {platform: dgx-h100, nodes: 8}
procurement: {currency: EUR, as_of: 2026-11-01, warranty: 3 years, payment: {order: 0.2, acceptance: 0.8}}
```

## Sources

- Comparison of the text with the keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_loads import MOST_CHARACTERS
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec

RULE = Rule.of(__name__, "error", "likely")
HELP = "correct the key, or the text if the demand has changed"
OWNED = frozenset({"power", "prompt", "answer"})
"""Subjects whose demands other rules compare with the design."""


def check(statements: str | None, spec: Spec) -> Iterator[Problem]:
    if not statements or spec.pools or spec.jobs:
        return
    text = statements[:MOST_CHARACTERS]
    if _states_settings(spec):
        from clusterspec.rules.knowledge.fixed_settings import other_settings  # few specs state these keys

        for setting in other_settings(text, spec):
            at = tuple(int(part) if part.isdigit() else part for part in setting.key.split("."))
            message = f"the text says `{setting.words}`, but `{setting.key.rstrip('.0123456789')}` is {setting.value}"
            yield RULE.problem(at, message, HELP)
    from clusterspec.rules.knowledge.demand_values import broken_demands  # for texts with figures alone

    for broken in broken_demands(text, spec, _owned_subjects(spec)):
        message = f"according to the text, {broken.what} {broken.bound} `{broken.demand.words}`, but `{broken.place.key}` is {broken.written}"
        yield RULE.problem(broken.place.key, message, HELP)


def _owned_subjects(spec: Spec) -> frozenset[str]:
    """The subjects whose demands other rules compare with the design: the longest document of a training run is no prompt."""
    is_trained = spec.workload is not None and spec.workload.serving is None and spec.workload.rl is None
    return OWNED - {"prompt"} if is_trained else OWNED


def _states_settings(spec: Spec) -> bool:
    """Whether the spec states a setting that a text may fix otherwise."""
    machine, work = spec.cluster, spec.workload
    if (spec.layout is not None and spec.layout.software) or (
        work is not None and work.parameter_precision is not None
    ):
        return True
    if machine is None:
        return False
    stored = machine.networks is not None and machine.networks.storage is not None
    return bool(machine.software) or stored or (machine.power is not None and machine.power.feeds == "N")
