"""The kernels of one layer against the roofline of the accelerator: arithmetic intensity and rate."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any

from clusterspec.cost.compute.kernels import Kernel
from clusterspec.cost.compute.layer import dense_layer, expert_layer, whole
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.plan import Plan
from clusterspec.cost.timing import timed


@dataclass(frozen=True, slots=True)
class KernelPoint:
    """One kernel of a layer, both passes: FLOPs, bytes, seconds, and what follows from them."""

    name: str
    layer: str
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
    """The kernels of a dense layer and of a layer with experts, as the step is timed from them."""
    found = timed(plan.design) if plan.step_time is not None else None
    if found is None:
        return None
    job, software, speed = found.job, found.clock.software, found.rates.speed
    memory = job.cluster.accelerator.memory_bandwidth
    if memory is None or job.workload.peak is None:
        return None
    portion, model = Portion.of(job.workload, job.layout), job.workload.model
    layers = {"dense": dense_layer(portion, software)} if model.dense_layers or not model.experts else {}
    if model.experts:
        layers["experts"] = expert_layer(portion, software)
    points: list[KernelPoint] = []
    for name, parts in layers.items():
        work = whole(parts, "none", "")
        known = {point.name for point in points}
        found_here = _points(name, (*work.forward, *work.backward), speed.seconds)
        points += [point for point in found_here if point.name not in known]
    ranks = job.cluster.ranks_per_accelerator
    return Roofline(job.workload.peak.value / ranks, memory.value / ranks, tuple(points))


def _points(layer: str, kernels: tuple[Kernel, ...], seconds: Any) -> list[KernelPoint]:
    """The kernels with arithmetic, those of one name together."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    for kernel in kernels:
        if kernel.flops <= 0 or kernel.traffic <= 0:
            continue
        row = sums[kernel.name.partition(":")[0]]
        for number, value in enumerate((kernel.flops, kernel.traffic, float(seconds(kernel)))):
            row[number] += value
    return [
        KernelPoint(name, layer, flops, traffic, spent, flops / traffic, flops / spent)
        for name, (flops, traffic, spent) in sums.items()
        if spent > 0
    ]
