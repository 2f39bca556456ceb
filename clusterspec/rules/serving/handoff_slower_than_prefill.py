"""The links of prefill engines carry fewer caches per second than the engines compute.

## What it finds

Disaggregated serving in which sending a prompt's cache takes longer than computing the prompt, at a load of more
prompts per second than the links carry. The finding is a note where the network limits the throughput by less than the
half-width of the range of that difference, a warning above that, and an error if at least a quarter is lost even at the
low end of the range.

## Why it matters

Transfers overlap with the prefill of later prompts only up to the rate of the link. Beyond it, prompts queue for the
network, and prefill engines idle.

## What to do

Use more or faster NICs, one scale-up domain for both sides, or a smaller cache (`kv_precision: fp8`). Where blocks of few
tokens make the transfer slow, use larger ones.

## When to ignore it

Do not ignore it. If the engines have another network for caches, state its rate (`disaggregated.transfer.bandwidth`).

## Fires

```yaml workload.serving.disaggregated
clusterspec: 1
cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 8, nodes: 3, scale_out: {technology: roce-v2, nics_per_node: 1, nic_bandwidth: 25 Gb/s}}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 8000
    output_tokens: 200
    concurrency: 128
    disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 2, tp: 8}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 3}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 8000
    output_tokens: 200
    concurrency: 128
    disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 2, tp: 8}}
```

## Sources

- Bandwidth between engines of prefill and of decode: https://arxiv.org/abs/2401.09670 https://arxiv.org/abs/2311.18677
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import loss_factors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served, prompt_rate_of_load, transfer_advice
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plain

RULE = Rule.of(__name__, "warning", "likely")


def check(served: Served) -> Iterator[Problem]:
    times, prefill = served.times, served.load.prefill
    if prefill is None or times.prompt_service <= 0:
        return
    sent = times.sent.transfer if times.sent is not None else None
    if sent is None or not sent.seconds:
        return
    seconds = sent.seconds
    carried = prefill.attention_dp / seconds
    computed = prefill.attention_dp / times.prompt_service
    asked = prompt_rate_of_load(served) / prefill.replicas
    wanted = min(computed, asked)
    if wanted <= carried:
        return
    lost = 1 - carried / wanted
    yield RULE.problem(
        f"{LOAD}.disaggregated",
        f"the links of a prefill engine carry the caches of {plain(carried, 2)} prompts per second, {display(seconds, 's')} for "
        f"each, but the load asks it for {plain(wanted, 2)}: {percent(lost, 2)} of the throughput is lost",
        transfer_advice(sent, served.workload, wanted / carried),
        severity=cost_severity(lost, loss_factors(times)),
    )
