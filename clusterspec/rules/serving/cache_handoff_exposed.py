"""Sending the cache from prefill to decode takes more than a tenth of the time to the first token.

## What it finds

Disaggregated serving in which the transfer of one prompt's cache takes more than 10 % of the predicted time to the
first token. The transfer uses the scale-up interconnect where one domain holds all engines, else the NICs of the
engine. The finding is a warning where the transfer takes more than a quarter of that time, the half-width of the range
of a prediction without queues; else a note.

## Why it matters

The first step of decoding waits for the cache. A 70B model in bf16 stores 328 kB per
token: 8,192 tokens are 2.7 GB, which take 54 ms over one NIC of 400 Gb/s.

## What to do

Give the engines more NICs or one scale-up domain, keep the cache in fp8 (`kv_precision`), or transfer the cache of each
layer while the prompt is still in prefill (`disaggregated.transfer.send: layer`). A transfer of many small blocks takes
about 1.4 µs for each block of each layer: use larger blocks (`block_tokens`).

## When to ignore it

Ignore it when all requests that matter have short prompts, whose caches are sent sooner.

## Fires

```yaml workload.serving.disaggregated
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 2, scale_out: {technology: roce-v2, nics_per_node: 1, nic_bandwidth: 100 Gb/s}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 8000
    output_tokens: 1000
    concurrency: 8
    disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}}
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
    concurrency: 8
    disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}}
```

## Sources

- Hand-off of the cache: https://arxiv.org/abs/2401.09670 https://arxiv.org/abs/2311.18677
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.constants import RANGES
from clusterspec.cost.serving.handoff import request_cache_bytes
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served, transfer_advice
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely", yields_to=("handoff-slower-than-prefill",))
MOST = 0.10
ONE_COPY = 1.5
"""Ratio of sent bytes to the bytes of one cache; from this ratio on, some ranks have copies."""


def check(served: Served) -> Iterator[Problem]:
    sent, ttft = served.times.sent, served.times.ttft
    if sent is None or served.times.joining:
        return
    seconds = sent.seconds - sent.passing
    if seconds <= MOST * ttft:
        return
    missing = seconds * (1 - MOST) / (MOST * (ttft - seconds)) if ttft > seconds else 1 / MOST
    size = served.load.input_tokens * served.times.kv_bytes_per_token
    yield RULE.problem(
        f"{LOAD}.disaggregated",
        f"sending the cache of a prompt, {display(size, 'B')}{_copies_text(served, size)}, takes {display(seconds, 's')}: {percent(seconds / ttft, 2)} of the "
        f"{display(ttft, 's')} to the first token",
        transfer_advice(sent.transfer, served.workload, missing),
        severity=cost_severity(seconds / ttft, RANGES["ttft"], most="warning"),
    )


def _copies_text(served: Served, size: float) -> str:
    """Text with the number of bytes sent if ranks send copies of the same heads; empty if they send one cache."""
    sent = request_cache_bytes(served.design)
    if sent is None or sent < ONE_COPY * size:
        return ""
    return f" ({display(sent, 'B')} with the copies of tensor-parallel ranks, each of which sends its own)"
