"""Jobs send more over a link between pools than it carries.

## What it finds

Several jobs with engines on two pools, whose caches and weights together take more than the `bandwidth` of the link
between these, or than the NICs of the nodes at its slower end. It is an error where they exceed the link on average,
else a warning: the transfers of weights meet the caches. Of one job, the caches of the prompts that its `request_rate`
brings are compared with the link: an error where they exceed it.

## Why it matters

Each job is estimated as if it had the link to itself. Together they wait for it: prompts, or the step of the trainer.
Requests whose caches arrive faster than the link carries them queue without end.

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

- Pools, links and engines on pools of their own: docs/fleet.md
- Share of the line rate at which caches are sent: DistServe, arXiv 2401.09670, section 6
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.fleet import Fleet, Job, engines_away, main_pool
from clusterspec.cluster.sites import link_to_pool
from clusterspec.cost.estimate import legal_estimate
from clusterspec.cost.serving.handoff import HANDOFF_SHARE
from clusterspec.cost.serving.times import request_cache_bytes
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import both
from clusterspec.summation import sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")


class Crossing(NamedTuple):
    """What one job sends over a link: B/s on average, and B/s while it sends as fast as it can."""

    job: str
    mean: float
    burst: float


def check(fleet: Fleet) -> Iterator[Problem]:
    for number, written in enumerate(fleet.spec.pool_links or ()):
        ends = frozenset(written.between or ())
        jobs = [job for job in fleet.jobs.values() if _joined_by(job, ends)]
        if not jobs or len(ends) != 2:
            continue
        total = _link_rate(fleet, jobs, ends)
        found = [each for job in jobs if (each := _crossing(job)) is not None]
        mean, burst = sum_of(each.mean for each in found), sum_of(each.burst for each in found)
        over = total is not None and mean > total
        enough = over and _has_rate(jobs[0]) if len(found) == 1 else len(found) > 1
        if total is None or burst <= total or not enough:
            continue
        when = "on average" if over else "while weights pass"
        names = both(f"`{each.job}`" for each in found)
        message = f"{names} {'pass' if len(found) > 1 else 'passes'} {display(mean if over else burst, 'B/s')} of caches{' and weights' if len(found) > 1 else ''} between pools {both(f'`{one}`' for one in sorted(ends))} {when}, and the link carries {display(total, 'B/s')}"
        key = "bandwidth" if written.bandwidth is not None else "fabric"
        help_ = (
            "use a faster link, put the engines of one job on one pool, or keep caches smaller (`kv_precision: fp8`)"
        )
        yield RULE.problem(("pool_links", number, key), message, help_, severity="error" if over else "warning")


def _has_rate(job: Job) -> bool:
    """Whether requests arrive at a stated rate, whatever the links carry."""
    workload = job.design.workload if job.design is not None else None
    return workload is not None and workload.serving is not None and workload.serving.request_rate is not None


def _joined_by(job: Job, ends: frozenset[str]) -> bool:
    """Whether the engines of a job are on both pools of a link."""
    return job.design is not None and any(
        {each.pool, main_pool(job.spec)} == ends or {each.pool, job.spec.pool} == ends
        for each in engines_away(job.spec)
    )


def _link_rate(fleet: Fleet, jobs: list[Job], ends: frozenset[str]) -> float | None:
    """B/s that caches and weights get of a link; on one fabric, of the NICs of the nodes that the jobs have."""
    main = main_pool(jobs[0].spec)
    other = next(iter(ends - {main}))
    design, machine = jobs[0].design, fleet.pools[other].cluster if other in fleet.pools else None
    if design is None or machine is None or main is None:
        return None
    counts = [sum(fleet.nodes_on(pool, job.name) or 0 for job in jobs) for pool in (main, other)]
    link = link_to_pool(design, other, machine, (counts[0], counts[1]))
    return link.total * HANDOFF_SHARE if link is not None else None


def _crossing(job: Job) -> Crossing | None:
    """What a job sends; None where it has no times. Weights of a step of reinforcement learning pass in its sync."""
    assert job.design is not None
    plan = legal_estimate(job.design)
    if plan.rl is not None:
        sent = plan.rl.sync.sent
        return Crossing(job.name, sent / plan.rl.step, sent / plan.rl.sync.seconds)
    load = plan.design.workload.serving if plan.design.workload else None
    each = request_cache_bytes(plan.design)
    if plan.serving is None or load is None or each is None:
        return None
    rate = load.request_rate or plan.serving.output_tokens_per_second / load.output_tokens
    return Crossing(job.name, rate * each, rate * each)
