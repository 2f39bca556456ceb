"""Causes of a slow run by what a person observes of it, where nothing else in the input decides.

The score of a cause is the sum of the weights that `catalog/slow-symptoms.csv` gives it for the observations: base-2
logarithms of how much likelier an observation is with the cause than with the others. They are assumed, not measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from clusterspec import resources
from clusterspec.analysis.diagnosis.place_causes import OPEN
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.suspected_causes import LEADING, STEP, excluded_causes, next_step
from clusterspec.analysis.diagnosis.trial_causes import LOWERED
from clusterspec.logs.benchmarks.benchmark import Evidence
from clusterspec.logs.reports.scopes import SCOPE
from clusterspec.logs.reports.slow_symptoms import SYMPTOM
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

FILE = "slow-symptoms.csv"
OF_SCOPES = {
    "outside-container": "in-container",
    "one-node": "between-nodes",
    "some-nodes": "one-part",
    "one-of-devices": "one-part",
    "one-device": "within-node",
    "link-tests": "links-fine",
    "library-tests": "collectives-fine",
}
"""The observation that a scope of a slow run is (`logs.reports.scopes`)."""
LEAST = 1.5
"""The score from which a cause is possible by observations alone: nearly three times as likely as without them."""
CLEAR = 3.5
"""The score from which a cause precedes those that few words suggest."""
AGAINST = -2.5
"""The score at which observations contradict a cause that only words suggest."""
HIGHEST = 0.49
"""The highest weight of a suspected cause that observations support: below that of likely causes."""
MOST = 4
"""Largest number of causes that are named by observations."""
NEAR = 0.5
"""Share of the best score below which causes are left out."""


@cache
def observation_weights() -> Mapping[str, Mapping[str, float]]:
    """The weights of causes by observation."""
    found: dict[str, dict[str, float]] = {}
    for row in resources.catalog_table(FILE):
        found.setdefault(row["symptom"], {})[row["cause"]] = float(row["weight"])
    return found


def cause_scores(symptoms: Sequence[str]) -> dict[str, float]:
    """The score of each cause by the names of observations, the highest first.

    >>> next(iter(cause_scores(["first-slower"])))
    'kernel-compilation'
    """
    found: dict[str, float] = {}
    for name in symptoms:
        for cause, weight in observation_weights()[name].items():
            found[cause] = found.get(cause, 0.0) + weight
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0])))


def with_symptoms(run: PlacedRun, found: Sequence[Cause]) -> list[Cause]:
    """The causes; if none is more than suspected, those that observations contradict are lowered, and those that they
    make likely are added, the likeliest first.
    """
    observed = _observations_of_run(run)
    if not observed or any(each.weight > LEADING for each in found):
        return list(found)
    by_cause = cause_scores([each.name for each in observed])
    kept = [_with_observed_weight(each, by_cause.get(each.name, 0.0)) for each in found]
    return [*kept, *_possible_causes(run, observed, by_cause, kept)]


def _observations_of_run(run: PlacedRun) -> list[Evidence]:
    """The observations of a run that a person reports as slow, each once, by their names without a prefix."""
    if not is_reported_slow(run):
        return []
    named: dict[str, Evidence] = {}
    for each in run.benchmark.evidence:
        scope = OF_SCOPES.get(each.name.removeprefix(SCOPE), "") if each.name.startswith(SCOPE) else ""
        name = each.name.removeprefix(SYMPTOM) if each.name.startswith(SYMPTOM) else scope
        if name:
            named.setdefault(name, replace(each, name=name))
    return list(named.values())


def is_reported_slow(run: PlacedRun) -> bool:
    """Whether a person reports that a run is slow, with what they observe of it."""
    return any(each.name.startswith(SYMPTOM) for each in run.benchmark.evidence)


def _with_observed_weight(cause: Cause, score: float) -> Cause:
    """A suspected cause with its weight after observations: lowered if contradicted, else moved by their score."""
    if score <= AGAINST:
        return replace(cause, weight=min(cause.weight, LOWERED))
    least = LEADING if score >= CLEAR else cause.weight
    return replace(cause, weight=round(min(HIGHEST, max(cause.weight, least) + STEP * score), 3))


def _possible_causes(
    run: PlacedRun, observed: Sequence[Evidence], by_cause: Mapping[str, float], found: Sequence[Cause]
) -> Iterator[Cause]:
    """The causes that observations make likely, other than those found and those that the machine cannot have."""
    barred = excluded_causes(run) | {each.name for each in found if each.weight > LOWERED}
    scored = {name: score for name, score in by_cause.items() if name not in barred}
    best = next(iter(scored.values()), 0.0)
    named = [name for name, score in scored.items() if score >= max(LEAST, NEAR * best)]
    for place, name in enumerate(named[:MOST]):
        clear = by_cause[name] >= CLEAR
        weight = min(HIGHEST, LEADING + STEP * by_cause[name]) if clear else OPEN - STEP * place
        yield Cause(name, _strongest_observations(observed, name), next_step(name), round(weight, 3))


def _strongest_observations(observed: Sequence[Evidence], cause: str) -> str:
    """The observations that speak for a cause, those with the highest weights first."""
    speaking = [(observation_weights()[each.name].get(cause, 0.0), each) for each in observed]
    order = sorted((pair for pair in speaking if pair[0] > 0), key=lambda pair: -pair[0])
    first = order[0][1]
    others = sorted({each.line for _, each in order} - {first.line})
    told = "; ".join((f"“{first.text}”", *(f"line {line}" for line in others)))
    return f"line {first.line} of the log: possible by what is observed, nothing in the input decides: {told}"
