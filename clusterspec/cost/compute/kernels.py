"""Kernels: the smallest unit of work that the cost model times.

A kernel is described by its operations, its memory traffic and the share of the device that its shape can fill. The
speed of the device enters when it is timed (`speed`).
"""

from __future__ import annotations

from enum import IntEnum, auto

from clusterspec.cost.compute.fixed import NARROW_LAUNCHES
from clusterspec.cost.formulas import matmul as formulas
from clusterspec.cost.formulas.elementwise import absent
from clusterspec.precision import width
from clusterspec.records import NamedTuple, dataclass


class Role(IntEnum):
    """The role of a kernel in recomputation and gradient accumulation."""

    PLAIN = auto()
    LIGHT = auto()
    """Cheap to compute and large to keep: norms, activations, the expansions of latent attention."""
    INPUT_GRADIENT = auto()
    WEIGHT_GRADIENT = auto()


class GemmShape(NamedTuple):
    """``batch`` products of (m × k) by (k × n) in one kernel; ``experts`` where each has its own weights."""

    m: float
    k: float
    n: float
    batch: float = 1.0
    experts: bool = False


class Kernel(NamedTuple):
    """``flops`` operations at ``rate`` and ``traffic`` bytes.

    ``rate`` names the unit and precision of the arithmetic (``matmul_bf16``, ``attention_forward`` …); empty where
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


@dataclass(frozen=True, slots=True)
class Work:
    """The kernels of one micro-batch in one part of the model, by pass."""

    forward: tuple[Kernel, ...] = ()
    backward: tuple[Kernel, ...] = ()

    def __add__(self, other: Work) -> Work:
        return Work(self.forward + other.forward, self.backward + other.backward)


def product(name: str, shape: GemmShape, precision: str, role: Role = Role.PLAIN) -> Kernel:
    """GEMMs of one shape in one kernel."""
    m, k, n, batch, _ = shape
    traffic = batch * formulas.traffic(m, k, n, width(precision))
    return Kernel(name, batch * formulas.flops(m, k, n), traffic, f"matmul_{precision}", shape, role=role)


def linear(name: str, shape: GemmShape, precision: str, role: Role = Role.PLAIN) -> Work:
    """A weight matrix (k × n) applied to m rows: the forward GEMM, and the two GEMMs of its gradients.

    No kernels where rows, inputs or outputs are zero.
    """
    if any(absent(size) for size in (shape.m, shape.k, shape.n, shape.batch)):
        return Work()
    inputs, weights = shape._replace(k=shape.n, n=shape.k), shape._replace(m=shape.k, k=shape.m)
    back = (
        product(f"{name}: input gradient", inputs, precision, Role.INPUT_GRADIENT),
        product(f"{name}: weight gradient", weights, precision, Role.WEIGHT_GRADIENT),
    )
    return Work((product(name, shape, precision, role),), back)


def stream(name: str, traffic: tuple[float, float], launches: float = 1.0, role: Role = Role.PLAIN) -> Work:
    """A memory-bound operation by the bytes that it reads and writes, forward and backward."""
    forward, backward = (Kernel(name, 0.0, each, launches=launches, role=role) for each in traffic)
    return Work((forward,), (backward,))


def repeated(work: Work, passes: float) -> Work:
    """The same memory-bound work in less fused kernels: ``passes`` times the traffic and the launches."""
    return Work(*(tuple(_moved(kernel, passes) for kernel in part) for part in (work.forward, work.backward)))


def _moved(kernel: Kernel, factor: float) -> Kernel:
    return kernel._replace(traffic=kernel.traffic * factor, launches=kernel.launches * factor)


def scaled(kernel: Kernel, share: float) -> Kernel:
    """A share of a kernel's work, for kernels that only some layers run; its shape and rate are unchanged."""
    return _moved(kernel, share)._replace(flops=kernel.flops * share)


def portion(work: Work, share: float) -> Work:
    """A share of the work, for parts that only some layers of a kind have."""
    if share == 1.0:
        return work
    return Work(*(tuple(scaled(kernel, share) for kernel in part) for part in (work.forward, work.backward)))


def accumulation(work: Work, bytes_each: float) -> Work:
    """Adds the weight gradients of one micro-batch to the accumulated ones.

    ``bytes_each`` are read and written per weight. A GEMM writes its result only after its last multiplication, so this
    traffic does not overlap with the arithmetic as the reading of the operands does.
    """
    return Work(backward=tuple(_sum(k, bytes_each) for k in work.backward if k.role is Role.WEIGHT_GRADIENT))


def _sum(kernel: Kernel, bytes_each: float) -> Kernel:
    assert kernel.shape is not None
    rows, _, columns, batch, _ = kernel.shape
    return Kernel(f"{kernel.name}: sum", 0.0, bytes_each * rows * columns * batch, launches=0)


NARROW = ("matmul_fp8", "matmul_fp4")


def expert_launches(kernel: Kernel) -> float:
    """Launches of a grouped GEMM that runs expert by expert; 0 for other kernels.

    In 16 bits each expert is one launch. In 8 and 4 bits its rows are narrowed first, and the scales of both operands
    are brought into the order of the tensor cores (`fixed.NARROW_LAUNCHES`).
    """
    if kernel.shape is None or not kernel.shape.experts:
        return 0.0
    return kernel.shape.batch * (NARROW_LAUNCHES if kernel.rate in NARROW else 1.0)


def casts(work: Work, bytes_each: float) -> Work:
    """Conversion of activations and gradients for 8- and 4-bit GEMMs; each number moves ``bytes_each`` bytes.

    Read at 16 bits and written twice at 8 (once transposed for the weight gradient), a number moves 4 bytes; kernels
    that search for the maximum first move more. Weights are converted once per step and are not included.
    """
    forward = tuple(_cast(k, bytes_each) for k in work.forward if k.rate in NARROW)
    narrow = (k for k in work.backward if k.rate in NARROW)
    return Work(forward, tuple(_cast(k, bytes_each) for k in narrow if k.role is Role.INPUT_GRADIENT))


def _cast(kernel: Kernel, bytes_each: float) -> Kernel:
    assert kernel.shape is not None
    m, k, _, batch, _ = kernel.shape
    return Kernel(f"{kernel.name}: cast", 0.0, bytes_each * m * k * batch)
