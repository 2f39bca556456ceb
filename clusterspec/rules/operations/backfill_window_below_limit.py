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

from clusterspec.finding import Problem
from clusterspec.rules.knowledge.job_limits import job_limits_in
from clusterspec.rules.knowledge.text_units import MINUTE
from clusterspec.rules.knowledge.written_numbers import number_in_text, time_in_text, unambiguous_setting
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")
DEFAULT = 1440 * MINUTE
"""Seconds of the window without a setting."""
_WINDOW = pattern(
    r"(?i)\b(?:bf_window|backfill[- ]?(?:window|fenster))\b(?! ?(?:and|or|und|et|y)\b)[^.;\d]{0,48}?(\d{1,3}(?:,\d{3})+|\d{1,7})(?![\d.,]\d) ?(min(?:ute[ns]?|uto?s)?|h|hours?|days?|d|tagen?|stunden|jours|heures|días|horas)?\b"
)
_DEFAULT = pattern(
    r"(?i)\b(?:bf_window|backfill[- ]?(?:window|fenster))\b[^.;\d]{0,48}?\b(?:defaults?|not set|unset|unchanged|standard\w{0,4}|voreinstell\w{1,4}|défaut|defecto|predeterminad[oa])\b"
)
_FORMER = pattern(r"(?i)\b(?:was|were|had|war|était|era)\b")
_CUES = ("bf_window", "backfill")
_UNITS = {
    "d": "days", "tage": "days", "tagen": "days", "jours": "days", "días": "days", "stunden": "h", "heures": "h", "horas": "h",
}  # fmt: skip


def check(own_remarks: str) -> Iterator[Problem]:
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    text = " ".join(own_remarks.split())
    match = unambiguous_setting(_WINDOW, text, _CUES)
    if match is not None and _FORMER.search(match[0]) is not None:
        return
    limits = [*job_limits_in(text)]
    if not limits or (match is None and (_WINDOW.search(text) is not None or _DEFAULT.search(text) is None)):
        return
    window = _window_seconds(match[1], match[2]) if match is not None else DEFAULT
    longest = max(limits, key=lambda each: each.seconds)
    if window < longest.seconds:
        message = (
            f"backfill plans {display(window, 's')} ahead, and a job may run {longest.written}: a large job that waits for such jobs "
            "has no reservation, and small jobs start before it"
        )
        help_ = f"set `bf_window` to {longest.seconds / MINUTE:.0f} minutes"
        yield RULE.problem("description", message, help_)


def _window_seconds(digits: str, unit: str | None) -> float:
    """Seconds of a window; a number alone counts minutes."""
    folded = (unit or "min").lower()
    if folded.startswith("min"):
        return number_in_text(digits) * MINUTE
    return time_in_text(digits.replace(",", ""), _UNITS.get(folded, folded))
