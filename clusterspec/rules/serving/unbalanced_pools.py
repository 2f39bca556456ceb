"""Prefill and decode engines differ in request rate by more than a factor of two.

## What it finds

Disaggregated serving in which the requests in flight that the decode engines hold, or the stated request rate, need
more than twice the prefill throughput; or in which several prefill engines process more than twice the requests per
second that the decode engines complete at the highest concurrency that cache and targets allow. Both rates assume that
all requests are decoding. The severity depends on the share of all accelerators that are then idle: a note below the
half-width of the range of that difference, a warning above it, and an error if at least a quarter is lost even at the
low end of the range. Too few prefill engines for a closed load, which adapts to them, are a note up to a factor of
five, and a warning above. Too many are a note where the decode engines carry the stated request rate. For a finite run
(`requests`) the finding is at most a warning.

## Why it matters

The slower engines determine the throughput of the plan. The others idle more than half of the time.

## What to do

Turn engines of one kind into the other. In balance, prefill engines over decode engines equals the time of a prompt
over the decode time of a request, times the requests in flight on one decode engine.

## When to ignore it

Ignore it when the load alternates between long prompts and long outputs, and the number of engines is adapted to it.

## Fires

```yaml workload.serving.disaggregated.prefill
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 5}
workload:
  kind: serve
  model: llama-3.1-70b
  serving:
    input_tokens: 1000
    output_tokens: 1000
    concurrency: 64
    targets: {tpot: 30 ms}
    disaggregated: {prefill: {replicas: 4, tp: 8}, decode: {replicas: 1, tp: 8}}
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
    concurrency: 64
    targets: {tpot: 30 ms}
    disaggregated: {prefill: {replicas: 1, tp: 8}, decode: {replicas: 1, tp: 8}}
```

## Sources

- Balance of both sides: https://arxiv.org/abs/2401.09670 https://arxiv.org/abs/2311.18677
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.serving.latency import loss_factors
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import PREFILL, Served, is_twice, prompt_rate_of_load, prompts_processed
from clusterspec.rules.knowledge.shares import cost_severity
from clusterspec.rules.rule import Rule
from clusterspec.units import plain, plural

RULE = Rule.of(__name__, "warning", "likely")
ADAPTED = 5.0
"""Ratio of offered to processed prompts of a closed load up to which the finding is a note.

A deployment of 96 H100 with 4 prefill and 9 decode nodes was published
(https://lmsys.org/blog/2025-05-05-large-scale-ep); its 9,000 requests in flight offer 2.6 to 4 times as many prompts.
"""


def check(served: Served) -> Iterator[Problem]:
    prefill, times, load = served.load.prefill, served.times, served.load
    if prefill is None or times.prompt_service <= 0 or load.load == "static":
        return
    prompts = prompts_processed(served)
    asked = prompt_rate_of_load(served)
    if is_twice(asked, prompts):
        yield RULE.problem(
            PREFILL,
            f"{_load_text(served, asked)}, {plain(asked / prompts, 2)} times "
            f"the {plain(prompts, 2)} that the prefill engines process: the decode engines idle",
            "use more prefill engines, or move some from decode" + _links_first(served),
            severity="note"
            if asked <= ADAPTED * prompts and _load_adapts(served)
            else _severity(served, 1 - prompts / asked, prompts=False),
        )
        return
    if prefill.replicas == 1:
        return
    answers = served.rate_of_decoding(max(1, times.most_in_flight or 0, int(times.offered)))
    if is_twice(prompts, answers):
        carried = load.request_rate is not None and load.request_rate <= answers
        yield RULE.problem(
            PREFILL,
            f"the prefill engines process {plain(prompts, 2)} requests per second, {plain(prompts / answers, 2)} times the {plain(answers, 2)} "
            f"that the decode engines complete at most",
            "move engines from prefill to decode, or remove some",
            severity="note" if carried else _severity(served, 1 - answers / prompts, prompts=True),
        )


def _links_first(served: Served) -> str:
    """A clause that the cache links must change first; empty unless they limit prefill."""
    return ", after the links that carry caches" if served.times.links_limit_prefill else ""


def _load_text(served: Served, asked: float) -> str:
    """Text with the prompts per second that the load asks for, and with their origin."""
    prompts = f"{plain(asked, 2)} prompts per second"
    if served.load.request_rate is not None:
        return f"the load has {prompts}"
    offered, places = round(served.times.offered), round(served.decode_places)
    if offered > places:
        return f"the {plural(places, 'request')} that the decode engines hold generate {prompts}"
    return f"{plural(offered, 'request')} in flight generate {prompts}"


def _severity(served: Served, idle: float, *, prompts: bool) -> str:
    """Severity by the share of all ranks that is idle, if engines of one kind are idle for ``share`` of the time."""
    kinds = (served.load.decode, served.load.prefill)
    ranks = [kind.ranks * kind.replicas if kind else 0 for kind in kinds]
    adapts = not prompts and _load_adapts(served)
    most = "warning" if adapts or served.load.requests is not None else "error"
    lost = idle * ranks[prompts] / max(1, sum(ranks))
    return cost_severity(lost, loss_factors(served.times), most=most)


def _load_adapts(served: Served) -> bool:
    """Whether the load is closed, so that it adapts to the slower engines."""
    return served.load.request_rate is None
