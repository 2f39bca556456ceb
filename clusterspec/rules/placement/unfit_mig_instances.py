"""MIG instances of a text do not fit on the accelerator, or are joined to one engine or job.

## What it finds

- More instances of a MIG profile for each GPU than its seven compute slices and eight memory slices hold: `k`g takes `k`
  compute slices, and its memory whole eighths of the memory.
- Instances that tensor parallelism, NCCL or NVLink joins. A process uses one instance, and instances do not reach each
  other's memory.

## Why it matters

`nvidia-smi mig` refuses the partition, and the engine or job does not start.

## What to do

Use fewer instances or a smaller profile; run a model that needs more than one instance on the whole GPU.

## When to ignore it

Ignore it where instances exchange data through the host only, and the text means that.

## Fires

```yaml description
clusterspec: 1
description: By day all 48 H100 are partitioned with MIG into four 2g.20gb instances each.
cluster: {platform: hgx-h100, nodes: 6}
```

```yaml description
clusterspec: 1
description: At night each GPU is cut with MIG into two 3g.40gb instances, which one engine joins over NVLink with tensor-parallel size 2.
cluster: {platform: dgx-h100, nodes: 1}
```

## Silent

```yaml
clusterspec: 1
description: By day all 48 H100 are partitioned with MIG into three 2g.20gb instances each, and each instance runs an engine with tensor-parallel size 1.
cluster: {platform: hgx-h100, nodes: 6}
```

```yaml
clusterspec: 1
description: MIG is off, since two instances of a GPU cannot be joined over NVLink.
cluster: {platform: dgx-h100, nodes: 1}
```

## Sources

- Profiles, their slices and the number of instances of each: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-mig-profiles.html
- No peer-to-peer between instances: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/deployment-considerations.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_units import NUMBER_WORDS
from clusterspec.rules.knowledge.written_numbers import count_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
COMPUTE_SLICES, MEMORY_SLICES = 7, 8
"""Slices of a GPU with multi-instance GPU (MIG): NVIDIA MIG User Guide, concepts."""
_OF_GPU = pattern(
    rf"(?i)(?<![\w.,])(?P<n>\d{{1,2}}|{'|'.join(NUMBER_WORDS)}) (?:instances |slices )?(?:of |x |× )?(?P<compute>[1-7])g\.(?P<memory>\d{{1,3}})gb\b"
)
_PER_GPU = pattern(
    r"(?i)\b(?:each|every|all|per|a|the|jede[rns]?|pro|alle|chaque|par|cada|por) (?:\d{1,5} |whole |the )?(?:[\w-]{1,12} ){0,2}?(?:gpus?|[abh]\d00s?|accelerators?|cards?|karten?)\b|\beach\b|\bapiece\b"
)
_INSTANCES = pattern(r"(?i)\b(?:instances?|slices?|partitions?|instanzen|scheiben|instancias|[1-7]g\.\d{1,3}gb)\b")
_JOINED = pattern(
    r"(?i)\b(?:joins?|joined|joining|spans?|spanning|combine[sd]?|verbind\w+|zusammen\w*|relie\w*|une[ns]?)\b"
    r"|\b(?:tensor[- ]parallel(?:ism)?(?:[- ]size)?|tp)[ =:]{1,2}(?:of |over |across )?(?:[2-8]|two|four|eight)\b"
    r"|\b(?:over|via|through|by|with|über|par|por) (?:nvlink|nccl|nvswitch|p2p|peer-to-peer)\b"
)
_DENIED = pattern(
    r"(?i)\b(?:no|not|never|cannot|can't|without|none|nor|neither|instead|un(?:able|supported)|nicht|kein\w*|ohne|pas|sans|sin|jamais)\b"
)


def check(own_remarks: str, cluster: Cluster | None) -> Iterator[Problem]:
    if cluster is None or "MIG" not in own_remarks:
        return
    for sentence in sentences_of(" ".join(own_remarks.split())):
        if _DENIED.search(sentence) is not None:
            continue
        found = _OF_GPU.search(sentence)
        if found is not None and _PER_GPU.search(sentence) is not None:
            yield from _excess_problem(
                found[0], count_in_text(found["n"].lower()), int(found["compute"]), int(found["memory"]), cluster
            )
        if _INSTANCES.search(sentence) is not None and (joined := _JOINED.search(sentence)) is not None:
            message = f"`{joined[0]}`: a process uses one MIG instance, and instances do not reach each other over NVLink or by peer-to-peer"
            yield RULE.problem("description", message, "use the whole GPU for this engine or job")
            return


def _excess_problem(words: str, count: float, compute: int, memory: int, cluster: Cluster) -> Iterator[Problem]:
    """The problem with more instances of a profile than a GPU has slices for.

    ``compute`` are its compute slices, and ``memory`` its GB as in its name.
    """
    capacity = cluster.accelerator.memory
    if capacity is None:
        return
    eighths = max(1, round(memory * 1e9 / (capacity.value / MEMORY_SLICES)))
    most = min(COMPUTE_SLICES // compute, max(1, MEMORY_SLICES // eighths))
    if count > most:
        message = f"`{words}`: {most} of them fit on a GPU, which has {COMPUTE_SLICES} compute and {MEMORY_SLICES} memory slices; each takes {compute} and {eighths}"
        yield RULE.problem("description", message, "use fewer instances, or a smaller profile")
