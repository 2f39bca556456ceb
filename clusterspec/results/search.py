"""Results of a search for layouts, with their JSON."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.records import asdict, dataclass, field
from clusterspec.results import Input, Json, Result, Tool, common_fields, result_repr

Section = Mapping[str, object]
"""A `layout` section of a spec."""


@dataclass(frozen=True)
class LayoutRow:
    """One layout that search found. ``step_time`` in seconds, ``memory`` in bytes on the fullest accelerator, ``cost``
    of a run in the currency of the spec. ``low`` and ``high`` are the uncertainty range of the step time. ``tied`` is
    true if its step time equals the best within the tolerance of ties.
    """

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


@dataclass(frozen=True)
class GridCell:
    """A cell of a grid of two axes: the best layout with these degrees, if any."""

    row: int
    column: int
    step_time: float | None
    memory: float | None
    fits: bool | None
    present: bool = False


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Comparison:
    """The best layout compared with another. ``parts`` are the differences in seconds between the parts of their steps,
    largest first; a negative part takes less time in the best layout.
    """

    other: str
    seconds: float
    memory: float
    parts: tuple[tuple[str, float], ...]

    def to_json(self) -> Json:
        parts = [{"part": name, "seconds": seconds} for name, seconds in self.parts]
        return {"other": self.other, "seconds": self.seconds, "memory": self.memory, "parts": parts}


@dataclass(frozen=True)
class RlSplit:
    """A placement of reinforcement learning: nodes of each role, tensor parallelism of the engines, and the step.

    ``idle`` has the share of the step in which the accelerators of a role wait. ``layout`` says which layout the
    trainer has: the one of the ``spec``, or the ``best`` that a search found.
    """

    placement: str
    trainer_nodes: int
    rollout_nodes: int
    rollout_tp: int
    max_staleness: int
    step_time: float
    tokens_per_second_per_accelerator: float
    idle: Mapping[str, float]
    layout: str = "spec"

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True)
class SeparationSide:
    """The best plan with one kind of engine, or with separate ones. ``value`` is in output tokens per second and
    accelerator, at the highest concurrency within the targets, or, without targets, at the load. ``excess`` is the
    largest ratio of a figure to its limit, at least 1, and ``limit`` its name: a target such as ``tpot p99``, ``cache``
    or ``rate``. ``prefill_share`` is the share of time of engines of one kind for prompts, or the utilization of
    separate prefill engines.
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
    limit: str = ""

    def to_json(self) -> Json:
        return asdict(self)


@dataclass(frozen=True)
class BreakEvenRow:
    """Where plans with separate engines and with one kind are equally good: a length in tokens, requests in flight, or
    B/s per accelerator and direction. ``value`` is None if they are not between ``low`` and ``high``;
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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class SearchReport(Result):
    """The best layouts of a job.

    ``evaluated`` layouts were timed. ``fitting`` of them fit at the upper end of their memory range, and ``may_fit``
    others fit only as predicted. Serving plans are ``fitting`` if they meet the targets or, without targets, hold the
    load. ``refused`` were
    dropped because a rule, counted in ``refused_by``, finds an error in them. ``why`` gives the reason where there is
    no layout. ``smallest`` is the layout with the least memory if none fits, or the plan closest to the targets.
    ``first_refused`` is the best layout that fits, if rules find an error in every checked layout.
    ``unsure`` is true if no layout fits at the upper end of its range, so the layouts shown may not fit. ``incomplete``
    is true if the spec lacks required keys. ``unsearched`` are keys that were tried only at their default, since the
    framework leaves them to the user. ``fewer_nodes`` is the best layout on part of the nodes, where its step is
    shorter than on all of them.
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
    first_refused: LayoutRow | None = None
    grid: Grid | None = None
    why: str = ""
    currency: str = ""
    may_fit: int | None = None
    refused_by: Mapping[str, int] = field(default_factory=dict)
    unsure: bool = False
    incomplete: bool = False
    unsearched: tuple[str, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    splits: tuple[RlSplit, ...] = ()
    """Placements of reinforcement learning with the trainer's layout of the spec, the fastest first."""
    fewer_nodes: LayoutRow | None = None
    separation: Separation | None = None
    """Whether separate engines for prefill and decode are better; None for training."""

    __repr__ = result_repr

    @property
    def aim(self) -> str:
        """A verb phrase, in the plural, about ``fitting`` plans."""
        rows = (*self.layouts, *self.pareto, *(row for row in (self.present, self.smallest) if row is not None))
        return (
            "meet the targets at the load"
            if any((row.serving or {}).get("targets") for row in rows)
            else "hold the load"
        )

    @property
    def saved_share(self) -> float | None:
        """The share of the present step that the best layout saves; None if either is not known."""
        best, present = next(iter(self.layouts), None), self.present
        if best is None or present is None or best.step_time is None or not present.step_time:
            return None
        return 1 - best.step_time / present.step_time

    def to_json(self) -> Json:
        return common_fields(self.tool, self.input) | {
            "objective": self.objective,
            "evaluated": self.evaluated,
            "fitting": self.fitting,
            "may_fit": self.may_fit,
            "refused": self.refused,
            "refused_by": dict(self.refused_by),
            "unsure": self.unsure,
            "unsearched": list(self.unsearched),
            "layouts": [row.to_json() for row in self.layouts],
            "pareto": [row.to_json() for row in self.pareto],
            "present": self.present.to_json() if self.present else None,
            "fewer_nodes": self.fewer_nodes.to_json() if self.fewer_nodes else None,
            "smallest": self.smallest.to_json() if self.smallest else None,
            "first_refused": self.first_refused.to_json() if self.first_refused else None,
            "grid": self.grid.to_json() if self.grid else None,
            "comparisons": [each.to_json() for each in self.comparisons],
            "rl": [each.to_json() for each in self.splits],
            "separation": self.separation.to_json() if self.separation else None,
            "why": self.why or None,
            "currency": self.currency or None,
        }
