"""One layer in time: its kernels, and the tensor, context and expert traffic around them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.kernels import Kernel
from clusterspec.cost.compute.layer import Parts, dense_layer, expert_layer, whole
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.schedule.clock import Clock
from clusterspec.cost.schedule.passes import Passes
from clusterspec.cost.traffic import context, expert, tensor
from clusterspec.cost.traffic.flow import Flow

Kernels = tuple[Kernel, ...]
Routed = Callable[[float], tuple[Flow, ...]]
"""The expert traffic of one pass, by the seconds of computation in it."""


class Layers:
    """Both kinds of layer of a model, each timed once."""

    def __init__(self, portion: Portion, clock: Clock) -> None:
        self.portion, self.clock = portion, clock

    @cached_property
    def dense(self) -> Passes:
        """One micro-batch through a layer whose feed-forward network is dense."""
        return self._timed(dense_layer(self.portion, self.clock.software), 2, lambda room: ())

    @cached_property
    def experts(self) -> Passes:
        """One micro-batch through a layer with experts."""
        portion, software = self.portion, self.clock.software
        routing = Routing.of(portion, software.unevenness)
        blocks = 2 if portion.model.shared_experts else 1
        domains = self.clock.wire.group("ep").domains if portion.ep > 1 else 1
        routed = partial(expert.each_pass, portion, routing, self.clock.layout.dispatcher, domains)
        return self._timed(expert_layer(portion, software), blocks, routed)

    def _timed(self, parts: Parts, blocks: int, routed: Routed) -> Passes:
        portion, clock = self.portion, self.clock
        layout, device = clock.layout, clock.speed.device
        work = whole(parts, layout.recompute, clock.software.stack.selective)
        core, room = parts["core"], self._products
        forward = (
            *tensor.forward(portion, blocks, room(work.forward)),
            *context.forward(portion, layout.cp_method, device(core.forward)),
            *routed(device(work.forward)),
        )
        backward = (
            *tensor.backward(portion, blocks, room(work.backward)),
            *context.backward(portion, layout.cp_method, device(core.backward)),
            *routed(device(work.backward)),
        )
        return clock.passes(work, forward, backward, forward if layout.recompute == "full" else ())

    def _products(self, kernels: Kernels) -> float:
        return self.clock.speed.device(kernel for kernel in kernels if kernel.rate.startswith("matmul"))
