"""Kernels: the smallest piece of work that the cost model times.

A kernel is known by its operations, the bytes it moves and the share of the device that its
shape can fill; how fast the device is comes in only when it is timed (`speed`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from clusterspec.cost.formulas import matmul as formulas


class Kernel(NamedTuple):
    """``count`` equal kernels: each ``flops`` operations at ``rate``, and ``traffic`` bytes.

    ``rate`` names the unit and precision that does the arithmetic (``matmul_bf16``,
    ``attention_forward`` …); empty where only memory matters. ``shape`` is (m, k, n, batch) of a
    matrix product, whose tiles decide how much of the device it fills; ``grouped`` marks products
    of which each expert has its own. ``launches`` is how many times the host launches something
    for it.
    """

    name: str
    flops: float
    traffic: float
    rate: str = ""
    shape: tuple[float, float, float, float] | None = None
    launches: float = 1.0
    grouped: bool = False


_WIDTH = {"fp8": 1.0, "fp4": 0.5, "fp32": 4.0, "tf32": 4.0}
"""Bytes of an operand by precision; two of any other."""


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


def product(
    name: str, m: float, k: float, n: float, precision: str, batch: float = 1.0, grouped: bool = False
) -> Kernel:
    """``batch`` matrix products of the same shape in one kernel."""
    width = _WIDTH.get(precision, 2.0)
    return Kernel(
        name,
        batch * formulas.flops(m, k, n),
        batch * formulas.traffic(m, k, n, width),
        f"matmul_{precision}",
        (m, k, n, batch),
        grouped=grouped,
    )


def linear(name: str, m: float, k: float, n: float, precision: str, batch: float = 1.0, grouped: bool = False) -> Work:
    """A weight matrix (k × n) applied to m rows: the product, and the two that its gradients take."""
    return Work(
        forward=(product(name, m, k, n, precision, batch, grouped),),
        backward=(
            product(f"{name} input gradient", m, n, k, precision, batch, grouped),
            product(f"{name} weight gradient", k, m, n, precision, batch, grouped),
        ),
    )


def stream(name: str, forward: float, backward: float, launches: float = 1.0) -> Work:
    """A memory-bound operation by the bytes that it reads and writes in each pass."""
    return Work((Kernel(name, 0.0, forward, launches=launches),), (Kernel(name, 0.0, backward, launches=launches),))


def repeated(work: Work, passes: float) -> Work:
    """The same memory-bound work in kernels that are less fused: ``passes`` times the traffic and the launches."""
    return Work(*(tuple(_scaled(kernel, passes) for kernel in part) for part in (work.forward, work.backward)))


def _scaled(kernel: Kernel, factor: float) -> Kernel:
    return kernel._replace(traffic=kernel.traffic * factor, launches=kernel.launches * factor)


def portioned(kernel: Kernel, share: float) -> Kernel:
    """A share of a kernel's work, as where only some layers run it again; its shape, and so its rate, stay."""
    return kernel._replace(flops=kernel.flops * share, traffic=kernel.traffic * share, launches=kernel.launches * share)


def accumulation(work: Work, bytes_each: float) -> Work:
    """Adding the weight gradients of one micro-batch to those of the last ones, ``bytes_each`` read and written a weight.

    A product's result leaves the device's units only after its last multiplication, so this
    traffic is not hidden under the product's arithmetic as that of its operands is.
    """
    return Work(
        backward=tuple(_accumulated(k, bytes_each) for k in work.backward if k.name.endswith("weight gradient"))
    )


def _accumulated(kernel: Kernel, bytes_each: float) -> Kernel:
    assert kernel.shape is not None
    rows, _, columns, batch = kernel.shape
    return Kernel(f"{kernel.name}: accumulation", 0.0, bytes_each * rows * columns * batch, launches=0)


NARROW = ("matmul_fp8", "matmul_fp4")


def casts(work: Work, bytes_each: float) -> Work:
    """Casting the activations and gradients of narrow products, ``bytes_each`` moved a number.

    Read at 16 bits and written twice at 8 (as it is, and transposed for the weight gradient) they
    move 4 bytes; kernels that look for the largest number first, more. Weights are cast once a
    step and left out.
    """
    forward = [kernel for kernel in work.forward if kernel.rate in NARROW]
    gradients = [kernel for kernel in work.backward if kernel.rate in NARROW and kernel.name.endswith("input gradient")]
    return Work(
        tuple(_cast(kernel, bytes_each) for kernel in forward), tuple(_cast(kernel, bytes_each) for kernel in gradients)
    )


def _cast(kernel: Kernel, bytes_each: float) -> Kernel:
    assert kernel.shape is not None
    m, k, _, batch = kernel.shape
    return Kernel(f"{kernel.name}: cast", 0.0, bytes_each * m * k * batch)
