"""The machine is gone before the run ends.

## What it finds

The predicted run of `tokens`, without interruptions, takes longer than `term`. The finding is a warning; a note where
the difference is below the half-width of the prediction's range; an error where a quarter of the run or more remains
even at the low end of the range.

## Why it matters

A reservation that ends before the run costs a second one at the price of that day, or a checkpoint moved to other
machines.

## What to do

Reserve the time of the run and a tenth more, or use more nodes.

## When to ignore it

Ignore it where the contract can be prolonged at the same price.

## Fires

```yaml procurement.term
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {tp: 8, pp: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 6 months, prices: {node_hour: 55.04}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 1T}
layout: {tp: 8, pp: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 6 months, prices: {node_hour: 55.04}}
```

## Sources

- Reserved terms: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ProcurementSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")


def check(procurement: ProcurementSpec, timed: Plan) -> Iterator[Problem]:
    term, run = procurement.term, timed.time_to_train
    if term is None or run is None or run <= term.value:
        return
    message = f"the run takes {display(run, 's')} without interruptions, and the machine is there for {term.written}"
    help_ = "take a longer term, more nodes or fewer tokens"
    low, high = timed.step_time_range or (1.0, 1.0)
    step = timed.step_seconds if timed.step_time_range and timed.step_seconds else 1.0
    severity = target_severity(term.value, run, (low / step, high / step))
    yield RULE.problem("procurement.term", message, help_, severity=severity)
