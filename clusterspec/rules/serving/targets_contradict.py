"""Latency targets contradict each other.

## What it finds

Targets that no service can meet together: a higher percentile with a shorter time than a lower percentile (`p50: 3 s,
p99: 1 s`), a whole request (`end_to_end`) that ends before its first token (`ttft`) at the same percentile, and a
`percentile` of at most 1, such as 0.99: an error. It is a warning where `tpot` allows more time than `ttft` at the same
percentile, since the first token takes a step of the engine, too, after the prompt.

## Why it matters

A percentile of latencies never falls as the percentile rises, and a request ends after its first token: one of the two
figures is wrong or has the wrong unit. A percentile of 0.99 is the fastest of a hundred requests, so that any plan
meets it.

## What to do

Swap or correct the figures; write percentiles from 1 to 100, such as 99.

## When to ignore it

Do not ignore errors. Ignore a warning if another tier of the service is responsible for the first token.

## Fires

```yaml workload.serving.targets.ttft.p99
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, targets: {ttft: {p50: 3 s, p99: 1 s}}}}
layout: {framework: vllm, tp: 1}
```

```yaml workload.serving.targets.percentile
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, targets: {ttft: 3 s, percentile: 0.99}}}
layout: {framework: vllm, tp: 1}
```

```yaml workload.serving.targets.tpot
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, targets: {ttft: 100 ms, tpot: 2 s}}}
layout: {framework: vllm, tp: 1}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, targets: {ttft: {p50: 1 s, p99: 3 s}, end_to_end: {p99: 30 s}}}}
layout: {framework: vllm, tp: 1}
```

## Sources

- Latencies of requests and their percentiles: https://docs.nvidia.com/nim/benchmarking/llm/latest/metrics.html
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clusterspec.cluster.model import Workload
from clusterspec.cluster.requests import Target
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import WorkloadSpec
from clusterspec.units import display, plain

RULE = Rule.of(__name__, "error")
AT = "workload.serving.targets"


def check(workload: Workload, written_workload: WorkloadSpec) -> Iterator[Problem]:
    if workload.serving is None or not workload.serving.targets:
        return
    targets = workload.serving.targets
    yield from _percentile_problems(written_workload)
    for quantity in ("ttft", "tpot", "itl", "end_to_end"):
        of = sorted((each for each in targets if each.quantity == quantity), key=lambda each: each.percentile)
        for lower, higher in pairwise(of):
            if higher.seconds < lower.seconds:
                message = f"{_target_name(higher)} is to stay within {display(higher.seconds, 's')}, but {_target_name(lower)} within {display(lower.seconds, 's')}"
                help_ = "a higher percentile takes at least as long: swap or correct the times"
                yield RULE.problem(f"{AT}.{higher.key}", message, help_)
    firsts = {each.percentile: each for each in targets if each.quantity == "ttft"}
    for whole in targets:
        first = firsts.get(whole.percentile)
        if whole.quantity == "tpot" and first is not None and whole.seconds > first.seconds:
            message = f"each later token may take {display(whole.seconds, 's')}, longer than the prompt and the first token ({display(first.seconds, 's')})"
            yield RULE.problem(f"{AT}.{whole.key}", message, "swap or correct the times", severity="warning")
        if whole.quantity == "end_to_end" and first is not None and whole.seconds < first.seconds:
            message = f"a whole request is to take at most {display(whole.seconds, 's')}, but its first token alone {display(first.seconds, 's')}"
            yield RULE.problem(
                f"{AT}.{whole.key}", message, "a request ends after its first token: correct one of them"
            )


def _percentile_problems(written: WorkloadSpec) -> Iterator[Problem]:
    targets = written.serving.targets if written.serving is not None else None
    stated = targets.percentile if targets is not None else None
    if stated is not None and stated <= 1:
        message = f"percentile {plain(stated)} is a latency that nearly every request exceeds"
        yield RULE.problem(f"{AT}.percentile", message, f"write `percentile: {plain(100 * stated)}`")


def _target_name(target: Target) -> str:
    return f"percentile {plain(target.percentile)} of {target.quantity}"
