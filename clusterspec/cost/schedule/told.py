"""A step told as terms: what every part is, by which formula, from which figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from clusterspec.cost.compute.software import Software
from clusterspec.cost.schedule.passes import Seconds
from clusterspec.cost.schedule.step import Step
from clusterspec.cost.term import Term
from clusterspec.origin import Computed
from clusterspec.quantity import Figure

Inputs = tuple[tuple[str, Figure], ...]
Names = tuple[str, ...]
ROOFLINE = "Williams, Waterman, Patterson, CACM 52(4), 2009"
ATTENTION = "Dao, arXiv 2307.08691"
PIPELINE = "Narayanan et al., arXiv 2104.04473, sections 2.2.1 and 2.2.2"
BESIDE = "max(0, traffic − room) + interference × min(traffic, room)"
INSIDE = "that of (1 − hidden.tensor) × traffic, and interference × hidden.tensor × traffic"
AXES = {"dp": ("dp_cp", "expert_dp", "shard", "replicate"), "tp": ("tp", "expert_tp")}


class _Kind(NamedTuple):
    """One kind of computation: the field of `Seconds` that holds it, how it is called, and what it follows from."""

    field: str
    name: str
    formula: str
    source: str
    figures: Names


_RATE = "peak × matmul × sustained × products × tile fill"
_KINDS = (
    _Kind(
        "matmul",
        "matrix products",
        f"micro-batches × Σ max(FLOPs / ({_RATE}), bytes / (memory_bandwidth × memory))",
        ROOFLINE,
        ("peak", "matmul", "sustained", "products", "memory_bandwidth", "memory"),
    ),
    _Kind("attention", "attention", "micro-batches × Σ FLOPs / (peak × attention)", ATTENTION, ("peak", "attention")),
    _Kind(
        "memory",
        "memory-bound",
        "micro-batches × Σ bytes / (memory_bandwidth × memory)",
        ROOFLINE,
        ("memory_bandwidth", "memory", "fusion", "cast", "accumulation", "loss"),
    ),
    _Kind(
        "launch",
        "launching",
        "micro-batches × (launches × launch.gap + max(0, launches × launch.interval − device time))",
        "",
        ("launch",),
    ),
)
_TRAFFIC: tuple[tuple[str, str, str, Names], ...] = (
    ("tp", "tensor-parallel traffic", f"micro-batches × Σ ({BESIDE}): {INSIDE}", ("hidden", "interference")),
    ("cp", "context-parallel traffic", f"micro-batches × Σ ({BESIDE})", ("interference",)),
    ("ep", "expert-parallel traffic", f"micro-batches × Σ ({BESIDE})", ("unevenness", "interference")),
)


def told(step: Step, figures: Mapping[str, Figure], software: Software) -> Term:
    """The whole step; the parts of every term add up to it."""
    teller = _Teller(step, {**figures, **software.stack.achievable})
    parts = (*teller.passes(), *(teller.traffic(*each) for each in _TRAFFIC), *teller.rest())
    return Term.total("step", parts, formula="everything that follows another on the slowest pipeline stage")


@dataclass(frozen=True, slots=True)
class _Teller:
    """One step and the figures behind it."""

    step: Step
    known: Mapping[str, Figure]

    def passes(self) -> tuple[Term, ...]:
        work = self.step.work
        named = (("forward", work.forward), ("backward", work.backward), ("recomputation", work.recomputed))
        return tuple(self._pass(name, seconds) for name, seconds in named)

    def _pass(self, name: str, seconds: Seconds) -> Term:
        spent = ((kind, self.step.micro_batches * getattr(seconds, kind.field)) for kind in _KINDS)
        return Term.total(name, tuple(self._part(name, kind, value) for kind, value in spent if value))

    def _part(self, name: str, kind: _Kind, value: float) -> Term:
        inputs = (self._count(), *self._named(kind.figures))
        return Term(f"{name} {kind.name}", value, "s", kind.formula, inputs, source=kind.source)

    def traffic(self, axis: str, name: str, formula: str, names: Names) -> Term:
        work = self.step.work
        seen = sum(getattr(part, axis) for part in (work.forward, work.backward, work.recomputed))
        inputs = (self._count(), self._sent(axis), *self._named(names))
        return Term(name, self.step.micro_batches * seen, "s", formula, inputs)

    def rest(self) -> tuple[Term, ...]:
        step, named = self.step, self._named
        work = _computed("one micro-batch", step.work.total, "forward + backward + recomputation", "s")
        bubble = "(all stages − one micro-batch) / virtual stages + 2 (stages − 1) × one send"
        late = (_computed("nodes", step.nodes, "of the layout"), *named(("jitter",)))
        moved = named(("memory_bandwidth", "memory"))
        return (
            Term("pipeline sends", step.pp, "s", "traffic where nothing hides it", (self._sent("pp"),)),
            Term("pipeline bubble", step.bubble, "s", bubble, (work,), source=PIPELINE),
            Term("data-parallel traffic", step.dp, "s", BESIDE, (self._sent("dp"), *named(("gather", "interference")))),
            Term("optimizer", step.optimizer, "s", "bytes / (memory_bandwidth × memory)", moved, source=ROOFLINE),
            Term("data loading", step.data_loading, "s", "as stated"),
            Term("step overhead", step.overhead, "s", "step", named(("step",))),
            Term("stragglers", step.straggling, "s", "jitter × √(2 ln nodes) × all the rest", late),
        )

    def _count(self) -> tuple[str, Figure]:
        return _computed("micro-batches", self.step.micro_batches, "global batch / (dp × micro-batch)")

    def _named(self, names: Names) -> Inputs:
        """The figures of these names and of their refinements (``matmul`` also means ``matmul.bf16``)."""
        return tuple((key, figure) for key, figure in self.known.items() if key.partition(".")[0] in names)

    def _sent(self, axis: str) -> tuple[str, Figure]:
        axes = AXES.get(axis, (axis,))
        seconds = sum(row.seconds for row in self.step.sent if row.axis in axes)
        return _computed("traffic", seconds, "seconds on the wire, all calls of a step", "s")


def _computed(name: str, value: float, formula: str, unit: str = "1") -> tuple[str, Figure]:
    return name, Figure(value, unit, Computed(formula))
