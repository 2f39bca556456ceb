"""What data parallelism adds to a step: gradients to sum, weights to gather, and what hides them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas.elementwise import larger
from clusterspec.cost.schedule.clock import Clock
from clusterspec.cost.schedule.passes import Passes, repeated
from clusterspec.cost.term import Communication
from clusterspec.cost.traffic.data import Weights, across, gathers, reductions
from clusterspec.cost.traffic.flow import Flow

SHARDED = ("fsdp", "hsdp", "zero2")
Rows = tuple[Communication, ...]


@dataclass(frozen=True, slots=True)
class Replicas:
    """The data-parallel traffic of the slowest stage.

    ``weights`` are those of its ``layers``, ``outside`` those of embedding and head.
    """

    clock: Clock
    workload: Workload
    layout: Layout
    weights: Weights
    outside: Weights
    layers: int

    def rows(self, work: Passes, micro_batches: int) -> Rows:
        """Everything that is sent in one step; ``exposed`` is what it adds to the step."""
        if self.layout.sharding in SHARDED and self.layout.pp == 1:
            return self._every_micro_batch(work, micro_batches) + self._last(work)
        return self._once(work, micro_batches) + self._last(work)

    def _once(self, work: Passes, micro_batches: int) -> Rows:
        """Beside the first forward and the last backward pass; the first and the last bucket cannot hide.

        Virtual stages run pp micro-batches each before the next one, so what belongs to one of them
        has that many passes of the others to hide beside.
        """
        layout, everything = self.layout, self.weights + self.outside
        turns = min(layout.pp, micro_batches) if layout.virtual_stages > 1 else 1
        gather = self._beside(gathers(everything, self.workload, layout), turns * work.forward.total)
        return gather + self._beside(reductions(everything, self.workload, layout), turns * work.return_time)

    def _last(self, work: Passes) -> Rows:
        """hsdp's sums over its groups, beside the last backward pass where the software can."""
        flows = across(self.weights + self.outside, self.workload, self.layout)
        return self._beside(flows, work.return_time if self.clock.software.hides("replicas") else 0.0)

    def _every_micro_batch(self, work: Passes, micro_batches: int) -> Rows:
        """Layer by layer: the next layer's weights come under this one, its gradients leave under the next.

        Without ``zero2`` the backward pass gathers the weights once more. What stands outside the
        layers, and the first and the last layer of a step, hide under nothing.
        """
        layers = max(1, self.layers)
        one, workload, layout = self.weights * (1 / layers), self.workload, self.layout
        gather, reduce = gathers(one, workload, layout), reductions(one, workload, layout)
        forward, back = work.forward.total / layers, work.return_time / layers
        again = () if layout.sharding == "zero2" else gather
        hidden = self._beside(gather, forward, 0) + self._beside((*again, *reduce), back, 0)
        ends = gathers(self.outside, workload, layout) + reductions(self.outside, workload, layout)
        seen = self._beside(gather + reduce, 0.0) if self.clock.hides["dp"] else ()
        first_and_last = tuple(replace(row, calls=0.0, bytes=0.0, seconds=0.0) for row in seen)
        many = tuple(repeated(row, micro_batches * layers) for row in hidden)
        return many + first_and_last + tuple(repeated(row, micro_batches) for row in self._beside(ends, 0.0))

    def _beside(self, flows: Iterable[Flow], room: float, bucket: float | None = None) -> Rows:
        """Flows together beside ``room`` seconds; what adds up is shared among them by their time.

        At least the share ``bucket`` of them (by default one layer's) is seen.
        """
        rows = [self.clock.send(flow) for flow in flows]
        gather = self.clock.software.gather if self.layout.sharding == "fsdp" else 1.0
        total = sum(row.seconds for row in rows) / gather
        if not total:
            return ()
        least = total * (1 / max(1, self.layers) if bucket is None else bucket)
        seen = float(larger(self.clock.beside(total, room), least)) if self.clock.hides["dp"] else total
        return tuple(
            replace(row, seconds=row.seconds / gather, exposed=seen * row.seconds / gather / total) for row in rows
        )
