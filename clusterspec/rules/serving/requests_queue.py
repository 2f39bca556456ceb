"""Requests arrive faster than the engines serve them, or spend most of the time to first token in the queue.

## What it finds

An open load (`request_rate`) whose output tokens exceed the predicted throughput. The finding is an error if they exceed
the high end of its range too, a warning if they are nearer to that end than to the prediction, and a note otherwise. The
finding is also a note if the load is served, but its mean wait for prefill is more than half of the mean time to first
token. So it is for a closed load (`concurrency`) on separate prefill engines that are always busy, unless
unbalanced-pools says that the decode engines take twice the prompts. Where sending a cache between prefill and decode
engines takes longer than computing its prompt, the message says so. The rule is silent for a finite run (`requests`).

## Why it matters

Above the throughput, the queue grows for as long as the load lasts: no latency target holds, whatever median the
estimate gives. Near it, small changes of the load double the wait. In a closed load the requests that wait for prefill
add to the time to first token, and no request ends sooner.

## What to do

Use more engines, shorter prompts, a prefix cache, or a lower rate; where links are full, faster ones. Plan for a utilization of 60
to 80 %.

## When to ignore it

Ignore it where a load balancer sheds the excess.

## Fires

```yaml workload.serving.request_rate
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  precision: fp8
  parameter_precision: fp8
  serving: {input_tokens: 4096, output_tokens: 256, request_rate: 12}
layout: {framework: vllm, tp: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  precision: fp8
  parameter_precision: fp8
  serving: {input_tokens: 4096, output_tokens: 256, request_rate: 4}
layout: {framework: vllm, tp: 4}
```

## Sources

- Waiting time against utilization: Kleinrock, Queueing Systems, 1975
- Throughput and latency of engines: https://arxiv.org/abs/2401.09670
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from clusterspec.cost.serving.constants import MOST_LOAD
from clusterspec.cost.serving.latency import serving_range
from clusterspec.cost.serving.targets import mostly_waits
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import (
    LOAD,
    PREFILL,
    Served,
    is_twice,
    link_advice,
    prompt_rate_of_load,
    prompts_processed,
)
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plain, plural, rounded_down, with_noun

RULE = Rule.of(__name__, "error", "likely")
KEY = f"{LOAD}.request_rate"
ATTEMPTS = 6
"""Number of loads that are estimated to find one that the engines sustain."""


def check(served: Served) -> Iterator[Problem]:
    load, times = served.load, served.times
    if load.load == "closed" and load.requests is None:
        yield from _closed_load_problems(served)
    if load.load != "open" or load.request_rate is None or load.requests is not None:
        return
    offered, each = load.request_rate * load.output_tokens, times.output_tokens_per_second
    if times.queue_grows:
        low, high = serving_range(times, "output_tokens_per_second")
        behind = " behind the links that carry caches" if times.links_limit_prefill else ""
        behind = " with full caches, which preempt requests and compute tokens again" if times.preempted else behind
        asked = (
            f"{with_noun(plain(load.request_rate), 'request')} a second {'asks' if load.request_rate == 1 else 'ask'}"
        )
        message = (
            f"{asked} for {offered:,.0f} output tokens a second, but the engines "
            f"produce {_rate_text(each)} ({_rate_text(low)} to {_rate_text(high)}){behind}: the queue grows without end"
        )
        rate = _sustained_rate(served)
        less = f"at most {plain(rate, 2)} request{'s' * (rate != 1)} a second" if rate else "a lower rate"
        more = f"use {plain(1.25 * offered / each, 2)} times as many engines, a quarter more than the mean load takes"
        help_ = f"{link_advice(served, offered / each) or more}, or {less}"
        yield RULE.problem(
            KEY,
            message,
            help_,
            severity="error" if offered > high else "warning" if offered > (each + high) / 2 else "note",
        )
    elif mostly_waits(times):
        help_ = f"{link_advice(served, 1.0) or 'use more prefill engines'}, or a lower rate"
        yield RULE.problem(KEY, _wait_text(served), help_, severity="note")


def _wait_text(served: Served) -> str:
    """The wait of a request for prefill, as a part of the mean time to first token."""
    times = served.times
    awaited = "the links that carry caches" if times.links_limit_prefill else "prefill"
    share, first = percent(times.wait / times.ttft_mean, 2), display(times.ttft_mean, "s")
    return f"requests wait {display(times.wait, 's')} for {awaited}, {share} of the mean time to first token of {first}"


def _closed_load_problems(served: Served) -> Iterator[Problem]:
    """Problems of a closed load whose requests wait for separate prefill engines that are always busy."""
    load, times = served.load, served.times
    asked, processed = prompt_rate_of_load(served), prompts_processed(served)
    busy = load.prefill is not None and times.prompt_load >= MOST_LOAD
    if load.prefill is None or not busy or not mostly_waits(times) or is_twice(asked, processed):
        return
    enough = max(1, int(times.offered - times.state.rate * times.wait))
    more = (
        link_advice(served, asked / processed)
        or f"use {ceil(load.prefill.replicas * asked / processed)} prefill engines"
    )
    yield RULE.problem(
        PREFILL,
        f"{_wait_text(served)}: the engines that prefill are always busy",
        f"{more}, or {plural(enough, 'request')} in flight, which end nearly as often",
        severity="note",
    )


def _sustained_rate(served: Served) -> float | None:
    """A rate of two digits that the same engines sustain, found by trial since their output depends on the load; None
    if a few attempts find none.
    """
    rate = rounded_down(served.times.output_tokens_per_second / served.load.output_tokens, 2)
    for _ in range(ATTEMPTS):
        other = served.with_load(request_rate=rate)
        if other is None:
            return None
        if not other.times.queue_grows:
            return rate
        produced = other.times.output_tokens_per_second / other.load.output_tokens
        rate = rounded_down(min(produced, 0.99 * rate), 2)
    return None


def _rate_text(rate: float) -> str:
    """A predicted rate to three digits, with separators.

    >>> _rate_text(6771.4), _rate_text(8.123)
    ('6,770', '8.12')
    """
    return f"{float(plain(rate, 3)):,.10g}"
