"""What frameworks demand of a layout, as one set of conditions: rules judge by it, and their help offers the
nearest layouts that satisfy all of it.

A condition is named after the rule that speaks of it, so that a proposal can be held to everything that the
present layout satisfies, and to the rule that has just spoken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from math import lcm, log2

from clusterspec.catalog.entries import Model
from clusterspec.rules.facts import Facts
from clusterspec.rules.words import either

MEGATRON = frozenset({"megatron-core", "nemo", ""})
"""Frameworks built on Megatron Core; a spec that names none is held to the same, the strictest that is common."""
DEEPSPEED = frozenset({"deepspeed", "megatron-deepspeed"})
EXPERTS_CUT_BY_TP = frozenset({"megatron-core", "nemo"})


@dataclass(frozen=True, slots=True)
class Case:
    """What a layout has to suit. Parts that are not known demand nothing."""

    ranks: int
    framework: str
    model: Model | None
    batch: int | None
    sequence: int | None


@dataclass(frozen=True, slots=True)
class Cut:
    """A layout in numbers; dp follows from the ranks."""

    tp: int
    cp: int
    ep: int
    expert_tp: int
    pp: int
    virtual_stages: int
    micro_batch: int
    interleaved: bool
    sequence_parallel: bool
    own_stages: bool

    def dp(self, case: Case) -> int:
        return max(1, case.ranks // (self.tp * self.cp * self.pp))

    def micro_batches(self, case: Case) -> int | None:
        """Per replica and step; None where they are no whole number, or the batch is not known."""
        if case.batch is None or case.batch % (self.dp(case) * self.micro_batch):
            return None
        return case.batch // (self.dp(case) * self.micro_batch)


def framework(facts: Facts) -> str:
    """The framework that the spec names; empty where it names none."""
    return (facts.said_layout.framework if facts.said_layout else None) or ""


def whole_world(facts: Facts) -> bool:
    """Whether tp × cp × pp divides the ranks, so that dp means something."""
    return not breaks(facts, "world-size-mismatch")


def nearest(facts: Facts, rule: str, axis: str, limit: int = 3) -> list[int]:
    """Values of one axis, the nearest first, with which ``rule`` is satisfied and nothing else breaks."""
    cut, case = _now(facts)
    present: int = getattr(cut, axis)
    allowed = failures(cut, case) - {rule}
    fits = (value for value in _candidates(axis, cut, case) if value != present)
    fits = (value for value in fits if failures(_with(cut, axis, value, facts), case) <= allowed)
    return sorted(fits, key=lambda value: (abs(_doublings(value, present)), value))[:limit]


def breaks(facts: Facts, rule: str) -> bool:
    """Whether the present layout breaks the condition of this name."""
    cut, case = _now(facts)
    return CONDITIONS[rule](cut, case)


def allowed(facts: Facts, changes: Mapping[str, object], rule: str = "") -> bool:
    """Whether the layout with some axes changed breaks nothing that it does not break already; keys that no
    condition looks at are passed over.
    """
    cut, case = _now(facts)
    changed = cut
    for axis, value in changes.items():
        if axis in CUT_AXES and isinstance(value, int):
            changed = _with(changed, axis, value, facts)
    return failures(changed, case) <= failures(cut, case) - {rule}


def offer(facts: Facts, rule: str, *axes: str) -> str:
    """The nearest legal values of some axes in words: ``tp 4 or 7, or pp 2``; empty where there are none."""
    found = ((axis, nearest(facts, rule, axis)) for axis in axes)
    return ", or ".join(f"`{axis}` " + either(sorted(values)) for axis, values in found if values)


def advice(facts: Facts, rule: str, *axes: str, otherwise: str) -> str:
    """The offer as a sentence, or what to say where there is none."""
    offered = offer(facts, rule, *axes)
    return f"nearest that fit everything else: {offered}" if offered else otherwise


def near_multiples(value: int, step: int) -> list[int]:
    """The multiples of ``step`` next to a value, below and above.

    >>> near_multiples(100, 32)
    [96, 128]
    """
    below = value // step * step
    return [multiple for multiple in (below, below + step) if multiple > 0 and multiple != value]


def failures(cut: Cut, case: Case) -> frozenset[str]:
    """The rules that a cut breaks."""
    return frozenset(name for name, broken in CONDITIONS.items() if broken(cut, case))


def _world(cut: Cut, case: Case) -> bool:
    return case.ranks % (cut.tp * cut.cp * cut.pp) != 0


def _heads(cut: Cut, case: Case) -> bool:
    return bool(case.model and case.model.heads % cut.tp)


def _kv_heads(cut: Cut, case: Case) -> bool:
    return case.model is not None and kv_heads_refused(case.model, cut.tp, case.framework)


def kv_heads_refused(model: Model, tp: int, framework: str) -> bool:
    """Whether the framework refuses to spread the key-value heads over tp ranks.

    torchtitan splits them evenly or not at all; Megatron also replicates whole heads. With latent attention there
    are none to spread.
    """
    if model.latent or model.kv_heads in {0, model.heads}:
        return False
    if framework == "torchtitan":
        return model.kv_heads % tp != 0
    return framework in MEGATRON and model.kv_heads % tp != 0 and tp % model.kv_heads != 0


def _ffn(cut: Cut, case: Case) -> bool:
    if case.model is None:
        return False
    expert = case.model.expert_ffn_hidden if case.model.experts else 0
    return bool(case.model.ffn_hidden % cut.tp or expert % cut.expert_tp)


def _stages(cut: Cut, case: Case) -> bool:
    return case.model is not None and cut.pp > 1 and not cut.own_stages and case.model.layers % cut.pp != 0


def _virtual_stages(cut: Cut, case: Case) -> bool:
    if case.model is None or cut.virtual_stages == 1 or cut.own_stages or case.model.layers % cut.pp:
        return False
    return case.framework in MEGATRON | {"maxtext"} and case.model.layers // cut.pp % cut.virtual_stages != 0


def _batch(cut: Cut, case: Case) -> bool:
    return case.batch is not None and case.batch % (cut.dp(case) * cut.micro_batch) != 0


def _micro_batches(cut: Cut, case: Case) -> bool:
    micro_batches = cut.micro_batches(case)
    grouped = (cut.interleaved and case.framework in MEGATRON) or case.framework == "maxtext"
    return micro_batches is not None and cut.pp > 1 and grouped and micro_batches % cut.pp != 0


def _experts(cut: Cut, case: Case) -> bool:
    return bool(case.model and case.model.experts and case.model.experts % cut.ep)


def _expert_ranks(cut: Cut, case: Case) -> bool:
    """Whether expert groups cannot be formed: DeepSpeed takes them from dp, the others from dp × cp × tp."""
    dp = cut.dp(case)
    if case.framework in DEEPSPEED:
        return dp % cut.ep != 0
    return (dp * cut.cp * cut.tp) % (cut.expert_tp * cut.ep) != 0


def _chunks(cut: Cut, case: Case) -> bool:
    return case.sequence is not None and cut.cp > 1 and case.sequence % (2 * cut.cp) != 0


def _sequence_shards(cut: Cut, case: Case) -> bool:
    if case.sequence is None or not cut.sequence_parallel or cut.tp == 1 or _chunks(cut, case):
        return False
    return case.sequence % sequence_step(cut.tp, cut.cp, case.framework) != 0


def sequence_step(tp: int, cp: int, framework: str) -> int:
    """What the sequence must be a multiple of, with sequence parallelism over tp and chunks over cp."""
    if framework == "torchtitan":
        return 2 * cp * tp
    return lcm(2 * cp, cp * tp) if cp > 1 else tp


CUT_AXES = frozenset(field.name for field in fields(Cut)) - {"interleaved", "own_stages"}

CONDITIONS: Mapping[str, Callable[[Cut, Case], bool]] = {
    "world-size-mismatch": _world,
    "heads-indivisible-by-tp": _heads,
    "kv-heads-indivisible-by-tp": _kv_heads,
    "ffn-indivisible-by-tp": _ffn,
    "layers-indivisible-by-pp": _stages,
    "layers-indivisible-by-stages": _virtual_stages,
    "global-batch-indivisible": _batch,
    "microbatches-indivisible-by-pp": _micro_batches,
    "experts-indivisible-by-ep": _experts,
    "ep-not-dividing-ranks": _expert_ranks,
    "sequence-indivisible-by-cp": _chunks,
    "sequence-indivisible-by-tp": _sequence_shards,
}
"""True where the rule of that name is broken."""


def case_of(facts: Facts) -> Case:
    """What the layout of a spec has to suit."""
    cluster, layout, training = facts.cluster, facts.layout, facts.training
    assert cluster is not None and layout is not None
    return Case(
        layout.nodes * cluster.ranks_per_node,
        framework(facts),
        facts.model,
        training.global_batch if training else None,
        training.sequence_length if training else None,
    )


def _now(facts: Facts) -> tuple[Cut, Case]:
    return facts.remember(_cut_and_case)


def _cut_and_case(facts: Facts) -> tuple[Cut, Case]:
    layout, said = facts.layout, facts.said_layout
    assert layout is not None and said is not None
    cut = Cut(
        layout.tp,
        layout.cp,
        layout.ep,
        layout.expert_tp,
        layout.pp,
        layout.virtual_stages,
        layout.micro_batch,
        layout.schedule == "interleaved",
        layout.sequence_parallel,
        said.stage_layers is not None,
    )
    return cut, case_of(facts)


def _with(cut: Cut, axis: str, value: int, facts: Facts) -> Cut:
    """The cut with one axis changed, and what follows from it."""
    changes: dict[str, int | bool] = {axis: value}
    follows = facts.said_layout is not None and facts.said_layout.expert_tp is None
    if axis == "tp" and follows and framework(facts) in EXPERTS_CUT_BY_TP:
        changes["expert_tp"] = value
    if axis == "pp":
        changes["own_stages"] = False
    return replace(cut, **changes)  # type: ignore[arg-type]


def _candidates(axis: str, cut: Cut, case: Case) -> Iterator[int]:
    """Degrees worth trying: divisors of what the axis divides, and none beyond the ranks."""
    heads, layers = (case.model.heads, case.model.layers) if case.model else (64, 64)
    most = {"tp": heads, "pp": layers, "virtual_stages": layers}
    limit = min(case.ranks, most.get(axis, 4 * getattr(cut, axis) + 8), 1024)
    yield from range(1, limit + 1)


def _doublings(value: int, other: int) -> float:
    return log2(value / other)
