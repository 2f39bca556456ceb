"""Engines of a job are on another pool, and no link of known rate joins the two pools.

## What it finds

A `pool` of prefill or decode engines, of rollout or of another model (reference, critic, reward), if no entry of
`pool_links` joins it with the pool of the job, or if the entry states neither `fabric: shared` nor a `bandwidth`.

## Why it matters

The job sends caches, weights or samples between the two pools. Without a link they cannot exchange data, and no time
can be predicted.

## What to do

State the link: `{between: [a, b], fabric: shared}` where both are on one scale-out fabric, else its `bandwidth`.

## When to ignore it

Do not ignore it.

## Fires

```yaml jobs.chat.workload.serving.disaggregated.prefill.pool
clusterspec: 1
pools:
  prefill: {platform: dgx-h200, nodes: 2}
  decode: {platform: dgx-h100, nodes: 4}
jobs:
  chat:
    pool: decode
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 64
        disaggregated: {prefill: {pool: prefill, replicas: 2, tp: 8}, decode: {replicas: 4, tp: 8}}
    layout: {framework: vllm}
```

```yaml pool_links[0]
clusterspec: 1
pools:
  train: {platform: dgx-h100, nodes: 4}
  rollout: {platform: dgx-h200, nodes: 2}
pool_links: [{between: [train, rollout], latency: 1 ms}]
jobs:
  grpo:
    pool: train
    workload:
      kind: rl
      model: qwen2.5-7b
      rl: {prompts_per_step: 128, samples_per_prompt: 16, input_tokens: 512, output_tokens: {mean: 2000, p99: 6000, max: 8192}, minibatches: 4, max_staleness: 2, rollout: {pool: rollout, tp: 1}}
    layout: {framework: megatron-core, tp: 2, recompute: full}
```

## Silent

```yaml
clusterspec: 1
pools:
  prefill: {platform: dgx-h200, nodes: 2}
  decode: {platform: dgx-h100, nodes: 4}
pool_links: [{between: [prefill, decode], fabric: shared}]
jobs:
  chat:
    pool: decode
    workload:
      kind: serve
      model: llama-3.1-70b
      serving:
        input_tokens: 4000
        output_tokens: 500
        concurrency: 64
        disaggregated: {prefill: {pool: prefill, replicas: 2, tp: 8}, decode: {replicas: 4, tp: 8}}
    layout: {framework: vllm}
```

## Sources

- Pools, links and engines on separate pools: docs/fleet.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, engines_on_other_pools, main_pool
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule

RULE = Rule.of(__name__, "error")
PASSES = {"prefill": "caches", "decode": "caches", "rollout": "weights and samples"}
"""The data that engines exchange with the other roles of their job."""


def check(fleet: Fleet) -> Iterator[Problem]:
    links = {frozenset(link.between or ()): (at, link) for at, link in enumerate(fleet.spec.pool_links or ())}
    for name, job in fleet.jobs.items():
        main = main_pool(job.spec)
        for each in engines_on_other_pools(job.spec):
            other = job.spec.pool if each.pool == main else main
            if other is None or each.pool not in fleet.pools or other not in fleet.pools:
                continue
            number, link = links.get(frozenset((each.pool, other)), (0, None))
            if link is not None:
                if link.fabric is None and link.bandwidth is None:
                    message = f"the {each.role} of job `{name}` is on pool `{each.pool}`, but its link with pool `{other}` has no rate: both pools are assumed to share one fabric"
                    yield RULE.problem(("pool_links", number), message, "state `fabric: shared`, or its `bandwidth`")
                continue
            message = f"the {each.role} of job `{name}` is on pool `{each.pool}`, but no link joins it with pool `{other}`: {PASSES.get(each.role, 'samples')} cannot pass"
            help_ = f"state the link: `pool_links: [{{between: [{other}, {each.pool}], fabric: shared}}]`, or its `bandwidth`"
            yield RULE.problem(("jobs", name, *each.path, "pool"), message, help_)
