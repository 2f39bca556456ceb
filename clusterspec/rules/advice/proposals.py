"""Proposals: the nearest layouts that satisfy a rule and break no other condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log2

from clusterspec.cluster.degrees import EXPERTS_CUT_BY_TP
from clusterspec.cluster.legality import CONDITIONS, Demands, LayoutNumbers, violations
from clusterspec.records import fields, replace
from clusterspec.rules.facts import Facts
from clusterspec.rules.words import either

NUMBERED = frozenset(field.name for field in fields(LayoutNumbers)) - {"interleaved", "own_stages", "ring"}


def framework(facts: Facts) -> str:
    """The framework that the spec names; empty where it names none."""
    return (facts.written_layout.framework if facts.written_layout else None) or ""


def whole_world(facts: Facts) -> bool:
    """Whether tp × cp × pp divides the ranks, so that dp means something."""
    return not breaks(facts, "world-size-mismatch")


def nearest(facts: Facts, rule: str, axis: str, limit: int = 3) -> list[int]:
    """Values of one axis, the nearest first, with which ``rule`` is satisfied and nothing else breaks."""
    numbers, demands = _now(facts)
    present: int = getattr(numbers, axis)
    allowed = violations(numbers, demands) - {rule}
    fits = (value for value in _candidates(axis, numbers, demands) if value != present)
    fits = (value for value in fits if violations(_with(numbers, axis, value, facts), demands) <= allowed)
    return sorted(fits, key=lambda value: (abs(_doublings(value, present)), value))[:limit]


def breaks(facts: Facts, rule: str) -> bool:
    """Whether the present layout breaks the condition of this name."""
    numbers, demands = _now(facts)
    return CONDITIONS[rule](numbers, demands)


def allowed(facts: Facts, changes: Mapping[str, object], rule: str = "") -> bool:
    """Whether the layout with some axes changed breaks nothing that it does not break already; keys that no
    condition looks at are passed over.
    """
    numbers, demands = _now(facts)
    changed = numbers
    for axis, value in changes.items():
        if axis in NUMBERED and isinstance(value, int):
            changed = _with(changed, axis, value, facts)
    return violations(changed, demands) <= violations(numbers, demands) - {rule}


def offer(facts: Facts, rule: str, *axes: str) -> str:
    """The nearest legal values of some axes in words: ``tp 4 or 7, or pp 2``; empty where there are none."""
    found = ((axis, nearest(facts, rule, axis)) for axis in axes)
    return ", or ".join(f"`{axis}` " + either(sorted(values)) for axis, values in found if values)


def advice(facts: Facts, rule: str, *axes: str, otherwise: str) -> str:
    """The proposals as a sentence, or another text where there are none."""
    offered = offer(facts, rule, *axes)
    return f"use the nearest that fit everything else: {offered}" if offered else otherwise


def near_multiples(value: int, step: int) -> list[int]:
    """The multiples of ``step`` next to a value, below and above.

    >>> near_multiples(100, 32)
    [96, 128]
    """
    below = value // step * step
    return [multiple for multiple in (below, below + step) if multiple > 0 and multiple != value]


def demands_of(facts: Facts) -> Demands:
    """What the layout of a spec has to suit."""
    cluster, layout, training = facts.cluster, facts.layout, facts.training
    assert cluster is not None and layout is not None
    ranks = layout.tp * layout.data_ranks * layout.cp * layout.pp
    return Demands(
        ranks if layout.separate_engines else layout.nodes * cluster.ranks_per_node,
        framework(facts),
        facts.model,
        training.global_batch if training else None,
        training.sequence_length if training else None,
    )


def _now(facts: Facts) -> tuple[LayoutNumbers, Demands]:
    return facts.remember(_numbers_and_demands)


def _numbers_and_demands(facts: Facts) -> tuple[LayoutNumbers, Demands]:
    layout, written = facts.layout, facts.written_layout
    assert layout is not None and written is not None
    numbers = LayoutNumbers(
        layout.tp,
        layout.cp,
        layout.ep,
        layout.expert_tp,
        layout.pp,
        layout.virtual_stages,
        layout.micro_batch,
        layout.schedule == "interleaved",
        layout.sequence_parallel,
        written.stage_layers is not None,
        layout.cp_method != "all-to-all",
        layout.attention_dp,
        layout.redundant_experts,
    )
    return numbers, demands_of(facts)


def _with(numbers: LayoutNumbers, axis: str, value: int, facts: Facts) -> LayoutNumbers:
    """The numbers with one axis changed, and what follows from it."""
    changes: dict[str, int | bool] = {axis: value}
    follows = facts.written_layout is not None and facts.written_layout.expert_tp is None
    if axis == "tp" and follows and framework(facts) in EXPERTS_CUT_BY_TP:
        changes["expert_tp"] = value
    if axis == "pp":
        changes["own_stages"] = False
    return replace(numbers, **changes)  # type: ignore[arg-type]


def _candidates(axis: str, numbers: LayoutNumbers, demands: Demands) -> Iterator[int]:
    """Degrees worth trying: divisors of what the axis divides, and none beyond the ranks."""
    heads, layers = (demands.model.heads, demands.model.layers) if demands.model else (64, 64)
    most = {"tp": heads, "pp": layers, "virtual_stages": layers}
    limit = min(demands.ranks, most.get(axis, 4 * getattr(numbers, axis) + 8), 1024)
    yield from range(1, limit + 1)


def _doublings(value: int, other: int) -> float:
    return log2(value / other)
