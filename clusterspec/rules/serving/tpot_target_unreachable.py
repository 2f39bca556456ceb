"""The target for the time per output token is below the minimum of this layout.

## What it finds

A `targets.tpot` below the time of one token with one request in flight. The finding is an error if the target is below
the memory roofline: the bytes of weights and cache that one token reads on one rank, divided by the nominal memory
bandwidth. Above the roofline, the rule uses the predicted range of a single request: a warning if its low end misses
the target, an error if the low end is a third above the target, and a note if only the predicted time misses it.

## Why it matters

A decode step reads every weight that the token uses. No engine reads faster than the memory bandwidth, and collectives
and kernel launches add to that time. The target cannot be met at any concurrency.

## What to do

Raise tp, store weights in fewer bytes (`parameter_precision`), use speculative decoding, or use an accelerator with
more memory bandwidth. Otherwise raise the target.

## When to ignore it

Do not ignore the error. The warning rests on a prediction: ignore it where a measured run meets the target.

## Fires

```yaml workload.serving.targets.tpot
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, targets: {tpot: 15 ms}}}
layout: {tp: 2}
```

```yaml workload.serving.targets.tpot
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, targets: {tpot: 7 ms}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, targets: {tpot: 30 ms}}}
layout: {tp: 8}
```

## Sources

- Roofline of decoding: https://arxiv.org/abs/2211.05102
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.bounds import least_token_time
from clusterspec.cost.serving.latency import range_factors
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.finding import Problem
from clusterspec.rules.advice.remedies import with_narrower_weights
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, tightest = served.load, served.load.tightest_target("tpot")
    if tightest is None or latency_at(served.times, load, "tpot", tightest.percentile) <= tightest.seconds:
        return
    target, key = tightest.seconds, f"{LOAD}.targets.{tightest.key}"
    bound = least_token_time(served.cluster, served.workload, served.layout, load)
    if bound is not None and bound > target:
        yield RULE.problem(
            key,
            f"a token reads its weights and the cache of its request in {display(bound, 's')} at the full memory bandwidth of "
            f"tp {served.layout.tp}: no engine reaches the target of {display(target, 's')}",
            _remedy(served, target),
        )
        return
    alone = served.single_request_plan()
    if alone is not None and alone.times.tpot > target:
        yield RULE.problem(
            key,
            f"a single request is predicted at {display(alone.times.tpot, 's')} per output token with tp {served.layout.tp}, "
            f"above the target of {display(target, 's')}; the memory roofline is {display(bound or 0.0, 's')}",
            _remedy(served, target),
            severity=target_severity(target, alone.times.tpot, range_factors(alone.times, "tpot")),
        )


def _remedy(served: Served, target: float) -> str:
    """Advice with the smallest larger tp within the domain that meets the target; else the other remedies."""
    wider = served.layout.tp * 2
    while served.load.decode is None and wider <= served.cluster.ranks_per_domain:
        other = served.with_layout(tp=wider)
        alone = other.single_request_plan() if other else None
        if alone is not None and alone.times.tpot <= target:
            return (
                f"use tp {wider}, predicted at {display(alone.times.tpot, 's')} per output token for a single request"
            )
        wider *= 2
    return f"raise the target, {with_narrower_weights(served.plan)}, or use speculative decoding"
