"""Proposals: the nearest layouts that satisfy a rule and violate no other condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import log2

from clusterspec.cluster.demands import Demands, LayoutNumbers, demands_of, layout_numbers
from clusterspec.cluster.legality import CONDITIONS, violated_conditions
from clusterspec.cluster.model import Design, Layout
from clusterspec.cluster.variation import DEGREES
from clusterspec.records import fields, replace
from clusterspec.rules.words import or_list
from clusterspec.spec.model import LayoutSpec

NUMBERED = frozenset(field.name for field in fields(LayoutNumbers)) - {"interleaved", "own_stages", "ring"}


class Legality:
    """The framework's conditions on one layout, and the nearest layouts that satisfy them.

    If ``advises`` is false, the remedies of the findings are not shown, and no layouts are proposed.
    """

    def __init__(self, design: Design, layout: Layout, written: LayoutSpec, *, advises: bool = True) -> None:
        self._design = design
        self._advises = advises
        self._layout = layout
        self._written = written

    @property
    def framework(self) -> str:
        """The framework that the spec names; empty if it names none."""
        return self._layout.framework if self._layout.capabilities.named else ""

    @property
    def has_integer_dp(self) -> bool:
        """Whether tp × cp × pp divides the ranks, so that dp is defined."""
        return not self.breaks("world-size-mismatch")

    def breaks(self, rule: str) -> bool:
        """Whether the layout violates the condition of this name."""
        return CONDITIONS[rule](self.numbers, self.demands)

    def breaks_no_other(self, rule: str) -> bool:
        """Whether the layout satisfies all conditions except the one with this name."""
        return violated_conditions(self.numbers, self.demands) <= {rule}

    def nearest_values(self, rule: str, axis: str, limit: int = 3) -> list[int]:
        """Values of one axis, the nearest first, that satisfy ``rule`` and violate no further condition."""
        numbers, demands = self.numbers, self.demands
        present: int = getattr(numbers, axis)
        allowed = violated_conditions(numbers, demands) - {rule}
        fits = (value for value in _candidates(axis, numbers, demands) if value != present)
        if axis == "tp":
            fits = (value for value in fits if self._lies_in_domain(value))
        fits = (
            value for value in fits if violated_conditions(self._with_axis(numbers, axis, value), demands) <= allowed
        )
        return sorted(fits, key=lambda value: (abs(_doubling_count(value, present)), value))[:limit]

    def allows(self, changes: Mapping[str, object], rule: str = "") -> bool:
        """Whether the layout with some keys changed violates no further condition."""
        changed = self.numbers
        for axis, value in changes.items():
            if axis in NUMBERED and isinstance(value, int):
                changed = self._with_axis(changed, axis, value)
        return violated_conditions(changed, self.demands) <= violated_conditions(self.numbers, self.demands) - {rule}

    def nearest_values_text(self, rule: str, *axes: str) -> str:
        """The nearest legal values of some axes as text: ``tp 4 or 7, or pp 2``; empty if there are none."""
        if not self._advises:
            return ""
        return self.offered_text({axis: self.nearest_values(rule, axis) for axis in axes})

    def offered_text(self, values: Mapping[str, list[int]]) -> str:
        """Values of some axes as text: ``tp 4 or 7, or pp 2``; empty if there are none."""
        found = {axis: sorted(each) for axis, each in values.items() if each}
        offered = ", or ".join(f"`{axis}` {or_list(each)}" for axis, each in found.items())
        stated = self._written.dp is not None and any(axis in DEGREES for axis in found)
        return f"{offered}, without `dp`, which is derived" if stated else offered

    def advice(self, rule: str, *axes: str, otherwise: str) -> str:
        """The proposals as a sentence, or another text if there are none."""
        offered = self.nearest_values_text(rule, *axes)
        return f"use the nearest valid values: {offered}" if offered else otherwise

    @cached_property
    def demands(self) -> Demands:
        """The inputs of the conditions."""
        return demands_of(self._design)

    @cached_property
    def numbers(self) -> LayoutNumbers:
        """The layout in numbers."""
        return layout_numbers(self._design)

    def _with_axis(self, numbers: LayoutNumbers, axis: str, value: int) -> LayoutNumbers:
        """The numbers with one axis changed; values that depend on this axis are adjusted."""
        changes: dict[str, int | bool] = {axis: value}
        if axis in {"tp", "ep", "attention_dp"} and self._written.expert_tp is None:
            changes["expert_tp"] = self._implied_expert_tp(replace(numbers, **changes))  # type: ignore[arg-type]
        if axis == "pp":
            changes["own_stages"] = False
        return replace(numbers, **changes)  # type: ignore[arg-type]

    def _lies_in_domain(self, tp: int) -> bool:
        """Whether groups of ``tp`` adjacent ranks never cross from one scale-up domain to the next."""
        cluster = self._design.cluster
        return cluster is None or cluster.ranks_per_domain % tp == 0

    def _implied_expert_tp(self, numbers: LayoutNumbers) -> int:
        """The number of ranks that shard one expert, as resolved layouts have it where the spec does not state it."""
        if self.demands.serves:
            return max(1, numbers.tp * numbers.attention_dp // numbers.ep)
        shards = numbers.ep == 1 or self._layout.capabilities.has("defaults.expert_tp")
        return numbers.tp if shards else 1


def near_multiples(value: int, step: int) -> list[int]:
    """The multiples of ``step`` nearest to a value, below and above.

    >>> near_multiples(100, 32)
    [96, 128]
    """
    below = value // step * step
    return [multiple for multiple in (below, below + step) if multiple > 0 and multiple != value]


def _candidates(axis: str, numbers: LayoutNumbers, demands: Demands) -> Iterator[int]:
    """Candidate degrees: up to the ranks, the heads or layers, and 1,024; of expert tensor parallelism up to tp."""
    heads, layers = (demands.model.heads, demands.model.layers) if demands.model else (64, 64)
    most = {"tp": heads, "pp": layers, "virtual_stages": layers, "expert_tp": numbers.tp}
    limit = min(demands.ranks, most.get(axis, 4 * getattr(numbers, axis) + 8), 1024)
    yield from range(1, limit + 1)


def _doubling_count(value: int, other: int) -> float:
    return log2(value / other)
