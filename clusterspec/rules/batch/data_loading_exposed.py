"""Data loading takes a noticeable part of the step.

## What it finds

A stated `data_loading` time above 5 % of the predicted step; or a storage system that delivers training data more
slowly than the predicted steps read it. The steps read tokens times bytes per token (`dataset_token_bytes`; without it
2, or 4 for vocabularies from 65,500 words on). The storage system delivers what its `read` (else its `bandwidth`),
`per_client`, `slots` and the NICs on the path allow. Files are compared in the same way: with `dataset_files`, the
steps open the files that contain their tokens, and the storage system opens at most `metadata_rate` files a second.
Severity follows the share of the step that the job waits for data: a note below the half-width of the range of that
difference, a warning above it, and an error if at least a quarter of the step is lost even at the low end of the range.

## Why it matters

Exposed data loading of 0.5 s in a step of 5 s leaves all accelerators idle for a tenth of the time.

## What to do

Use more loader processes, prefetching or tokenized shards of many samples on local disks; and a storage system whose read rate was
measured.

## When to ignore it

Ignore it where the time was measured with cold caches and later epochs are faster.

## Options

`thresholds = {data-loading-exposed = 0.05}` in the configuration sets the share above which the rule reports. The
number is a share of the predicted step time. The default is 0.05. The comparison with the storage system has no
threshold.

## Fires

```yaml workload.data_loading
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, data_loading: 30 s}
layout: {tp: 1, sharding: fsdp, recompute: full}
```

```yaml workload.dataset_files
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 64, networks: {storage: {bandwidth: 60 GB/s, read: 120 GB/s, metadata_rate: 8000}}}
workload: {model: qwen3-4b, sequence_length: 4096, global_batch: 2048, dataset_tokens: 600B, dataset_files: 4B}
layout: {sharding: hsdp, shard_group: 8, micro_batch: 4}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 4}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 256, data_loading: 1 ms}
layout: {tp: 1, sharding: fsdp, recompute: full}
```

## Sources

- Feeding accelerators from storage: https://github.com/stas00/ml-engineering/blob/744d01e18b79512572f64a6bbd8b5f4a725203a7/storage/README.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Workload
from clusterspec.cost.plan import Plan
from clusterspec.cost.storage import data_reads, stored_token_rate
from clusterspec.cost.term import Term
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import step_severity
from clusterspec.rules.parts import Thresholds
from clusterspec.rules.rule import Rule
from clusterspec.source import Written
from clusterspec.spec.model import NetworksSpec
from clusterspec.units import display, percent

RULE = Rule.of(__name__, "warning", "likely")
MOST = 0.05


def check(
    thresholds: Thresholds,
    networks: NetworksSpec | None,
    training: Workload,
    timed: Plan,
) -> Iterator[Problem]:
    if not training.data_loading and (networks is None or networks.storage is None):
        return
    step = timed.step_seconds
    if not step:
        return
    if training.data_loading and training.data_loading > thresholds.of(RULE.name, MOST) * step:
        lost = training.data_loading / step
        message = f"{display(training.data_loading, 's')} of data loading is {percent(lost, 2)} of a predicted step of {display(step, 's')}"
        help_ = "prefetch, use more loader processes, or keep tokenized shards on local disks"
        yield RULE.problem("workload.data_loading", message, help_, severity=step_severity(lost, timed))
    reads = data_reads(timed)
    if reads is not None and reads.share > 1:
        given = reads.batch.rate.value
        message = (
            f"the predicted steps read {display(reads.needed.value, 'B/s')} of data, but the storage system gives the job's nodes "
            f"{display(given, 'B/s')}: training waits {percent(reads.stall, 2)} of the time"
        )
        yield RULE.problem(
            _limiting_key(reads.batch.rate),
            message,
            f"plan a storage system that the job reads at {display(reads.needed.value, 'B/s')}, or copy the data to the nodes first",
            severity=step_severity(reads.stall, timed),
        )
    used, most = training.tokens_of_step / step, stored_token_rate(timed.design)
    if most is not None and used > most:
        assert networks is not None and networks.storage is not None and networks.storage.metadata_rate is not None
        given = networks.storage.metadata_rate
        needed, lost = given * used / most, 1 - most / used
        message = (
            f"the predicted steps open {needed:,.0f} files a second, but the storage system {given:,.0f} "
            f"(`metadata_rate`): training waits {percent(lost, 2)} of the time"
        )
        help_ = "put many samples into one file, or copy the data to the nodes first"
        yield RULE.problem("workload.dataset_files", message, help_, severity=step_severity(lost, timed))


def _limiting_key(rate: Term) -> str:
    """The key that limits the read rate: of the storage system, of its slots, or of one client."""
    limits = dict(rate.inputs)
    slots = limits["clients"].origin
    origin = limits["bandwidth"].origin
    if rate.value < limits["bandwidth"].value:
        origin = slots if isinstance(slots, Written) else limits["per_client"].origin
    assert isinstance(origin, Written)
    return origin.key
