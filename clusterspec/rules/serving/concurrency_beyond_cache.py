"""More requests are in flight than the cache holds.

## What it finds

A concurrency (stated, or derived from the request rate) more than 10 % above the number of requests that the cache of
all engines holds. A request occupies its input and, on average, half of its output; in a static batch, all of its
output. The finding is a warning, and an error where a stated concurrency is more than 15 % above the capacity of the
cache: buffers are less uncertain than that, so the engines never reach the stated concurrency. A finite run
(`requests`) submits its requests at once and is at most a warning. The rule also reports a concurrency, or a request
rate, whose cache, with the weights and 2 to 3 GB for buffers, exceeds the default share of the memory (0.90): the
estimate then assumes that the engine is started with a larger `memory_fraction`, in whole percent up to 0.95, and exports
write it.

## Why it matters

The other requests queue. By Little's law, their wait is the number of queued requests over the number of running ones,
times the duration of one request. The time to first token grows from milliseconds to minutes; throughput does not grow.

## What to do

Lower `concurrency`, or add replicas. `kv_precision: fp8` halves the cache; a larger tp, or weights in fewer bytes,
leave more memory for the cache.

## When to ignore it

Ignore it in an offline run, where latency does not matter.

## Fires

```yaml workload.serving.concurrency
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 8000, output_tokens: 1000, concurrency: 512}}
layout: {tp: 8}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 8000, output_tokens: 1000, concurrency: 128}}
layout: {tp: 8}
```

## Sources

- Blocks of cache, and requests that wait for them: https://arxiv.org/abs/2309.06180
- Preemption without free blocks: https://docs.vllm.ai/en/stable/configuration/optimization.html
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from clusterspec.cost.memory import summed_bytes
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.served import LOAD, Served
from clusterspec.rules.rule import Rule
from clusterspec.units import display, percent, plural

RULE = Rule.of(__name__, "warning", "likely", yields_to=("requests-queue",))
NARROW = ("fp8", "int8", "fp4", "int4", "nvfp4", "mxfp4")
"""Cache precisions of at most one byte."""
MARGIN = 1.1
"""Ratio of requests in flight to cache capacity up to which the uncertainty of the capacity explains the excess."""
FAR = 1.15
"""Smallest ratio of requests in flight to cache capacity at which the uncertainty of weights and buffers cannot explain the
excess.
"""


def check(served: Served) -> Iterator[Problem]:
    load, times = served.load, served.times
    places = times.kv_capacity_sequences
    if load.load == "offline" or served.plan.fits is False:
        return
    if times.placed_requests <= MARGIN * places:
        yield from _raised_share_problem(served)
        return
    each = times.kv_capacity_tokens / places
    held = f"{times.places:,}"
    if load.concurrency is not None:
        key, lower = "concurrency", f"lower the concurrency to {held}"
    else:
        key, lower = "request_rate", f"lower the request rate until at most {held} are in flight"
    smaller = ", or store weights in fewer bytes"
    if served.workload.kv_precision not in NARROW:
        narrow = served.with_cache("fp8")
        holds = f", which holds {narrow.times.places:,}" if narrow else ""
        if narrow is None or narrow.times.places > times.places:  # not where recurrent states limit the requests
            smaller = f", or use a smaller cache (`kv_precision: fp8`{holds})"
    yield RULE.problem(
        f"{LOAD}.{key}",
        f"{plural(round(times.offered), 'request')} in flight exceed the {held} that the cache holds "
        f"({float(f'{times.kv_capacity_tokens:.3g}'):,.0f} tokens, {display(each, '1')} per request on average): "
        f"the others queue for {display(times.wait, 's')} on average",
        f"{lower}, add replicas{smaller}",
        severity="error" if _is_far_beyond_cache(served) else "",
    )


def _is_far_beyond_cache(served: Served) -> bool:
    """Whether a closed load has far more requests in flight than the cache can keep."""
    load, times = served.load, served.times
    steady = load.load == "closed" and load.requests is None
    return steady and times.offered > FAR * times.kv_capacity_sequences


def _raised_share_problem(served: Served) -> Iterator[Problem]:
    """The problem of requests in flight that need more than the default share of the memory."""
    load, stored = served.load, served.plan.stored
    memory = served.cluster.accelerator.memory
    if load.raised_from is None or load.of_free or stored is None or memory is None or load.prefill is not None:
        return
    held = summed_bytes(stored.rank.activations)
    each = sum(line.numbers["each"] for line in stored.rank.activations)
    flight, key = (
        (load.concurrency, "concurrency") if load.concurrency else (ceil(served.times.placed_requests), "request_rate")
    )
    wanted = -(-flight // served.layout.data_ranks) * each
    share = (stored.rank.total - held + wanted) * stored.ranks / memory.value
    if share <= load.raised_from or load.memory_fraction == load.raised_from:
        return
    weights = summed_bytes(stored.rank.weights) * stored.ranks
    smaller = "" if served.workload.kv_precision in NARROW else ", or use `kv_precision: fp8`"
    yield RULE.problem(
        f"{LOAD}.{key}",
        f"the weights ({display(weights, 'B')}) and the cache of the requests in flight ({display(wanted * stored.ranks, 'B')}) need "
        f"{percent(share, 2)} of the memory of an accelerator, above the default `memory_fraction` of {percent(load.raised_from, 2)}",
        f"write `memory_fraction: {load.memory_fraction:.2f}`, which the estimate assumes, and start the engine with it, lower the {key.replace('_', ' ')}{smaller}",
    )
