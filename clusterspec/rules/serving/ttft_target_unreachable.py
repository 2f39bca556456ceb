"""The target for the time to first token is below the minimum of this layout.

## What it finds

A `targets.ttft` below the time of a single prompt on an idle engine. The finding is an error if the target is below the
time of the GEMMs: two operations per weight and input token, at the dense peak of all ranks of the engine. Above that
time, the rule uses the predicted range of a single request: an error if its low end is a third above the target, a
warning if the low end misses the target, and a note if only the predicted time does. A target at a percentile is
compared with that percentile of prompts alone on an engine: of prompts of unequal lengths it is longer than the mean.

## Why it matters

A prompt passes through all layers before the first token. Neither scheduling nor a lower concurrency makes that
shorter.

## What to do

Raise tp of the prefill engine, use a lower precision, state the share of input tokens found in the cache
(`prefix_hit`), or shorten the input. Otherwise raise the target.

## When to ignore it

Do not ignore the error. The warning rests on a prediction: ignore it where a measured run meets the target.

## Fires

```yaml workload.serving.targets.ttft
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 16000, output_tokens: 500, concurrency: 4, targets: {ttft: 250 ms}}}
layout: {tp: 8}
```

```yaml workload.serving.targets.ttft
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 16000, output_tokens: 500, concurrency: 4, targets: {ttft: 320 ms}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 16000, output_tokens: 500, concurrency: 4, targets: {ttft: 3 s}}}
layout: {tp: 8}
```

## Sources

- Operations of a forward pass: https://arxiv.org/abs/2001.08361
- Prefill and its batches: https://arxiv.org/abs/2403.02310
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.cluster.requests import Target
from clusterspec.cost.serving.bounds import least_prompt_time
from clusterspec.cost.serving.latency import range_factors
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error", "likely")
REMEDY = "raise the target or tp, shorten the input, or use a lower precision"


def check(served: Served) -> Iterator[Problem]:
    load = served.load
    if load.tightest_target("ttft") is None:
        return
    late = [
        each
        for each in load.targets
        if each.quantity == "ttft" and latency_at(served.times, load, "ttft", each.percentile) > each.seconds
    ]
    if not late:
        return
    tightest = min(late, key=lambda each: each.seconds)
    target, key = tightest.seconds, f"{LOAD}.targets.{tightest.key}"
    _, layout = next(iter(served.pools))
    bound = least_prompt_time(served.cluster, served.workload, layout, load)
    fresh = round(load.input_tokens * (1 - load.prefix_hit))
    if bound is not None and bound > target:
        yield RULE.problem(
            key,
            f"a prompt of {fresh:,} tokens takes {display(bound, 's')} at the dense peak of all ranks of an engine: no engine "
            f"reaches the target of {display(target, 's')}",
            REMEDY,
        )
        return
    alone = served.single_request_plan()
    if alone is not None and alone.times.ttft > target:
        yield RULE.problem(
            key,
            f"a single prompt of {fresh:,} tokens is predicted at {display(alone.times.ttft, 's')}, above the target of "
            f"{display(target, 's')}; its GEMMs take {display(bound or 0.0, 's')} at the dense peak",
            REMEDY,
            severity=target_severity(target, alone.times.ttft, range_factors(alone.times, "ttft")),
        )
        return
    if alone is not None:
        yield from _percentile_problems(alone, late)


def _percentile_problems(alone: Served, late: Iterable[Target]) -> Iterator[Problem]:
    """Problems of targets that the prompts at a percentile miss even on an idle engine, because they are longer than
    the mean.
    """
    for target in late:
        seconds = latency_at(alone.times, alone.load, "ttft", target.percentile)
        if seconds > target.seconds:
            yield RULE.problem(
                f"{LOAD}.targets.{target.key}",
                f"percentile {plain(target.percentile)} of prompts is predicted at {display(seconds, 's')} on an idle engine, "
                f"above the target of {display(target.seconds, 's')}: they are longer than the mean",
                REMEDY,
                severity=target_severity(target.seconds, seconds, range_factors(alone.times, "ttft")),
            )
