"""The kernels and transfers of one layer, timed together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from clusterspec.cluster.model import Layout
from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.layer import LAYERS, Parts, recomputed
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.compute.speed import NO_KERNELS, PassKernels, Speed
from clusterspec.cost.formulas.elementwise import divided
from clusterspec.cost.layers import FeedForward, Layer, Mixer
from clusterspec.cost.record import PartTime
from clusterspec.cost.tables.phase import PhaseTimer, Transfers, TransferTimes
from clusterspec.cost.traffic import context, expert, tensor
from clusterspec.records import NamedTuple

Routed = Callable[[float], Transfers]
"""The expert traffic of one pass, as a function of the seconds of computation in it."""


NETWORKS = {FeedForward.DENSE: "dense_layer", FeedForward.EXPERTS: "expert_layer", FeedForward.NONE: "layer"}
MIXERS = {Mixer.FULL: "full_", Mixer.WINDOW: "window_", Mixer.LINEAR: "linear_", Mixer.NONE: ""}


def name_of(layer: Layer, one_mixer: bool) -> str:
    """The name of a layer in terms: by its network, and by its token mixing where the model has several kinds."""
    return ("" if one_mixer else MIXERS[layer.mixer]) + NETWORKS[layer.network]


class LayerKernels(NamedTuple):
    """The kernels of one layer on one rank, by pass; ``recomputed`` are those that run again before the backward pass.

    ``parts`` holds them by part of the layer; it is empty where the passes are columns.
    """

    layer: Layer
    shard: Shard
    parts: Parts
    forward: PassKernels
    backward: PassKernels
    recomputed: PassKernels = NO_KERNELS

    @classmethod
    def of(cls, layer: Layer, shard: Shard, software: SoftwareBehavior, speed: Speed) -> LayerKernels:
        """The kernels of a layer without recomputation."""
        parts = LAYERS[layer.network](shard, software)
        forward = {name: speed.timed(work.forward) for name, work in parts.items()}
        backward = {name: speed.timed(work.backward) for name, work in parts.items()}
        return cls(layer, shard, parts, PassKernels.of(forward), PassKernels.of(backward))

    def again(self, recompute: str | tuple[str, ...], software: SoftwareBehavior, speed: Speed) -> PassKernels:
        """The kernels that run again under ``recompute``: a word, or a list of modules."""
        if recompute == "full":
            return self.forward
        kernels = recomputed(self.parts, recompute, software.stack.selective)
        return PassKernels.of({"": speed.timed(kernels)}) if kernels else NO_KERNELS


def timed_layer(name: str, kernels: LayerKernels, layout: Layout, timer: PhaseTimer) -> PartTime:
    """One micro-batch through a layer, with the transfers around its blocks."""
    sent, returned = _transfers(kernels, layout, timer)
    forward = timer.phase(kernels.forward, sent)
    backward = timer.phase(kernels.backward, returned)
    again = timer.phase(kernels.recomputed, sent if layout.recompute == "full" else ())
    return PartTime(name, forward, backward, again, kernels.forward.flops, kernels.recomputed.flops)


def _transfers(kernels: LayerKernels, layout: Layout, timer: PhaseTimer) -> tuple[TransferTimes, TransferTimes]:
    """The transfers of the forward and of the backward pass."""
    layer, shard, method = kernels.layer, kernels.shard, layout.cp_method
    routed: Routed = lambda window: ()  # noqa: E731
    if layer.network is FeedForward.EXPERTS:
        routing = Routing.of(shard, timer.software.unevenness)
        domains = timer.group("ep").domains if divided(shard.ep) else 1
        routed = partial(expert.each_pass, shard, routing, layout.dispatcher, domains)
    blocks, there, back = _blocks(layer, shard), kernels.forward, kernels.backward
    forward = (
        *tensor.forward(shard, blocks, there.gemms),
        *context.forward(shard, method, there.core),
        *routed(there.device),
    )
    backward = (
        *tensor.backward(shard, blocks, back.gemms),
        *context.backward(shard, method, back.core),
        *routed(back.device),
    )
    return timer.transfers(forward), timer.transfers(backward)


def _blocks(layer: Layer, shard: Shard) -> int:
    """Blocks that tensor parallelism shards: the mixing, and a network other than that of routed experts."""
    cut = layer.network is FeedForward.DENSE or (
        layer.network is FeedForward.EXPERTS and shard.model.shared_experts > 0
    )
    return int(layer.mixer is not Mixer.NONE) + int(cut)
