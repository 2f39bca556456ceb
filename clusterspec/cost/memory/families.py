"""The habits of each family of frameworks, read from its own code and documentation."""

from __future__ import annotations

from dataclasses import replace

from clusterspec.cost.memory.habits import CONTEXT, FRAGMENTATION_2023, Habits, Selective
from clusterspec.cost.memory.spread import Spread


def _loss(low: float, value: float, high: float, why: str) -> Spread:
    return Spread("memory.logits", "B", low, value, high, why)


MEGATRON = Habits(
    name="megatron-core",
    loss=_loss(
        2.0,
        6.0,
        8.0,
        "bytes for each logit: 16 bits and fp32, the softmax in place (Megatron-LM,"
        " core/tensor_parallel/cross_entropy.py); 2 where the loss is fused",
    ),
    selective=Selective.EXCEPT_ATTENTION,
    placeholders=True,
    quantized_inputs=True,
    quantized_gradients=Spread(
        "memory.gradients",
        "B",
        2.0,
        2.0,
        4.0,
        "bytes of a gradient: the fp8 and fp4 recipes of NeMo and Megatron Bridge keep and reduce them in 16 bits"
        " (perf_recipes/_common.py, grad_reduce_in_fp32); `gradient_precision` in the spec overrides it",
    ),
)
CUSTOM = replace(MEGATRON, name="custom", placeholders=False, quantized_gradients=None)
DEEPSPEED = Habits(
    name="deepspeed",
    loss=_loss(6.0, 10.0, 14.0, "bytes for each logit: 16 bits, fp32, and a separate softmax in fp32"),
    selective=Selective.EXCEPT_ATTENTION,
    own_gradients=True,
    gradient_copy=4.0,
    buckets=1e9,
    communicators=4,
    live=1e9,
    reduced=2.0,
)
MEGATRON_DEEPSPEED = replace(
    DEEPSPEED,
    name="megatron-deepspeed",
    accumulators=True,
    pipeline_copies=True,
)
INTERNEVO = replace(DEEPSPEED, name="internevo", buckets=0.5e9)
FSDP = Habits(
    name="fsdp",
    loss=_loss(
        2.0,
        4.0,
        16.0,
        "bytes for each logit: 16 bits and their gradient where the loss is fused (llm-foundry); up to 16 where not",
    ),
    selective=Selective.ALTERNATE,
    sharded_master=True,
    whole_logits=True,
    tables_kept=frozenset({"embedding", "head"}),
)
TORCHTITAN = replace(
    FSDP,
    name="torchtitan",
    selective=Selective.MATMULS,
    whole_logits=False,
    tables_kept=frozenset({"head"}),
    loss=_loss(4.0, 6.0, 10.0, "bytes for each logit: 16 bits with gradient, fp32 inside a compiled loss (since 2025)"),
)
TORCHTITAN_2024 = replace(
    TORCHTITAN,
    tables_kept=frozenset({"embedding", "head"}),
    outputs_kept=2,
    loss=_loss(
        10.0,
        14.0,
        16.0,
        "bytes for each logit: the loss was not compiled until 2025 (torchtitan e8977b0): log-softmax, two gradients in"
        " fp32 and one in 16 bits",
    ),
)
MAXTEXT = replace(
    FSDP,
    name="maxtext",
    loss=_loss(2.0, 4.0, 12.0, "bytes for each logit: 16 bits with their gradient; XLA fuses the conversion to fp32"),
    selective=Selective.PROJECTIONS,
    hidden_cut=True,
    late_gradients=True,
    units_at_once=1,
    tables_kept=frozenset(),
    whole_logits=False,
    reduced=0.0,
    context=replace(CONTEXT, value=0.4e9, high=1.2e9, why="what XLA and the runtime reserve of a device"),
)
MAXTEXT_TPU = replace(MAXTEXT, selective=Selective.OFFLOADED)
FAMILIES = {
    "megatron-core": MEGATRON,
    "nemo": MEGATRON,
    "megatron-deepspeed": MEGATRON_DEEPSPEED,
    "deepspeed": DEEPSPEED,
    "internevo": INTERNEVO,
    "torchtitan": TORCHTITAN,
    "fsdp": FSDP,
    "maxtext": MAXTEXT,
    "neuronx-distributed": CUSTOM,
    "custom": CUSTOM,
}
COMPILED_LOSS = 2025
"""Year from which torchtitan compiles its loss and lets go of the outputs of a pipeline."""
EXPANDABLE_SEGMENTS = 2024
"""First whole year in which PyTorch's allocator could expand segments."""
OWN_SHARDING = 2024
"""Year from which Megatron has full sharding of its own; before, ZeRO-3 came from DeepSpeed."""


def of(framework: str, year: int, sharding: str, vendor: str) -> Habits:
    """The habits of ``framework`` as it was in ``year``, on accelerators of ``vendor``."""
    found = _of(framework, year, sharding, vendor)
    old = year < EXPANDABLE_SEGMENTS and found.name != MAXTEXT.name
    return replace(found, fragmentation=FRAGMENTATION_2023) if old else found


def _of(framework: str, year: int, sharding: str, vendor: str) -> Habits:
    found = FAMILIES.get(framework, CUSTOM)
    if found is TORCHTITAN and year < COMPILED_LOSS:
        return TORCHTITAN_2024
    if found is MEGATRON and sharding == "fsdp" and year < OWN_SHARDING:
        return MEGATRON_DEEPSPEED
    return MAXTEXT_TPU if found is MAXTEXT and vendor == "Google" else found
