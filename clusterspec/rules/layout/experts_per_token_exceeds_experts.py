"""A token is routed to more experts than the model has.

## What it finds

`experts_per_token` above `experts`, or 0 in a model with experts.

## Why it matters

The router cannot select more experts than there are: the two numbers are probably swapped. With 0, no token reaches an
expert, and the plan has neither their computation nor their exchange.

## What to do

Correct the model.

## When to ignore it

Do not ignore it.

## Fires

```yaml workload.model.experts_per_token
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: mixtral-8x7b, experts: 2, experts_per_token: 8}
  sequence_length: 4096
  global_batch: 256
```

```yaml workload.model.experts_per_token
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: {base: mixtral-8x7b, experts_per_token: 0}, sequence_length: 4096, global_batch: 256}
layout: {framework: megatron-core, ep: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload:
  model: {base: mixtral-8x7b, experts: 8, experts_per_token: 8}
  sequence_length: 4096
  global_batch: 256
```

## Sources

- Routing to the top k of E experts: https://arxiv.org/abs/1701.06538
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")


def check(model: Model) -> Iterator[Problem]:
    if 0 < model.experts < model.experts_per_token:
        message = f"experts_per_token {model.experts_per_token} exceeds the {model.experts} experts"
        yield RULE.problem("workload.model.experts_per_token", message, "correct `experts` or `experts_per_token`")
    elif model.experts > 0 == model.experts_per_token:
        message = f"no token is sent to any of the {model.experts} experts"
        yield RULE.problem("workload.model.experts_per_token", message, "state the number of experts of each token")
