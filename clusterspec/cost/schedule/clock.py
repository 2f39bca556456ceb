"""Times kernels and the communication around them, and keeps what was sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from clusterspec.cluster.model import Layout
from clusterspec.cost.compute.kernels import Kernel, Work
from clusterspec.cost.compute.software import Software
from clusterspec.cost.compute.speed import Speed
from clusterspec.cost.formulas.overlap import exposed
from clusterspec.cost.formulas.roofline import launch_idle
from clusterspec.cost.schedule.passes import Passes, Seconds
from clusterspec.cost.term import Communication
from clusterspec.cost.traffic.flow import Flow
from clusterspec.cost.traffic.wire import Wire

Flows = tuple[Flow, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """Everything that time depends on, for one design.

    ``hides`` says of each axis whether its communication may run beside computation;
    ``refused`` are the axes of which the author wrote that it must not; ``pipelined`` is the share
    of tensor-parallel traffic that runs inside the products around it.
    """

    speed: Speed
    software: Software
    wire: Wire
    layout: Layout
    hides: dict[str, bool]
    refused: frozenset[str]
    pipelined: float

    def send(self, flow: Flow) -> Communication:
        """All calls of a flow, with what they add beside the computation of their rooms."""
        cost = self.wire.cost(flow.axis, flow.collective, flow.size)
        seconds = cost.queued * flow.calls
        return Communication(
            axis=flow.axis,
            collective=flow.collective,
            tier=cost.tier,
            ranks=cost.ranks,
            calls=flow.calls,
            bytes=flow.size * flow.calls,
            seconds=seconds,
            exposed=self._seen(flow, seconds),
        )

    def _seen(self, flow: Flow, seconds: float) -> float:
        inside = self.pipelined * seconds if flow.axis == "tp" else 0.0
        hidden = self.hides.get(flow.axis) or (flow.unasked and flow.axis not in self.refused)
        room = flow.room * flow.calls if hidden else 0.0
        return self.beside(seconds - inside, room) + self.software.interference * inside

    def beside(self, seconds: float, room: float) -> float:
        """What that many seconds of communication add beside ``room`` seconds of computation."""
        return float(exposed(seconds, room, self.software.interference))

    def passes(self, work: Work, forward: Flows = (), backward: Flows = (), again: Flows = ()) -> Passes:
        """Both ways through some work, with the communication of each."""
        sent = [[self.send(flow) for flow in flows] for flows in (forward, backward, again)]
        kernels = (work.forward, work.backward, work.recomputed)
        there, back, once_more = (self._run(part, rows) for part, rows in zip(kernels, sent, strict=True))
        flops, flops_again = (sum(kernel.flops for kernel in part) for part in (work.forward, work.recomputed))
        return Passes(there, back, once_more, tuple(row for rows in sent for row in rows), flops, flops_again)

    def _run(self, kernels: Iterable[Kernel], sent: Iterable[Communication]) -> Seconds:
        spent: dict[str, float] = defaultdict(float)
        launches = experts = 0.0
        for kernel in kernels:
            spent[_spent_on(kernel)] += self.speed.seconds(kernel)
            launches += kernel.launches
            experts += kernel.shape.batch if kernel.shape and kernel.shape.experts else 0.0
        for row in sent:
            spent[_FIELD.get(row.axis, row.axis)] += row.exposed
            launches += row.calls
        gaps = launches * self.software.gap
        host = launches * self.software.interval + experts * self.software.interval_expert
        return Seconds(**spent, launch=gaps + float(launch_idle(sum(spent.values()) + gaps, host)))


_FIELD = {"expert_tp": "tp"}
"""Under which field of `Seconds` the traffic of an axis counts, where it has none of its own."""


def _spent_on(kernel: Kernel) -> str:
    if not kernel.rate:
        return "memory"
    return "attention" if kernel.rate.startswith("attention") else "matmul"
