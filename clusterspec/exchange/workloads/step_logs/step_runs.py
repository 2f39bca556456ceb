"""The runs whose steps a log prints, and a check of their step times against the time stamps."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import pairwise
from statistics import median

from clusterspec.exchange.import_result import FormatError
from clusterspec.records import dataclass, field

MOST_RUNS = 1_000
SKIPPED = 2
"""Steps at the start of a run that are left out: compilation, warm-up and the first allocation."""


@dataclass
class StepLog:
    """The figures of one run by name, one for each step, the line of the first, and the sizes of groups."""

    framework: str
    figures: dict[str, list[float]] = field(default_factory=dict)
    batches: set[int] = field(default_factory=set)
    sizes: dict[tuple[str | None, ...], int] = field(default_factory=dict)
    groups: dict[tuple[str, int], int] = field(default_factory=dict)
    meshes: dict[tuple[str | None, ...], int] = field(default_factory=dict)
    steps: set[int] = field(default_factory=set)
    line: int = 0
    last: int = -1
    loss: str | None = None
    sequence: tuple[int, int] | None = None
    """Tokens of a sequence, and the line that states them."""
    stamps: list[tuple[int, float | None, float]] = field(default_factory=list)
    """The number of each step that is printed, the time stamp of its line, and the seconds that it states."""

    def add(self, name: str, text: str) -> None:
        self.figures.setdefault(name, []).append(float(text.replace(",", "")))


@dataclass
class RunLogs:
    """The runs of a file in the order of their first steps; ``sizes``, ``groups`` and ``meshes`` wait for the first
    step of their run.
    """

    logs: list[StepLog] = field(default_factory=list)
    sizes: dict[tuple[str | None, ...], int] = field(default_factory=dict)
    groups: dict[tuple[str, int], int] = field(default_factory=dict)
    meshes: dict[tuple[str | None, ...], int] = field(default_factory=dict)
    deepspeed: bool = False
    settings: dict[str, tuple[int, int]] = field(default_factory=dict)
    """What MLPerf's log states of the run that follows: values and lines."""
    numbered: bool = True
    """Whether lines of steps have the number of the step; without it they are counted."""
    counted: tuple[int, int] = (0, 0)
    """The runs that began, and the last step of this one."""

    def run_of_step(self, framework: str, step: int, number: int, loss: str | None = None) -> StepLog:
        """The run that a step belongs to.

        It is the run of the framework's previous step, unless the step number goes back or the same step has another
        loss. All ranks print the same loss for a step.
        """
        log = next((log for log in reversed(self.logs) if log.framework == framework), None)
        if log is None or step < log.last or (step == log.last and loss != log.loss):
            if len(self.logs) >= MOST_RUNS:
                raise FormatError(f"holds more than {MOST_RUNS:,} runs", number)
            log = StepLog(framework, line=number)
            self.logs.append(log)
        if framework.startswith("megatron"):
            log.sizes |= self.sizes
            log.groups |= self.groups
            self.sizes, self.groups = {}, {}
        elif framework == "torchtitan":
            log.meshes |= self.meshes
            self.meshes = {}
        log.last, log.loss = step, loss
        log.steps.add(step)
        return log


_STAMP = re.compile(r"\[\s?([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?)\]")
TOLERANCE = 1.5
"""Largest excess of the stated time of a step over the time between two lines: stamps are rounded and lines late."""


def time_stamp(line: str) -> float | None:
    """The seconds that the time stamp of a line tells; None if it has none.

    >>> time_stamp(" [2026-01-02 03:04:06.5] iteration 2/ 9 |") - time_stamp("[2026-01-02 03:04:05] iteration 1/ 9 |")
    1.5
    """
    match = _STAMP.search(line)
    try:
        return datetime.fromisoformat(match[1]).timestamp() if match else None
    except ValueError:
        return None


def seconds_between(log: StepLog) -> float | None:
    """The median seconds of a step by the time stamps of a run, if most steps state a longer time, such as a mean since
    the start; else None.
    """
    apart, longer = list[float](), 0
    for (step, start, _), (after, end, seconds) in pairwise(log.stamps):
        if start is not None and end is not None and after > step and end >= start:
            apart.append((end - start) / (after - step))
            longer += seconds > TOLERANCE * apart[-1] + 1 / (after - step)
    return median(apart) if apart and 2 * longer > len(apart) else None
