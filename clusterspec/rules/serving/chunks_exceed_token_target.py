"""A step that contains a prefill chunk takes longer than the target between tokens.

## What it finds

A target for the gaps between tokens (`targets.itl`), on engines that run both prefill and decode, that a pure decode
step meets and a step with a prefill chunk misses, where such steps are more frequent than the percentile excludes. The
finding is a warning where even the low end of the predicted range is above the target, and a note otherwise.

## Why it matters

Every request of the engine waits for a step that computes a prompt. The mean of a request can meet its target while
every tenth gap between two tokens is several times as long, so the output stutters.

## What to do

Use smaller chunks (`chunk_tokens`), which make each step shorter and the prefill of a prompt longer, or separate
engines for prefill (`disaggregated`).

## When to ignore it

Ignore it where the clients buffer the text, so that users do not notice a single gap; `tpot` states a target for the
mean.

## Fires

```yaml workload.serving.chunk_tokens
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving: {input_tokens: 8000, output_tokens: 500, concurrency: 32, chunk_tokens: 8192, targets: {itl: {p99: 60 ms}}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload:
  kind: serve
  model: llama-3.1-70b
  serving: {input_tokens: 8000, output_tokens: 500, concurrency: 32, chunk_tokens: 512, targets: {itl: {p99: 60 ms}}}
layout: {tp: 8}
```

## Sources

- Chunked prefill and gaps between tokens: https://arxiv.org/abs/2403.02310
- Measured gaps at the 99th percentile: https://docs.vultr.com/inference-cookbook/cuda/optimization/concurrency-tuning
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import ServingTimes, range_factors
from clusterspec.cost.serving.percentiles import latency_at
from clusterspec.cost.serving.targets import is_caused_by_chunks, missed_targets
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "warning", "likely")
SMALLER = (4096, 2048, 1024, 512, 256)
"""Chunk sizes in tokens that are tried as a remedy, the largest first."""


def check(served: Served) -> Iterator[Problem]:
    load = served.load
    if load.tightest_target("itl") is None or load.prefill is not None or load.load not in {"closed", "open"}:
        return
    missed = [each for each in missed_targets(served.times, load) if is_caused_by_chunks(served.times, each)]
    if not missed:
        return
    _, percentile, target, key = min(missed, key=lambda each: each.seconds)
    gap, share = latency_at(served.times, load, "itl", percentile), _share_of_steps(served.times)
    chunk = load.chunk_tokens
    yield RULE.problem(
        f"{LOAD}.chunk_tokens" if chunk else f"{LOAD}.targets.{key}",
        f"a step with a chunk{f' of {chunk:,} tokens' if chunk else ''} takes {display(gap, 's')}, and {percent(share, 2)} of the steps carry one: "
        f"percentile {plain(percentile)} of the gaps between tokens is above the target of {display(target, 's')}",
        _remedy(served, target),
        severity=target_severity(target, gap, range_factors(served.times, "tpot")),
    )


def _step_with_chunk(served: Served) -> float:
    """Seconds of a step with one chunk of a prompt and the decoding sequences."""
    prefill = served.times.prefill
    return prefill.total / prefill.steps


def _share_of_steps(times: ServingTimes) -> float:
    """The share of an engine's steps that include a chunk; as many prompts start as requests end."""
    ended = times.sequences * times.tokens_per_step / times.output_tokens
    return min(1.0, ended * times.prefill.steps)


def _remedy(served: Served, target: float) -> str:
    """Advice with the largest smaller chunk whose step meets the target, else to separate the engines."""
    for chunk in SMALLER:
        if chunk >= (served.load.chunk_tokens or served.load.input_tokens):
            continue
        other = served.with_load(chunk_tokens=chunk)
        if other is not None and _step_with_chunk(other) <= target:
            return f"use `chunk_tokens: {chunk}`, predicted at {display(_step_with_chunk(other), 's')} for such a step and {display(other.times.ttft, 's')} to the first token"
    return "run prefill on separate engines (`disaggregated`), or raise the target"
