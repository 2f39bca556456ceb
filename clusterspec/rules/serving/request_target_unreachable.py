"""The target for a whole request, or for the gaps between tokens, is below the minimum of this layout.

## What it finds

A target of `end_to_end` or `itl` that a single request misses on an idle engine, where its targets of the first token
and of the mean time between tokens are met or not stated. The finding is a warning where even the low end of the
predicted range misses the target, an error where the low end is a third above the target, and a note otherwise.

## Why it matters

A request takes the time to first token plus the time of each further token: 400 tokens at 25 ms take 10 s, whatever the
number of engines. Replicas serve more requests, but none faster.

## What to do

Raise the target, cut the answers, or use a layout or machine that is faster per token.

## When to ignore it

Ignore it if measurements on these engines meet the target.

## Fires

```yaml workload.serving.targets.end_to_end
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 2000, concurrency: 8, targets: {ttft: 3 s, end_to_end: 5 s}}}
layout: {framework: vllm, tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 400, concurrency: 8, targets: {ttft: 3 s, end_to_end: 30 s}}}
layout: {framework: vllm, tp: 8}
```

## Sources

- Latency of a request by its parts: https://docs.nvidia.com/nim/benchmarking/llm/latest/metrics.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.targets import is_caused_by_chunks, missed_targets, target_results
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, plural

RULE = Rule.of(__name__, "error", "likely", yields_to=("targets-contradict",))
TOLD = {"ttft", "tpot"}
"""Latencies that other rules check."""


def check(served: Served) -> Iterator[Problem]:
    load = served.load
    if not any(each.quantity not in TOLD for each in load.targets):
        return
    late = {each for each in missed_targets(served.times, load) if not is_caused_by_chunks(served.times, each)}
    if not any(each.quantity not in TOLD for each in late):
        return
    alone = served.single_request_plan()
    if alone is None or any(each.quantity in TOLD for each in missed_targets(alone.times, load)):
        return
    for each in target_results(alone.times, alone.load):
        target = each.target
        if each.missed and target in late and target.quantity not in TOLD:
            seconds = display(each.seconds, "s")
            what = f"of {plural(load.output_tokens, 'token')} " if target.quantity == "end_to_end" else ""
            message = (
                f"a single request {what}is predicted at {seconds}, above the target of {display(target.seconds, 's')}"
            )
            if target.quantity == "itl":
                message = f"the gap between tokens of a single request is predicted at {seconds}, above the target of {display(target.seconds, 's')}"
            low, high = each.range
            severity = target_severity(target.seconds, each.seconds, (low / each.seconds, high / each.seconds))
            yield RULE.problem(
                f"{LOAD}.targets.{target.key}",
                message,
                "raise the target, cut the answers, or use a layout that is faster per token",
                severity=severity,
            )
