"""The minimum or maximum of a key that meets a condition, by bisection where the metric is monotone, else by a scan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt

from clusterspec.cost.plan import Plan
from clusterspec.records import dataclass
from clusterspec.search.conditions import Condition
from clusterspec.search.levers import Lever, next_steps

TOLERANCE = 1e-3
"""Relative distance at which a bisection stops."""
SPAN = 64.0
"""How far a bisection looks from the steps that are sold: down to the least over this, up to the largest times it."""
MOST_PROBED = 400
"""Values of a count that one scan estimates."""

PlanAt = Callable[[float], Plan | None]
"""The plan with the lever at a value: the spec's layout, or the best one there; None where there is none."""


@dataclass(frozen=True, slots=True)
class Probe:
    """One value that was tried, the metric there, and whether the condition holds."""

    value: float
    metric: float | None
    holds: bool


@dataclass(frozen=True, slots=True)
class Solution:
    """The boundary of a condition. ``value`` is the least of the key (the most, where less is better) that meets it,
    None where no value does; ``catalog_step`` the nearest value that is sold and meets it; ``free`` says that every
    value tried meets it, so that the key does not limit the design."""

    lever: Lever
    condition: Condition
    value: float | None
    catalog_step: float | None
    plan: Plan | None
    probes: tuple[Probe, ...]
    free: bool = False


def solve(lever: Lever, condition: Condition, plan_at: PlanAt, present: float) -> Solution:
    """Finds the boundary of the condition; ``present`` is the value of the key in the spec."""
    seeker = _Seeker(lever, condition, plan_at)
    value = seeker.scan(_counts(lever, present)) if lever.whole else seeker.bisect(present)
    step = _sold(lever, value, seeker) if value is not None else None
    plan = seeker.plan(value) if value is not None else None
    probes = tuple(sorted(seeker.probes.values(), key=lambda probe: probe.value))
    free = bool(probes) and all(probe.holds for probe in probes)
    return Solution(lever, condition, value, step, plan, probes, free)


class _Seeker:
    """Evaluates a condition at values of a lever, each value once."""

    def __init__(self, lever: Lever, condition: Condition, plan_at: PlanAt) -> None:
        self.lever, self.condition, self._plan_at = lever, condition, plan_at
        self.probes: dict[float, Probe] = {}
        self._plans: dict[float, Plan | None] = {}

    def plan(self, value: float) -> Plan | None:
        self.holds(value)
        return self._plans[value]

    def holds(self, value: float) -> bool:
        """Whether the condition holds at a value."""
        if value not in self.probes:
            plan = self._plans[value] = self._plan_at(value)
            metric = self.condition.value(plan) if plan else None
            self.probes[value] = Probe(value, metric, bool(plan and self.condition.holds(plan)))
        return self.probes[value].holds

    def bisect(self, present: float) -> float | None:
        """The boundary between the values that meet the condition and those that do not, on a logarithmic scale.

        It is sought below the first of the sold values and the present one that meets the condition: a metric need
        not be monotonic, since a faster port leaves a switch fewer ports.
        """
        ends = self.lever.steps[0] / SPAN, self.lever.steps[-1] * SPAN
        if self.lever.better < 0:
            ends = max(ends[0], 1.0), ends[1]
        tried = sorted({*ends, *self.lever.steps, present}, reverse=self.lever.better < 0)
        tried = [value for value in tried if ends[0] <= value <= ends[1]]
        met = next((index for index, value in enumerate(tried) if self.holds(value)), None)
        if not met:
            return None if met is None else tried[0]
        worst, best = tried[met - 1], tried[met]
        while max(worst, best) / min(worst, best) > 1 + TOLERANCE:
            middle = sqrt(worst * best)
            if self.holds(middle):
                best = middle
            else:
                worst = middle
        return best

    def scan(self, values: Sequence[float]) -> float | None:
        """The least favorable value that meets the condition; ``values`` are tried in this order."""
        ordered = values if self.lever.better > 0 else tuple(reversed(values))
        return next((value for value in ordered if self.holds(value)), None)


def _counts(lever: Lever, present: float) -> tuple[float, ...]:
    """Counts to scan: the usual values, the present one, and its integer multiples and divisors."""
    near = {present * factor for factor in range(1, 9)} | set(_fractions(present))
    found = sorted({value for value in (*lever.steps, *near) if value >= 1 and value == int(value)})
    return tuple(found[:MOST_PROBED])


def _fractions(present: float) -> Iterator[float]:
    """Divisors of the present count, and multiples of its sixteenth, which keep its divisibility."""
    yield from (present / divisor for divisor in range(1, 65))
    yield from (present * part / 16 for part in range(1, 32))


def _sold(lever: Lever, value: float, seeker: _Seeker) -> float | None:
    """The sold value next to the boundary, on the side that meets the condition."""
    if any(abs(step - value) <= TOLERANCE * value for step in lever.steps):
        return min(lever.steps, key=lambda step: abs(step - value))
    below, above = next_steps(lever.steps, value)
    step = above if lever.better > 0 else below
    return step if step is not None and seeker.holds(step) else None
