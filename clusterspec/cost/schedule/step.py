"""One optimizer step: micro-batches through the slowest stage, and all that comes on top."""

from __future__ import annotations

from dataclasses import dataclass, replace

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost import parameters
from clusterspec.cost.compute.ends import update_traffic
from clusterspec.cost.compute.fixed import WEIGHT_SHARE
from clusterspec.cost.compute.portion import Portion
from clusterspec.cost.formulas import pipeline
from clusterspec.cost.formulas.overlap import straggling
from clusterspec.cost.schedule.clock import Clock
from clusterspec.cost.schedule.layer import Layers
from clusterspec.cost.schedule.passes import Passes, gathered, repeated
from clusterspec.cost.schedule.replicas import Replicas
from clusterspec.cost.schedule.stage import Stages, Timing
from clusterspec.cost.term import Communication
from clusterspec.cost.traffic.data import Weights
from clusterspec.cost.traffic.flow import Flow
from clusterspec.cost.traffic.tensor import activations
from clusterspec.precision import width


@dataclass(frozen=True, slots=True)
class Step:
    """Seconds of one step: ``micro_batches`` times the ``work`` of the slowest stage, and the rest.

    ``nodes`` wait for each other.
    """

    work: Passes
    micro_batches: int
    nodes: int
    bubble: float
    pp: float
    dp: float
    optimizer: float
    data_loading: float
    overhead: float
    straggling: float
    sent: tuple[Communication, ...]

    @property
    def total(self) -> float:
        rest = self.bubble + self.pp + self.dp + self.optimizer + self.data_loading + self.overhead
        return self.work.total * self.micro_batches + rest + self.straggling


def step(workload: Workload, layout: Layout, clock: Clock) -> Step:
    """Times one step of a training workload."""
    portion, count = Portion.of(workload, layout), layout.micro_batches or 1
    stages = Timing(Layers(portion, clock)).stages(workload.model, layout)
    held = parameters.share(workload.model, layout, stages.chunks)
    weights, outside = Weights.of(held, layout), Weights(held.embedding + held.head)
    replicas = Replicas(clock, workload, layout, weights, outside, held.units).rows(stages.slowest, count)
    hops = _hops(portion, layout, clock, count)
    dp, pp = (sum(row.exposed for row in rows) for rows in (replicas, hops))
    optimizer = _optimizer(workload, layout, clock, weights + outside)
    loading, overhead = workload.data_loading or 0.0, clock.software.step
    hop = sum(row.seconds / row.calls for row in hops)
    bubble = _bubble(layout, stages) + 2 * (layout.pp - 1) * hop
    parts = stages.slowest.total * count + bubble + pp + dp + optimizer + loading + overhead
    late = (straggling(layout.nodes, clock.software.jitter) - 1) * parts
    sent = gathered((*(repeated(row, count) for row in stages.slowest.sent), *hops, *replicas))
    return Step(stages.slowest, count, layout.nodes, bubble, pp, dp, optimizer, loading, overhead, late, sent)


def _bubble(layout: Layout, stages: Stages) -> float:
    work = stages.slowest
    if layout.schedule == "zero-bubble":
        weight = work.backward.total * WEIGHT_SHARE
        return float(pipeline.zero_bubble(layout.pp, work.forward.total, work.return_time - weight, weight))
    if layout.schedule == "dualpipe":
        weight = work.backward.total * WEIGHT_SHARE
        return float(pipeline.dualpipe(layout.pp, work.total, work.return_time, weight))
    return float(pipeline.fill_and_drain(stages.total, work.total, layout.virtual_stages))


def _hops(portion: Portion, layout: Layout, clock: Clock, micro_batches: int) -> tuple[Communication, ...]:
    """What the slowest stage sends on, and waits for where nothing hides it.

    Each tensor-parallel rank sends its part; without sequence parallelism the receivers gather the
    whole (Narayanan et al., arXiv 2104.04473, section 4.1).
    """
    if layout.pp == 1:
        return ()
    whole, hidden = activations(portion), clock.hides["pp"] and layout.schedule not in ("1f1b", "gpipe")
    flows = [Flow("pp", "send-recv", whole / layout.tp)]
    if layout.tp > 1 and not layout.sequence_parallel:
        flows.append(Flow("tp", "all-gather", whole))
    rows = (clock.send(flow) for flow in flows)
    each = (replace(row, exposed=0.0 if hidden else row.seconds) for row in rows)
    return tuple(repeated(row, 2.0 * micro_batches * layout.virtual_stages) for row in each)


def _optimizer(workload: Workload, layout: Layout, clock: Clock, weights: Weights) -> float:
    """Seconds of updating this rank's part of the weights at memory speed.

    For the share that is kept in host memory the gradients go there and the weights come back over
    the host bus, both ways at once, while the host's own work is hidden behind the bus.
    """
    each = update_traffic(
        workload.optimizer,
        layout.master_precision,
        layout.moments_precision,
        workload.gradient_precision,
        workload.parameter_precision,
    )
    own = _own(layout, weights)
    away = layout.offload_optimizer
    there = width(workload.gradient_precision) * own / clock.wire.host_bandwidth if away else 0.0
    return (1 - away) * each * own / clock.speed.bandwidth + away * there


def _own(layout: Layout, weights: Weights) -> float:
    """Weights whose optimizer states this rank holds."""
    if layout.sharding == "none":
        return weights.dense + weights.expert
    group = layout.shard_group if layout.sharding == "hsdp" else layout.dp * layout.cp
    return weights.dense / group + weights.expert / min(group, layout.expert_dp)
