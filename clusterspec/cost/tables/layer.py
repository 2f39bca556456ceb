"""The kernels and transfers of one layer, timed together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import NamedTuple

from clusterspec.cluster.model import Layout
from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.layer import LAYERS, Parts, recomputed
from clusterspec.cost.compute.shard import Shard
from clusterspec.cost.compute.software import SoftwareBehavior
from clusterspec.cost.compute.speed import Speed, TimedKernels, device_seconds
from clusterspec.cost.formulas.elementwise import divided
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
    """The kernels of one layer on one rank by part of the layer, and those of its passes with their device seconds.

    ``core`` holds the kernels of the token-mixing core in each pass.
    """

    layer: Layer
    shard: Shard
    parts: Parts
    forward: TimedKernels
    backward: TimedKernels
    core: tuple[TimedKernels, TimedKernels]

    @classmethod
    def of(cls, layer: Layer, shard: Shard, software: SoftwareBehavior, speed: Speed) -> Kernels:
        parts = LAYERS[layer.network](shard, software)
        timed = {name: (speed.timed(work.forward), speed.timed(work.backward)) for name, work in parts.items()}
        forward, backward = (tuple(chain.from_iterable(passes)) for passes in zip(*timed.values(), strict=True))
        return cls(layer, shard, parts, forward, backward, timed.get("core", ((), ())))


class LayerPasses(NamedTuple):
    """The forward and the backward pass of a layer, and the traffic of the forward pass."""

    forward: PhaseTime
    backward: PhaseTime
    sent: Transfers


def timed_passes(kernels: Kernels, layout: Layout, timer: PhaseTimer) -> LayerPasses:
    """One micro-batch forward and backward through a layer, with the transfers around its blocks."""
    layer, shard = kernels.layer, kernels.shard
    routed: Routed = lambda window: ()  # noqa: E731
    if layer.network is FeedForward.EXPERTS:
        routing = Routing.of(shard, timer.software.unevenness)
        domains = timer.group("ep").domains if divided(shard.ep) else 1
        routed = partial(expert.each_pass, shard, routing, layout.dispatcher, domains)
    blocks = _blocks(layer, shard)
    core = tuple(map(device_seconds, kernels.core))
    forward = (
        *tensor.forward(shard, blocks, device_seconds(_gemms(kernels.forward))),
        *context.forward(shard, layout.cp_method, core[0]),
        *routed(device_seconds(kernels.forward)),
    )
    backward = (
        *tensor.backward(shard, blocks, device_seconds(_gemms(kernels.backward))),
        *context.backward(shard, layout.cp_method, core[1]),
        *routed(device_seconds(kernels.backward)),
    )
    return LayerPasses(timer.phase(kernels.forward, forward), timer.phase(kernels.backward, backward), forward)


def timed_layer(name: str, kernels: Kernels, passes: LayerPasses, layout: Layout, timer: PhaseTimer) -> PartTime:
    """The passes of a layer and the recomputation between them."""
    again = kernels.forward
    if layout.recompute != "full":
        again = timer.speed.timed(recomputed(kernels.parts, layout.recompute, timer.software.stack.selective))
    recomputation = timer.phase(again, passes.sent if layout.recompute == "full" else ())
    flops, more = (sum(kernel.flops for kernel, _ in part) for part in (kernels.forward, again))
    return PartTime(name, passes.forward, passes.backward, recomputation, flops, more)


def _blocks(layer: Layer, shard: Shard) -> int:
    """Blocks that tensor parallelism shards: the mixing, and a network other than that of routed experts."""
    cut = layer.network is FeedForward.DENSE or (
        layer.network is FeedForward.EXPERTS and shard.model.shared_experts > 0
    )
    return int(layer.mixer is not Mixer.NONE) + int(cut)


def _gemms(kernels: TimedKernels) -> TimedKernels:
    return tuple(timed for timed in kernels if timed[0].rate.startswith("matmul"))
