"""Causes that rest on what only follows from the failure of another rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.call_causes import evidence_line
from clusterspec.analysis.placed_runs import PlacedRun
from clusterspec.logs.first_failures import CONSEQUENCE, OWN_EXCEPTION
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

FOLLOWS = 0.1
"""The weight of a cause whose line follows from the failure of another rank: below that of every other line."""


def with_consequences_last(run: PlacedRun, found: Iterable[Cause]) -> Iterator[Cause]:
    """The causes. Lines that only follow from the failure of another rank give a weight of at most `FOLLOWS`."""
    following = {f"line {line}" for _, line in run.log_lines(CONSEQUENCE)}
    for cause in found:
        follows = evidence_line(cause) in following
        yield replace(cause, weight=min(cause.weight, FOLLOWS)) if follows else cause


def is_own_exception(run: PlacedRun, cause: Cause) -> bool:
    """Whether a cause is the exception of the rank that failed first, which no known line explains."""
    return evidence_line(cause) in {f"line {line}" for _, line in run.log_lines(OWN_EXCEPTION)}
