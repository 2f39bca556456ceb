"""The kernels and transfers of one layer, timed together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from clusterspec.cluster.model import Layout
from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.kernels import Kernel, Work
from clusterspec.cost.compute.layer import LAYERS, Parts, whole
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.layers import FeedForward, Layer, Mixer
from clusterspec.cost.record import PartTime, PhaseTime
from clusterspec.cost.tables.phase import PhaseTimer, Transfers
from clusterspec.cost.traffic import context, expert, tensor

Routed = Callable[[float], Transfers]
"""The expert traffic of one pass, as a function of the seconds of computation in it."""


NETWORKS = {FeedForward.DENSE: "dense_layer", FeedForward.EXPERTS: "expert_layer", FeedForward.NONE: "layer"}
MIXERS = {Mixer.FULL: "full_", Mixer.WINDOW: "window_", Mixer.LINEAR: "linear_", Mixer.NONE: ""}


def name_of(layer: Layer, one_mixer: bool) -> str:
    """The name of a layer in terms: by its network, and by its token mixing where the model has several kinds."""
    return ("" if one_mixer else MIXERS[layer.mixer]) + NETWORKS[layer.network]


class Kernels(NamedTuple):
    """The kernels of one layer on one rank, by the part of the layer."""

    layer: Layer
    shard: Shard
    parts: Parts

    @classmethod
    def of(cls, layer: Layer, shard: Shard, software: SoftwareBehavior) -> Kernels:
        return cls(layer, shard, LAYERS[layer.network](shard, software))


class LayerPasses(NamedTuple):
    """The forward and the backward pass of a layer, and the traffic of the forward pass."""

    forward: PhaseTime
    backward: PhaseTime
    sent: Transfers


def timed_passes(kernels: Kernels, layout: Layout, timer: PhaseTimer) -> LayerPasses:
    """One micro-batch forward and backward through a layer, with the transfers around its blocks."""
    layer, shard, parts = kernels
    device = timer.speed.device
    routed: Routed = lambda window: ()  # noqa: E731
    if layer.network is FeedForward.EXPERTS:
        routing = Routing.of(shard, timer.software.unevenness)
        domains = timer.group("ep").placement.domains if shard.ep > 1 else 1
        routed = partial(expert.each_pass, shard, routing, layout.dispatcher, domains)
    blocks = _blocks(layer, shard)
    work = whole(parts, "none", "")
    core = parts.get("core", Work())
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
    return LayerPasses(timer.phase(work.forward, forward), timer.phase(work.backward, backward), forward)


def timed_layer(name: str, kernels: Kernels, passes: LayerPasses, layout: Layout, timer: PhaseTimer) -> PartTime:
    """The passes of a layer and the recomputation between them."""
    work = whole(kernels.parts, layout.recompute, timer.software.stack.selective)
    again = timer.phase(work.recomputed, passes.sent if layout.recompute == "full" else ())
    flops, more = (sum(kernel.flops for kernel in part) for part in (work.forward, work.recomputed))
    return PartTime(name, passes.forward, passes.backward, again, flops, more)


def _blocks(layer: Layer, shard: Shard) -> int:
    """Blocks that tensor parallelism shards: the mixing, and a network other than that of routed experts."""
    cut = layer.network is FeedForward.DENSE or (
        layer.network is FeedForward.EXPERTS and shard.model.shared_experts > 0
    )
    return int(layer.mixer is not Mixer.NONE) + int(cut)


def _products(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    return tuple(kernel for kernel in kernels if kernel.rate.startswith("matmul"))
