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
HIDDEN = "max(0, c − r) + i min(c, r)"
DATA_AXES = ("dp_cp", "expert_dp", "shard", "replicate")


class _Kind(NamedTuple):
    """One kind of computation: the field of `Seconds` that holds it, how it is called, and what it follows from."""

    field: str
    name: str
    formula: str
    source: str
    figures: Names


_KINDS = (
    _Kind("matmul", "matrix products", "m Σ max(F / R, B / β)", ROOFLINE, ("peak", "matmul", "sustained", "products")),
    _Kind("attention", "attention", "m Σ F / R", ATTENTION, ("peak", "attention")),
    _Kind("memory", "memory-bound", "m Σ B / β", ROOFLINE, ("memory", "fusion", "cast", "accumulation", "loss")),
    _Kind("launch", "launching", "m max(0, n τ − t)", "", ("launch",)),
)
_TRAFFIC: tuple[tuple[str, str, Names], ...] = (
    ("tp", "tensor-parallel traffic", ("hidden", "interference")),
    ("cp", "context-parallel traffic", ("interference",)),
    ("ep", "expert-parallel traffic", ("unevenness",)),
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

    def traffic(self, axis: str, name: str, names: Names) -> Term:
        work = self.step.work
        seen = sum(getattr(part, axis) for part in (work.forward, work.backward, work.recomputed))
        inputs = (self._count(), self._sent(axis), *self._named(names))
        return Term(name, self.step.micro_batches * seen, "s", f"m Σ ({HIDDEN})", inputs)

    def rest(self) -> tuple[Term, ...]:
        step, named = self.step, self._named
        work = _computed("one micro-batch", step.work.total, "forward + backward + recomputation", "s")
        replicas = (self._sent("dp"), *named(("gather", "interference")))
        return (
            Term("pipeline sends", step.pp, "s", "2 m v c where nothing hides them", (self._count(), self._sent("pp"))),
            Term("pipeline bubble", step.bubble, "s", "(Σ w − max w) / v + 2 (p − 1) c", (work,), source=PIPELINE),
            Term("data-parallel traffic", step.dp, "s", HIDDEN, replicas),
            Term("optimizer", step.optimizer, "s", "N B / β", named(("memory",)), source=ROOFLINE),
            Term("data loading", step.data_loading, "s", "as stated"),
            Term("step overhead", step.overhead, "s", "of the software", named(("step",))),
            Term("stragglers", step.straggling, "s", "σ √(2 ln n) of all the rest", named(("jitter",))),
        )

    def _count(self) -> tuple[str, Figure]:
        return _computed("micro-batches", self.step.micro_batches, "global batch / (dp × micro-batch)")

    def _named(self, names: Names) -> Inputs:
        """The figures of these names and of their refinements (``matmul`` also means ``matmul.bf16``)."""
        return tuple((key, figure) for key, figure in self.known.items() if key.partition(".")[0] in names)

    def _sent(self, axis: str) -> tuple[str, Figure]:
        axes = DATA_AXES if axis == "dp" else (axis,)
        seconds = sum(row.seconds for row in self.step.sent if row.axis in axes)
        return _computed(f"{axis} traffic", seconds, "seconds on the wire, all calls of a step", "s")


def _computed(name: str, value: float, formula: str, unit: str = "1") -> tuple[str, Figure]:
    return name, Figure(value, unit, Computed(formula))
