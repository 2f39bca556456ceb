"""Values over the steps of a training log: losses that stay NaN or infinite, and times spent waiting for data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from clusterspec.logs.text_lines import line_at, lines_of, shown_part

_VALUE = re.compile(
    r"(?<![\w/])((?:(?:lm|train|training|total)[ _/]?)?loss|(?:global|total|local)?[ _]?grad(?:ient)?[ _]?norm|gnorm)"
    r"['\"]?\s{0,3}[:=]\s{0,3}([-+]?(?:nan|inf(?:inity)?|[0-9][0-9.eE+-]{0,20}))(?![\w.])",
    re.IGNORECASE,
)
"""A loss or a norm of gradients, and its value, as training programs print them at each step."""
_NOT_FINITE = ("nan", "inf")
AT_END = 400_000
"""Characters at the end of a log whose steps are read."""
FEWEST = 2
"""Smallest number of values in a row: the scale of a loss in 16 bits overflows once, and the step is left out."""


def lasting_non_finite(text: str) -> tuple[str, int] | None:
    """The loss or norm whose last values, `FEWEST` or more, are NaN or infinite, with the line of the first of them;
    None without one.

    >>> lasting_non_finite("loss: 2.1 | grad norm: 0.7\\nloss: 2.0 | grad norm: nan\\nloss: 2.0 | grad norm: nan")
    ('grad norm: nan', 2)
    >>> lasting_non_finite("grad norm: nan\\ngrad norm: 0.9")
    """
    start = text.find("\n", max(0, len(text) - AT_END)) + 1 if len(text) > AT_END else 0
    part = text[start:].lower()
    if not any(word in part for word in _NOT_FINITE):
        return None
    rows: dict[str, list[re.Match[str]]] = {}
    for match in _VALUE.finditer(text, start):
        row = rows.setdefault(match[1].lower(), [])
        if match[2].lstrip("+-").lower().startswith(_NOT_FINITE):
            row.append(match)
        else:
            row.clear()
    lasting = [row[0] for row in rows.values() if len(row) >= FEWEST]
    if not lasting:
        return None
    first = min(lasting, key=lambda match: match.start())
    return shown_part(first[0], 0, len(first[0])), line_at(text, first.start())


_SECONDS = r":? {1,4}([0-9]{1,7}(?:\.[0-9]{1,9})?)s?(?![\w.:-])"
_STEP_TIME = re.compile(rf"(?<![\w.-])(?:[Tt]ime|Batch \(t\)){_SECONDS}")
_DATA_TIME = re.compile(rf"(?<![\w.-])[Dd]ata(?:_time| \(t\))?{_SECONDS}")
"""The time of a step and the part in which it waited for data, as training programs print them.

pytorch/examples (imagenet/main.py) and pytorch-image-models (train.py): "Time 0.2 (0.2) Data 0.1 (0.1)"; torchvision
(references/detection/utils.py) and MMEngine (runner/log_processor.py): "time: 0.2  data: 0.1", "time: 0.2, data_time:
0.1"; open_clip (training/train.py): "Data (t): 0.1 Batch (t): 0.2".
"""
MOST_STEPS = 2_000
"""Largest number of steps that are read."""
FEWEST_WAITS = 2
"""Number of waits below which a log shows nothing: a wait may be an evaluation or a checkpoint (mlfoundations/open_clip
703).
"""
LATE = 3
"""Number of steps in the later half below which a log shows nothing: the first steps wait for workers to start."""
WAITING = 0.5
"""Share of a step's time, and share of the steps, from which they wait for their data."""
LONGEST = 1_000
"""Largest number of characters of a line of a step that are read."""


def waiting_for_data(text: str) -> tuple[str, int] | None:
    """The wait for data of the last step that waits, with its line. Half of the later steps must wait for half of their
    time or more, or a few steps for half of the time of all, as with loaders of several workers. None otherwise.

    >>> waiting_for_data("\\n".join(f"time: {0.25 + late}  data: {0.25 + late}" for late in (0, 0, 0, 8, 8, 8)))
    ('8.25 s of a step of 8.25 s are spent waiting for data, as in 3 of the last 3 steps', 6)
    >>> waiting_for_data("\\n".join("time: 0.3  data: 0.1" for _ in range(9)))
    """
    start = text.find("\n", max(0, len(text) - AT_END)) + 1 if len(text) > AT_END else 0
    part = text[start:]
    if not _DATA_TIME.search(part):
        return None
    before = text.count("\n", 0, start)
    steps = list(islice(_steps_with_data(part), MOST_STEPS))
    later = steps[len(steps) // 2 :]
    waiting = [each for each in later if 0 < WAITING * each[0] <= each[1] <= each[0]]
    if len(later) < LATE or len(waiting) < FEWEST_WAITS:
        return None
    lost = sum(wait for _, wait, _ in waiting)
    if len(waiting) < WAITING * len(later) and lost < WAITING * sum(step for step, _, _ in later):
        return None
    step, wait, line = waiting[-1]
    of = f"{len(waiting)} of the last {len(later)} steps"
    return f"{wait:g} s of a step of {step:g} s are spent waiting for data, as in {of}", before + line


_AVERAGES = re.compile(
    r"(?<![\w.-])[Tt]ime:? {1,4}[0-9.]{1,12}s?[^()\n]{0,40}\( {0,4}([0-9]{1,6}\.[0-9]{1,9})s?[^\n]{0,160}?"
    r"(?<![\w.-])[Dd]ata:? {1,4}[0-9.]{1,12}s? \( {0,4}([0-9]{1,6}\.[0-9]{1,9})s?\)"
)
"""The averages of the time of a step and of its wait for data, as pytorch/examples and pytorch-image-models print them
in parentheses.
"""
NOTABLE = 0.2
"""Share of the average time of a step from which its wait for data is reported."""
LASTING = 0.8
"""Share of the first average wait that the last one must have: the wait of the first step is averaged out."""


def average_wait_for_data(text: str) -> tuple[str, int] | None:
    """The average wait for data that a log prints with its steps, with the last line, where it is a notable part of the
    average time and lasts. None otherwise.

    >>> average_wait_for_data("\\n".join(f"Time 0.20 (0.26) Data 0.00 (0.0{wait})" for wait in (69, 75, 71)))
    ('on average, 0.071 s of a step of 0.26 s are spent waiting for data', 3)
    >>> average_wait_for_data("\\n".join(f"Time 0.2 (0.9) Data 0.0 ({wait})" for wait in (0.8, 0.4, 0.2)))
    """
    if "ata" not in text[-AT_END:]:
        return None
    start = text.find("\n", max(0, len(text) - AT_END)) + 1 if len(text) > AT_END else 0
    shown = list(islice(_AVERAGES.finditer(text, start), MOST_STEPS))
    if len(shown) < LATE:
        return None
    step, wait = (float(part) for part in shown[-1].groups())
    if not NOTABLE * step <= wait <= step or wait < LASTING * float(shown[0][2]):
        return None
    told = f"on average, {wait:g} s of a step of {step:g} s are spent waiting for data"
    return told, line_at(text, shown[-1].start())


def _steps_with_data(text: str) -> Iterator[tuple[float, float, int]]:
    """The time of each step of a text, the part spent waiting for data, and its line."""
    for number, line in enumerate(lines_of(text), 1):
        step = _STEP_TIME.search(line, 0, LONGEST) if "ata" in line else None
        data = _DATA_TIME.search(line, 0, LONGEST) if step else None
        if step and data:
            yield float(step[1]), float(data[1]), number
