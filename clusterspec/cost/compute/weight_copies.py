"""Narrow copies of fp32 weights for products, and the fp32 gradients that follow from them."""

from __future__ import annotations

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import COPIES, Kernel, Role, Work, gradient_numbers

WEIGHT_COPY = assumed_figure(
    COPIES,
    "copy",
    6.0,
    "bytes moved in each micro-batch to copy an fp32 weight for a GEMM of 16 bits or fewer: read and written; by count",
    "B",
).value
WIDENED_GRADIENT = assumed_figure(
    COPIES,
    "gradient",
    8.0,
    "bytes moved in each micro-batch to widen the gradient of such a weight before it is summed: written and read "
    "in fp32; by count",
    "B",
).value


def weight_copy_work(work: Work) -> Work:
    """The kernels that copy fp32 weights for the given products, and those that widen their gradients to fp32.

    torch.autocast casts each weight once in a forward pass and keeps the copy (aten/src/ATen/autocast_mode.cpp).
    """
    sizes = [(k.name, gradient_numbers(k)) for k in work.backward if k.role is Role.WEIGHT_GRADIENT]
    copied = (Kernel(f"{name}: copy of weights", 0.0, WEIGHT_COPY * size, role=Role.COUNTED) for name, size in sizes)
    widened = (Kernel(f"{name}: widened", 0.0, WIDENED_GRADIENT * size, role=Role.COUNTED) for name, size in sizes)
    return Work(tuple(copied), tuple(widened))
