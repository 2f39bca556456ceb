"""A job ends before it writes a checkpoint.

## What it finds

A limit of the run time of jobs in the description or a comment (`wall time`, `MaxTime=04:00:00`, `kills every job
after`) that is at or below the checkpoint interval, or below `targets.run_time` for a run in a single job. Limits of
tests and interactive jobs do not count. The rule is silent where the job saves on a signal, unless the time between
signal and limit (`--signal=B:USR1@90`, `SIGTERM 60 s before the limit`) is shorter than a checkpoint takes to write.

## Why it matters

A scheduler ends a job at its limit. A chain of jobs that never reach a checkpoint starts at the same step again and
again.

## What to do

Write checkpoints several times within a job, and one when the scheduler warns of the end.

## When to ignore it

Ignore it where the job writes a checkpoint on the signal before its end, whatever the interval.

## Fires

```yaml operations.checkpoint.interval
clusterspec: 1
description: The wall time of the queue is 4 h, and the next job resumes from the latest checkpoint.
cluster: {platform: dgx-a100, nodes: 8}
operations: {checkpoint: {interval: 6 h}}
```

```yaml description
clusterspec: 1
description: The time limit of the queue is 24 h, and the run goes through in one job.
cluster: {platform: dgx-a100, nodes: 8}
operations: {checkpoint: {interval: 1 h}, targets: {run_time: 5 days}}
```

```yaml operations.checkpoint.write_time
clusterspec: 1
description: Jobs of 48 h are started with --signal=B:USR1@90, on which the script saves a checkpoint.
cluster: {platform: dgx-a100, nodes: 8}
operations: {checkpoint: {interval: 8 h, write_time: 4 min, mode: synchronous}}
```

```yaml operations.checkpoint.interval
clusterspec: 1
description: Nach spätestens 5 Stunden beendet der Scheduler jeden Job, der nächste setzt auf dem letzten Checkpoint auf.
cluster: {platform: dgx-a100, nodes: 8}
operations: {checkpoint: {interval: 6 h}}
```

## Silent

```yaml
clusterspec: 1
description: The wall time of the queue is 4 h, and the next job resumes from the latest checkpoint.
cluster: {platform: dgx-a100, nodes: 8}
operations: {checkpoint: {interval: 1 h}}
```

## Sources

- Signals before the end of a job: https://slurm.schedmd.com/sbatch.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import planned_text
from clusterspec.rules.readers.plans.job_limits import CUES, job_limits_in
from clusterspec.rules.readers.written_numbers import time_in_text, unambiguous_setting
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_ONE_JOB = pattern(
    r"(?i)\b(?:(?:one|a single|single|einem(?: einzigen)?|einzigen|einziger|une? seule?|une?|un sol[ao]|una sola) (?:\w+ )?(?:jobs?|one|submission|sbatch|go|piece|allocation|trabajo|fois|zug)"
    r"|(?:no|without|ohne|sans|sin)(?: an?| any| a)?(?: [a-z]{2,12}){0,2}? (?:re-?queu\w*|re-?starts?|chain\w*|resum\w*|interruptions?|neustart\w*|unterbrechung\w*|reprise|relance|reinicios?)"
    r"|uninterrupted|d'une traite|d'un seul tenant|am stück|nothing is resumed|(?:not|never) (?:chained|re-?queued|resumed|restarted))\b"
)
"""Pattern of words for a run that is a single job."""
_OTHER_JOBS = pattern(
    r"(?i)\b(?:interactive|debug|dev|devel|test\w*|short|evaluation\w*|eval|inference|ablations?|pilot|preprocessing|notebook\w*|jupyter|visuali[sz]ation|other|express|interaktiv\w*)\b"
)
"""Pattern of words for a limit on jobs other than the training."""
_ON_SIGNAL = pattern(
    r"(?i)(?<!\bno )(?<!\bany )(?<!\bwithout )(?<!\bwithout a )\b(?:signals?|sigterm|sigusr\d|before (?:its|the) (?:end|limit)|saves? (?:at|before) (?:its|the) end)\b"
)
"""Pattern of words for a job that saves before it ends, whatever its checkpoint interval."""
_SIGNAL = pattern(
    r"(?i)--signal[= ](?:R?B?:)?(?:sig)?\w{1,8}@(\d{1,6})\b|"
    r"\b(?:signals?|sig(?:term|usr[12]|int)|warns?|warning|notif\w{1,8})\b[^.;\d]{0,40}?(\d{1,4}) ?(s|secs?|seconds?|min|minutes?) (?:before|ahead of|prior to)\b"
)
"""Pattern of a signal that is sent some seconds before the limit of a job."""
_SIGNAL_CUES = ("signal", "sigterm", "sigusr", "sigint", "warn", "notif")
_SAVES = pattern(r"(?i)\b(?:sav(?:e|es|ed|ing)|checkpoint\w*|writes?|dump\w*)\b")


def check(own_remarks: str, operations: OperationsSpec) -> Iterator[Problem]:
    if not own_remarks:
        return
    yield from _late_signal_problem(own_remarks, operations)
    nested = operations.checkpoint.interval if operations.checkpoint is not None else None
    interval, key = nested or operations.checkpoint_interval, "checkpoint.interval" if nested else "checkpoint_interval"
    folded = own_remarks.casefold()
    if not any(cue in folded for cue in CUES) or _ON_SIGNAL.search(own_remarks) is not None:
        return
    text = " ".join(own_remarks.split())
    limits = [each for each in job_limits_in(text) if _OTHER_JOBS.search(each.clause) is None]
    if len({each.seconds for each in limits}) != 1:
        return
    limit = limits[0]
    run = operations.targets.run_time if operations.targets is not None else None
    if interval is not None and interval.value >= limit.seconds:
        message = f"a job ends after {limit.written}, but a checkpoint is written every {interval.written}: no job reaches one"
        yield RULE.problem(f"operations.{key}", message, "write checkpoints several times within a job")
    elif run is not None and run.value > limit.seconds and _ONE_JOB.search(planned_text(text)) is not None:
        message = f"a job ends after {limit.written}, but the run takes {run.written}: it is no single job"
        yield RULE.problem("description", message, "plan a chain of jobs that resume from the latest checkpoint")


def _late_signal_problem(own_remarks: str, operations: OperationsSpec) -> Iterator[Problem]:
    """The problem of a signal that leaves less time before the limit of a job than the checkpoint takes."""
    saving = operations.checkpoint
    taken = (saving.write_time or saving.pause) if saving is not None else operations.checkpoint_time
    match = unambiguous_setting(_SIGNAL, own_remarks, _SIGNAL_CUES) if taken is not None else None
    if taken is None or match is None or _SAVES.search(own_remarks) is None:
        return
    before = float(match[1]) if match[1] else time_in_text(match[2], match[3])
    if before < taken.value:
        key = (
            "checkpoint_time"
            if saving is None
            else "checkpoint.write_time"
            if saving.write_time
            else "checkpoint.pause"
        )
        written = f"{match[1]} s" if match[1] else f"{match[2]} {match[3]}"
        message = f"the signal comes {written} before the limit of a job, but a checkpoint takes {taken.written}"
        yield RULE.problem(
            f"operations.{key}", message, f"send the signal {taken.written} before the limit, or earlier"
        )
