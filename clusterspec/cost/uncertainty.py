"""The uncertainty range of a predicted step."""

from __future__ import annotations

from collections import defaultdict
from math import hypot

from clusterspec.cost.communication import sent
from clusterspec.cost.constants import assumed
from clusterspec.cost.record import StepRecord
from clusterspec.summation import sum_of

UNKNOWN_SPREAD = assumed(
    "uncertainty",
    "step",
    0.25,
    "half-width of the range of a step, relative, where no published run was made with a generation of software",
)


BY_YEAR = assumed(
    "uncertainty",
    "release",
    1.25,
    "band of a step where only the year of the software is known over that where its release is: of five pairs of"
    " published runs with one description and one year, three agree within 3 % and two differ by 33 % and 90 %",
)


STRAGGLERS = assumed(
    "uncertainty",
    "stragglers",
    1.5,
    "of the time lost to stragglers: the published series of growing machines lose from nothing (NVIDIA's DGX Cloud"
    " recipes) to three times as much (InternLM, MegaScale's baseline) as is predicted",
)


def step_range(record: StepRecord, experts: bool, release_known: bool = False) -> tuple[float, float]:
    """Low and high seconds; the range should contain four in five measured steps.

    It combines two independent uncertainties: the errors of published runs with this software release (``spread``, and
    ``spread.experts`` where the model routes tokens), and the uncertainty of exposed communication. The range is the
    same factor up and down, so it extends further up in seconds. ``release_known`` says whether the spec states the
    release of the software: published runs are grouped by year, and releases of one year differ.
    """
    found = record.software.stack.achievable.get("spread.experts" if experts else "spread")
    spread = (found or UNKNOWN_SPREAD).value / (BY_YEAR.value if release_known else 1.0)
    late = STRAGGLERS.value * record.times.straggling
    width = 1 + hypot(spread, _uncertain(record) / record.seconds, late / record.seconds)
    return record.seconds / width, record.seconds * width


def _uncertain(record: StepRecord) -> float:
    """The uncertainty of exposed communication in seconds: for each axis that of its most uncertain collective."""
    exposed: defaultdict[str, float] = defaultdict(float)
    widest: defaultdict[str, float] = defaultdict(float)
    for row, cost in sent(record):
        exposed[row.axis] += row.exposed
        widest[row.axis] = max(widest[row.axis], cost.uncertainty)
    return sum_of(seconds * widest[axis] for axis, seconds in exposed.items())
