"""Conditions on an estimate: ``mfu>=0.40``, ``exposed<=5%``, ``time_to_train<=30d``, ``step_time<=8s``, ``fits``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from math import inf, isfinite

from clusterspec.cost.plan import Plan
from clusterspec.money import read_amount
from clusterspec.records import dataclass
from clusterspec.standard import sum_of
from clusterspec.units import UnitFault
from clusterspec.units import read as read_quantity

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
    """A number of a serving plan; None if the plan trains."""
    return lambda plan: getattr(plan.serving, name) if plan.serving is not None else None


def _latency_with_queue(name: str) -> Callable[[Plan], float | None]:
    """A function that returns a latency including the queueing time; infinite if requests arrive faster than they are
    served.
    """

    def value(plan: Plan) -> float | None:
        times = plan.serving
        if times is None:
            return None
        latency: float = getattr(times, name)
        return inf if times.queue_grows else latency

    return value


def _meets_targets(plan: Plan) -> float | None:
    """1 if the cache holds the requests in flight and the targets are met, else 0; None without targets."""
    from clusterspec.cost.serving.targets import meets_targets

    work = plan.design.workload
    if plan.serving is None or work is None or work.serving is None or not work.serving.targets:
        return None
    held = plan.serving.offered <= plan.serving.kv_capacity_sequences or work.serving.load == "offline"
    return float(held and meets_targets(plan.serving, work.serving))


def _share_of_time(name: str) -> Callable[[Plan], float | None]:
    """A function that returns a share of time: ``stall``, in which training waits for checkpoints or data, or
    ``goodput``, spent on steps that are kept.
    """

    def value(plan: Plan) -> float | None:
        from clusterspec.cost.interruptions import plan_interruptions

        kept = plan_interruptions(plan)
        if kept is None:
            return None
        if name == "goodput":
            return kept.share
        from clusterspec.cost.storage import data_reads

        reads = data_reads(plan)
        return kept.checkpoint.value / kept.interval.value + (reads.stall if reads is not None else 0.0)

    return value


def _seconds_with_interruptions(plan: Plan) -> float | None:
    """The seconds of a run of ``workload.tokens`` with failures, restarts and checkpoints; None if the run has no time.

    ``operations.targets.run_time`` limits the same time.
    """
    from clusterspec.cost.interruptions import plan_interruptions

    kept = plan_interruptions(plan)
    if plan.time_to_train is None or kept is None or kept.share <= 0:
        return None
    return plan.time_to_train / kept.share


def _storage_seconds(name: str) -> Callable[[Plan], float | None]:
    """The seconds in which a checkpoint is read after a failure (``restore``), or all engines are loaded (``load``)."""

    def value(plan: Plan) -> float | None:
        from clusterspec.cost.storage import storage_use

        use = storage_use(plan)
        found = getattr(use, name) if use is not None else None
        return found.seconds.value if found is not None else None

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
    """The cost of the machine of a plan over the term; None if that is not known."""
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
    "mfu": ("1", lambda plan: plan.whole_step.mfu),
    "step_time": ("s", lambda plan: plan.whole_step.seconds),
    "time_to_train": ("s", lambda plan: plan.time_to_train),
    "run_time": ("s", _seconds_with_interruptions),
    "elapsed": ("s", lambda plan: plan.time_to_train),
    "rl_step_time": ("s", _rl_step),
    "fleet_power": ("W", _machine_watts),
    "fleet_cost": (MONEY, _machine_cost),
    "exposed": ("1", _exposed_share),
    "headroom": ("1", _free_memory_share),
    "memory": ("B", lambda plan: plan.memory_bytes),
    "tokens_per_second_per_accelerator": ("tok/s", lambda plan: plan.whole_step.rate),
    "goodput": ("1", _share_of_time("goodput")),
    "stall": ("1", _share_of_time("stall")),
    "restore": ("s", _storage_seconds("restore")),
    "loading": ("s", _storage_seconds("load")),
    "power": ("W", _power_figure("busy")),
    "power_peak": ("W", _power_figure("peak")),
    "ttft": ("s", _latency_with_queue("ttft")),
    "tpot": ("s", _serving_figure("tpot")),
    "request_latency": ("s", _latency_with_queue("request_latency")),
    "output_tokens_per_second": ("tok/s", _serving_figure("output_tokens_per_second")),
    "output_tokens_per_second_per_accelerator": ("tok/s", _serving_figure("per_accelerator")),
}
"""The metrics that a condition may name, each with the unit of its limit and its value in a plan."""
TARGETS = "targets"
"""The name of the condition that a serving plan meets the latency targets of its spec."""
WHOLE = ("fits", TARGETS)
"""The conditions without a limit."""
RELATIVE = "slowdown"
"""The metric that compares a plan with the spec: the ratio of the step times minus one."""
_FORM = re.compile(r"([a-z_]+)\s*(<=|>=)\s*+(\S.*)")
_KINDS = {"s": "time", "B": "bytes", "W": "power"}
_UNITS = {"s": " s", "B": " GB", "W": " kW"}
"""Units suggested in the error about a limit without a unit."""
_OF_RUNS = frozenset({"time_to_train", "run_time", "elapsed"})
"""Time metrics whose limits are usually in days."""


@dataclass(frozen=True)
class Condition:
    """A condition: a metric, ``<=`` or ``>=``, and a limit in SI units. `fits` has no limit.

    ``holds`` is False if the metric cannot be computed. A plan that does not fit meets no condition; where
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
    """The share of the term for which a job of a fleet has its nodes. The metric `elapsed` includes the pauses."""
    of_other_pools: float = 0.0
    """The value of the metric for the other pools of a fleet, for metrics in `OF_FLEET`."""
    of_pool: Callable[[Plan], float | None] | None = None
    """The value for the job's own pool with all its jobs, for metrics in `OF_FLEET` that depend on the jobs."""

    def admits(self, metric: float) -> bool:
        """Whether a value of the metric is within the limit."""
        return metric <= self.limit if self.at_most else metric >= self.limit

    def value(self, plan: Plan) -> float | None:
        """The metric of a plan; None if it cannot be computed."""
        if self.metric == "fits":
            fits = self.fits(plan)
            return None if fits is None else float(fits)
        if self.metric == TARGETS:
            return _meets_targets(plan)
        if self.metric == RELATIVE:
            seconds = plan.whole_step.seconds
            if not seconds or not isfinite(self.baseline):
                return None
            return round(seconds / self.baseline - 1, 12) + 0.0  # two ways to sum one step differ by less
        found = (self.of_pool or METRICS[self.metric][1])(plan)
        if found is not None and self.metric == "elapsed":
            return found / self.share if self.share > 0 else None
        return found + self.of_other_pools if found is not None and self.metric in OF_FLEET else found

    def fits(self, plan: Plan) -> bool | None:
        """Whether a plan fits in memory; None if that is not known."""
        return plan.surely_fits if self.surely else plan.fits

    def holds(self, plan: Plan) -> bool:
        """Whether a plan fits in memory, as far as that is known, and meets the limit."""
        value = self.value(plan)
        if value is None or self.fits(plan) is False:
            return False
        return self.admits(value)


def parse(text: str, baseline: float | None = None, others: Sequence[str] = ()) -> Condition:
    """The condition that a text states; ``baseline`` is the seconds of a whole step of the spec. Raises
    `ConditionFault`, which also lists the words in ``others`` as valid.
    """
    if text.strip() in WHOLE:
        return Condition(text.strip(), text.strip(), at_most=False, limit=1.0)
    match = _FORM.fullmatch(text.strip())
    if match is None:
        words = ", ".join(f"`{each}`" for each in (*others, *WHOLE))
        limit = "a metric with `<=` or `>=` and a limit, such as `mfu>=0.40`"
        quoted = "; a shell reads an unquoted `>` itself: quote the condition" if text.strip() in METRICS else ""
        raise ConditionFault(f"`{text}` is not a condition; write {words}, or {limit}{quoted}")
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
        raise ConditionFault(f"invalid limit `{text}` of {metric}: {_unreadable_reason(text, metric, fault)}") from None
    if not isfinite(value):
        raise ConditionFault(f"invalid limit `{text}` of {metric}: it is not finite")
    return value


def _unreadable_reason(text: str, metric: str, fault: ValueError | UnitFault) -> str:
    """Why the limit of a metric cannot be read."""
    unit = metric_unit(metric) or "1"
    if unit not in _KINDS:
        return str(fault)
    try:
        number = float(text)
    except ValueError:
        return str(getattr(fault, "message", fault))
    if not isfinite(number):
        return "it is not finite"
    return f"the limit needs a unit, such as `{text}{' d' if metric in _OF_RUNS else _UNITS[unit]}`"


def _condition_number(text: str, unit: str) -> float:
    """The number of a limit: a share with or without a percent sign, tokens per second, or an amount in the spec's
    currency such as ``20M``.
    """
    share, text = unit == "1", text.strip()
    amount = read_amount(text) if unit == MONEY else None
    if amount is not None:
        return amount
    try:
        return float(text.removesuffix("%")) / 100 if share and text.endswith("%") else float(text)
    except ValueError:
        number = (
            "write an amount, such as `20M` or `20000000`, without a currency"
            if unit == MONEY
            else f"write a number of {unit}"
        )
        raise ValueError("write a share, such as `40%` or `0.4`" if share else number) from None


def metric_unit(metric: str) -> str | None:
    """The unit of a metric: ``1`` for shares, ``tok/s``, ``s``, ``B``, ``W`` or `MONEY`; None for a condition without a
    limit.
    """
    if metric in WHOLE:
        return None
    return "1" if metric == RELATIVE else METRICS[metric][0]
