"""Copying the data set to a rented machine takes a large part of its term.

## What it finds

The bytes of the data set (`dataset_tokens` times `dataset_token_bytes`, or the bytes of a token id) divided by the
`bandwidth` of `networks.frontend`, as a share of `procurement.term`, where the nodes are rented. A note from 5 % of the
term on, and a warning where the copy alone exceeds it. Where the predicted run and the copy together exceed it, it is a
note while the low end of the prediction still fits, else a warning, and an error from a third above it.

## Why it matters

2.4 PB over 10 Gb/s take 22 days. The rent of the accelerators runs meanwhile, and the run ends after the contract.

## What to do

Copy the data before the accelerators are rented, send them on disks, or rent a faster line. Start the run with the first
part of the data.

## When to ignore it

Ignore it where the data are at the provider, or where the run reads them while they arrive.

## Fires

```yaml cluster.networks.frontend.bandwidth
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 64, networks: {frontend: {bandwidth: 10 Gb/s}}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 4T, dataset_tokens: 4T, dataset_token_bytes: 600}
layout: {tp: 1, sharding: fsdp}
procurement: {currency: USD, as_of: 2026-11-01, term: 30 days, prices: {node_hour: 55.04}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 64, networks: {frontend: {bandwidth: 10 Gb/s}}}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 1T, dataset_tokens: 1T, dataset_token_bytes: 4}
layout: {tp: 1, sharding: fsdp}
procurement: {currency: USD, as_of: 2026-11-01, term: 30 days, prices: {node_hour: 55.04}}
```

## Sources

- Time of a transfer by its size and line: https://cloud.google.com/architecture/migration-to-google-cloud-transferring-your-large-datasets
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.plan import Plan
from clusterspec.cost.storage import token_width
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.purchases import is_bought
from clusterspec.rules.knowledge.shares import target_severity
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, ProcurementSpec, WorkloadSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
LEAST = 0.05
"""Smallest share of the term at which the time of a copy is reported."""


def check(
    networks: NetworksSpec,
    procurement: ProcurementSpec,
    cluster: Cluster,
    written_workload: WorkloadSpec,
    timed: Plan,
) -> Iterator[Problem]:
    line = networks.frontend.bandwidth if networks.frontend else None
    held, term = written_workload.dataset_tokens, procurement.term
    if line is None or held is None or term is None or is_bought(procurement, cluster):
        return
    work = timed.design.workload
    if work is None or not line.per_direction or not term.value:
        return
    size = held.value * token_width(written_workload, work.model).value
    seconds = size / line.per_direction
    if seconds < LEAST * term.value:
        return
    run = timed.time_to_train
    message = (
        f"{display(size, 'B')} of data take {display(seconds, 's')} over the frontend network at {line.written}, "
        f"{percent(seconds / term.value, 2)} of the term of {term.written}"
    )
    if run is not None and run <= term.value < run + seconds:
        message += f"; with the run of {display(run, 's')} it takes {display(run + seconds, 's')}"
    help_ = "copy the data before the term, over a faster line, or in the order in which the run reads them"
    severity = "warning" if seconds >= term.value else "note"
    if run is not None and seconds < term.value < run + seconds:
        low, high = timed.step_time_range or (1.0, 1.0)
        step = timed.step_seconds if timed.step_time_range and timed.step_seconds else 1.0
        severity = target_severity(term.value - seconds, run, (low / step, high / step))
    yield RULE.problem("cluster.networks.frontend.bandwidth", message, help_, severity=severity)
