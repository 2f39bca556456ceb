"""Logs of several ranks of one run: the log whose ranks failed first, and logs that only report its consequences.

A rank that ends leaves the others in a collective. Their logs have timeouts and closed connections, and the cause is in
the log of the rank that failed.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.analysis.diagnosis.consequences import FOLLOWS
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.logs.statements.first_failures import RunEnding
from clusterspec.records import replace
from clusterspec.results.diagnosis import ComparedCollective

CLOCKS = 5.0
"""Seconds by which the clocks of two nodes may differ: a symptom that much before a failure may still follow from it.
Assumed: far more than clocks differ that a time service keeps, and far less than the minutes of a watchdog."""
NEVER = (0, float("inf"))


def first_failing_first(
    runs: Sequence[PlacedRun], comparisons: Sequence[ComparedCollective]
) -> tuple[ComparedCollective, ...]:
    """The comparisons of runs, with runs without a result first, in the order in which their ranks failed. Logs that
    only report the end of other ranks come last, and their causes have a weight of at most `FOLLOWS`.

    The order in which the logs are given changes neither weights nor the order of logs without a result.
    """
    stopped = [(run, one) for run, one in zip(runs, comparisons, strict=True) if not run.has_result]
    if len({run.log for run, _ in stopped}) < 2:
        return tuple(comparisons)
    failures = [(run, run.benchmark.ending) for run, _ in stopped if run.benchmark.ending and run.benchmark.ending.own]
    forms = {ending.time[0] if ending.time else None for _, ending in failures}
    comparable = len(forms) == 1 and None not in forms
    timed = sorted(failures, key=lambda each: (each[1].time if comparable and each[1].time else NEVER, each[0].log))
    places = {run.log: place for place, (run, _) in enumerate(timed)}
    related = [(run, _with_causes_weighed_down(run, one, timed)) for run, one in stopped]
    ranked = sorted(
        related, key=lambda each: (places.get(each[0].log, len(places)), each[0].log, each[0].benchmark.sha256)
    )
    done = [one for run, one in zip(runs, comparisons, strict=True) if run.has_result]
    return (*(one for _, one in ranked), *done)


def _with_causes_weighed_down(
    run: PlacedRun, comparison: ComparedCollective, failures: Sequence[tuple[PlacedRun, RunEnding]]
) -> ComparedCollective:
    """A comparison, with lower weights of its causes if its log only reports the end of the ranks of another log."""
    ending = run.benchmark.ending
    if ending is None or ending.own:
        return comparison
    before = next((other.log for other, failure in failures if _may_follow(ending, failure)), None)
    if before is None:
        return comparison
    after = f"; it may follow from the failure in {before}"
    causes = (replace(c, weight=min(c.weight, FOLLOWS), evidence=c.evidence + after) for c in comparison.causes)
    return replace(comparison, causes=tuple(causes))


def _may_follow(ending: RunEnding, failure: RunEnding) -> bool:
    """Whether the end of other ranks may follow from a failure: it was not reported earlier, as far as their times are
    comparable.
    """
    if ending.time is None or failure.time is None or ending.time[0] != failure.time[0]:
        return True
    return ending.time[1] >= failure.time[1] - CLOCKS
