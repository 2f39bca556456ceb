"""Checkpoints are only on drives that a failed instance takes with it.

## What it finds

A text in which each rank or instance saves to its own drives (instance store, ephemeral or local NVMe) and that
mentions no copy elsewhere. The text also has to replace failed machines, or, on cloud instances, to say that
checkpoints are only there. The finding is an error.

## Why it matters

The shards of a failed machine exist nowhere else, so no checkpoint is complete: the first failure costs the whole run.

## What to do

Copy checkpoints to a shared storage system or to another machine in the background, at least every few of them.

## When to ignore it

Ignore it where every machine has the whole checkpoint, so that any remaining machine can supply it.

## Fires

```yaml description
clusterspec: 1
description: Each rank saves its shard to the NVMe instance store of its own instance. A failed instance is stopped and replaced.
cluster: {platform: aws-p5-48xlarge, nodes: 8}
operations: {checkpoint: {interval: 30 min, pause: 10 s}}
layout: {framework: fsdp, sharding: fsdp}
```

## Silent

```yaml
clusterspec: 1
description: Each rank saves its shard to the NVMe instance store of its own instance; a copy goes to S3 every hour. A failed instance is stopped and replaced.
cluster: {platform: aws-p5-48xlarge, nodes: 8}
operations: {checkpoint: {interval: 30 min, pause: 10 s}}
layout: {framework: fsdp, sharding: fsdp}
```

## Sources

- What ephemeral storage keeps: https://docs.mithril.ai/compute-and-storage/ephemeral-storage.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_SAVED = pattern(r"(?i)\b(?:sav(?:e|es|ed|ing)|writ(?:e|es|ten)|checkpoints?|shards?)\b")
_OWN_DRIVES = pattern(
    r"(?i)\binstance[- ]stores?\b|\bephemeral (?:drives?|disks?|storage|nvme|ssds?)\b|\b(?:its|their) own (?:local )?(?:nvme|drives?|ssds?|disks?)\b|"
    r"\b(?:node-)?local (?:nvme|drives?|ssds?|scratch)\b"
)
_COPY = r"(?:cop(?:y|ies|ied)|replicat\w*|mirror\w*|upload\w*|drain\w*|sync\w*|s3|gcs|blob|fsx|lustre|object stor\w*|shared (?:stor\w*|file ?system)|neighbou?r\w*|partner|peer|erasure)"
_COPIED = pattern(rf"(?i)\b{_COPY}\b")
_NO_COPY = pattern(
    rf"(?i)\b(?:no|not|nor|without|never|neither|instead of|in place of|(?:to )?sav(?:e|es|ing) (?:the )?(?:price|cost|money|rent) (?:of|for))\b (?:[\w-]{{1,16}} ){{0,3}}?{_COPY}\b(?: (?:in|to|on|at) [\w-]{{1,16}})?"
)
_ONLY = pattern(r"(?i)\b(?:only|nowhere else|alone)\b")
_REPLACED = pattern(
    r"(?i)\b(?:replac\w*|stopped|terminat\w*|swapped|new (?:one|instance|node)|exchang\w*|reclaim\w*|preempt\w*)\b"
)


def check(remarks: str, operations: OperationsSpec, cluster: Cluster) -> Iterator[Problem]:
    if not remarks or operations.checkpoint is None or cluster.nodes < 2:
        return
    saved = [
        each
        for each in sentences_of(remarks)
        if _SAVED.search(each) is not None and _OWN_DRIVES.search(each) is not None
    ]
    lost = _REPLACED.search(remarks) is not None or (
        bool(cluster.cloud) and any(_ONLY.search(each) is not None for each in saved)
    )
    if saved and lost and _COPIED.search(_NO_COPY.sub(" ", remarks)) is None:
        message = "checkpoints are on the drives of each machine alone, according to the text, and a machine that fails or ends takes its shards with it"
        yield RULE.problem("description", message, "copy checkpoints to a shared storage system, or to another machine")
