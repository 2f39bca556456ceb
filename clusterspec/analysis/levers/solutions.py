"""The boundary of a condition along one lever, by bisection where the metric is monotone, else by a scan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt

from clusterspec.analysis.levers.conditions import Condition
from clusterspec.analysis.levers.keys import Lever
from clusterspec.cost.plan import Plan
from clusterspec.records import NamedTuple, dataclass
from clusterspec.results.levers import OF_SIZE

TOLERANCE = 1e-3
"""Relative distance at which a bisection stops. Whole numbers are found exactly."""
SPAN = 64.0
"""The range of a bisection of a load: from the smallest usual step divided by this to the largest multiplied by it."""
NEAR = 40
"""Number of counts to try below the exact solution; the layout must divide each."""
MOST_PROBED = 400
"""Largest number of values of a count that one scan estimates."""


class Refusal(NamedTuple):
    """The rules with an error in a design. ``of_others`` says that at least one error is at a key other than the
    lever's.

    An error at the lever's own key means that the value is not sold; it may lie between two values that are.
    """

    errors: tuple[str, ...] = ()
    of_others: bool = False


class Trial(NamedTuple):
    """The plan at a value of the lever, with the spec's layout or the best one for this value, and the rules that
    refuse it.

    ``plan`` is None if no layout can run.
    """

    plan: Plan | None
    refusal: Callable[[], Refusal]


TrialAt = Callable[[float], Trial]


@dataclass(frozen=True)
class Probe:
    """One tried value: the metric, whether the condition holds, and the rules that refuse the value.

    Rules are checked only where the condition holds or no layout can run. A value with a rule's error at another key
    does not meet the condition.
    """

    value: float
    metric: float | None
    holds: bool
    errors: tuple[str, ...] = ()
    misfit: str = ""
    """Whether the plan ``does not fit`` in memory, or ``may not fit`` at the upper end of its range; else empty."""


@dataclass(frozen=True)
class Solution:
    """The boundary of a condition.

    ``value`` is the lowest value of the key that meets the condition (the highest, if less is better), None if no value
    does.
    ``catalog_step`` is the nearest sold value that meets it. ``free`` says that every tried value meets it, so the key
    does not limit the design.
    """

    lever: Lever
    condition: Condition
    value: float | None
    catalog_step: float | None
    plan: Plan | None
    probes: tuple[Probe, ...]
    free: bool = False


def boundary_of(lever: Lever, condition: Condition, trial_at: TrialAt, present: float) -> Solution:
    """The value of a lever from which a condition holds; ``present`` is the value in the spec."""
    seeker = _Seeker(lever, condition, trial_at)
    value = (
        seeker.scan(_counts_to_scan(lever, present, seeker.count_by_proportion(present)))
        if lever.whole
        else seeker.bisect(present)
    )
    step = _nearest_sold_value(lever, value, seeker) if value is not None else None
    plan = seeker.plan(value) if value is not None else None
    probes = tuple(sorted(seeker.probes.values(), key=lambda probe: probe.value))
    free = bool(probes) and all(probe.holds for probe in probes)
    return Solution(lever, condition, value, step, plan, probes, free)


class _Seeker:
    """Evaluates a condition at values of a lever, each value once."""

    def __init__(self, lever: Lever, condition: Condition, trial_at: TrialAt) -> None:
        self.lever, self.condition, self._trial_at = lever, condition, trial_at
        self.probes: dict[float, Probe] = {}
        self._plans: dict[float, Plan | None] = {}

    def plan(self, value: float) -> Plan | None:
        self.holds(value)
        return self._plans[value]

    def holds(self, value: float) -> bool:
        """Whether the condition holds at a value."""
        if value not in self.probes:
            trial = self._trial_at(value)
            plan = self._plans[value] = trial.plan
            metric = self.condition.value(plan) if plan else None
            holds = plan is not None and self.condition.holds(plan)
            refusal = trial.refusal() if holds or plan is None else Refusal()
            misfit = _misfit_text(plan) if plan is not None and not holds and self.condition.fits(plan) is False else ""
            self.probes[value] = Probe(value, metric, holds and not refusal.of_others, refusal.errors, misfit)
        return self.probes[value].holds

    def bisect(self, present: float) -> float | None:
        """The boundary between the values that meet the condition and those that do not, on a logarithmic scale.

        The search starts at the first value, among the sold values and the present one, that meets the condition, and
        goes down from it. A metric need not be monotonic: a switch has fewer ports if each is faster. Hardware beyond
        the sold values is not tried. The values tried are those that are printed, so that the printed boundary meets
        the condition.
        """
        steps = self.lever.steps
        ends: tuple[float, ...] = () if self.lever.is_hardware else (max(steps[0] / SPAN, 1.0), steps[-1] * SPAN)
        within = {min(value, self.lever.most) for value in (*ends, *steps)}
        tried = sorted({*within, present}, reverse=self.lever.better < 0)
        met = next((index for index, value in enumerate(tried) if self.holds(value)), None)
        if not met:
            return None if met is None else tried[0]
        worst, best = tried[met - 1], tried[met]
        while self.lever.counts(best) or max(worst, best) / min(worst, best) > 1 + TOLERANCE:
            middle = self.lever.printable(sqrt(worst * best))
            if middle in {worst, best}:
                break
            if self.holds(middle):
                best = middle
            else:
                worst = middle
        return best

    def count_by_proportion(self, present: float) -> float | None:
        """The count at which a metric that is proportional to the machine's size reaches its limit; None for other
        metrics.
        """
        if self.condition.metric not in OF_SIZE:
            return None
        self.holds(present)
        metric = self.probes[present].metric
        return present * self.condition.limit / metric if metric else None

    def scan(self, values: Sequence[float]) -> float | None:
        """The least favorable value that meets the condition; ``values`` are tried in this order."""
        ordered = values if self.lever.better > 0 else tuple(reversed(values))
        met = next((index for index, value in enumerate(ordered) if self.holds(value)), None)
        if met is None:
            return None
        return (
            self._first_number_that_meets(ordered[met - 1], ordered[met]) if met and self.lever.every else ordered[met]
        )

    def _first_number_that_meets(self, worst: float, best: float) -> float:
        """The first whole number after ``worst`` that meets the condition, up to ``best``, which does.

        A wide interval is halved around the boundary until `NEAR` numbers are left.
        """
        while abs(best - worst) > NEAR:
            middle = float((worst + best) // 2)
            worst, best = (worst, middle) if self.holds(middle) else (middle, best)
        step = 1 if best > worst else -1
        return next(float(value) for value in range(int(worst) + step, int(best) + step, step) if self.holds(value))


def _misfit_text(plan: Plan) -> str:
    return "does not fit" if plan.fits is False else "may not fit"


def _counts_to_scan(lever: Lever, present: float, sought: float | None = None) -> tuple[float, ...]:
    """Counts to scan: the usual values, counts related to the present one, and numbers around ``sought``, where a
    metric proportional to the count reaches its limit.
    """
    near = {present * factor for factor in range(1, 9)} | set(_related_counts(present))
    if sought is not None:
        near |= set(map(float, range(max(1, int(sought) - NEAR), int(sought) + 3)))
    found = sorted({value for value in (*lever.steps, *near) if value >= 1 and value == int(value)})
    return tuple(found[:MOST_PROBED])


def _related_counts(present: float) -> Iterator[float]:
    """Counts related to the present one: its quotients by 1 to 64, and its multiples by sixteenths up to 31/16."""
    yield from (present / divisor for divisor in range(1, 65))
    yield from (present * part / 16 for part in range(1, 32))


def _nearest_sold_value(lever: Lever, value: float, seeker: _Seeker) -> float | None:
    """The sold value nearest to the boundary that meets the condition and has no errors."""
    if any(abs(step - value) <= TOLERANCE * value for step in lever.steps):
        near = min(lever.steps, key=lambda step: abs(step - value))
        if seeker.holds(near) and not seeker.probes[near].errors:
            return near
    further = lever.steps if lever.better > 0 else tuple(reversed(lever.steps))
    beyond = (step for step in further if (step > value if lever.better > 0 else step < value))
    return next((step for step in beyond if seeker.holds(step) and not seeker.probes[step].errors), None)
