"""The tensor-parallel degree is high although each rank holds few weights.

## What it finds

A serving layout with under 10 GB of weights per rank even at half the tp or less, if the additional replicas on the
freed ranks are predicted to give at least as much throughput within the targets. The severity depends on the lost share
of the throughput: a note below the half-width of the range of that difference, a warning above it, and, where there is
a target for the time per output token, an error if at least a quarter is lost even at the low end of the range. It is
also a note if the stated tp shortens the time per output token of a single request by less than 15 %, and for
accelerators without a table of measured kernels: the gain then rests on latencies that nobody measured.

## Why it matters

With less than 10 GB per rank, a step spends more time on kernel launches and all-reduces than on reading weights.
Doubling tp halves only the time for reading weights, while two replicas complete twice the requests.

## What to do

Halve tp and use the ranks as replicas (`dp` follows from the ranks).

## When to ignore it

Ignore it when the latency of a single request matters most.

## Fires

```yaml layout.tp
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 512}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, precision: fp8, parameter_precision: fp8, serving: {input_tokens: 1000, output_tokens: 1000, concurrency: 512}}
layout: {tp: 1}
```

## Sources

- Layouts of decoding and their communication: https://arxiv.org/abs/2211.05102
- Parallelism in vLLM: https://docs.vllm.ai/en/stable/serving/parallelism_scaling.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.memory.fullest import Memory
from clusterspec.finding import Problem
from clusterspec.rules.advice.proposals import Legality
from clusterspec.rules.advice.serving import best_gain, comparison_text
from clusterspec.rules.knowledge.served import Served
from clusterspec.rules.rule import Rule
from clusterspec.standard import sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "note", "likely", yields_to=("tp-crosses-scale-up-domain", "tp-beyond-kv-heads"))
LEAST = 0.15
"""Smallest relative gain in time per output token at which a doubled tp is not reported."""
LIGHT = 10e9
"""Bytes of weights per rank that a current accelerator reads in 2 to 5 ms."""


def check(served: Served, legality: Legality) -> Iterator[Problem]:
    layout, stored = served.layout, served.plan.stored
    if layout.tp % 2 or layout.ep > 1 or layout.separate_engines or stored is None:
        return
    weights = _weight_bytes(stored)
    if 2 * weights >= LIGHT:
        return
    gain = best_gain(served, legality, _narrower_tp_layouts(layout.tp, weights))
    if gain is None:
        return
    tp, fewer = gain.served.layout.tp, gain.served.plan.stored
    times = layout.tp // tp
    then_kept = _weight_bytes(fewer) if fewer is not None else times * weights
    kept = f"tp {layout.tp} leaves {display(weights, 'B')} of weights on a rank, tp {tp} {display(then_kept, 'B')}"
    if gain.is_worth_it:
        remedy = f"use tp {tp} and {'twice' if times == 2 else f'{times} times'} the replicas"
        measured = served.times.own_kernels
        severity = gain.severity if measured else "note"
        yield RULE.problem("layout.tp", f"{kept}: {comparison_text(gain)}", remedy, severity=severity)
        return
    now, then = served.single_request_plan(), gain.served.single_request_plan()
    if now is None or then is None or now.times.tpot < (1 - LEAST) * then.times.tpot:
        return
    yield RULE.problem(
        "layout.tp",
        f"{kept}: the time per output token of a single request is {display(now.times.tpot, 's')} instead of {display(then.times.tpot, 's')}, "
        f"for {'twice' if times == 2 else f'{times} times'} the accelerators",
        f"use tp {tp}, unless the latency of single requests matters most",
    )


def _weight_bytes(stored: Memory) -> float:
    """Bytes of weights on a rank; layers that every rank copies do not shrink with tp."""
    return sum_of(line.value for line in stored.rank.weights)


def _narrower_tp_layouts(tp: int, weights: float) -> Iterator[dict[str, object]]:
    """Layouts with half of the tp, a quarter and so on, while a rank would have less than `LIGHT` bytes of weights."""
    times = 2
    while tp % times == 0 and times * weights < LIGHT:
        yield {"tp": tp // times}
        times *= 2
