"""Results of search, solve and sensitivity, with their JSON."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.records import asdict, dataclass, field, replace
from clusterspec.results import Input, Json, Result, Tool, head, result_repr

Section = Mapping[str, object]
"""A `layout` section of a spec."""


OF_SIZE = frozenset({"power", "power_peak", "fleet_power", "fleet_cost"})
"""Metrics that grow with the machine: a limit on them is met by the fewest nodes, and the most are sought."""


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """One layout that search found. ``step_time`` in seconds, ``memory`` in bytes on the fullest accelerator, ``cost``
    of a run in the currency of the spec. ``low`` and ``high`` are the uncertainty range of the step time. ``tied``
    where its step time is that of the best but for the tolerance of ties."""

    layout: Section
    step_time: float | None
    low: float | None
    high: float | None
    mfu: float | None
    memory: float | None
    fits: bool | None
    cost: float | None = None
    tied: bool = False
    serving: Json | None = None
    """The times of a serving plan, with its accelerators, requests in flight, and separate engines."""
    memory_range: tuple[float, float] | None = None
    surely_fits: bool | None = None
    """Whether the upper end of ``memory_range`` fits."""
    findings: tuple[str, ...] = ()
    """The rules with a finding in the spec with this layout: those about the layout first."""
    errors: tuple[str, ...] = ()
    """The rules that find an error in the spec with this layout."""

    def to_json(self) -> Json:
        return {
            "layout": dict(self.layout),
            "serving": self.serving,
            "step_time": self.step_time,
            "range": [self.low, self.high],
            "mfu": self.mfu,
            "memory": self.memory,
            "memory_range": list(self.memory_range) if self.memory_range else None,
            "fits": self.fits,
            "surely_fits": self.surely_fits,
            "cost": self.cost,
            "tied": self.tied,
            "findings": list(self.findings),
            "errors": list(self.errors),
        }


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell of a grid of two axes: the best layout with these degrees, if any."""

    row: int
    column: int
    step_time: float | None
    memory: float | None
    fits: bool | None
    present: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    """The best step time for every pair of degrees of two axes."""

    axes: tuple[str, str]
    cells: tuple[GridCell, ...]

    def to_json(self) -> Json:
        names = ("step_time", "memory", "fits", "present")
        first, second = self.axes
        rows = [
            {first: cell.row, second: cell.column} | {name: getattr(cell, name) for name in names}
            for cell in self.cells
        ]
        return {"axes": list(self.axes), "cells": rows}


@dataclass(frozen=True, slots=True)
class Comparison:
    """The best layout against another one: ``parts`` are the differences of the parts of their steps in seconds, the
    largest first; a part for which the best layout takes less time is negative."""

    other: str
    seconds: float
    memory: float
    parts: tuple[tuple[str, float], ...]

    def to_json(self) -> Json:
        parts = [{"part": name, "seconds": seconds} for name, seconds in self.parts]
        return {"other": self.other, "seconds": self.seconds, "memory": self.memory, "parts": parts}


@dataclass(frozen=True, slots=True)
class RlSplit:
    """A placement of reinforcement learning: nodes of each role, tensor parallelism of the engines, and the step.

    ``idle`` has the share of the step in which the accelerators of a role wait.
    """

    placement: str
    trainer_nodes: int
    rollout_nodes: int
    rollout_tp: int
    max_staleness: int
    step_time: float
    tokens_per_second_per_accelerator: float
    idle: Mapping[str, float]

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SeparationSide:
    """The best plan with one kind of engine, or with separate ones. ``value`` is in output tokens per second and
    accelerator, at the highest concurrency within the targets, or at the load where there are none. ``excess`` is the
    largest ratio of a latency to its target, at least 1. ``prefill_share`` is the share of time of engines of one kind
    for prompts, or the utilization of separate prefill engines.
    """

    layout: Section
    disaggregated: Json | None
    accelerators: float
    ttft: float
    tpot: float
    per_accelerator: float
    value: float
    meets_targets: bool
    excess: float
    prefill_share: float
    handoff: float

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class BreakEvenRow:
    """Where plans with separate engines and with one kind are equally good: a length in tokens, requests in flight, or
    B/s per accelerator and direction. ``value`` is None where they are not between ``low`` and ``high``;
    ``separate_above`` says whether separate engines are better above it, or everywhere.
    """

    quantity: str
    present: float
    value: float | None
    separate_above: bool
    low: float
    high: float

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Separation:
    """Whether prefill and decode run on separate engines in the best plan, and why.

    ``separate`` is None, and ``why`` the reason, where only one kind was searched.
    """

    separate: bool | None
    why: str
    targeted: bool = False
    together: SeparationSide | None = None
    apart: SeparationSide | None = None
    break_even: tuple[BreakEvenRow, ...] = ()

    def to_json(self) -> Json:
        return {
            "separate": self.separate,
            "why": self.why or None,
            "together": self.together.to_json() if self.together else None,
            "apart": self.apart.to_json() if self.apart else None,
            "break_even": [each.to_json() for each in self.break_even],
        }


@dataclass(frozen=True, slots=True)
class SearchReport(Result):
    """The best layouts of a job.

    ``evaluated`` layouts were timed. ``fitting`` of them fit at the upper end of their memory range, ``may_fit`` more
    as predicted (serving plans: ``fitting`` meet the targets). ``refused`` were dropped because a rule, counted in
    ``refused_by``, finds an error in them. ``why`` gives the reason where there is no layout. ``smallest`` is the
    layout with the least memory where none fits, or the plan closest to the targets. ``unsure`` where no layout fits at
    the upper end of its range, so that those shown may not fit. ``incomplete`` where the spec lacks what it takes.
    """

    tool: Tool
    input: Input
    objective: str
    evaluated: int
    fitting: int
    refused: int
    layouts: tuple[LayoutRow, ...]
    pareto: tuple[LayoutRow, ...]
    present: LayoutRow | None
    smallest: LayoutRow | None = None
    grid: Grid | None = None
    why: str = ""
    currency: str = ""
    may_fit: int | None = None
    refused_by: Mapping[str, int] = field(default_factory=dict)
    unsure: bool = False
    incomplete: bool = False
    comparisons: tuple[Comparison, ...] = ()
    splits: tuple[RlSplit, ...] = ()
    """Placements of reinforcement learning with the trainer's layout of the spec, the fastest first."""
    separation: Separation | None = None
    """Whether separate engines for prefill and decode are better; None where training."""

    __repr__ = result_repr

    @property
    def lost(self) -> float | None:
        """The share of the present step that the best layout saves; None where either is not known."""
        best, present = next(iter(self.layouts), None), self.present
        if best is None or present is None or best.step_time is None or not present.step_time:
            return None
        return 1 - best.step_time / present.step_time

    def to_json(self) -> Json:
        return head(self.tool, self.input) | {
            "objective": self.objective,
            "evaluated": self.evaluated,
            "fitting": self.fitting,
            "may_fit": self.may_fit,
            "refused": self.refused,
            "refused_by": dict(self.refused_by),
            "unsure": self.unsure,
            "layouts": [row.to_json() for row in self.layouts],
            "pareto": [row.to_json() for row in self.pareto],
            "present": self.present.to_json() if self.present else None,
            "smallest": self.smallest.to_json() if self.smallest else None,
            "grid": self.grid.to_json() if self.grid else None,
            "comparisons": [each.to_json() for each in self.comparisons],
            "rl": [each.to_json() for each in self.splits],
            "separation": self.separation.to_json() if self.separation else None,
            "why": self.why or None,
            "currency": self.currency or None,
        }


@dataclass(frozen=True, slots=True)
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
    why: str = ""
    disaggregated: Json | None = None
    """The separate engines of a serving plan that was searched for; they belong to `workload.serving`."""
    searched: bool = False
    """Whether ``layout`` is the best one at the value."""
    metric: str | None = None
    """The metric of the condition."""
    metric_unit: str | None = None
    """The unit of the metric in ``probes``: ``1`` for shares, ``tok/s``, ``s`` or ``B``; None without a limit."""
    errors: Mapping[float, tuple[str, ...]] = field(default_factory=dict)
    """The rules that refuse a value of ``probes``."""
    unsure: bool = False
    """Whether no value meets the condition with a plan that fits at the upper end of its memory range, so that the plan
    at ``value`` may not fit."""

    __repr__ = result_repr

    def to_json(self) -> Json:
        return head(self.tool, self.input) | {
            "key": self.key,
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
                {"value": value, "metric": metric, "holds": holds, "errors": list(self.errors.get(value, ()))}
                for value, metric, holds in self.probes
            ],
            "unsure": self.unsure,
            "why": self.why or None,
        }


@dataclass(frozen=True, slots=True)
class LeverRow:
    """One lever moved by one step. ``effect`` is the relative change of the time for a token."""

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

    def to_json(self) -> Json:
        return {
            "key": self.key,
            "from": self.before,
            "to": self.after,
            "unit": self.unit,
            "step_time": self.step_time,
            "memory": self.memory,
            "cost": self.cost,
            "fits": self.fits,
            "effect": self.effect,
            "errors": list(self.errors),
        }


@dataclass(frozen=True, slots=True)
class SensitivityReport(Result):
    """Each lever one step up and down, largest effect first."""

    tool: Tool
    input: Input
    step_time: float | None
    memory: float | None
    cost: float | None
    levers: tuple[LeverRow, ...]
    currency: str = ""

    __repr__ = result_repr

    def to_json(self) -> Json:
        return head(self.tool, self.input) | {
            "step_time": self.step_time,
            "memory": self.memory,
            "cost": self.cost,
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
    "meets_targets",
)
"""The figures of a serving plan in the table of a sweep."""


@dataclass(frozen=True, slots=True)
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

    def of(self, found: LayoutRow) -> SweepRow:
        """The row of a point with its results."""
        return replace(
            self,
            step_time=found.step_time,
            mfu=found.mfu,
            memory=found.memory,
            cost=found.cost,
            layout=found.layout,
            serving=found.serving,
            fits=found.fits,
            errors=found.errors,
        )

    def refused(self, memory: float | None, fits: bool | None, errors: tuple[str, ...], why: str) -> SweepRow:
        """The row of a point whose design has errors: without times and cost, which would rank it."""
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
