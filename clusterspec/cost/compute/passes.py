"""The kernels of one pass over a part of a model, with their device seconds and launches."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from clusterspec.cost.compute.kernels import Kernel, expert_launches
from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of

TimedKernels = tuple[tuple[Kernel, float], ...]
"""Kernels with their device seconds."""
MIXING_PARTS = ("projections", "output")
"""Parts of a layer whose GEMMs tensor parallelism cuts around the core."""


def cut_network_kernels(parts: Mapping[str, TimedKernels]) -> TimedKernels:
    """Kernels of the feed-forward network that tensor parallelism shards: all kernels of a dense network, or the shared
    experts.
    """
    shared = tuple(each for each in parts.get("experts", ()) if each[0].name.startswith("shared experts"))
    return parts.get("feed-forward", ()) + shared


def _gemm_seconds(kernels: TimedKernels) -> float:
    return sum_of(seconds for kernel, seconds in kernels if kernel.rate.startswith("matmul"))


class PassKernels(NamedTuple):
    """The kernels of one pass: seconds of all of them and of the token-mixing core one after another.

    ``mixing_gemms`` and ``network_gemms`` are seconds of the GEMMs that tensor parallelism cuts: those around the
    core, and those of a dense network or of shared experts. ``launches`` counts the launches of the host,
    ``expert_launches`` those of grouped GEMMs. ``timed`` lists the kernels; it is empty if the sums are columns.
    """

    timed: TimedKernels
    device: float
    mixing_gemms: float
    network_gemms: float
    core: float
    launches: float
    expert_launches: float
    flops: float

    @classmethod
    def of(cls, parts: Mapping[str, TimedKernels]) -> PassKernels:
        """The kernels of the parts of a layer."""
        timed = tuple(chain.from_iterable(parts.values()))
        return cls(
            timed=timed,
            device=sum_of(seconds for _, seconds in timed),
            mixing_gemms=sum_of(_gemm_seconds(kernels) for name, kernels in parts.items() if name in MIXING_PARTS),
            network_gemms=_gemm_seconds(cut_network_kernels(parts)),
            core=sum_of(seconds for _, seconds in parts.get("core", ())),
            launches=sum_of(kernel.launches for kernel, _ in timed),
            expert_launches=sum_of(expert_launches(kernel) for kernel, _ in timed),
            flops=sum_of(kernel.flops for kernel, _ in timed),
        )


NO_KERNELS = PassKernels.of({})
