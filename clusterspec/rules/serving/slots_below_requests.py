"""The engines run fewer sequences at a time than there are requests in flight, although the cache holds more.

## What it finds

A stated `max_sequences` that, over all engines and their attention ranks, is below both the requests in flight and the
requests that the cache holds. The finding is a note where the limit costs less than a tenth of the predicted throughput
and less than the half-width of the range of that difference, a warning above that, and an error if at least a quarter is lost even at the
low end of the range.

## Why it matters

A request without a slot waits until another one ends, while memory for its cache is free. Its time to first token grows
by the duration of whole requests.

## What to do

Raise `max_sequences` to the requests in flight on one attention rank, or lower the concurrency.

## When to ignore it

Ignore it where the limit keeps the time per output token within its target.

## Fires

```yaml workload.serving.max_sequences
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 256, max_sequences: 64}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 1000, output_tokens: 500, concurrency: 64, max_sequences: 64}}
layout: {tp: 8}
```

## Sources

- The limit of sequences in vLLM: https://docs.vllm.ai/en/stable/configuration/optimization/
- Batch size and number of tokens in TensorRT-LLM: https://nvidia.github.io/TensorRT-LLM/performance/performance-tuning-guide/tuning-max-batch-size-and-max-num-tokens.html
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from clusterspec.cost.serving.latency import loss_factors
from clusterspec.cost.serving.targets import missed_targets
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "warning", "likely")
A_TENTH = 0.1
"""Smallest share of the throughput at which the loss is a warning, whatever the range: both figures come from the same model,
and slots and requests are counted.
"""


def check(served: Served) -> Iterator[Problem]:
    load, times, most = served.load, served.times, served.load.max_sequences
    if most is None or load.load not in {"closed", "open"}:
        return
    ranks = served.layout.data_ranks
    more = served.with_load(max_sequences=None) if times.offered > most * ranks else None
    if more is None or more.times.sequences <= most or _meets_target(served, more):
        return
    now, then = times.output_tokens_per_second, more.times.output_tokens_per_second
    lost = max(0.0, 1 - now / then)
    severity = cost_severity(lost, loss_factors(times))
    yield RULE.problem(
        f"{LOAD}.max_sequences",
        f"{plural(most * ranks, 'slot')} for {plural(round(times.offered), 'request')} in flight, of which the engines would run "
        f"{round(more.times.sequences * ranks):,} at once without the limit: the others wait {display(times.wait, 's')} on average; predicted "
        f"{display(now, '1')} output tokens per second, {display(then, '1')} without the limit ({percent(lost, 2)} lost)",
        f"use `max_sequences: {ceil(times.offered / ranks)}`, or lower the concurrency",
        severity="warning" if severity == "note" and lost >= A_TENTH else severity,
    )


def _meets_target(served: Served, more: Served) -> bool:
    """Whether the limit keeps the time between tokens within its target, which is missed without the limit."""
    late = {each for each in missed_targets(more.times, more.load) if each.quantity in {"tpot", "itl"}}
    return bool(late - {*missed_targets(served.times, served.load)})
