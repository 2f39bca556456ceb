"""One layer in time: its kernels, and the tensor, context and expert traffic around them."""

from __future__ import annotations

from clusterspec.cost.compute.feedforward import Routing
from clusterspec.cost.compute.kernels import Work
from clusterspec.cost.compute.layer import Parts, dense_layer, expert_layer, whole
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.schedule.clock import Clock
from clusterspec.cost.schedule.passes import Passes
from clusterspec.cost.traffic import context, expert, tensor
from clusterspec.cost.traffic.flow import Flow


class Layers:
    """Both kinds of layer of a model, each timed once."""

    def __init__(self, portion: Portion, clock: Clock) -> None:
        self.portion, self.clock = portion, clock

    def dense(self) -> Passes:
        """One micro-batch through a layer whose feed-forward network is dense."""
        return self._timed(dense_layer(self.portion, self.clock.software), 2, ())

    def experts(self) -> Passes:
        """One micro-batch through a layer with experts."""
        portion, software = self.portion, self.clock.software
        routing = Routing.of(portion, software.imbalance)
        blocks = 2 if portion.model.shared_experts else 1
        flows = expert.each_pass(portion, routing, software.stack.deduplicates)
        return self._timed(expert_layer(portion, software), blocks, flows)

    def _timed(self, parts: Parts, blocks: int, routed: tuple[Flow, ...]) -> Passes:
        portion, clock, method = self.portion, self.clock, self.clock.layout.cp_method
        work = whole(parts, clock.layout.recompute, clock.software.stack.selective)
        core_forward, core_backward = (
            clock.speed.device(parts["core"].forward),
            clock.speed.device(parts["core"].backward),
        )
        forward = tensor.forward(portion, blocks) + context.forward(portion, method, core_forward) + routed
        gradient = self._weight_gradients(work) / (2 * blocks) if blocks else 0.0
        backward = (
            tensor.backward(portion, blocks, gradient) + context.backward(portion, method, core_backward) + routed
        )
        return clock.passes(work, forward, backward, forward if clock.layout.recompute == "full" else ())

    def _weight_gradients(self, work: Work) -> float:
        return self.clock.speed.device(k for k in work.backward if k.name.endswith("weight gradient"))
