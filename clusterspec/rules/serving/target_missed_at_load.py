"""A single request meets a latency target, but the load of the spec does not.

## What it finds

A predicted latency above its target at the stated load, if a single request meets the target: the time to first token,
the time per output token, the gaps between tokens, or the whole request, each at the percentile of its target. The
finding is an error if the low end of the predicted range is a third above the target, a warning if the low end misses
the target, and otherwise a note.

## Why it matters

Every request in flight adds the time to read its cache to a step, and every prefill interrupts decoding. The message
states the concurrency up to which all targets are met.

## What to do

Add replicas, which lowers the concurrency of each, or use the layout that `clusterspec search` finds for the load.

## When to ignore it

Ignore it when the targets are not contractual.

## Fires

```yaml workload.serving.targets
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 128, targets: {tpot: 30 ms}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 4000, output_tokens: 500, concurrency: 8, targets: {tpot: 30 ms}}}
layout: {tp: 8}
```

## Sources

- Throughput under latency targets: https://arxiv.org/abs/2401.09670
- A launch line with 16,384 tokens for each of 32 accelerators: https://github.com/sgl-project/sglang/issues/6017
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.requests import Serving, Target
from clusterspec.cost.serving.targets import is_caused_by_chunks, missed_targets, target_results
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units import distinct_texts, plain, plural, with_noun

RULE = Rule.of(__name__, "warning", "likely")


def check(served: Served) -> Iterator[Problem]:
    load, times = served.load, served.times
    late = tuple(each for each in missed_targets(times, load) if not is_caused_by_chunks(times, each))
    alone = served.single_request_plan() if late else None
    if alone is None:
        return
    late = tuple(name for name in late if name not in missed_targets(alone.times, load))
    if not late:
        return
    missed = [each for each in target_results(times, load) if each.target in late]
    percentiles = {each.target.percentile for each in missed}
    parts = [
        f"{_target_name(each.target, percentiles)} {' against '.join(distinct_texts(each.seconds, each.target.seconds, 's'))}"
        for each in missed
    ]
    severities = {
        target_severity(each.target.seconds, each.seconds, (each.range[0] / each.seconds, each.range[1] / each.seconds))
        for each in missed
    }
    most = times.max_concurrency or 0.0
    bound = f"; the targets are met up to a concurrency of {int(most):,}" if 1 <= most < times.offered else ""
    yield RULE.problem(
        f"{LOAD}.targets",
        f"with {_load_text(load, times.offered)}, {_latencies_text(percentiles)}: {and_list(parts)}{bound}",
        f"add replicas, lower the {_load_key_text(load)}, or let `clusterspec search` find a layout for the load",
        severity=next(each for each in ("error", "warning", "note") if each in severities),
    )


def _load_key_text(load: Serving) -> str:
    """The name of what a user can reduce: the rate, or the number of requests in flight."""
    return "request rate" if load.load == "open" else "concurrency"


def _load_text(load: Serving, offered: float) -> str:
    """Text with the load as the spec states it, and with the requests in flight."""
    if load.load == "open" and load.request_rate:
        return f"{with_noun(plain(load.request_rate, 3), 'request')} a second, {round(offered):,} in flight"
    return f"{plural(round(offered), 'request')} in flight"


def _latencies_text(percentiles: set[float]) -> str:
    """Text with the latencies that miss a target: one percentile, or several latencies with a percentile each."""
    if len(percentiles) > 1:
        return "targets are missed"
    (only,) = percentiles
    return f"{'the median' if only == 50 else f'percentile {plain(only)}'} misses its target"


def _target_name(target: Target, percentiles: set[float]) -> str:
    """``ttft``, or for example ``ttft p99`` if the targets apply to several percentiles."""
    return target.quantity if len(percentiles) == 1 else f"{target.quantity} p{plain(target.percentile)}"
