"""The timeout of collectives does not fit the pause of a checkpoint, or the planned detection of failures.

## What it finds

A timeout of NCCL, of a process group or of its watchdog, by the description or a comment, that is at or below the pause
of a checkpoint (`operations.checkpoint.pause`, or `write_time` of a checkpoint that is not asynchronous); and one that
is longer than `operations.detection_time`, if, according to the text, nothing else notices that a job hangs. A process
group that the text creates without a timeout has the default of PyTorch, 10 min for NCCL; it counts where ranks wait in
a barrier or a collective.

## Why it matters

Ranks that wait for the rank that saves wait in a collective. Its watchdog ends the job before the first checkpoint is
complete, so no run gets beyond it. A hang that only the watchdog ends costs its whole timeout: with 60 minutes in place
of 5, each one costs 55 minutes of the machine more than planned.

## What to do

Raise the timeout above the pause, save from all ranks, or save asynchronously. For hangs, take a shorter timeout or a
monitor of progress, or plan with the timeout.

## When to ignore it

Ignore it where the ranks wait in a barrier of another backend (Gloo) with a longer timeout.

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
from clusterspec.rules.readers.amounts import TIME, amounts_in, amounts_of, is_of_plan
from clusterspec.rules.readers.clauses import clause_at, planned_text
from clusterspec.rules.readers.written_numbers import sentences_of, time_in_text
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
_COLLECTIVE = pattern(
    r"(?i)\b(?:nccl\w*|all[-_]?reduce|all[-_]?gather|rccl|hccl|init_process_group|process groups?|prozessgruppen?|watchdog|barri\w+|collecti\w+|kollektiv\w*|distributed|torchrun)\b"
)
_TIMEOUT = pattern(
    r"(?i)(?:\b|_)(?:time-?outs?|time limits?|tim(?:es?|ed) out|watchdog|giv(?:es?|ing) up|abort\w*|zeitüberschreitung\w*|zeitlimit\w*|abgebrochen|bricht|délai\w*|expir\w+|tiempo de espera)\b"
)
_CUES = (
    "timeout",
    "time limit",
    "time-out",
    "timed out",
    "time out",
    "times out",
    "watchdog",
    "abort",
    "give up",
    "gives up",
    "giving up",
    "zeitüber",
    "zeitlimit",
    "bricht",
    "abgebrochen",
    "délai",
    "expir",
    "tiempo de espera",
)
_SAVING = pattern(
    r"(?i)\b(?:saves?|saving|sav(?:e|ing)s? takes?|writes?|writing|takes|takes about|needs|interval|every|lasts|speicher\w*|dauert|braucht|sauvegarde|dure|alle|lease|heartbeat)\b"
)
"""Pattern of words for the other times in a sentence with a timeout."""
_OTHER_OWNER = pattern(
    r"(?i)\b(?:http\w*|clients?|api|requests?|ssh|health|probes?|lease|session|login|lock|etcd|rendezvous|balancers?|stor(?:e|age)|file system|agents?|heartbeats?)\b"
)
"""Pattern of words in a clause about another timeout."""
_PLAIN = pattern(r"(?i) ?(?:the |its |their |das |der |le |la |el )?(?:default )?(?:time-?outs?|time limit)\b")
"""Pattern of the start of a sentence about a timeout whose subject is named in the adjacent sentences."""
_SETTING = pattern(
    r"(?i)\btimeout ?= ?(?:datetime\.)?timedelta\((?P<unit>hours|minutes|seconds) ?= ?(?P<delta>\d{1,5})\)"
    r"|(?:--distributed-timeout-minutes)[ =](?P<minutes>\d{1,5})\b|(?:--ddp[-_]timeout[ =]|\btimeout ?= ?)(?P<seconds>\d{1,6})\b(?! ?(?:min|h|s)\w*)"
)
_DEFAULT = pattern(
    r"(?i)\b(?:without (?:an? |any )?(?:explicit |own )?time-?out|no (?:explicit )?time-?out|default(?: nccl| collective)? time-?out|time-?out[^.;,]{0,32} default|(?:standard|usual) time-?out|standard-?timeout|time-?out par défaut)\b"
)
_WAITING = pattern(r"(?i)\b(?:barri\w+|wait(?:s|ing)?|block(?:s|ed)?|idle|wart(?:en|et)|attend\w*|esperan?)\b")
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
    text = " ".join(own_remarks.split())
    if pause is not None and pause.value >= PYTORCH_DEFAULT and _keeps_default(text):
        message = f"ranks wait {pause.written} for a checkpoint, but a process group without a timeout of its own ends after {display(PYTORCH_DEFAULT, 's')}"
        yield RULE.problem(operations.pause_key, message, "raise the timeout, or save asynchronously")
        return
    for sentence, seconds in _timeouts_in(text):
        if pause is not None and pause.value >= seconds:
            message = f"ranks wait {pause.written} for a checkpoint, but according to the text a collective times out after {display(seconds, 's')}"
            yield RULE.problem(operations.pause_key, message, "raise the timeout, or save asynchronously")
            return
        alone = _HUNG.search(sentence) is not None and _ALONE.search(sentence) is not None
        if detected is not None and alone and detected.value < seconds:
            message = f"a failure is detected within {detected.written}, but according to the text a job that stops ends only after {display(seconds, 's')}"
            help_ = "take a shorter timeout, or plan with it"
            yield RULE.problem("operations.detection_time", message, help_)
            return


def _keeps_default(text: str) -> bool:
    """Whether ranks wait in a process group that has PyTorch's default timeout.

    >>> _keeps_default("NCCL keeps the default timeout, and ranks wait"), _keeps_default("the default timeout of 30 min, NCCL ranks wait")
    (True, False)
    """
    for sentence in sentences_of(text):
        planned = planned_text(sentence, past=False)
        timed = any(each.kind == TIME for each in amounts_in(planned)) or _SETTING.search(planned) is not None
        if not timed and _DEFAULT.search(planned) is not None and _COLLECTIVE.search(planned) is not None:
            return _WAITING.search(text) is not None and "gloo" not in text.lower()
    return False


def _timeouts_in(text: str) -> Iterator[tuple[str, float]]:
    """The sentences of a text that state exactly one timeout of collectives, each with its seconds.

    >>> [each[1] for each in _timeouts_in("Ranks wait in a barrier. The timeout is 15 min, and a save takes 20 min")]
    [900.0]
    """
    sentences = sentences_of(text)
    for index, sentence in enumerate(sentences):
        if _TIMEOUT.search(sentence) is None and _SETTING.search(sentence) is None:
            continue
        near = " ".join(sentences[max(0, index - 1) : index + 2])
        own = near if _PLAIN.match(sentence) is not None or _SETTING.search(sentence) is not None else sentence
        if _COLLECTIVE.search(own) is None:
            continue
        times = [each for each in amounts_in(sentence) if each.kind == TIME and is_of_plan(sentence, each)]
        times = [
            each
            for each in times
            if _is_of_collectives(clause_at(sentence, each.start, each.end), alone=len(times) == 1)
        ]
        found = {each.value for each in amounts_of(sentence, times, _TIMEOUT, _SAVING)} | {*_settings_in(sentence)}
        if len(found) == 1:
            yield sentence, found.pop()


def _is_of_collectives(clause: str, *, alone: bool) -> bool:
    """Whether a timeout applies to collectives, and is not the default next to another timeout."""
    if not alone and "default" in clause.lower():
        return False
    return _COLLECTIVE.search(clause) is not None or _OTHER_OWNER.search(clause) is None


def _settings_in(sentence: str) -> Iterator[float]:
    """Seconds of the timeouts that a sentence sets in code."""
    for match in _SETTING.finditer(sentence):
        unit = match["unit"] or ("minutes" if match["minutes"] else "seconds")
        yield time_in_text(match["delta"] or match["minutes"] or match["seconds"], unit.lower())
