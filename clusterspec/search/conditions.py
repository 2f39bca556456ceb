"""Conditions on an estimate: ``mfu>=0.40``, ``exposed<=5%``, ``time_to_train<=30d``, ``step_time<=8s``, ``fits``."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from math import inf, isfinite

from clusterspec.cost.plan import Plan
from clusterspec.records import dataclass
from clusterspec.summation import sum_of
from clusterspec.units import UnitFault
from clusterspec.units import read as read_quantity


class ConditionFault(ValueError):
    """Raised for an invalid condition, with a one-line reason."""


def _exposed(plan: Plan) -> float | None:
    """Exposed communication as a share of the step."""
    seconds = plan.step_seconds
    return sum_of(row.exposed for row in plan.communication) / seconds if seconds else None


def _headroom(plan: Plan) -> float | None:
    """The share of the memory that is left free on the fullest accelerator."""
    stored = plan.stored
    if stored is None or stored.capacity is None:
        return None
    return 1 - stored.total / stored.capacity.value


def _served(name: str) -> Callable[[Plan], float | None]:
    """A number of a serving plan; None where the plan trains."""
    return lambda plan: getattr(plan.serving, name) if plan.serving is not None else None


def _meets_targets(plan: Plan) -> float | None:
    """1 where the cache holds the requests in flight and the targets are met, else 0; None where the plan trains."""
    from clusterspec.cost.serving.targets import missed

    work = plan.design.workload
    if plan.serving is None or work is None or work.serving is None:
        return None
    held = plan.serving.offered <= plan.serving.kv_capacity_sequences or work.serving.load == "offline"
    return float(held and not missed(plan.serving, work.serving))


METRICS: dict[str, tuple[str, Callable[[Plan], float | None]]] = {
    "mfu": ("1", lambda plan: plan.mfu),
    "step_time": ("s", lambda plan: plan.step_seconds),
    "time_to_train": ("s", lambda plan: plan.time_to_train),
    "exposed": ("1", _exposed),
    "headroom": ("1", _headroom),
    "memory": ("B", lambda plan: plan.memory_bytes),
    "tokens_per_second_per_accelerator": ("tok/s", lambda plan: plan.tokens_per_second_per_accelerator),
    "ttft": ("s", _served("ttft")),
    "tpot": ("s", _served("tpot")),
    "request_latency": ("s", _served("request_latency")),
    "output_tokens_per_second": ("tok/s", _served("output_tokens_per_second")),
    "output_tokens_per_second_per_accelerator": ("tok/s", _served("per_accelerator")),
}
"""What a condition may name: the unit of its limit, and its value in a plan."""
TARGETS = "targets"
"""The condition that a serving plan meets the targets of its spec, at their percentile."""
WHOLE = ("fits", TARGETS)
"""The conditions without a limit."""
RELATIVE = "slowdown"
"""The metric of a plan against the spec's own: step time over step time, less one."""
_FORM = re.compile(r"([a-z_]+)\s*(<=|>=)\s*+(\S.*)")
_KINDS = {"s": "time", "B": "bytes"}
_UNITS = {"s": "d", "B": " GB"}
"""Units that the message on a limit without one proposes."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A metric, ``<=`` or ``>=``, and a limit in SI units; `fits` has no limit of its own.

    ``holds`` is False where the metric cannot be computed. A plan that does not fit meets no condition.
    """

    text: str
    metric: str
    at_most: bool
    limit: float
    baseline: float = inf
    """Seconds of the spec's own step, for `RELATIVE`."""

    def value(self, plan: Plan) -> float | None:
        """The metric of a plan; None where it cannot be computed."""
        if self.metric == "fits":
            return None if plan.fits is None else float(plan.fits)
        if self.metric == TARGETS:
            return _meets_targets(plan)
        if self.metric == RELATIVE:
            return plan.step.seconds / self.baseline - 1 if plan.step and isfinite(self.baseline) else None
        return METRICS[self.metric][1](plan)

    def holds(self, plan: Plan) -> bool:
        """Whether a plan fits in memory, as far as that is known, and meets the limit."""
        value = self.value(plan)
        if value is None or plan.fits is False:
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
    return Condition(text.strip(), metric, sign == "<=", _limit(written, metric), baseline or inf)


def _unknown_metric(metric: str) -> str:
    """A name that is no metric, with the nearest one and all others."""
    known = (*METRICS, RELATIVE, *WHOLE)
    near = get_close_matches(metric, known, n=2, cutoff=0.5)
    meant = f"; did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else "."
    return f"unknown metric `{metric}`{meant} Metrics: {', '.join(known)}"


def _limit(text: str, metric: str) -> float:
    """A limit in SI units: a percentage, a number, or a quantity of the unit (``30d`` is 30 days)."""
    unit = metric_unit(metric) or "1"
    try:
        value = read_quantity(text, _KINDS[unit]).value if unit in _KINDS else _number(text, unit == "1")
    except (ValueError, UnitFault) as fault:
        raise ConditionFault(f"invalid limit `{text}` of {metric}: {_reason(text, unit, fault)}") from None
    if not isfinite(value):
        raise ConditionFault(f"invalid limit `{text}` of {metric}: it is not finite")
    return value


def _reason(text: str, unit: str, fault: ValueError | UnitFault) -> str:
    """Why a limit cannot be read."""
    if unit not in _KINDS:
        return str(fault)
    try:
        float(text)
    except ValueError:
        return str(getattr(fault, "message", fault))
    return f"the limit needs a unit, such as `{text}{_UNITS[unit]}`"


def _number(text: str, share: bool) -> float:
    """A share, with or without a percent sign, or a number of tokens per second."""
    try:
        return float(text.removesuffix("%")) / 100 if share and text.endswith("%") else float(text)
    except ValueError:
        raise ValueError("write a share, such as `40%` or `0.4`" if share else "write a number of tok/s") from None


def metric_unit(metric: str) -> str | None:
    """The unit of a metric: ``1`` for shares, ``tok/s``, ``s`` or ``B``; None for a condition without a limit."""
    if metric in WHOLE:
        return None
    return "1" if metric == RELATIVE else METRICS[metric][0]
