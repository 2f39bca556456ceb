"""Legality of a layout: the requirements of a framework, one condition for each rule that reports it.

Rules, their advice and search share these conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import lcm

from clusterspec.catalog.entries import Model
from clusterspec.records import dataclass

BUILT_ON_MEGATRON = frozenset({"megatron-core", "nemo"})
"""Frameworks built on Megatron Core."""
MEGATRON = BUILT_ON_MEGATRON | {""}
"""The frameworks above, and a spec that names none, to which these requirements apply as the strictest in
common use.
"""
DEEPSPEED = frozenset({"deepspeed", "megatron-deepspeed"})
FULL_SHARDING = frozenset({"fsdp", "hsdp"})
OWN_FULL_SHARDING = 2025
"""Year of Megatron Core 0.15, whose Megatron-FSDP supports expert and pipeline parallelism. Earlier releases shard with
PyTorch FSDP2, which supports neither.
"""


OWN_STAGES = 2025
"""Year of Megatron Core 0.13, whose pipeline layout (``--pipeline-model-parallel-layout``) states the layers of every
virtual stage. Earlier releases state those of the first and of the last stage.
"""
ENDS = 2
"""The first and the last stage."""


def forbids_pipeline(framework: str, software_year: int, sharding: str) -> bool:
    """Whether a framework of a year does not support this sharding with pipeline parallelism."""
    if framework in DEEPSPEED:
        return sharding in FULL_SHARDING | {"zero2"}
    return framework in BUILT_ON_MEGATRON and software_year < OWN_FULL_SHARDING and sharding in FULL_SHARDING


def forbids_expert_parallel(framework: str, software_year: int, sharding: str) -> bool:
    """Whether a framework of a year does not support this sharding with expert parallelism."""
    return framework in BUILT_ON_MEGATRON and software_year < OWN_FULL_SHARDING and sharding in FULL_SHARDING


def forbids_uneven_stages(framework: str, software_year: int, virtual_stages: int, shorter: int) -> bool:
    """Whether a framework of a year does not support stages of which ``shorter`` at the ends have a layer less.

    MaxText divides layers evenly. Megatron Core lets the first and the last stage differ, and from `OWN_STAGES` any of
    them, virtual ones too; torchtitan places any module on any stage. The others split stages without virtual ones.
    """
    if framework in BUILT_ON_MEGATRON:
        return software_year < OWN_STAGES and (virtual_stages > 1 or shorter > ENDS)
    return framework == "maxtext" or (virtual_stages > 1 and framework != "torchtitan")


@dataclass(frozen=True, slots=True)
class Demands:
    """The inputs of the conditions: the ranks of the job, the framework, the model, the global batch in sequences and
    the sequence length in tokens. A part that is None imposes no condition.
    """

    ranks: int
    framework: str
    model: Model | None
    batch: int | None
    sequence: int | None


@dataclass(frozen=True, slots=True)
class LayoutNumbers:
    """The numbers of a layout; dp follows from the ranks."""

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
    attention_dp: int = 1
    redundant_experts: int = 0

    @property
    def replica(self) -> int:
        """Ranks of one replica."""
        return self.tp * self.attention_dp * self.cp * self.pp

    def dp(self, demands: Demands) -> int:
        return max(1, demands.ranks // self.replica)

    def micro_batches(self, demands: Demands) -> int | None:
        """Micro-batches per replica and step; None where that is not an integer, or the batch is not known."""
        if demands.batch is None or demands.batch % (self.dp(demands) * self.micro_batch):
            return None
        return demands.batch // (self.dp(demands) * self.micro_batch)


def violations(numbers: LayoutNumbers, demands: Demands) -> frozenset[str]:
    """The names of the conditions that a layout violates."""
    return frozenset(name for name, broken in CONDITIONS.items() if broken(numbers, demands))


def _world(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.ranks % numbers.replica != 0


def _heads(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.model is not None and any(count % numbers.tp for _, count in cut_heads(demands.model))


def cut_heads(model: Model) -> tuple[tuple[str, int], ...]:
    """Units that tensor parallelism does not split, by name: heads of every kind of layer, and groups of outputs."""
    found = [("heads", model.heads)]
    if model.window and model.window.heads:
        found.append(("heads of layers with a window", model.window.heads))
    if model.linear:
        found.append(("value heads of linear attention", model.linear.value_heads))
    if model.compressed:
        found.append(("groups of outputs", model.compressed.output_groups))
    return tuple(found)


def _kv_heads(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.model is not None and kv_heads_refused(demands.model, numbers.tp, demands.framework)


def kv_heads_refused(model: Model, tp: int, framework: str) -> bool:
    """Whether the framework does not support these key-value heads over tp ranks.

    torchtitan shards them evenly or not at all; Megatron also replicates whole heads. Latent and compressed attention
    have no key-value heads to shard.
    """
    if model.latent or model.compressed or model.kv_heads in {0, model.heads}:
        return False
    if framework == "torchtitan":
        return model.kv_heads % tp != 0
    return framework in MEGATRON and model.kv_heads % tp != 0 and tp % model.kv_heads != 0


def _ffn(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None:
        return False
    expert = demands.model.expert_ffn_hidden if demands.model.experts else 0
    return bool(demands.model.ffn_hidden % numbers.tp or expert % numbers.expert_tp)


def _stages(numbers: LayoutNumbers, demands: Demands) -> bool:
    uneven = demands.model is not None and demands.model.layers % numbers.pp != 0
    return uneven and numbers.pp > 1 and not numbers.own_stages


def _virtual_stages(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None or numbers.virtual_stages == 1 or numbers.own_stages or demands.model.layers % numbers.pp:
        return False
    of_rank = demands.model.layers // numbers.pp
    return demands.framework in MEGATRON | {"maxtext"} and of_rank % numbers.virtual_stages != 0


def _batch(numbers: LayoutNumbers, demands: Demands) -> bool:
    return demands.batch is not None and demands.batch % (numbers.dp(demands) * numbers.micro_batch) != 0


def _micro_batches(numbers: LayoutNumbers, demands: Demands) -> bool:
    micro_batches = numbers.micro_batches(demands)
    grouped = (numbers.interleaved and demands.framework in MEGATRON) or demands.framework == "maxtext"
    return micro_batches is not None and numbers.pp > 1 and grouped and micro_batches % numbers.pp != 0


def _experts(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.model is None or not demands.model.experts:
        return False
    return (demands.model.experts + numbers.redundant_experts) % numbers.ep != 0


def _expert_ranks(numbers: LayoutNumbers, demands: Demands) -> bool:
    """Whether expert groups cannot be formed: DeepSpeed forms them within dp, other frameworks within dp × cp × tp."""
    dp = numbers.dp(demands)
    if demands.framework in DEEPSPEED:
        return dp % numbers.ep != 0
    return (dp * numbers.replica // numbers.pp) % (numbers.expert_tp * numbers.ep) != 0


def _chunks(numbers: LayoutNumbers, demands: Demands) -> bool:
    chunks = (2 if numbers.ring else 1) * numbers.cp
    return demands.sequence is not None and numbers.cp > 1 and demands.sequence % chunks != 0


def _sequence_shards(numbers: LayoutNumbers, demands: Demands) -> bool:
    if demands.sequence is None or not numbers.sequence_parallel or numbers.tp == 1 or _chunks(numbers, demands):
        return False
    return demands.sequence % sequence_step(numbers.tp, numbers.cp, demands.framework) != 0


def sequence_step(tp: int, cp: int, framework: str) -> int:
    """The number of which the sequence length must be a multiple, with sequence parallelism over tp and chunks
    over cp.
    """
    if framework == "torchtitan":
        return 2 * cp * tp
    return lcm(2 * cp, cp * tp) if cp > 1 else tp


CONDITIONS: Mapping[str, Callable[[LayoutNumbers, Demands], bool]] = {
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
"""Functions that return True where the rule of that name is violated."""
