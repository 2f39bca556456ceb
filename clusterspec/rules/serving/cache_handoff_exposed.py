"""Sending the cache from prefill to decode takes more than a tenth of the time to the first token.

## What it finds

Separate engines for prefill and decode between which the cache of one prompt takes more than 10 % of the predicted time to the
first token, over the scale-up interconnect where one domain holds all engines, else over the NICs of the engine.

## Why it matters

The first step of decoding waits for the cache. At 328 kB a token, as of a 70B model in bf16, 8,192 tokens are 2.7 GB:
54 ms over one NIC of 400 Gb/s.

## What to do

Give the engines more NICs or one scale-up domain, keep the cache in fp8 (`kv_precision`), or send the cache layer by
layer beside the prompt.

## When to ignore it

Where the engine sends layer by layer and the hand-off is hidden.

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

from clusterspec.cost.serving.bounds import handoff_time
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import percent, say

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.10


def check(served: Served) -> Iterator[Problem]:
    if served.load.prefill is None:
        return
    (_, prompts), (_, answers) = served.pools
    tokens = served.load.input_tokens
    seconds = handoff_time(served.cluster, served.workload, (prompts, answers), tokens)
    ttft = served.times.ttft
    if seconds is None or seconds <= MOST * ttft:
        return
    size = tokens * served.times.kv_bytes_per_token
    yield RULE.problem(
        f"{LOAD}.disaggregated",
        f"sending the cache of a prompt, {say(size, 'B')}, takes {say(seconds, 's')}: {percent(seconds / ttft, 2)} of the "
        f"{say(ttft, 's')} to the first token",
        "use more or faster NICs, one scale-up domain for both sides, or a smaller cache (`kv_precision: fp8`)",
    )
