"""The plan expects fewer failures than comparable machines have.

## What it finds

A time between failures of the job more than three times 50,700 accelerator-hours over its accelerators.

## Why it matters

Llama 3 met 419 unexpected interruptions in 54 days on 16,384 H100: one for each 50,700 accelerator-hours. Goodput, spares and checkpoints
planned on a third of that are planned on luck.

## What to do

The estimate of the message, or cite the log that says otherwise.

## When to ignore it

For a machine whose own log shows it, well past its first months.

## Fires

```yaml operations.mean_time_between_failures
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 256}
operations: {mean_time_between_failures: 30 days}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 256}
operations: {mean_time_between_failures: 24 h}
```

## Sources

- Llama 3, section 3.3.4: https://arxiv.org/abs/2407.21783
- Failures by kind: https://arxiv.org/html/2410.21680v2
- Components: https://glennklockwood.com/garden/component-reliability
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.failures import ACCELERATOR_BETWEEN_FAILURES
from clusterspec.finding import Problem
from clusterspec.rules.facts import Facts
from clusterspec.rules.knowledge.failures import job_nodes, time_between_failures
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.units import plain, say

RULE = Rule.of(__name__, "warning", "heuristic")
MOST = 3.0


def check(facts: Facts, operations: OperationsSpec, cluster: Cluster) -> Iterator[Problem]:
    between, nodes = time_between_failures(facts), job_nodes(facts)
    if not between or not nodes:
        return
    usual = ACCELERATOR_BETWEEN_FAILURES.value / (nodes * cluster.accelerators_per_node)
    if between > MOST * usual:
        key = "mean_time_between_failures" if operations.mean_time_between_failures else "node_mtbf"
        message = f"a failure every {say(between, 's')} is {plain(between / usual)} times as rare as Llama 3 met: every {say(usual, 's')} at this size"
        yield RULE.problem(f"operations.{key}", message, f"plan on {say(usual, 's')}, or cite the log")
