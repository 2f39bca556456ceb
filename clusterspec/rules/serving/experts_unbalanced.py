"""Every step waits for the most loaded expert rank, and redundant experts would balance the load.

## What it finds

A serving plan with `expert_load` whose throughput redundant experts, or experts placed by their load, would raise by 5
% or more, at the load of the spec and with the smaller cache that the copies leave. It tries placement alone, then one,
two and four more experts on every rank. Where only `max_over_mean` is stated, the rule applies above 1.5 and compares
with 1.12, which DeepSeek reaches with redundant experts. Severity follows the predicted loss: a note below the
half-width of the range of that difference, a warning above it, and an error if at least a quarter is lost even at the
low end of the range.

## Why it matters

Each layer ends only when its most loaded rank is done. With DeepSeek-R1 on 32 ranks, that rank got 2.56 times the mean
number of tokens; with 32 redundant experts, placed by load on 36 ranks, 1.12 times.

## What to do

State `redundant_experts`, and turn on the expert load balancer of the software; without memory for copies, place experts by
their load (`expert_load: {placement: balanced}`).

## When to ignore it

Ignore it when the software release has no load balancer for the model, or where training limits the imbalance in a way
that the counts do not show.

## Fires

```yaml workload.serving.expert_load
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
workload:
  kind: serve
  model: deepseek-v3
  precision: fp8
  parameter_precision: fp8
  serving:
    input_tokens: 2000
    output_tokens: 1000
    concurrency: 2048
    expert_load: {law: power, alpha: 0.6}
layout: {framework: sglang, attention_dp: 32, ep: 32}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 4}
workload:
  kind: serve
  model: deepseek-v3
  precision: fp8
  parameter_precision: fp8
  serving:
    input_tokens: 2000
    output_tokens: 1000
    concurrency: 2048
    expert_load: {law: power, alpha: 0.6}
    redundant_experts: 32
layout: {framework: sglang, attention_dp: 32, ep: 32}
```

## Sources

- Measured loads with and without redundant experts: https://github.com/NVIDIA/TensorRT-LLM/blob/2a595f8157669fce7999f2098fbe32d8263981f0/examples/wide_ep/ep_load_balancer/README.md
- Placement: https://github.com/deepseek-ai/EPLB
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import loss_factors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ExpertLoadSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
LEAST = 0.05
PER_RANK = (0, 1, 2, 4)
BALANCED, MUCH = 1.12, 1.5
"""Ratio of the fullest rank's load to the mean: `BALANCED` with copies placed by load, as DeepSeek-R1 reached on 36
ranks; from `MUCH` on, redundant copies are worthwhile.
"""


def check(served: Served) -> Iterator[Problem]:
    use, load = served.times.experts, served.load.expert_load
    if use is None or load is None or served.layout.ep == 1:
        return
    if not (load.alpha or load.counts):
        yield from _stated_imbalance_problem(served)
        return
    now = served.times.output_tokens_per_second
    plans = [(each * served.layout.ep, served.with_copies(each * served.layout.ep)) for each in PER_RANK]
    gains = [(more.times.output_tokens_per_second, -copies, more) for copies, more in plans if more is not None]
    best = max(gains, key=lambda each: (round(each[0] / now, 2), each[1]), default=None)
    if best is None or best[2].times.experts is None or best[0] < (1 + LEAST) * now:
        return
    then, copies, more = best[0], use.copies - best[1], best[2].times.experts
    how = (
        f"`redundant_experts: {copies}`, {display(more.copy_bytes, 'B')} of each rank"
        if best[1]
        else "placement by load"
    )
    lost = 1 - now / then
    yield RULE.problem(
        f"{LOAD}.expert_load",
        f"the fullest rank has {use.fullest:.2f} times the mean of all; with {how}, it has {more.fullest:.2f} "
        f"times: {display(then, '1')} output tokens per second instead of {display(now, '1')} ({percent(lost, 2)} lost)",
        f"use `redundant_experts: {copies}`"
        if best[1]
        else "place experts by load (`expert_load.placement: balanced`)",
        severity=cost_severity(lost, loss_factors(served.times)),
    )


def _stated_imbalance_problem(served: Served) -> Iterator[Problem]:
    """The problem of a stated load of the fullest rank, where the expert that causes it is unknown."""
    load = served.load.expert_load
    stated = load.ratio if load is not None else None
    if stated is None or stated < MUCH:
        return
    more = served.with_load(expert_load=ExpertLoadSpec(max_over_mean=BALANCED))
    if more is None or more.times.output_tokens_per_second < (1 + LEAST) * served.times.output_tokens_per_second:
        return
    now, then = served.times.output_tokens_per_second, more.times.output_tokens_per_second
    lost = 1 - now / then
    yield RULE.problem(
        f"{LOAD}.expert_load",
        f"the fullest rank has {stated:g} times the mean of all; with copies and placement by load, at {BALANCED:g} times, "
        f"{display(then, '1')} output tokens per second instead of {display(now, '1')} ({percent(lost, 2)} lost)",
        "use `redundant_experts`, one or two on each rank, and place experts by load (`expert_load.placement: balanced`)",
        severity=cost_severity(lost, loss_factors(served.times)),
    )
