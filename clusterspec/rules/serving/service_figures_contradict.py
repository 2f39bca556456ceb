"""The figures of a service in the text do not follow from each other, or from the keys.

## What it finds

In the description or a comment:

- requests in flight that are not the rate of requests times the time of each (Little's law), in one sentence;
- requests or tokens for each day, hour or month that the stated rate, or the highest `request_rate` of the keys,
  cannot reach; and a daily number derived from a constant rate that is not 86,400 times this rate;
- bytes of a cache that are not the tokens times the bytes of each;
- a number of accelerators in each engine other than the layout's, and a total of engines or accelerators that is
  not the product of the stated numbers;
- tokens per second that are not the requests per second times the tokens of each;
- the share of one engine in traffic that is spread evenly;
- attempts that multiply over layers, given as their sum.

Differences up to a factor of 1.25 are accepted, since figures are rounded or are means over other hours.

## Why it matters

Engines, cache and quotas are sized from these figures. A figure that is wrong by a factor of 60 or 1000 leaves the
machine idle or overloaded from the first day.

## What to do

Correct the figure. The message gives the result.

## When to ignore it

Ignore it where the figures belong to different services.

## Fires

```yaml description
clusterspec: 1
description: 20 requests/s that take 12 s each are 120 requests in flight.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml description
clusterspec: 1
description: The night run answers 12,000,000 requests in 11 h.
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 30}}
layout: {framework: vllm, tp: 1}
```

```yaml description
clusterspec: 1
description: A prompt of 24,000 tokens at 327,680 bytes has 786 MB of cache.
cluster: {platform: dgx-h200, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: 20 requests/s that take 12 s each are 240 requests in flight.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml
clusterspec: 1
description: The night run answers 1,000,000 requests in 11 h.
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, request_rate: 30}}
layout: {framework: vllm, tp: 1}
```

## Sources

- Little's law: J. D. C. Little, A Proof for the Queuing Formula L = λW, https://doi.org/10.1287/opre.9.3.383
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.loads import MOST_CHARACTERS, place_of
from clusterspec.rules.readers.services.caches import cache_sizes
from clusterspec.rules.readers.services.relations import (
    DerivedFigure,
    amplified_attempts,
    counts_of_period,
    requests_in_flight,
    token_rates,
)
from clusterspec.rules.readers.services.shares import engines_of_accelerators, shares_of_traffic, totals_of_units
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.units import plural

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    *(
        "request",
        "anfrage",
        "requête",
        "petici",
        "call",
        "user",
        "token",
        "document",
        "engine",
        "replica",
        "cache",
        "caché",
    ),
    *(
        "moteur",
        "motor",
        "attempt",
        "tries",
        "versuch",
        "tentativ",
        "intento",
        "one of",
        "/s",
        "second",
        "sekunde",
        "gpu",
        "concurren",
        "flight",
    ),
)
"""Words about a service; a text with a service's figures has at least one of them."""
ROUNDED = 1.25
"""Factor up to which two rounded figures agree."""
CLOSE = 1.05


def check(
    own_remarks: str, spec: Spec, cluster: Cluster | None, layout: Layout | None, workload: Workload | None
) -> Iterator[Problem]:
    if not own_remarks or (workload is not None and workload.kind == "train"):
        return
    text = own_remarks[:MOST_CHARACTERS]
    folded = text.lower()
    if not any(cue in folded for cue in _CUES):
        return
    rate = workload.serving.request_rate if workload is not None and workload.serving is not None else None
    for found in _derived_figures(text, rate):
        if _is_calculation(found.sentence, own_remarks):
            continue
        yield RULE.problem(
            place_of(found.sentence, spec), found.message, "correct the figure, or those from which it follows"
        )
        return
    if layout is None or cluster is None or workload is None or workload.serving is None or layout.separate_engines:
        return
    counted = list(engines_of_accelerators(text))
    for sentence, engines, ranks in counted if len(counted) == 1 else ():
        own = layout.replica_ranks / max(1, cluster.ranks_per_accelerator)
        if ranks != own and (engines * ranks == cluster.accelerators or engines == layout.dp):
            message = f"the text has {plural(engines, 'engine')} of {plural(ranks, 'accelerator')}, but by the keys an engine has {own:g}"
            yield RULE.problem(place_of(sentence, spec), message, "correct the text or the layout")
            return


def _is_calculation(sentence: str, text: str) -> bool:
    """Whether a sentence has a wrong calculation written out with its signs; `arithmetic-does-not-close` reports it."""
    from clusterspec.rules.readers.results.equations import has_wrong_equation  # needed for a problem only

    return has_wrong_equation(sentence, text)


def _derived_figures(text: str, rate: float | None) -> Iterator[DerivedFigure]:
    yield from requests_in_flight(text)
    for each in counts_of_period(text, rate):
        if each.stated > CLOSE * each.computed or (each.exact and each.stated < each.computed / ROUNDED):
            yield each
    for each in cache_sizes(text):
        if not 1 / ROUNDED <= each.stated / each.computed <= ROUNDED:
            yield each
    yield from amplified_attempts(text)
    yield from token_rates(text)
    yield from shares_of_traffic(text)
    yield from totals_of_units(text)
