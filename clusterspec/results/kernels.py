"""The kernels of one step against the roofline of the accelerator: arithmetic intensity and rate."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from clusterspec.cost.compute.kernels import Kernel
from clusterspec.cost.plan import Plan
from clusterspec.records import asdict, dataclass


@dataclass(frozen=True, slots=True)
class KernelPoint:
    """A kernel, summed over the passes and layers of a micro-batch on the slowest stage: FLOPs, bytes and seconds."""

    name: str
    flops: float
    traffic: float
    seconds: float
    intensity: float
    rate: float


@dataclass(frozen=True, slots=True)
class Roofline:
    """The kernels of one rank with the dense peak in FLOP/s and the memory bandwidth in B/s of that rank."""

    peak: float
    bandwidth: float
    kernels: tuple[KernelPoint, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def roofline(plan: Plan) -> Roofline | None:
    """The kernels with FLOPs, from the record of the step time."""
    cluster, work, record = plan.design.cluster, plan.design.workload, plan.step
    if cluster is None or work is None or record is None or work.peak is None:
        return None
    memory = cluster.accelerator.memory_bandwidth
    if memory is None:
        return None
    pairs = [
        (kernel, seconds, count)
        for part, count in record.parts
        for _, phase in part.phases
        for kernel, seconds in phase.kernels
    ]
    ranks = cluster.ranks_per_accelerator
    return Roofline(work.peak.value / ranks, memory.value / ranks, tuple(_points(pairs)))


def _points(pairs: list[tuple[Kernel, float, int]]) -> list[KernelPoint]:
    """The kernels with FLOPs, summed by name."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for kernel, seconds, count in pairs:
        if kernel.flops > 0 and kernel.traffic > 0:
            row = sums[kernel.name.partition(":")[0]]
            for number, value in enumerate((kernel.flops, kernel.traffic, seconds)):
                row[number] += count * float(value)
    return [
        KernelPoint(name, flops, traffic, spent, flops / traffic, flops / spent)
        for name, (flops, traffic, spent) in sums.items()
        if spent > 0
    ]
