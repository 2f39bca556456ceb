"""Jobs need more bandwidth than a link between pools has.

## What it finds

Several jobs with engines on two pools, whose caches and weights together need more than the `bandwidth` of the link
between the pools, or than the NICs of the nodes at its slower end. It is an error where the average demand exceeds the
link, and a warning where only the peak does, while weights and caches are sent at the same time. For a single job, it
is an error where the caches of the prompts of its `request_rate` exceed the link.

## Why it matters

Prompts, or the step of the trainer, wait for the link. The estimate gives each job at least an equal share of the link,
plus the bandwidth that other jobs leave unused. If caches are produced faster than the link carries them, the queue of
requests grows without limit.

## What to do

Use a faster link, put the engines of one job on one pool, or keep caches smaller (`kv_precision: fp8`).

## When to ignore it

Ignore it where the jobs do not run at the same time.

## Fires

```yaml pool_links[0].bandwidth
clusterspec: 1
pools:
  prefill: {platform: dgx-h200, nodes: 2}
  decode: {platform: dgx-h100, nodes: 4}
pool_links: [{between: [prefill, decode], bandwidth: 50 Gb/s}]
jobs:
  chat:
    pool: decode
    nodes: 2
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        request_rate: 4
        disaggregated: {prefill: {pool: prefill, replicas: 1, tp: 8}, decode: {replicas: 2, tp: 8}}
    layout: {framework: vllm}
  code:
    pool: decode
    nodes: 2
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        request_rate: 4
        disaggregated: {prefill: {pool: prefill, replicas: 1, tp: 8}, decode: {replicas: 2, tp: 8}}
    layout: {framework: vllm}
```

## Silent

```yaml
clusterspec: 1
pools:
  prefill: {platform: dgx-h200, nodes: 2}
  decode: {platform: dgx-h100, nodes: 4}
pool_links: [{between: [prefill, decode], bandwidth: 400 Gb/s}]
jobs:
  chat:
    pool: decode
    nodes: 2
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        request_rate: 4
        disaggregated: {prefill: {pool: prefill, replicas: 1, tp: 8}, decode: {replicas: 2, tp: 8}}
    layout: {framework: vllm}
  code:
    pool: decode
    nodes: 2
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        request_rate: 4
        disaggregated: {prefill: {pool: prefill, replicas: 1, tp: 8}, decode: {replicas: 2, tp: 8}}
    layout: {framework: vllm}
```

## Sources

- Pools, links and engines on separate pools: docs/fleet.md
- Max-min fair shares: Bertsekas and Gallager, Data Networks, second edition, section 6.5.2
- Share of the line rate at which caches are sent: DistServe, arXiv 2401.09670, section 6
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Job
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import smaller_cache, times_as_much
from clusterspec.rules.knowledge.shared_links import link_demand
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import and_list
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")


def check(fleet: Fleet) -> Iterator[Problem]:
    for number, written in enumerate(fleet.spec.pool_links or ()):
        known = any(
            set(each.between or ()) == set(written.between or ()) for each in (fleet.spec.pool_links or ())[:number]
        )
        demand = None if known else link_demand(fleet, written)
        if demand is None or not demand.crossings:
            continue
        several, over = len(demand.crossings) > 1, demand.mean > demand.total
        enough = several or (over and _has_rate(fleet.jobs[next(iter(demand.crossings))]))
        if demand.burst_rate <= demand.total or not enough:
            continue
        when = "on average" if over else "while weights pass"
        sent = (
            f"{display(demand.mean if over else demand.burst_rate, 'B/s')} of caches{' and weights' if several else ''}"
        )
        names = and_list(f"`{name}`" for name in demand.crossings)
        pools = and_list(f"`{name}`" for name in sorted(written.between or ()))
        message = f"{names} {'pass' if several else 'passes'} {sent} between pools {pools} {when}, but the link carries {display(demand.total, 'B/s')}"
        key = "bandwidth" if written.bandwidth is not None else "fabric"
        missing = (demand.mean if over else demand.burst_rate) / demand.total
        smaller = "" if several else _smaller_cache(fleet.jobs[next(iter(demand.crossings))], missing)
        help_ = (
            f"use a link of {times_as_much(missing)} the bandwidth, or put the engines of one job on one pool{smaller}"
        )
        yield RULE.problem(("pool_links", number, key), message, help_, severity="error" if over else "warning")


def _smaller_cache(job: Job, missing: float) -> str:
    """Advice to shrink the cache of the one job that crosses a link, if that suffices; else empty."""
    workload = job.design.workload if job.design is not None else None
    return smaller_cache(workload, missing) if workload is not None and workload.serving is not None else ""


def _has_rate(job: Job) -> bool:
    """Whether requests arrive at a stated rate that does not depend on the link."""
    workload = job.design.workload if job.design is not None else None
    return workload is not None and workload.serving is not None and workload.serving.request_rate is not None
