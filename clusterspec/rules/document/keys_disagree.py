"""Two keys that state the same figure, or parts of one, disagree.

## What it finds

A key and its nested form with different values: `operations.checkpoint_interval` and `operations.checkpoint.interval`,
`operations.checkpoint_time` and `operations.checkpoint.pause`; of one cluster, `cluster.power.budget` and
`operations.power_budget`. In `workload.serving`: `arrivals` of an open load beside
`concurrency`, which keeps requests in flight; a Poisson process with a coefficient of variation other than 1; lengths
with a 99th percentile below their mean, above 14 times the mean, or above their maximum. In `layout`: a `software_year` more
than a year from that of the release that `software` names.

## Why it matters

One of the two is wrong, and the program cannot tell which.

## What to do

Keep one of the two keys.

## When to ignore it

Do not ignore it.

## Fires

```yaml operations.checkpoint.interval
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
operations: {checkpoint_interval: 30 min, checkpoint: {interval: 60 min}, burn_in: 72 h}
```

```yaml workload.serving.arrivals
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: 2000, output_tokens: 500, concurrency: 8, arrivals: {process: gamma, cv: 2}}}
layout: {framework: vllm, tp: 8}
```

```yaml layout.software_year
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 64}
layout: {software: megatron-core 0.15, software_year: 2023, tp: 2}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 1}
workload: {kind: serve, model: llama-3.1-70b, serving: {input_tokens: {mean: 2000, p99: 9000}, output_tokens: 500, request_rate: 1, arrivals: {process: gamma, cv: 2}}}
layout: {framework: vllm, tp: 8}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 8}
operations: {checkpoint_interval: 30 min, checkpoint: {interval: 1800 s}, burn_in: 72 h}
```

## Sources

- The keys of a spec: docs/spec.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Layout
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import LayoutSpec, OperationsSpec, Spec

RULE = Rule.of(__name__, "error")


def check(
    operations: OperationsSpec | None, written_layout: LayoutSpec | None, layout: Layout | None, spec: Spec
) -> Iterator[Problem]:
    yield from _checkpoint_time_problems(operations)
    yield from _power_budget_problems(spec)
    if layout is None or written_layout is None or layout.capabilities.release is None:
        return
    year = written_layout.software_year
    if year is not None and abs(year - layout.software_year) > 1:
        message = f"`software_year` is {year}, and {layout.capabilities.release} is of {layout.software_year}"
        yield RULE.problem("layout.software_year", message, "keep one of the two keys")


def _checkpoint_time_problems(operations: OperationsSpec | None) -> Iterator[Problem]:
    nested = operations.checkpoint if operations else None
    if operations is None or nested is None:
        return
    pairs: tuple[tuple[str, Quantity | None, str, Quantity | None], ...] = (
        ("checkpoint_interval", operations.checkpoint_interval, "checkpoint.interval", nested.interval),
        ("checkpoint_time", operations.checkpoint_time, "checkpoint.pause", nested.pause),
    )
    for key, stated, other, again in pairs:
        if stated is not None and again is not None and stated.value != again.value:
            message = f"`{key}` is {stated.written} and `{other}` is {again.written}, and both state the same time"
            yield RULE.problem(f"operations.{other}", message, "keep one of the two keys")


def _power_budget_problems(spec: Spec) -> Iterator[Problem]:
    """Two limits of the IT power of one cluster."""
    values = {budget.value for _, budget in spec.power_budgets}
    if len(values) > 1:
        (key, budget), (other, again) = spec.power_budgets
        message = f"`{key}` is {budget.written} and `{other}` is {again.written}, and both limit the same power"
        yield RULE.problem(other, message, "keep one of the two keys")
