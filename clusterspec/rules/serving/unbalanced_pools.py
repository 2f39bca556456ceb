"""The engines of one side of a disaggregated plan could serve twice the requests of the other.

## What it finds

Separate engines for prefill and decode where the requests in flight ask for more than twice the prompts a second that the
prefill engines process, or where several prefill engines process more than twice what the engines that decode answer with the most
requests in flight that the cache and the targets allow.

## Why it matters

The slower side sets the throughput of the plan. The other side idles more than half of the time, and its accelerators
are paid for all of it.

## What to do

Move engines from one side to the other. In balance, the ratio of engines is that of the time of a prompt to the
time of an answer over the requests in flight on an engine.

## When to ignore it

Where the load changes between long prompts and long answers, and the sides follow it.

## Fires

```yaml workload.serving.disaggregated.prefill
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 5}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 1000
    output_tokens: 1000
    concurrency: 64
    targets: {tpot: 30 ms}
    disaggregated: {prefill: {replicas: 4, tp: 8}, decode: {replicas: 1, tp: 8}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 2}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 8000
    output_tokens: 1000
    concurrency: 64
    targets: {tpot: 30 ms}
    disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}}
```

## Sources

- Balance of both sides: https://arxiv.org/abs/2401.09670 https://arxiv.org/abs/2311.18677
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import PREFILL, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import plain, plural

RULE = Rule.of(__name__, "warning", "likely")
MOST = 2.0


def check(served: Served) -> Iterator[Problem]:
    prefill, times, load = served.load.prefill, served.times, served.load
    if prefill is None or times.prompt_time <= 0 or load.load == "static":
        return
    prompts = prefill.replicas * prefill.attention_dp / times.prompt_time
    asked = times.offered / (load.output_tokens * times.tpot)
    if asked > MOST * prompts:
        yield RULE.problem(
            PREFILL,
            f"{plural(round(times.offered), 'request')} in flight ask for {plain(asked, 2)} prompts per second, {plain(asked / prompts, 2)} times "
            f"the {plain(prompts, 2)} that the prefill engines process: the engines that decode idle",
            "use more prefill engines, or move some from decode",
        )
        return
    answers = _answers(served) if prefill.replicas > 1 else None
    if answers is not None and prompts > MOST * answers:
        yield RULE.problem(
            PREFILL,
            f"the prefill engines process {plain(prompts, 2)} requests per second, {plain(prompts / answers, 2)} times the {plain(answers, 2)} "
            f"that the decode engines answer at most",
            "move engines from prefill to decode, or remove some",
        )


def _answers(served: Served) -> float | None:
    """Requests a second of the engines that decode, with the most in flight that cache and targets allow."""
    most = max(1, int(served.times.max_concurrency or 0), int(served.times.offered))
    full = served.with_load(concurrency=most, request_rate=None, load="closed", requests=None)
    return full.times.offered / (full.load.output_tokens * full.times.tpot) if full else None
