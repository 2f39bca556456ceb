"""What each training framework keeps in memory where the spec leaves it open.

Read from the frameworks' own code and documentation, as each entry says. A constant here belongs
to a family of software, never to a model, a machine or a run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from clusterspec.cost.memory.spread import Spread


class Selective(StrEnum):
    """What selective recomputation keeps of a layer."""

    EXCEPT_ATTENTION = "all but the attention core (and what latent attention expands to)"
    MATMULS = "every second matrix product and attention's output"
    PROJECTIONS = "queries, keys and values"
    ALTERNATE = "every second layer"
    OFFLOADED = "nothing: what is saved goes to host memory"


def _loss(low: float, value: float, high: float, why: str) -> Spread:
    return Spread("memory.logits", "B", low, value, high, why)


CONTEXT = Spread(
    "memory.context",
    "B",
    0.0,
    0.8e9,
    1.6e9,
    "driver context, kernels and library handles of one process; the counters of a framework's allocator do not see it",
)
COMMUNICATOR = Spread(
    "memory.communicator",
    "B",
    0.0,
    0.25e9,
    0.6e9,
    "buffers of one communicator: NCCL keeps 4 MiB and more for each channel and peer (NCCL_BUFFSIZE)",
)
FRAGMENTATION = Spread(
    "memory.fragmentation",
    "1",
    0.0,
    0.03,
    0.12,
    "reserved over allocated memory of Megatron-LM on B200 was 1.03 to 1.09 (SimuMax v1.2, 15 layouts), part of which"
    " the allocator gives back when it is short",
)
FRAGMENTATION_2023 = replace(
    FRAGMENTATION,
    low=0.01,
    value=0.05,
    high=0.15,
    why="the median of reserved over allocated memory in the same measurements, 1.05, before allocators could expand"
    " segments (PyTorch 2.1)",
)
ROUTING = Spread("memory.routing", "1", 1.0, 1.0, 1.5, "tokens spread evenly over the experts")


@dataclass(frozen=True, slots=True)
class Habits:
    """How one family lays out memory.

    ``sharded_master``: the weights themselves are the fp32 master, and 16-bit copies are gathered
    unit by unit. ``own_gradients``: gradients stay in the compute precision where the spec does
    not say otherwise, and the optimizer's share has a copy in fp32 (``gradient_copy`` bytes for
    each weight of the share). ``accumulators``: bf16 gradients are summed in fp32 buffers beside
    them. ``placeholders``: one layer's weight gradients lie empty in 16 bits, since fused kernels
    add straight to the main gradients. ``quantized_inputs``: fp8 products keep their inputs in
    fp8. ``hidden_cut``: tensor parallelism cuts the residual stream without sequence parallelism.
    ``pipeline_copies``: the stage's inputs and outputs are kept for each micro-batch in flight.
    ``outputs_kept``: copies of every micro-batch's logits on the last stage. ``buckets``:
    numbers in the 16-bit buffers that gather gradients and weights. ``communicators`` beside one
    for each axis and one of all ranks. ``quantized_gradients``: bytes of a gradient where products
    run in fp8 or fp4 and the spec says no precision of gradients. ``late_gradients``: without
    accumulation, gradients take the place of the activations that they are computed from.
    ``whole_logits``: tensor-parallel ranks gather the logits before the loss.

    Of full sharding: ``units_at_once`` layers are gathered (the one at work and the one fetched
    ahead), at most ``live`` weights; ``tables_kept`` names the tables that stay gathered;
    ``reduced`` bytes of one gradient on its way to the rank that keeps it.
    """

    name: str
    loss: Spread
    selective: Selective
    sharded_master: bool = False
    own_gradients: bool = False
    gradient_copy: float = 0.0
    accumulators: bool = False
    placeholders: bool = False
    quantized_inputs: bool = False
    hidden_cut: bool = False
    pipeline_copies: bool = False
    outputs_kept: int = 0
    buckets: float = 0.0
    communicators: int = 0
    quantized_gradients: Spread | None = None
    late_gradients: bool = False
    whole_logits: bool = False
    units_at_once: int = 2
    live: float = inf
    tables_kept: frozenset[str] = frozenset()
    reduced: float = 4.0
    context: Spread = CONTEXT
    fragmentation: Spread = FRAGMENTATION


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
