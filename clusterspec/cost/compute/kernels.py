"""Kernels: the smallest piece of work that the cost model times.

A kernel is known by its operations, the bytes it moves and the share of the device that its
shape can fill; how fast the device is comes in only when it is timed (`speed`).
"""

from __future__ import annotations

from enum import IntEnum, auto
from typing import NamedTuple

from clusterspec.cost.formulas import matmul as formulas
from clusterspec.precision import width
from clusterspec.records import dataclass


class Role(IntEnum):
    """What a kernel is to those that follow it: what recomputation and accumulation choose by."""

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

    ``rate`` names the unit and precision that does the arithmetic (``matmul_bf16``,
    ``attention_forward`` …); empty where only memory matters. The tiles of its ``shape`` decide
    how much of the device it fills. ``launches`` is how often the host launches something for it.
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
    """The kernels of one micro-batch in one part of the model, by pass.

    ``recomputed`` are those of the forward pass that run again before the backward pass.
    """

    forward: tuple[Kernel, ...] = ()
    backward: tuple[Kernel, ...] = ()
    recomputed: tuple[Kernel, ...] = ()

    def __add__(self, other: Work) -> Work:
        return Work(self.forward + other.forward, self.backward + other.backward, self.recomputed + other.recomputed)


def product(name: str, shape: GemmShape, precision: str, role: Role = Role.PLAIN) -> Kernel:
    """Matrix products of one shape in one kernel."""
    m, k, n, batch, _ = shape
    traffic = batch * formulas.traffic(m, k, n, width(precision))
    return Kernel(name, batch * formulas.flops(m, k, n), traffic, f"matmul_{precision}", shape, role=role)


def linear(name: str, shape: GemmShape, precision: str, role: Role = Role.PLAIN) -> Work:
    """A weight matrix (k × n) applied to m rows: the product, and the two that its gradients take.

    Nothing at all where the description leaves no rows, inputs or outputs.
    """
    if not (shape.m and shape.k and shape.n and shape.batch):
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
    """The same memory-bound work in kernels that are less fused: ``passes`` times the traffic and the launches."""
    return Work(*(tuple(_moved(kernel, passes) for kernel in part) for part in (work.forward, work.backward)))


def _moved(kernel: Kernel, factor: float) -> Kernel:
    return kernel._replace(traffic=kernel.traffic * factor, launches=kernel.launches * factor)


def scaled(kernel: Kernel, share: float) -> Kernel:
    """A share of a kernel's work, as where only some layers run it again; its shape, and so its rate, stay."""
    return _moved(kernel, share)._replace(flops=kernel.flops * share)


def portion(work: Work, share: float) -> Work:
    """A share of the work, as where only some layers of a kind have a part of it."""
    if share == 1.0:
        return work
    return Work(*(tuple(scaled(kernel, share) for kernel in part) for part in (work.forward, work.backward)))


def accumulation(work: Work, bytes_each: float) -> Work:
    """Adding the weight gradients of one micro-batch to those of the last ones.

    ``bytes_each`` are read and written for each weight. A product's result leaves the device's units
    only after its last multiplication, so this is not hidden under the product's arithmetic as the
    reading of its operands is.
    """
    return Work(backward=tuple(_sum(k, bytes_each) for k in work.backward if k.role is Role.WEIGHT_GRADIENT))


def _sum(kernel: Kernel, bytes_each: float) -> Kernel:
    assert kernel.shape is not None
    rows, _, columns, batch, _ = kernel.shape
    return Kernel(f"{kernel.name}: sum", 0.0, bytes_each * rows * columns * batch, launches=0)


NARROW = ("matmul_fp8", "matmul_fp4")


def casts(work: Work, bytes_each: float) -> Work:
    """Narrowing the activations and gradients that 8- and 4-bit products take, ``bytes_each`` moved for a number.

    Read at 16 bits and written twice at 8 (as it is, and transposed for the weight gradient) they
    move 4 bytes; kernels that look for the largest number first move more. Weights are narrowed
    once a step and left out.
    """
    forward = tuple(_cast(k, bytes_each) for k in work.forward if k.rate in NARROW)
    narrow = (k for k in work.backward if k.rate in NARROW)
    return Work(forward, tuple(_cast(k, bytes_each) for k in narrow if k.role is Role.INPUT_GRADIENT))


def _cast(kernel: Kernel, bytes_each: float) -> Kernel:
    assert kernel.shape is not None
    m, k, _, batch, _ = kernel.shape
    return Kernel(f"{kernel.name}: cast", 0.0, bytes_each * m * k * batch)
