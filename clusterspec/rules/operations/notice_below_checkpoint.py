"""The notice before a machine is taken back is shorter than the checkpoint that is to be saved in it.

## What it finds

A text that saves a checkpoint on the notice of an interruption (`two-minute notice`, `30 s warning`), beside a time of the
checkpoint that is longer: as stated (`operations.checkpoint.write_time`, else the pause), else by the storage system. A
text that saves to memory, to a local drive or to another node in the notice is silent, and so is one of adapters alone. It is an error.

## Why it matters

The machine is gone before the checkpoint is complete. Each interruption loses the steps since the last regular one.

## What to do

Save regularly, at an interval by the rate of interruptions, or save on the notice to local memory that outlives the machine.

## When to ignore it

Ignore it where the notice is longer than the text says.

## Fires

```yaml description
clusterspec: 1
description: Spot instances; on the two-minute notice the job writes a last full checkpoint to the file system.
cluster: {platform: aws-p4de-24xlarge, nodes: 4}
operations: {checkpoint: {interval: 1 h, write_time: 6 min}}
```

## Silent

```yaml
clusterspec: 1
description: Spot instances; on the two-minute notice the job writes a last full checkpoint to the file system.
cluster: {platform: aws-p4de-24xlarge, nodes: 4}
operations: {checkpoint: {interval: 1 h, write_time: 80 s}}
```

## Sources

- Two minutes before an interruption of a spot instance: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
- Thirty seconds before a preemption: https://cloud.google.com/compute/docs/instances/spot
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.checkpoints import asynchronous_checkpoint_time, checkpoint_time
from clusterspec.rules.knowledge.text_units import MINUTE, NUMBER_WORDS
from clusterspec.rules.knowledge.written_numbers import count_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import NetworksSpec, OperationsSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_CUES = ("notice", "warning", "vorwarn", "vorlauf", "préavis", "aviso")
"""Words of a notice, without one of which a text names none."""
_NOTICE = pattern(
    rf"\b(\d{{1,4}}|{'|'.join(NUMBER_WORDS)})[- ]?(s|sec|seconds?|min|minutes?|sekunden|minuten|secondes|segundos|minutos)"
    r"(?: of|'s?| de)?[- ](?:[a-z]{3,14}[- ]){0,2}?(?:notice|warning|vorwarnung|vorlauf|préavis|aviso)\b"
    r"|\b(?:notice|warning|vorwarnung|préavis|aviso)(?: (?:of|is|comes|gives|von|de)(?: only| just)? |: | ?\()"
    rf"(\d{{1,4}}|{'|'.join(NUMBER_WORDS)}) ?(s|sec|seconds?|min|minutes?|sekunden|minuten|secondes|segundos|minutos)\b"
)
_SAVES = pattern(
    r"\b(?:checkpoints?|sav(?:es?|ed|ing)|snapshots?|dumps?|speicher\w*|gespeichert|sicher\w*|sauvegard\w*|guarda\w*)\b"
)
_ELSEWHERE = pattern(
    r"\b(?:memory|ram|local|nvme|peers?|neighbou?rs?|adapters?|lora|not|no|never|too short|cannot|does not|only (?:the )?(?:step|state of)|nicht|kein\w*|pas|lokal\w*)\b"
)
"""Words of a save that is no whole checkpoint on the storage system, or that a text rules out."""


def check(
    own_remarks: str,
    operations: OperationsSpec,
    networks: NetworksSpec | None,
    model: Model | None,
    workload: Workload | None,
    layout: Layout | None,
) -> Iterator[Problem]:
    folded = own_remarks.lower() if own_remarks else ""
    if not any(cue in folded for cue in _CUES):
        return
    saved = asynchronous_checkpoint_time(operations, networks, model, workload, layout)
    saved = saved or checkpoint_time(operations, networks, model, workload, layout)
    if saved is None:
        return
    for sentence in sentences_of(" ".join(folded.split())):
        found = _NOTICE.search(sentence)
        if found is None or _SAVES.search(sentence) is None:
            continue
        # a clause after "so no work is lost" promises, and rules nothing out
        if _ELSEWHERE.search(sentence.partition(", so ")[0]) is not None:
            continue
        count, unit = (found[1] or found[3]), (found[2] or found[4])
        notice = count_in_text(count) * (MINUTE if unit.startswith("min") else 1.0)
        if saved.seconds > notice:
            message = f"by the text a checkpoint is written in a notice of {display(notice, 's')}, and it takes {display(saved.seconds, 's')}"
            yield RULE.problem("description", message, "write checkpoints at an interval by the rate of interruptions")
            return
