"""Kernels in 8 and 4 bits: the launches of experts, and the conversion of inputs."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import KERNELS, NARROW_LAUNCHES, Kernel, Role, Work

NARROW_RATES = ("matmul_fp8", "matmul_fp4")


def expert_launches(kernel: Kernel) -> float:
    """Launches of a grouped GEMM that runs expert by expert; 0 for other kernels.

    In 16 bits each expert is one launch. In 8 and 4 bits its rows are narrowed first (`NARROW_LAUNCHES`), except for
    weight gradients, which multiply what the other two products narrowed.
    """
    if kernel.shape is None or not kernel.shape.experts:
        return 0.0
    narrows = kernel.rate in NARROW_RATES and kernel.role is not Role.WEIGHT_GRADIENT
    return kernel.launches * kernel.shape.batch * (NARROW_LAUNCHES if narrows else 1.0)


EXPERT_CASTS = assumed_figure(
    KERNELS,
    "experts.casts",
    2.0,
    "bytes to convert a number of an expert's rows over those of one kernel for a whole tensor: Transformer Engine"
    " converts the rows of each expert by themselves, along rows and along columns, and reorders scales; among 1 to 4"
    " the value with the least error on 33 runs of 5 sources of the fitted side (8.8 to 8.3 % in the mean)",
)


def cast_work(work: Work, bytes_each: float, fused_experts: bool = False) -> Work:
    """Conversion of activations and gradients for 8- and 4-bit GEMMs; each number moves ``bytes_each`` bytes.

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
    m, k, _, batch, _ = kernel.shape
    return Kernel(f"{kernel.name}: cast", 0.0, bytes_each * m * k * batch)
