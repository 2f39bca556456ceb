"""Conditions on an estimate: ``mfu>=0.40``, ``exposed<=5%``, ``time_to_train<=30d``, ``step_time<=8s``, ``fits``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from math import inf, isfinite, sqrt

from clusterspec.analysis.levers import Lever
from clusterspec.cost.plan import Plan
from clusterspec.records import NamedTuple, dataclass
from clusterspec.results.search import OF_SIZE
from clusterspec.summation import sum_of
from clusterspec.units import UnitFault
from clusterspec.units import read as read_quantity

# Conditions on an estimate: ``mfu>=0.40``, ``exposed<=5%``, ``time_to_train<=30d``, ``step_time<=8s``, ``fits``

MONEY = "money"
"""The unit of an amount in the currency of the spec."""


class ConditionFault(ValueError):
    """Raised for an invalid condition, with a one-line reason."""


def _exposed_share(plan: Plan) -> float | None:
    """Exposed communication as a share of the step."""
    seconds = plan.step_seconds
    return sum_of(row.exposed for row in plan.communication) / seconds if seconds else None


def _free_memory_share(plan: Plan) -> float | None:
    """The share of the memory that is left free on the fullest accelerator."""
    stored = plan.stored
    if stored is None or stored.capacity is None:
        return None
    return 1 - stored.total / stored.capacity.value


def _serving_figure(name: str) -> Callable[[Plan], float | None]:
    """A number of a serving plan; None where the plan trains."""
    return lambda plan: getattr(plan.serving, name) if plan.serving is not None else None


def _meets_targets(plan: Plan) -> float | None:
    """1 where the cache holds the requests in flight and the targets are met, else 0; None where the plan trains."""
    from clusterspec.cost.serving.latency import missed_targets

    work = plan.design.workload
    if plan.serving is None or work is None or work.serving is None:
        return None
    held = plan.serving.offered <= plan.serving.kv_capacity_sequences or work.serving.load == "offline"
    return float(held and not missed_targets(plan.serving, work.serving))


def _share_of_time(name: str) -> Callable[[Plan], float | None]:
    """The share of the time that checkpoints stop training (``stall``), or that is spent on steps that are kept."""

    def value(plan: Plan) -> float | None:
        from clusterspec.cost.failures import plan_interruptions

        kept = plan_interruptions(plan)
        if kept is None:
            return None
        return kept.share if name == "goodput" else kept.checkpoint.value / kept.interval.value

    return value


def _power_figure(name: str) -> Callable[[Plan], float | None]:
    """The power of the machine of a plan as estimates print it: ``busy`` as drawn at work, ``peak`` at nameplates."""

    def value(plan: Plan) -> float | None:
        from clusterspec.cluster.fabric import counted_fabric
        from clusterspec.cost.power import drawn_power

        drawn = drawn_power(plan, counted_fabric(plan.design))
        term = getattr(drawn, name) if drawn is not None else None
        return term.value if term is not None else None

    return value


def _machine_watts(plan: Plan) -> float | None:
    """IT power of the machine of a plan at full load by nameplates; None if unknown."""
    from clusterspec.cost.nameplates import machine_watts

    return machine_watts(plan.design)


def _machine_cost(plan: Plan) -> float | None:
    """The cost of the machine of a plan over the term; None where that is not known."""
    from clusterspec.procurement.bill import bill
    from clusterspec.procurement.cost import cost

    found = cost(plan.design, None, bill(plan.design))
    return found.total.value if found and found.total else None


def _rl_step(plan: Plan) -> float | None:
    """The step of all roles of reinforcement learning; None for other work."""
    return plan.rl.step if plan.rl is not None else None


OF_FLEET: dict[str, Callable[[Plan], float | None]] = {"fleet_power": _machine_watts, "fleet_cost": _machine_cost}
"""The metrics that are summed over the pools of a fleet."""
METRICS: dict[str, tuple[str, Callable[[Plan], float | None]]] = {
    "mfu": ("1", lambda plan: plan.mfu),
    "step_time": ("s", lambda plan: plan.step_seconds),
    "time_to_train": ("s", lambda plan: plan.time_to_train),
    "elapsed": ("s", lambda plan: plan.time_to_train),
    "rl_step_time": ("s", _rl_step),
    "fleet_power": ("W", _machine_watts),
    "fleet_cost": (MONEY, _machine_cost),
    "exposed": ("1", _exposed_share),
    "headroom": ("1", _free_memory_share),
    "memory": ("B", lambda plan: plan.memory_bytes),
    "tokens_per_second_per_accelerator": ("tok/s", lambda plan: plan.tokens_per_second_per_accelerator),
    "goodput": ("1", _share_of_time("goodput")),
    "stall": ("1", _share_of_time("stall")),
    "power": ("W", _power_figure("busy")),
    "power_peak": ("W", _power_figure("peak")),
    "ttft": ("s", _serving_figure("ttft")),
    "tpot": ("s", _serving_figure("tpot")),
    "request_latency": ("s", _serving_figure("request_latency")),
    "output_tokens_per_second": ("tok/s", _serving_figure("output_tokens_per_second")),
    "output_tokens_per_second_per_accelerator": ("tok/s", _serving_figure("per_accelerator")),
}
"""What a condition may name: the unit of its limit, and its value in a plan."""
TARGETS = "targets"
"""The condition that a serving plan meets the targets of its spec, at their percentile."""
WHOLE = ("fits", TARGETS)
"""The conditions without a limit."""
RELATIVE = "slowdown"
"""The metric of a plan against the spec's own: step time over step time, less one."""
_FORM = re.compile(r"([a-z_]+)\s*(<=|>=)\s*+(\S.*)")
_KINDS = {"s": "time", "B": "bytes", "W": "power"}
_UNITS = {"s": "d", "B": " GB", "W": " kW"}
"""Units that the message on a limit without one proposes."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A metric, ``<=`` or ``>=``, and a limit in SI units; `fits` has no limit of its own.

    ``holds`` is False where the metric cannot be computed. A plan that does not fit meets no condition; where
    ``surely``, the upper end of its memory range has to fit.
    """

    text: str
    metric: str
    at_most: bool
    limit: float
    baseline: float = inf
    """Seconds of the spec's own step, for `RELATIVE`."""
    surely: bool = True
    share: float = 1.0
    """The share of the term that a job of a fleet has its nodes; `elapsed` counts the pauses."""
    beside: float = 0.0
    """The figure of the other pools of a fleet, for `OF_FLEET`."""

    def value(self, plan: Plan) -> float | None:
        """The metric of a plan; None where it cannot be computed."""
        if self.metric == "fits":
            fits = self.fit(plan)
            return None if fits is None else float(fits)
        if self.metric == TARGETS:
            return _meets_targets(plan)
        if self.metric == RELATIVE:
            return plan.step.seconds / self.baseline - 1 if plan.step and isfinite(self.baseline) else None
        found = METRICS[self.metric][1](plan)
        if found is not None and self.metric == "elapsed":
            return found / self.share if self.share > 0 else None
        return found + self.beside if found is not None and self.metric in OF_FLEET else found

    def fit(self, plan: Plan) -> bool | None:
        """Whether a plan fits in memory; None where that is not known."""
        return plan.surely_fits if self.surely else plan.fits

    def holds(self, plan: Plan) -> bool:
        """Whether a plan fits in memory, as far as that is known, and meets the limit."""
        value = self.value(plan)
        if value is None or self.fit(plan) is False:
            return False
        return value <= self.limit if self.at_most else value >= self.limit


def parse(text: str, baseline: float | None = None) -> Condition:
    """Reads a condition; ``baseline`` is the step time of the spec in seconds. Raises `ConditionFault`."""
    if text.strip() in WHOLE:
        return Condition(text.strip(), text.strip(), at_most=False, limit=1.0)
    match = _FORM.fullmatch(text.strip())
    if match is None:
        whole = " or ".join(f"`{each}`" for each in WHOLE)
        raise ConditionFault(
            f"`{text}` is not a condition; write {whole}, or a metric with a limit, such as `mfu>=0.40`"
        )
    metric, sign, written = match.groups()
    if metric not in METRICS and metric != RELATIVE:
        raise ConditionFault(_unknown_metric(metric))
    return Condition(text.strip(), metric, sign == "<=", _limit_value(written, metric), baseline or inf)


def _unknown_metric(metric: str) -> str:
    """A name that is no metric, with the nearest one and all others."""
    known = (*METRICS, RELATIVE, *WHOLE)
    near = get_close_matches(metric, known, n=2, cutoff=0.5)
    meant = f"; did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else "."
    return f"unknown metric `{metric}`{meant} Metrics: {', '.join(known)}"


def _limit_value(text: str, metric: str) -> float:
    """A limit in SI units: a percentage, a number, or a quantity of the unit (``30d`` is 30 days)."""
    unit = metric_unit(metric) or "1"
    try:
        value = read_quantity(text, _KINDS[unit]).value if unit in _KINDS else _condition_number(text, unit)
    except (ValueError, UnitFault) as fault:
        raise ConditionFault(f"invalid limit `{text}` of {metric}: {_unreadable_reason(text, unit, fault)}") from None
    if not isfinite(value):
        raise ConditionFault(f"invalid limit `{text}` of {metric}: it is not finite")
    return value


def _unreadable_reason(text: str, unit: str, fault: ValueError | UnitFault) -> str:
    """Why a limit cannot be read."""
    if unit not in _KINDS:
        return str(fault)
    try:
        float(text)
    except ValueError:
        return str(getattr(fault, "message", fault))
    return f"the limit needs a unit, such as `{text}{_UNITS[unit]}`"


def _condition_number(text: str, unit: str) -> float:
    """A share, with or without a percent sign, or a number of tokens per second or of the currency of the spec."""
    share = unit == "1"
    try:
        return float(text.removesuffix("%")) / 100 if share and text.endswith("%") else float(text)
    except ValueError:
        number = "write a number" if unit == MONEY else f"write a number of {unit}"
        raise ValueError("write a share, such as `40%` or `0.4`" if share else number) from None


def metric_unit(metric: str) -> str | None:
    """The unit of a metric: ``1`` for shares, ``tok/s``, ``s``, ``B``, ``W`` or `MONEY`; None for a condition without a
    limit.
    """
    if metric in WHOLE:
        return None
    return "1" if metric == RELATIVE else METRICS[metric][0]


# The minimum or maximum of a key that meets a condition, by bisection where the metric is monotone, else by a scan

TOLERANCE = 1e-3
"""Relative distance at which a bisection stops."""
SPAN = 64.0
"""How far a bisection of a load looks from the usual steps: down to the least over this, up to the largest times it."""
NEAR = 40
"""Counts below the one that meets a limit exactly which are tried: the layout has to divide there."""
MOST_PROBED = 400
"""Values of a count that one scan estimates."""


class Refusal(NamedTuple):
    """The rules that find an error in a design; ``of_others`` if one of them is about another key than the lever's.

    A rule about the lever's own key refuses a value that is not sold, which may lie between two that are.
    """

    errors: tuple[str, ...] = ()
    of_others: bool = False


class Trial(NamedTuple):
    """The plan with the lever at a value, and its refusal: with the spec's layout, or the best one there.

    ``plan`` is None where no layout can run.
    """

    plan: Plan | None
    refusal: Callable[[], Refusal]


TrialAt = Callable[[float], Trial]


@dataclass(frozen=True, slots=True)
class Probe:
    """One value that was tried, the metric there, whether the condition holds, and the rules that refuse the value.

    Rules are asked where the condition holds or nothing can run. A value meets no condition where a rule finds an error
    at another key.
    """

    value: float
    metric: float | None
    holds: bool
    errors: tuple[str, ...] = ()


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


def solve(lever: Lever, condition: Condition, trial_at: TrialAt, present: float) -> Solution:
    """Finds the boundary of the condition; ``present`` is the value of the key in the spec."""
    seeker = _Seeker(lever, condition, trial_at)
    value = (
        seeker.scan(_counts_to_scan(lever, present, seeker.proportional(present)))
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
            self.probes[value] = Probe(value, metric, holds and not refusal.of_others, refusal.errors)
        return self.probes[value].holds

    def bisect(self, present: float) -> float | None:
        """The boundary between the values that meet the condition and those that do not, on a logarithmic scale.

        It is sought below the first of the sold values and the present one that meets the condition: a metric need
        not be monotonic, since a faster port leaves a switch fewer ports. Hardware beyond the sold values is not tried.
        """
        steps = self.lever.steps
        ends: tuple[float, ...] = () if self.lever.is_hardware else (max(steps[0] / SPAN, 1.0), steps[-1] * SPAN)
        tried = sorted({*ends, *steps, present}, reverse=self.lever.better < 0)
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

    def proportional(self, present: float) -> float | None:
        """The count at which a metric of the size of the machine reaches its limit; None for other metrics."""
        if self.condition.metric not in OF_SIZE:
            return None
        self.holds(present)
        metric = self.probes[present].metric
        return present * self.condition.limit / metric if metric else None

    def scan(self, values: Sequence[float]) -> float | None:
        """The least favorable value that meets the condition; ``values`` are tried in this order."""
        ordered = values if self.lever.better > 0 else tuple(reversed(values))
        return next((value for value in ordered if self.holds(value)), None)


def _counts_to_scan(lever: Lever, present: float, sought: float | None = None) -> tuple[float, ...]:
    """Counts to scan: the usual values, the present one, and its integer multiples and divisors, and `NEAR` whole
    numbers up to the one at which a metric that is proportional to the count reaches its limit.
    """
    near = {present * factor for factor in range(1, 9)} | set(_related_counts(present))
    if sought is not None:
        near |= set(map(float, range(max(1, int(sought) - NEAR), int(sought) + 3)))
    found = sorted({value for value in (*lever.steps, *near) if value >= 1 and value == int(value)})
    return tuple(found[:MOST_PROBED])


def _related_counts(present: float) -> Iterator[float]:
    """Divisors of the present count, and multiples of its sixteenth, which keep its divisibility."""
    yield from (present / divisor for divisor in range(1, 65))
    yield from (present * part / 16 for part in range(1, 32))


def _nearest_sold_value(lever: Lever, value: float, seeker: _Seeker) -> float | None:
    """The sold value next to the boundary, on the side that meets the condition, in which no rule finds an error."""
    if any(abs(step - value) <= TOLERANCE * value for step in lever.steps):
        near = min(lever.steps, key=lambda step: abs(step - value))
        if seeker.holds(near) and not seeker.probes[near].errors:
            return near
    further = lever.steps if lever.better > 0 else tuple(reversed(lever.steps))
    beyond = (step for step in further if (step > value if lever.better > 0 else step < value))
    return next((step for step in beyond if seeker.holds(step) and not seeker.probes[step].errors), None)
