"""A stated failure rate of a part is far from every published one.

## What it finds

An `afr` or `mtbf` in `operations.failures` more than ten times above or below the published range of its kind of part
(`clusterspec catalog list failure-rate`).

## Why it matters

The goodput, the spare parts and the support that is bought follow from these rates. Percent written as a share (2 for 2
%), a node's rate stated for a part, or a fleet's hours stated for one part are off by such factors.

## What to do

Give the failures of one part in a year, as a share: 2 % is 0.02. Or cite the log that shows the rate.

## When to ignore it

Ignore it where the rate was counted on this machine.

## Fires

```yaml operations.failures.nic.afr
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
operations: {failures: {nic: {afr: 0.3}}, burn_in: 72 h}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
operations: {failures: {nic: {afr: 0.02}, accelerator: {mtbf: 200000 h}}, burn_in: 72 h}
```

## Sources

- Interruptions by part in 54 days of training: https://arxiv.org/abs/2407.21783
- Modules and leaf switches: https://dl.acm.org/doi/10.1145/3651890.3672265
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog import Catalog
from clusterspec.cost.failures import part_rate, stated_rate
from clusterspec.finding import Problem
from clusterspec.records import fields
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import FailuresSpec, OperationsSpec

RULE = Rule.of(__name__, "warning", "heuristic")
FAR = 10.0
"""Smallest ratio to the published range at which neither another fleet nor another model of the part explains a rate."""


def check(operations: OperationsSpec, catalog: Catalog) -> Iterator[Problem]:
    if operations.failures is None:
        return
    for each in fields(FailuresSpec):
        written = getattr(operations.failures, each.name)
        stated = stated_rate(each.name, written)
        known = part_rate(each.name, None, catalog) if stated is not None else None
        if stated is None or known is None or known.low / FAR <= stated.yearly <= known.high * FAR:
            continue
        key = "afr" if written.mtbf is None else "mtbf"
        message = f"{stated.yearly:.3g} failures of one part in a year; published figures are {known.low:.2g} to {known.high:.2g}"
        help_ = "give the failures of one part in a year as a share: 2 % is 0.02"
        yield RULE.problem(("operations", "failures", each.name, key), message, help_)
