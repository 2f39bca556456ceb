"""The backfill scheduler looks less far ahead than a job may run.

## What it finds

A `bf_window` of Slurm in the description or a comment, stated or left at its default of a day, that is shorter than the
longest limit of the run time of jobs that the text states.

## Why it matters

The backfill scheduler plans starts within its window only. Where all nodes of a large job are held by jobs that end beyond the
window, the large job gets no reservation, and small jobs keep taking the nodes that become free. Slurm advises a window at least as
long as the longest time limit.

## What to do

Set `bf_window` to the longest time limit in minutes, and raise `bf_resolution` with it.

## When to ignore it

Ignore it where large jobs start in a reservation of their own.

## Fires

```yaml description
clusterspec: 1
description: Partition full has MaxTime=7-00:00:00, and bf_window stays at its default.
cluster: {platform: dgx-h200, nodes: 24}
```

## Silent

```yaml
clusterspec: 1
description: Partition full has MaxTime=7-00:00:00, and bf_window is 10080 minutes.
cluster: {platform: dgx-h200, nodes: 24}
```

## Sources

- `bf_window`, its default and the advice: https://slurm.schedmd.com/slurm.conf.html#OPT_bf_window
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.finding import Problem
from clusterspec.rules.readers.amounts import TIME, amounts_in, amounts_of
from clusterspec.rules.readers.clauses import clause_at, planned_text
from clusterspec.rules.readers.plans.job_limits import LIMIT, job_limits_in
from clusterspec.rules.readers.units import MINUTE
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
DEFAULT = 1440 * MINUTE
"""Length of the window in seconds if it is not set."""
_BACKFILL = pattern(r"(?i)\b(?:bf_window|\w*backfill\w*)\b")
_MINUTES = pattern(
    r"(?i)\bbf_window\b[`'\"]{0,2} ?(?:=|:|is|of|at|to|auf|de|à|en)? ?(?P<minutes>\d{1,3}(?:,\d{3})+|\d{1,7})(?!\d|[.,]\d| ?(?:s|min|h|d|hours?|days?|minut\w+|stunden?|tagen?|jours?|heures?|días?|horas?)\b)"
)
"""Pattern of the setting, whose bare number counts minutes."""
_DEFAULT = pattern(
    r"(?i)\b(?:defaults?|not set|unset|unchanged|untouched|alone|standard\w{0,4}|voreinstell\w{1,4}|défaut|defecto|predeterminad[oa])\b"
)
_SET = pattern(
    r"(?i)\b(?:set|raised?|increased?|changed?|gesetzt|erhöht|mis|fijad[oa])\b[^.;]{0,24}\b(?:to|auf|à|a|en) \d"
)
_CUES = ("bf_window", "backfill")


def check(own_remarks: str) -> Iterator[Problem]:
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    text = " ".join(own_remarks.split())
    window, limits = _window_in(text), [*job_limits_in(text)]
    if not limits or window is None:
        return
    longest = max(limits, key=lambda each: each.seconds)
    if window < longest.seconds:
        message = (
            f"backfill plans {display(window, 's')} ahead, but a job may run {longest.written}: a large job that waits for such jobs "
            "has no reservation, and small jobs start before it"
        )
        help_ = f"set `bf_window` to {longest.seconds / MINUTE:.0f} minutes"
        yield RULE.problem("description", message, help_)


def _window_in(text: str) -> float | None:
    """Seconds of the only window that a text states, or of the default if the text names it; None if neither applies.

    >>> _window_in("bf_window=2880"), _window_in("backfill looks two days ahead"), _window_in("bf_window keeps its default")
    (172800.0, 172800.0, 86400.0)
    """
    found, left = set[float](), False
    for sentence in sentences_of(text.replace("(bf_window)", "bf_window").replace(" was never ", " is never ")):
        if _BACKFILL.search(sentence) is None:
            continue
        planned = planned_text(sentence, past=False)
        found |= {number_in_text(each["minutes"]) * MINUTE for each in islice(_MINUTES.finditer(planned), MOST_MATCHES)}
        times = [each for each in amounts_in(planned) if each.kind == TIME]
        times = [
            each
            for each in amounts_of(planned, times, _BACKFILL, LIMIT)
            if _BACKFILL.search(clause_at(planned, each.start, each.end))
        ]
        if _SET.search(planned) is None:
            found |= {each.value for each in times}
            left |= not times and _DEFAULT.search(planned) is not None
    return found.pop() if len(found) == 1 else DEFAULT if left and not found else None
