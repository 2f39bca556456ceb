"""Memory behavior of a framework, as part of its stack entry; it applies where the spec states nothing."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from clusterspec.quantity import Figure
from clusterspec.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure that varies between runs; ``low`` and ``high`` bound the measurements."""

    figure: Figure
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.figure.value


@dataclass(frozen=True, slots=True)
class FrameworkMemory:
    """How one generation of a framework uses memory.

    ``logits``: bytes for each logit that the loss keeps at once. ``context``: bytes of one process beside what
    the allocator counts. ``fragmentation``: reserved over allocated memory, less one.
    ``gradients``: by precision of the matrix work, the precision of gradients where the spec states none.
    ``sharded_master``: the weights themselves are the master weights, and 16-bit copies are gathered unit by
    unit. ``gradient_copy``: bytes that the sharded optimizer keeps of each 16-bit gradient of its part.
    ``accumulators``: bf16 gradients lie beside the fp32 buffers that they are summed in. ``placeholders``: one
    layer's weight gradients lie empty in 16 bits, since fused kernels add straight to the main gradients.
    ``quantized_inputs``: products in fp8 and fp4 keep their inputs in that precision. ``cuts_residual``: tensor
    parallelism cuts the residual stream without sequence parallelism. ``pipeline_copies``: a stage's inputs and
    outputs are kept for each micro-batch in flight. ``outputs_kept``: copies of every micro-batch's logits on the
    last stage. ``buckets``: numbers in the 16-bit buffers that gather gradients and weights. ``communicators``
    beside one for each axis and one of all ranks. ``late_gradients``: without accumulation, gradients take the
    place of the activations that they are computed from. ``whole_logits``: tensor-parallel ranks gather the
    logits before the loss. ``offloads_selective``: what selective recomputation saves goes to host memory.

    Of full sharding: ``layers_at_once`` are gathered, at most ``live`` weights; ``tables_kept`` names the tables
    that stay gathered; ``reduced`` bytes of one gradient in the reduction.
    """

    logits: Spread | None = None
    context: Spread | None = None
    fragmentation: Spread | None = None
    gradients: Mapping[str, str] = field(default_factory=dict)
    sharded_master: bool = False
    gradient_copy: float = 0.0
    accumulators: bool = False
    placeholders: bool = False
    quantized_inputs: bool = False
    cuts_residual: bool = False
    pipeline_copies: bool = False
    outputs_kept: int = 0
    buckets: float = 0.0
    communicators: int = 0
    late_gradients: bool = False
    whole_logits: bool = False
    offloads_selective: tuple[str, ...] = ()
    layers_at_once: int = 2
    live: float = inf
    tables_kept: tuple[str, ...] = ()
    reduced: float = 4.0

    def gradient_precision(self, work: str) -> str:
        """The precision of gradients where the matrix work runs in ``work`` and the spec states none."""
        return self.gradients.get(work, "fp32")
