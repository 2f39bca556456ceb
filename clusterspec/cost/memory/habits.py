"""What a training framework may keep in memory where the spec leaves it open.

A constant here belongs to software, never to a model, a machine or a run.
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
