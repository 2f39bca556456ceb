"""The kernels and transfers of one layer, timed together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clusterspec.cluster.model import Layout
from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.kernels import Kernel
from clusterspec.cost.compute.layer import Parts, dense_layer, expert_layer, whole
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.record import PartTime
from clusterspec.cost.tables.phase import PhaseTimer, Transfers
from clusterspec.cost.traffic import context, expert, tensor

Routed = Callable[[float], Transfers]
"""The expert traffic of one pass, by the seconds of computation in it."""


def timed_dense_layer(shard: Shard, layout: Layout, timer: PhaseTimer) -> PartTime:
    """One micro-batch through a layer whose feed-forward network is dense."""
    parts = dense_layer(shard, timer.software)
    return _timed("dense_layer", shard, layout, timer, parts=parts, blocks=2, routed=lambda window: ())


def timed_expert_layer(shard: Shard, layout: Layout, timer: PhaseTimer) -> PartTime:
    """One micro-batch through a layer with experts."""
    software = timer.software
    routing = Routing.of(shard, software.unevenness)
    blocks = 2 if shard.model.shared_experts else 1
    domains = timer.group("ep").placement.domains if shard.ep > 1 else 1
    routed = partial(expert.each_pass, shard, routing, layout.dispatcher, domains)
    parts = expert_layer(shard, software)
    return _timed("expert_layer", shard, layout, timer, parts=parts, blocks=blocks, routed=routed)


def _timed(
    name: str, shard: Shard, layout: Layout, timer: PhaseTimer, *, parts: Parts, blocks: int, routed: Routed
) -> PartTime:
    device = timer.speed.device
    work = whole(parts, layout.recompute, timer.software.stack.selective)
    core = parts["core"]
    forward = (
        *tensor.forward(shard, blocks, device(_products(work.forward))),
        *context.forward(shard, layout.cp_method, device(core.forward)),
        *routed(device(work.forward)),
    )
    backward = (
        *tensor.backward(shard, blocks, device(_products(work.backward))),
        *context.backward(shard, layout.cp_method, device(core.backward)),
        *routed(device(work.backward)),
    )
    return timer.part(name, work, (forward, backward, forward if layout.recompute == "full" else ()))


def _products(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(kernel for kernel in kernels if kernel.rate.startswith("matmul"))
