"""Causes that rest on what only follows from the failure of another rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.call_causes import evidence_line
from clusterspec.analysis.placed_runs import PlacedRun
from clusterspec.logs.first_failures import (
    CONSEQUENCE,
    ENDS,
    OBSERVED_END,
    OF_THE_END,
    OWN_EXCEPTION,
    tells_a_failure,
)
from clusterspec.logs.suggestions import OF_EXCEPTIONS
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

FOLLOWS = 0.1
"""The weight of a cause whose line follows from the failure of another rank: below that of every other line."""


def with_consequences_lowered(run: PlacedRun, found: Iterable[Cause]) -> Iterator[Cause]:
    """The causes. Lines that only follow from the failure of another rank give a weight of at most `FOLLOWS`."""
    following = {f"line {line}" for _, line in run.log_lines(CONSEQUENCE)}
    for cause in found:
        follows = evidence_line(cause) in following
        yield replace(cause, weight=min(cause.weight, FOLLOWS)) if follows else cause


def is_own_exception(run: PlacedRun, cause: Cause) -> bool:
    """Whether a cause is the exception of the rank that failed first, which no known line explains."""
    return evidence_line(cause) in {f"line {line}" for _, line in run.log_lines(OWN_EXCEPTION)}


def follows_end_of_other_rank(run: PlacedRun, cause: Cause) -> bool:
    """Whether a cause rests on a line that ranks print when another one ended, such as a connection that was lost, in
    a log with an earlier failure.
    """
    return bool(_following_ends(run, (cause,)))


def with_ends_last(run: PlacedRun, found: Iterable[Cause]) -> Iterator[Cause]:
    """The causes. A failure that a rank tells of itself comes before what ranks print later because one ended: these
    lines have a weight of at most `FOLLOWS`.
    """
    found = tuple(found)
    following = _following_ends(run, found)
    for cause in found:
        follows = evidence_line(cause) in following
        yield replace(cause, weight=min(cause.weight, FOLLOWS)) if follows else cause


def _following_ends(run: PlacedRun, found: Iterable[Cause]) -> set[str]:
    """The lines of causes that only follow from a failure: a rank reports the end of another one, and a rank above it
    in the log reports a failure of its own. The rank that torchrun observed first is no consequence; if it reports an
    end, exceptions in the log belong to other ranks and are consequences, too.
    """
    said = run.benchmark.evidence
    observed = {each.line for each in said if each.name == OBSERVED_END}
    ends = {each.line for each in said if each.name in OF_THE_END} - observed
    own = {each.line for each in said if _is_own_failure(each.name)} - ends
    lines = {evidence_line(each) for each in found}
    first = min(own, default=0)
    following = {line for line in ends if own and line > first}
    if observed:
        following |= {each.line for each in said if each.name in OF_EXCEPTIONS}
    return {f"line {line}" for line in following if f"line {line}" in lines}


def _is_own_failure(name: str) -> bool:
    """Whether a statement is of a failure of the rank that makes it, or of an exception that it raised."""
    return name in OF_EXCEPTIONS or (name not in ENDS and tells_a_failure(name))
