"""Results of changed keys: solve, sensitivity and sweep, with their JSON."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

from clusterspec.records import dataclass, field, replace
from clusterspec.results import Input, Json, Result, Tool, common_fields, result_repr
from clusterspec.results.search import LayoutRow, Section

OF_SIZE = frozenset({"power", "power_peak", "fleet_power", "fleet_cost"})
"""Metrics that grow with the machine. The fewest nodes meet an upper limit on them, so the largest number of nodes is
sought.
"""
OF_SPREAD = {"mfu": ">=", "tokens_per_second_per_accelerator": ">=", "goodput": ">=", "exposed": "<="}
"""Metrics that get worse if more nodes divide the same work, each with the side of its limit. The largest number of
nodes is sought.
"""


def seeks_most_nodes(metric: str | None, side: str) -> bool:
    """Whether fewer nodes meet a condition more easily; ``side`` is ``<=`` or ``>=``."""
    return (metric in OF_SIZE and side == "<=") or OF_SPREAD.get(metric or "") == side


@dataclass(frozen=True)
class SolveReport(Result):
    """The boundary of a condition in one key. ``value`` and ``catalog_step`` are in SI units (bandwidths in bytes per
    second per direction); ``free`` if all values tried meet the condition."""

    tool: Tool
    input: Input
    key: str
    unit: str
    condition: str
    present: float | None
    value: float | None = None
    catalog_step: float | None = None
    free: bool = False
    layout: Section = field(default_factory=dict)
    estimate: Json | None = None
    probes: tuple[tuple[float, float | None, bool], ...] = ()
    """The tried values, each with the metric (None if there is none, infinite for an endless queue; both null in JSON)
    and whether the condition holds.
    """
    why: str = ""
    """The reason why no value was found. With ``free``, the statement that no value changes the spec's metric."""
    disaggregated: Json | None = None
    """The separate engines of a serving plan that the search found; they belong to `workload.serving`."""
    searched: bool = False
    """Whether ``layout`` is the best one at the value."""
    metric: str | None = None
    """The metric of the condition."""
    metric_unit: str | None = None
    """The unit of the metric in ``probes``: ``1`` for shares, ``tok/s``, ``s`` or ``B``; None without a limit."""
    errors: Mapping[float, tuple[str, ...]] = field(default_factory=dict)
    """The rules that refuse a value of ``probes``."""
    unsure: bool = False
    """Whether all plans that meet the condition, including the one at ``value``, may exceed memory at the upper end of
    their range.
    """
    misfits: Mapping[float, str] = field(default_factory=dict)
    """Values of ``probes`` that are refused because the plan ``does not fit`` in memory, or ``may not fit``."""
    roles: Mapping[float, Mapping[str, int]] = field(default_factory=dict)
    """The nodes of each role of reinforcement learning at a value of ``probes``. The value is their sum."""
    present_roles: Mapping[str, int] = field(default_factory=dict)
    """The nodes of each role in the spec."""
    role_pools: Mapping[str, str] = field(default_factory=dict)
    """The pool of each role, if they are on several pools."""
    rollout_tp: int | None = None
    """The tensor parallelism of the engines of rollout at the value, where it was searched."""
    available: int | None = None
    """For the nodes of a fleet's job: the nodes of its pool that no other job uses; None otherwise."""
    path: tuple[str | int, ...] = ()
    """The varied key, if it is the nodes of a job that uses part of the cluster: the job's key or the cluster's."""
    machine: int | None = None
    """The nodes of the cluster in the spec, if the job uses only some of them."""
    other_load: str = ""
    """The spec's kind of load (``open``, ``closed`` or ``offline``) if values of the key describe another kind; else
    empty.
    """

    __repr__ = result_repr

    def to_json(self) -> Json:
        return common_fields(self.tool, self.input) | {
            "key": self.key,
            "path": ".".join(map(str, self.path)) or None,
            "unit": self.unit,
            "condition": self.condition,
            "metric": self.metric,
            "metric_unit": self.metric_unit,
            "present": self.present,
            "value": self.value,
            "catalog_step": self.catalog_step,
            "free": self.free,
            "layout": dict(self.layout),
            "disaggregated": self.disaggregated,
            "estimate": self.estimate,
            "probes": [
                {"value": value, "metric": metric if metric is None or isfinite(metric) else None, "holds": holds}
                | {"errors": list(self.errors.get(value, ()))}
                | {"misfit": self.misfits.get(value)}
                | ({"roles": dict(self.roles[value])} if value in self.roles else {})
                for value, metric, holds in self.probes
            ],
            "roles": dict(self.roles.get(self.value or 0.0, {})) or None,
            "role_pools": dict(self.role_pools) or None,
            "rollout_tp": self.rollout_tp,
            "available": self.available,
            "other_load": self.other_load or None,
            "unsure": self.unsure,
            "why": self.why or None,
        }


@dataclass(frozen=True)
class LeverRow:
    """One lever changed by one step.

    ``effect`` is the relative change of the time for a token, or, where the queue of the spec's serving plan grows
    without end, of its output tokens per second. ``queue_grows`` applies to the changed plan.
    """

    key: str
    before: object
    after: object
    unit: str
    step_time: float | None
    memory: float | None
    cost: float | None
    fits: bool | None
    effect: float | None
    errors: tuple[str, ...] = ()
    """The rules that refuse this step; it has no figures then."""
    output_tokens_per_second: float | None = None
    queue_grows: bool | None = None
    """None where nothing is served."""

    def to_json(self) -> Json:
        return {
            "key": self.key,
            "from": self.before,
            "to": self.after,
            "unit": self.unit,
            "step_time": self.step_time,
            "output_tokens_per_second": self.output_tokens_per_second,
            "queue_grows": self.queue_grows,
            "memory": self.memory,
            "cost": self.cost,
            "fits": self.fits,
            "effect": self.effect,
            "errors": list(self.errors),
        }


@dataclass(frozen=True)
class SensitivityReport(Result):
    """Each lever one step up and down, largest effect first."""

    tool: Tool
    input: Input
    step_time: float | None
    memory: float | None
    cost: float | None
    levers: tuple[LeverRow, ...]
    currency: str = ""
    why: str = ""
    """The reason why there are no levers."""
    output_tokens_per_second: float | None = None
    queue_grows: bool | None = None
    """Whether requests arrive faster than the engines of the spec serve them; None where nothing is served."""

    __repr__ = result_repr

    def to_json(self) -> Json:
        return common_fields(self.tool, self.input) | {
            "step_time": self.step_time,
            "memory": self.memory,
            "cost": self.cost,
            "output_tokens_per_second": self.output_tokens_per_second,
            "queue_grows": self.queue_grows,
            "why": self.why or None,
            "levers": [row.to_json() for row in self.levers],
            "currency": self.currency or None,
        }


SERVING_COLUMNS = (
    "ttft",
    "tpot",
    "output_tokens_per_second",
    "output_tokens_per_second_per_accelerator",
    "accelerators",
    "concurrency",
    "queue_grows",
    "meets_targets",
)
"""The figures of a serving plan in the table of a sweep."""


@dataclass(frozen=True)
class SweepRow:
    """One point of a sweep: the values of its axes, and the best layout there. ``cost`` of a run, or of a million
    output tokens, in the currency of the spec; ``why`` is the reason why there is no layout."""

    axes: Section
    step_time: float | None = None
    mfu: float | None = None
    memory: float | None = None
    cost: float | None = None
    layout: Section | None = None
    why: str = ""
    serving: Json | None = None
    """The times of a serving plan, as in `LayoutRow`."""
    fits: bool | None = None
    errors: tuple[str, ...] = ()
    """The rules that find an error in the design of the point."""
    failed: bool = False
    """Whether an internal error prevented a part of the result."""

    def row_of_layout(self, row: LayoutRow) -> SweepRow:
        """The row of a point with its results."""
        return replace(
            self,
            step_time=row.step_time,
            mfu=row.mfu,
            memory=row.memory,
            cost=row.cost,
            layout=row.layout,
            serving=row.serving,
            fits=row.fits,
            errors=row.errors,
        )

    def refused_row(self, memory: float | None, fits: bool | None, errors: tuple[str, ...], why: str) -> SweepRow:
        """The row of a point whose design has errors. It has no times and cost, so it cannot be ranked."""
        return replace(self, memory=memory, fits=fits, errors=errors, why=why)

    def without_layout(self, why: str) -> SweepRow:
        """The row of a point without a layout."""
        return replace(self, why=why)

    def to_json(self) -> Json:
        return dict(self.axes) | {
            "step_time": self.step_time,
            "mfu": self.mfu,
            "memory": self.memory,
            "cost": self.cost,
            "layout": dict(self.layout) if self.layout is not None else None,
            "serving": self.serving,
            "why": self.why or None,
            "fits": self.fits,
            "errors": list(self.errors),
        }
