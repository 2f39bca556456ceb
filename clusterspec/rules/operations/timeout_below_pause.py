"""The timeout of collectives does not fit the pause of a checkpoint, or the planned detection of failures.

## What it finds

A timeout of NCCL, of a process group or of its watchdog, by the description or a comment, that is at or below the pause of
a checkpoint (`operations.checkpoint.pause`, or `write_time` of a checkpoint that is not asynchronous); and one that is
longer than `operations.detection_time`, where according to the text nothing else notices that a job hangs. A process group that by the
text is made without a timeout has PyTorch's, 10 min for NCCL; it counts where ranks wait in a barrier or a collective.

## Why it matters

Ranks that wait for the rank that saves stand in a collective. Its watchdog ends the job before the first checkpoint is
complete, so no run gets beyond it. A hang that only the watchdog ends costs its whole timeout: with 60 minutes in place of
5, each one costs 55 minutes of the machine more than planned.

## What to do

Raise the timeout above the pause, save from all ranks, or save asynchronously. For hangs, take a shorter timeout or a
monitor of progress, or plan with the timeout.

## When to ignore it

Ignore it where the waiting ranks stand in a barrier of another backend (Gloo) with a longer timeout.

## Fires

```yaml operations.checkpoint.pause
clusterspec: 1
description: Rank 0 writes the checkpoint while the others wait in a barrier; the NCCL timeout is the default of 10 minutes.
cluster: {platform: dgx-a100, nodes: 8}
operations: {checkpoint: {interval: 6 h, pause: 20 min}}
```

```yaml operations.detection_time
clusterspec: 1
description: Hangs are noticed by the NCCL watchdog only, which keeps its timeout of 10 minutes.
cluster: {platform: dgx-a100, nodes: 8}
operations: {detection_time: 1 min, checkpoint: {interval: 6 h, pause: 20 s}}
```

## Silent

```yaml
clusterspec: 1
description: Rank 0 writes the checkpoint while the others wait in a barrier; the NCCL timeout is set to 60 minutes.
cluster: {platform: dgx-a100, nodes: 8}
operations: {checkpoint: {interval: 6 h, pause: 20 min}}
```

## Sources

- The default of ten minutes: https://github.com/pytorch/pytorch/pull/110947
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.written_numbers import sentences_of, time_in_text, unambiguous_setting
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_COLLECTIVE = pattern(r"(?i)\b(?:nccl|rccl|hccl|process groups?|watchdog|barrier|collectives?|distributed)\b")
_TIMEOUT = pattern(
    r"(?i)\b(?:time-?outs?|timed? out)\b[^.;\d]{0,48}?(\d{1,5}) ?(s|seconds?|min|minutes?|h|hours?)\b|"
    r"(?:--distributed-timeout-minutes|--ddp[-_]timeout)[ =](\d{1,5})\b"
)
_CUES = ("timeout", "time-out", "timed out", "time out")
_DEFAULT = pattern(
    r"(?i)\b(?:init_process_group|process groups?)\b[^.;]{0,48}?\b(?:without (?:a |an |any )?(?:explicit )?time-?out|no time-?out|default time-?out|time-?out (?:left )?at (?:its|the) default)\b"
)
_WAITING = pattern(r"(?i)\b(?:barriers?|wait(?:s|ing)?)\b")
PYTORCH_DEFAULT = 600.0
"""Seconds after which a process group of NCCL times out by default, since PyTorch 2.2 (`default_pg_nccl_timeout`)."""
_HUNG = pattern(r"(?i)\bh(?:u|a)ngs?\b|\bhanging\b|\bstuck\b|\bstalls?\b")
_ALONE = pattern(r"(?i)\b(?:only|alone|nothing else|nobody|no other)\b")


def check(own_remarks: str, operations: OperationsSpec) -> Iterator[Problem]:
    pause, detected = operations.pause, operations.detection_time
    if not own_remarks or (pause is None and detected is None):
        return
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in _CUES):
        return
    if (
        pause is not None
        and pause.value >= PYTORCH_DEFAULT
        and _DEFAULT.search(own_remarks) is not None
        and _WAITING.search(own_remarks) is not None
    ):
        message = f"ranks wait {pause.written} for a checkpoint, and a process group without a timeout of its own ends after {display(PYTORCH_DEFAULT, 's')}"
        yield RULE.problem(operations.pause_key, message, "raise the timeout, or save asynchronously")
        return
    for sentence in sentences_of(own_remarks):
        match = unambiguous_setting(_TIMEOUT, sentence) if _COLLECTIVE.search(sentence) is not None else None
        if match is None:
            continue
        flag = match[0].lower()
        unit = match[2] or ("min" if "minutes" in flag else "s")
        limit = time_in_text(match[1] or match[3], unit)
        written = f"{match[1] or match[3]} {unit}"
        if pause is not None and pause.value >= limit:
            message = f"ranks wait {pause.written} for a checkpoint, and according to the text a collective times out after {written}"
            yield RULE.problem(operations.pause_key, message, "raise the timeout, or save asynchronously")
            return
        alone = _HUNG.search(sentence) is not None and _ALONE.search(sentence) is not None
        if detected is not None and alone and detected.value < limit:
            message = f"a failure is detected within {detected.written}, and according to the text a job that stops ends only after {written}"
            help_ = "take a shorter timeout, or plan with it"
            yield RULE.problem("operations.detection_time", message, help_)
            return
