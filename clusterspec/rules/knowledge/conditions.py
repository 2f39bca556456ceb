"""What frameworks demand of a layout, as one set of conditions, each named after the rule that speaks of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import lcm

from clusterspec.catalog.entries import Model

BUILT_ON_MEGATRON = frozenset({"megatron-core", "nemo"})
"""Frameworks built on Megatron Core."""
MEGATRON = BUILT_ON_MEGATRON | {""}
"""The same, and a spec that names none: it is held to theirs, the strictest demands that are common."""
DEEPSPEED = frozenset({"deepspeed", "megatron-deepspeed"})
FULL_SHARDING = frozenset({"fsdp", "hsdp"})
OWN_FULL_SHARDING = 2025
"""Year of Megatron Core 0.15, whose Megatron-FSDP combines with expert and pipeline parallelism. Earlier releases shard
with PyTorch FSDP2, which refuses both.
"""


def forbids_pipeline(framework: str, software_year: int, sharding: str) -> bool:
    """Whether a framework of a year refuses this sharding beside a pipeline."""
    if framework in DEEPSPEED:
        return sharding in FULL_SHARDING | {"zero2"}
    return framework in BUILT_ON_MEGATRON and software_year < OWN_FULL_SHARDING and sharding in FULL_SHARDING


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
    ring: bool
    """Context parallelism gives each rank two chunks; otherwise one."""

    def dp(self, case: Case) -> int:
        return max(1, case.ranks // (self.tp * self.cp * self.pp))

    def micro_batches(self, case: Case) -> int | None:
        """Per replica and step; None where they are no whole number, or the batch is not known."""
        if case.batch is None or case.batch % (self.dp(case) * self.micro_batch):
            return None
        return case.batch // (self.dp(case) * self.micro_batch)


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
    return case.sequence is not None and cut.cp > 1 and case.sequence % ((2 if cut.ring else 1) * cut.cp) != 0


def _sequence_shards(cut: Cut, case: Case) -> bool:
    if case.sequence is None or not cut.sequence_parallel or cut.tp == 1 or _chunks(cut, case):
        return False
    return case.sequence % sequence_step(cut.tp, cut.cp, case.framework) != 0


def sequence_step(tp: int, cp: int, framework: str) -> int:
    """What the sequence must be a multiple of, with sequence parallelism over tp and chunks over cp."""
    if framework == "torchtitan":
        return 2 * cp * tp
    return lcm(2 * cp, cp * tp) if cp > 1 else tp


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
