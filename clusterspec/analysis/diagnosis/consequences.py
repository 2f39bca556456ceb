"""Causes that rest on lines that only follow from the failure of another rank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clusterspec.analysis.diagnosis.call_causes import evidence_line
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.logs.statements.first_failures import (
    CONSEQUENCE,
    ENDS,
    OBSERVED_END,
    OF_THE_END,
    OWN_EXCEPTION,
    tells_a_failure,
)
from clusterspec.logs.statements.suggestions import OF_EXCEPTIONS
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

FOLLOWS = 0.1
"""The weight of a cause whose log line only follows from the failure of another rank. It is lower than the weight of
any other line.
"""


def with_consequences_lowered(run: PlacedRun, causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes; those on lines that only follow from the failure of another rank weigh at most `FOLLOWS`."""
    following = {f"line {line}" for _, line in run.log_lines(CONSEQUENCE)}
    for cause in causes:
        follows = evidence_line(cause) in following
        yield replace(cause, weight=min(cause.weight, FOLLOWS)) if follows else cause


def is_own_exception(run: PlacedRun, cause: Cause) -> bool:
    """Whether a cause is an exception that no known line explains, raised by the rank that failed first."""
    return evidence_line(cause) in {f"line {line}" for _, line in run.log_lines(OWN_EXCEPTION)}


def follows_end_of_other_rank(run: PlacedRun, cause: Cause) -> bool:
    """Whether a cause is based on a line that ranks print after another rank ended, such as a lost connection, in a log
    with an earlier failure.
    """
    return bool(_following_ends(run, (cause,)))


def with_ends_last(run: PlacedRun, causes: Iterable[Cause]) -> Iterator[Cause]:
    """The causes; those on lines that ranks print after another rank ended weigh at most `FOLLOWS`. A rank's
    report of its own failure therefore comes first.
    """
    causes = tuple(causes)
    following = _following_ends(run, causes)
    for cause in causes:
        follows = evidence_line(cause) in following
        yield replace(cause, weight=min(cause.weight, FOLLOWS)) if follows else cause


def _following_ends(run: PlacedRun, causes: Iterable[Cause]) -> set[str]:
    """The log lines of causes that only follow from a failure. On such a line a rank reports the end of another rank,
    and an earlier line reports a rank's own failure. The rank that torchrun saw fail first is excluded; if that rank
    reports the end of others, exceptions of other ranks also follow from it.
    """
    said = run.benchmark.evidence
    observed = {each.line for each in said if each.name == OBSERVED_END}
    ends = {each.line for each in said if each.name in OF_THE_END} - observed
    own = {each.line for each in said if _is_own_failure(each.name)} - ends
    lines = {evidence_line(each) for each in causes}
    first = min(own, default=0)
    following = {line for line in ends if own and line > first}
    if observed:
        following |= {each.line for each in said if each.name in OF_EXCEPTIONS}
    return {f"line {line}" for line in following if f"line {line}" in lines}


def _is_own_failure(name: str) -> bool:
    """Whether a statement reports a failure of the rank that prints it, or an exception that it raised."""
    return name in OF_EXCEPTIONS or (name not in ENDS and tells_a_failure(name))
