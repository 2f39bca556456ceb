"""Computation of one rank: kernels, the smallest unit of work in the cost model, and the shard that one runs on."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, auto

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Layout, Trainable, Workload
from clusterspec.cost import CONSTANTS, assumed_figure
from clusterspec.cost.formulas import compute as formulas
from clusterspec.cost.formulas.compute import is_divided, is_zero
from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.layers import Mixer, model_of_mixer
from clusterspec.cost.parameters import copies_weights, has_native_norms, residual_width
from clusterspec.quantity import NARROW, activation_width, precision_width
from clusterspec.records import NamedTuple, dataclass

KERNELS, BIASES, COPIES, SHARDED = "kernels", "biases of experts", "copies of weights", "sharded tensors"
FIXED = CONSTANTS.setdefault(KERNELS, {})
"""The constants of this module by name; a plan lists them among its assumptions."""


def _kernel_constant(name: str, value: float, why: str, unit: str = "1") -> float:
    return assumed_figure(KERNELS, name, value, why, unit).value


TILES = (
    (256.0, 128.0, 1.0),
    (
        128.0,
        128.0,
        _kernel_constant(
            "tile.128x128",
            0.93,
            "rate of GEMMs in tiles of 128 × 128, relative to tiles of 256 × 128: operands are read a third more often"
            " (NVIDIA, Matrix Multiplication Background User's Guide)",
        ),
    ),
    (
        128.0,
        64.0,
        _kernel_constant("tile.128x64", 0.8, "rate of GEMMs in tiles of 128 × 64: operands are read twice as often"),
    ),
)
"""Tiles of GEMM libraries: rows, columns, and the rate relative to the largest tile."""
DEPTH_START = _kernel_constant(
    "tile.depth", 50.0, "depth of a GEMM whose multiplication takes as long as filling and draining one tile"
)
LENGTH_START = _kernel_constant(
    "attention.length",
    500.0,
    "tokens of a sequence at which attention kernels reach half of the rate that they have on long ones, for"
    " accelerators without a measured figure (FlashAttention-2, arXiv 2307.08691, figure 5, about)",
)
LOSS_FORWARD = _kernel_constant(
    "loss.forward",
    0.6,
    "share of the traffic of the loss in the forward pass: a cast, a maximum and a softmax, against one "
    "multiplication in the backward pass",
)
WEIGHT_SHARE = _kernel_constant(
    "backward.weights", 0.5, "share of a backward pass that computes weight gradients: one of two equal GEMMs"
)
NORM_PASSES = _kernel_constant(
    "norms.passes",
    10.0,
    "reads and writes of one row by two norms (one read and one write; backward two reads and one write) and two "
    "additions to the residual stream with dropout (two reads and one write; backward one and one)",
)
RESIDUAL_PASSES = _kernel_constant(
    "norms.passes.residual",
    6.0,
    "reads and writes of the residual stream by these norms and additions: one and two; backward two and one",
)
ROUTER_BYTES = _kernel_constant(
    "router.bytes",
    12.0,
    "bytes moved for each fp32 routing score of a token and an expert: softmax, selection, scatter",
    "B",
)
NARROW_LAUNCHES = _kernel_constant(
    "experts.narrow.launches",
    2.0,
    "kernels for each expert of a grouped GEMM in 8 or 4 bits, relative to 16 bits: one kernel quantizes the "
    "rows, another multiplies them; one kernel reorders the scales of all experts since release 2.7 (Transformer "
    "Engine at v2.9,"
    " pytorch/csrc/extensions/cast.cpp and gemm.cpp, common/gemm/cublaslt_gemm.cu)",
)
USUAL = {
    "matmul": _kernel_constant("usual.matmul", 0.75, "best GEMM over the peak, for accelerators without a figure"),
    "sustained": _kernel_constant(
        "usual.sustained",
        0.9,
        "share of the best GEMM rate that training sustains: the median of the accelerators with a figure",
    ),
    "attention": _kernel_constant(
        "usual.attention", 0.45, "attention core over the peak, for accelerators without a figure"
    ),
    "attention.backward": _kernel_constant(
        "usual.attention.backward", 0.78, "backward core over the forward one, for accelerators without a figure"
    ),
    "memory": _kernel_constant(
        "usual.memory", 0.82, "streaming kernels over the memory bandwidth, for accelerators without a figure"
    ),
}
ALTERNATE = _kernel_constant(
    "recompute.alternate", 0.5, "share of the forward pass that is recomputed if every second layer is recomputed"
)


# Kernels: the smallest unit of work that the cost model times


class Role(IntEnum):
    """The role of a kernel in recomputation, gradient accumulation and fusion."""

    PLAIN = auto()
    LIGHT = auto()
    """Results that are cheap to compute and large to store: norms, activations, the expansions of latent attention."""
    INPUT_GRADIENT = auto()
    WEIGHT_GRADIENT = auto()
    COUNTED = auto()
    GATHER = auto()
    """A gather of rows in which each thread copies one number."""
    SCATTER = auto()
    """A sum into rows in which each thread adds one number atomically."""
    SCAN = auto()
    """A chunked recurrence that passes its states between kernels through memory."""


UNFUSED = frozenset({Role.COUNTED, Role.GATHER, Role.SCATTER})
"""Roles of memory-bound kernels whose traffic is counted for each operation."""
NARROW_RATES = ("matmul_fp8", "matmul_fp4")


class GemmShape(NamedTuple):
    """``batch`` products of (m × k) by (k × n) in one kernel; ``experts`` where each has its own weights.

    ``unaligned`` is 1 where rows of 16-bit numbers do not start at multiples of 16 bytes, else 0.
    """

    m: float
    k: float
    n: float
    batch: float = 1.0
    experts: bool = False
    unaligned: float = 0.0


class Kernel(NamedTuple):
    """``flops`` operations at ``rate`` and ``traffic`` bytes.

    ``rate`` names the unit and precision of the arithmetic (``matmul_bf16``, ``attention_forward`` …); empty if
    memory traffic is the only cost. The tiles of its ``shape`` decide how much of the device it fills. ``launches`` is
    the number of launches by the host.
    """

    name: str
    flops: float
    traffic: float
    rate: str = ""
    shape: GemmShape | None = None
    launches: float = 1.0
    role: Role = Role.PLAIN


@dataclass(frozen=True)
class Work:
    """The kernels of one micro-batch in one part of the model, by pass."""

    forward: tuple[Kernel, ...] = ()
    backward: tuple[Kernel, ...] = ()

    def __add__(self, other: Work) -> Work:
        return Work(self.forward + other.forward, self.backward + other.backward)


def gemm_kernel(name: str, shape: GemmShape, precision: str, role: Role = Role.PLAIN) -> Kernel:
    """GEMMs of one shape in one kernel."""
    m, k, n, batch, *_ = shape
    traffic = batch * formulas.gemm_traffic(m, k, n, precision_width(precision))
    return Kernel(name, batch * formulas.gemm_flops(m, k, n), traffic, f"matmul_{precision}", shape, role=role)


def is_product(kernel: Kernel) -> bool:
    """Whether a kernel multiplies by a weight matrix, outside the core of attention."""
    return kernel.shape is not None and kernel.rate.startswith("matmul")


def linear_work(name: str, shape: GemmShape, precision: str, role: Role = Role.PLAIN) -> Work:
    """A weight matrix (k × n) applied to m rows: the forward GEMM, and the two GEMMs of its gradients.

    No kernels where rows, inputs or outputs are zero.
    """
    if any(is_zero(size) for size in (shape.m, shape.k, shape.n, shape.batch)):
        return Work()
    inputs, weights = shape._replace(k=shape.n, n=shape.k), shape._replace(m=shape.k, k=shape.m)
    back = (
        gemm_kernel(f"{name}: input gradient", inputs, precision, Role.INPUT_GRADIENT),
        gemm_kernel(f"{name}: weight gradient", weights, precision, Role.WEIGHT_GRADIENT),
    )
    return Work((gemm_kernel(name, shape, precision, role),), back)


def streaming_work(name: str, traffic: tuple[float, float], launches: float = 1.0, role: Role = Role.PLAIN) -> Work:
    """A memory-bound operation by the bytes that it reads and writes, forward and backward."""
    forward, backward = (Kernel(name, 0.0, each, launches=launches, role=role) for each in traffic)
    return Work((forward,), (backward,))


def less_fused_work(work: Work, passes: float) -> Work:
    """The same memory-bound work in less fused kernels, with ``passes`` times the traffic and launches.

    Kernels that are counted operation by operation do not change.
    """
    return Work(*(tuple(_less_fused(kernel, passes) for kernel in part) for part in (work.forward, work.backward)))


def _less_fused(kernel: Kernel, passes: float) -> Kernel:
    return kernel if kernel.role in UNFUSED else _kernel_with_traffic(kernel, passes)


def _kernel_with_traffic(kernel: Kernel, factor: float) -> Kernel:
    return kernel._replace(traffic=kernel.traffic * factor, launches=kernel.launches * factor)


def scaled_kernel(kernel: Kernel, share: float) -> Kernel:
    """A share of a kernel's work, for kernels that only some layers run; its shape and rate are unchanged."""
    return _kernel_with_traffic(kernel, share)._replace(flops=kernel.flops * share)


def work_share(work: Work, share: float) -> Work:
    """A share of the work, for parts that only some layers of a kind have."""
    if share == 1.0:
        return work
    return Work(*(tuple(scaled_kernel(kernel, share) for kernel in part) for part in (work.forward, work.backward)))


def accumulation_work(work: Work, bytes_each: float) -> Work:
    """Adds the weight gradients of one micro-batch to the accumulated ones.

    ``bytes_each`` are read and written per weight. A GEMM writes its result only after its last multiplication, so this
    traffic does not overlap with the arithmetic as the reading of the operands does.
    """
    return Work(
        backward=tuple(_accumulation_kernel(k, bytes_each) for k in work.backward if k.role is Role.WEIGHT_GRADIENT)
    )


def sum_bytes(counted: float, width: float) -> float:
    """Bytes read and written to add the gradient of one weight to a sum of ``width`` bytes.

    ``counted`` are the bytes with an fp32 sum, 8 of them for reading and writing the sum; a narrower sum moves fewer
    bytes. A stack that counts fewer than 8 keeps no fp32 sum.

    >>> sum_bytes(8.0, 2.0), sum_bytes(12.0, 4.0), sum_bytes(4.0, 2.0)
    (4.0, 12.0, 4.0)
    """
    return min(counted, max(counted - 2 * (precision_width("fp32") - width), 2 * width))


def _accumulation_kernel(kernel: Kernel, bytes_each: float) -> Kernel:
    return Kernel(f"{kernel.name}: sum", 0.0, bytes_each * gradient_numbers(kernel), launches=0)


def gradient_numbers(kernel: Kernel) -> float:
    """The number of weights whose gradients a kernel computes."""
    assert kernel.shape is not None
    return kernel.shape.m * kernel.shape.n * kernel.shape.batch


# The share of one rank in one micro-batch: the shapes that kernels are built from


@dataclass(frozen=True)
class Shard:
    """One micro-batch on one rank, in layers that mix tokens by ``mixer``; ``model`` has the widths of those layers.

    ``tokens`` enter the GEMMs of a tensor-parallel group; ``rows`` of them belong to this rank between GEMMs (fewer
    with sequence parallelism). ``heads`` and ``kv_heads`` belong to this rank. ``precision`` applies to the linear
    layers; ``kept`` is the width of the parts that stay in 16 bits when linear layers are narrower (attention, logits,
    router).
    ``forwarded`` where the dispatcher sends a token once to each rank of its experts, not once for each of them.
    """

    model: Model
    sequences: float
    length: float
    cp: int
    tp: int
    ep: int
    expert_tp: int
    tokens: float
    rows: float
    heads: float
    kv_heads: float
    precision: str
    kept: str
    flash: bool
    mixer: Mixer = Mixer.FULL
    sequence_parallel: bool = False
    forwarded: bool = False
    trainable: Trainable | None = None
    """The adapters of frozen weights; None where all weights are trained."""
    sum_width: float = 4.0
    """Bytes of one number of the accumulated gradients."""
    eager: bool = False
    """Whether the operations between GEMMs are executed one by one."""
    native_norms: bool = False
    """Whether norms and activations are executed one by one, but are single operations of the framework."""
    compiled: bool = False
    """Whether a compiler fuses whatever runs between GEMMs."""
    separate: bool = False
    """Whether queries, keys, values, and the two input matrices of a gated network, are separate matrices."""
    pads: bool = True
    """Whether the rows of the logits are aligned at any size of the vocabulary."""
    documents: float = 1.0
    """Documents packed into one sequence; ``sequences`` counts documents, and ``length`` is that of one document."""
    gathers_again: bool = True
    """Whether tensor-parallel ranks gather inputs again for weight gradients, since gathered inputs are not stored."""
    gathers_whole: bool = True
    """Whether inputs are gathered completely before their GEMMs, rather than piece by piece during them."""
    residual_width: float = 2.0
    """Bytes of one number of the residual stream."""
    copies_weights: bool = False
    """Whether weights are stored in fp32 and products read narrower copies."""

    @property
    def width(self) -> float:
        """Bytes of one activation between kernels and on the wire: 16 bits, or 32 where GEMMs are wider."""
        return activation_width(self.precision)

    @classmethod
    def of(cls, workload: Workload, layout: Layout, mixer: Mixer = Mixer.FULL, wide: bool = False) -> Shard:
        """The part of a micro-batch and its layers on one rank; ``wide`` layers multiply in 16 bits."""
        model, tp = model_of_mixer(workload.model, mixer), layout.tp
        tokens = layout.micro_batch * workload.filled_length / layout.cp
        kept = "bf16" if workload.precision in NARROW else workload.precision
        sequence_parallel = layout.sequence_parallel and is_divided(tp)
        documents = workload.filled_length / workload.attended_length
        return cls(
            model=model,
            sequences=layout.micro_batch * documents,
            length=workload.attended_length,
            cp=layout.cp,
            tp=tp,
            ep=layout.ep,
            expert_tp=layout.expert_tp,
            tokens=tokens,
            rows=tokens / tp if sequence_parallel else tokens,
            heads=share_of_heads(model.heads, tp),
            kv_heads=share_of_heads(model.kv_heads, tp),
            precision=kept if wide else workload.precision,
            kept=kept,
            flash=workload.attention != "plain",
            mixer=mixer,
            sequence_parallel=sequence_parallel,
            forwarded=layout.dispatcher.kind != "all-to-all",
            trainable=workload.trainable,
            sum_width=precision_width(workload.gradient_precision),
            eager=layout.stack is not None and layout.stack.fused is False,
            native_norms=layout.stack is not None and layout.stack.fused is False and has_native_norms(model),
            compiled=layout.stack is not None and layout.stack.compiled and layout.stack.fused is not False,
            separate=layout.stack is not None and layout.stack.separate_matrices,
            pads=layout.stack is None or layout.stack.pads_products,
            documents=documents,
            gathers_again=layout.stack is None or not layout.stack.memory.gathered_inputs,
            gathers_whole=layout.overlap.tp != "full",
            residual_width=residual_width(workload, layout),
            copies_weights=copies_weights(workload, layout.sharding),
        )


def expert_launches(kernel: Kernel) -> float:
    """Launches of a grouped GEMM that runs expert by expert; 0 for other kernels.

    In 16 bits each expert is one launch. In 8 and 4 bits its rows are quantized first (`NARROW_LAUNCHES`), except for
    weight gradients, which reuse the operands that the other two GEMMs quantized.
    """
    if kernel.shape is None or not kernel.shape.experts:
        return 0.0
    narrows = kernel.rate in NARROW_RATES and kernel.role is not Role.WEIGHT_GRADIENT
    return kernel.launches * kernel.shape.batch * (NARROW_LAUNCHES if narrows else 1.0)


EXPERT_CASTS = assumed_figure(
    KERNELS,
    "experts.casts",
    2.0,
    "bytes moved to quantize one number of an expert's rows, relative to one kernel for a whole tensor: "
    "Transformer Engine quantizes the rows of each expert separately, along rows and along columns, and reorders "
    "scales. Of the values 1 to 4, this one has the least error on 33 runs of 5 fitted sources (mean error 8.3 % "
    "instead of 8.8 %)",
)


def cast_work(work: Work, bytes_each: float, fused_experts: bool = False) -> Work:
    """Conversion of activations and gradients to 8- and 4-bit GEMM inputs, moving ``bytes_each`` bytes per number.

    Read at 16 bits and written twice at 8 (once transposed for the weight gradient), a number moves 4 bytes; kernels
    that search for the maximum first move more. Weights are converted once per step and are not included. Rows of
    experts are converted expert by expert, unless their GEMMs are fused.
    """
    for_expert = bytes_each * (1.0 if fused_experts else EXPERT_CASTS.value)

    def casts(kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
        return tuple(_cast_kernel(k, for_expert if k.shape and k.shape.experts else bytes_each) for k in kernels)

    narrow = [k for k in work.backward if k.rate in NARROW_RATES and k.role is Role.INPUT_GRADIENT]
    return Work(casts(k for k in work.forward if k.rate in NARROW_RATES), casts(narrow))


def _cast_kernel(kernel: Kernel, bytes_each: float) -> Kernel:
    assert kernel.shape is not None
    m, k, _, batch, *_ = kernel.shape
    return Kernel(f"{kernel.name}: cast", 0.0, bytes_each * m * k * batch)
