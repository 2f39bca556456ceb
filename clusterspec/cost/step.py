"""Composition of a step from pipeline stages, data parallelism and other times, on numbers or columns of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import WEIGHT_SHARE
from clusterspec.cost.formulas import pipeline
from clusterspec.cost.formulas.compute import larger, smaller, value_where
from clusterspec.cost.formulas.pipeline import (
    expected_longest,
    exposed_time_with_bucket,
    fill_sends_time,
    host_copy_time,
    host_update_time,
    orthogonal_update_time,
    sends_time,
    straggler_wait,
    update_time,
)
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple
from clusterspec.standard import sum_of

# Pipeline stages and schedules: the slowest stage, idle time, and sends between stages

HIDES_SENDS = frozenset({"interleaved", "zero-bubble", "dualpipe"})
"""Schedules that can overlap sends between stages with computation."""
DUALPIPE_SHARE = assumed_figure(
    "schedules",
    "dualpipe.chunk",
    0.5,
    "share of the micro-batches that one chunk of DualPipe runs: a rank holds two chunks (arXiv 2412.19437, figure 5)",
).value


class StageTime(NamedTuple):
    """Seconds of one micro-batch, by pass: on a part of the model, or on a stage."""

    forward: float
    backward: float
    recomputation: float

    @property
    def backward_with_recompute(self) -> float:
        """Seconds of recomputation and the backward pass."""
        return self.backward + self.recomputation

    @property
    def total(self) -> float:
        return self.forward + self.backward_with_recompute


def stage_time(parts: Sequence[tuple[StageTime, float]], share: float) -> StageTime:
    """The time of one micro-batch on a stage; ``parts`` has each part of the model with its count. ``share`` is the
    share of micro-batches that run on the stage.
    """
    forward = share * sum_of(count * part.forward for part, count in parts)
    backward = share * sum_of(count * part.backward for part, count in parts)
    return StageTime(forward, backward, share * sum_of(count * part.recomputation for part, count in parts))


def slowest_stage(stages: Sequence[StageTime]) -> tuple[StageTime, float]:
    """The first of the slowest stages, and its index."""
    best, index = stages[0], 0.0
    for other, stage in enumerate(stages[1:], 1):
        longer = stage.total > best.total
        best = StageTime(*(value_where(longer, new, old) for new, old in zip(stage, best, strict=True)))
        index = value_where(longer, float(other), index)
    return best, index


def idle_seconds(schedule: str, stages: float, virtual_stages: float, stage: StageTime, every: float) -> float:
    """Idle seconds of the slowest stage; ``every`` sums one micro-batch over all stages."""
    weight = stage.backward * WEIGHT_SHARE
    if schedule == "zero-bubble":
        return pipeline.zero_bubble_idle(stages, stage.forward, stage.backward_with_recompute - weight, weight)
    if schedule == "dualpipe":
        return pipeline.dualpipe_idle(stages, stage.total, stage.backward_with_recompute, weight)
    return pipeline.fill_and_drain_idle(every, stage.total, virtual_stages)


# Exposed time of data parallelism: gradient reductions, weight gathers, and the computation that they overlap with


class ReplicaSeconds(NamedTuple):
    """Seconds of the data-parallel collectives of one rank.

    ``gather`` of weights and ``reduce`` of gradients (of one layer if communication is layer by layer, else of all
    layers); ``outside`` for embedding and head in each micro-batch, ``outside_once`` for them once per step;
    ``across`` between the shard groups of hsdp.
    """

    gather: float
    reduce: float
    outside: float
    across: float
    outside_once: float = 0.0


class ReplicaWork(NamedTuple):
    """Seconds of computation of one micro-batch on the slowest stage, and the number of its ``layers``.

    ``turns`` micro-batches pass through a virtual stage before the next one runs.
    """

    forward: float
    backward: float
    layers: float
    micro_batches: float
    turns: float


class ReplicaOverlap(NamedTuple):
    """The data-parallel communication that may overlap with computation.

    ``hides`` says whether any of the traffic may overlap, ``hides_across`` whether the reductions between shard groups
    may. ``gathers_again`` says whether the backward pass gathers the weights again; ``interference`` is the share of
    the device that overlapped communication occupies. With ``reduces_once`` only the last micro-batch of a step reduces
    the gradients of the layers, with ``gathers_once`` only the first one gathers their weights.
    """

    hides: bool
    hides_across: bool
    gathers_again: bool
    interference: float
    reduces_once: bool = False
    gathers_once: bool = False


class Exposure(NamedTuple):
    """Traffic that runs as one block and overlaps with ``overlap_window`` seconds of computation, ``repeats`` times per
    step.

    At least the share ``bucket`` of ``seconds`` is exposed; ``exposed`` is the exposed time of one repeat.
    """

    name: str
    seconds: float
    overlap_window: float
    bucket: float
    repeats: float
    exposed: float


def exposed_seconds(exposures: tuple[Exposure, ...]) -> float:
    """The exposed seconds of a step."""
    return sum_of(one.repeats * one.exposed for one in exposures)


def layer_by_layer_exposures(
    seconds: ReplicaSeconds, work: ReplicaWork, overlap: ReplicaOverlap
) -> tuple[Exposure, ...]:
    """Layer-by-layer communication: the next layer's weights are gathered during this layer, and its gradients are
    reduced during the next.

    Traffic outside the layers, and traffic of the first and the last layer of a step, overlaps with nothing.
    """
    layers = larger(1.0, work.layers)
    many, again, once = work.micro_batches * layers, overlap.gathers_again, overlap.reduces_once
    window, back = work.backward / layers, seconds.gather + seconds.reduce if again else seconds.reduce
    gathers = seconds.gather if again and once else 0.0
    gathered = layers if overlap.gathers_once else many
    ends = seconds.gather + seconds.reduce if overlap.hides else 0.0
    return (
        _bucket_exposure("gather_of_a_layer", seconds.gather, work.forward / layers, 0.0, gathered, overlap=overlap),
        _bucket_exposure("gather_before_the_last_backward", gathers, window, 0.0, many - layers, overlap=overlap),
        _bucket_exposure("reduction_of_a_layer", back, window, 0.0, layers if once else many, overlap=overlap),
        _bucket_exposure("first_and_last_layer", ends, 0.0, 0.0, 1.0, overlap=overlap),
        _bucket_exposure("embedding_and_head", seconds.outside, 0.0, 0.0, work.micro_batches, overlap=overlap),
        _bucket_exposure("embedding_and_head_once", seconds.outside_once, 0.0, 0.0, 1.0, overlap=overlap),
        _shard_group_exposure(seconds, work, overlap),
    )


def once_per_step_exposures(
    seconds: ReplicaSeconds, work: ReplicaWork, overlap: ReplicaOverlap
) -> tuple[Exposure, ...]:
    """Communication during the first forward and the last backward pass; the first and the last bucket cannot
    overlap.
    """
    bucket = 1.0 / larger(1.0, work.layers)
    return (
        _bucket_exposure("gather", seconds.gather, work.turns * work.forward, bucket, 1.0, overlap=overlap),
        _bucket_exposure("reduction", seconds.reduce, work.turns * work.backward, bucket, 1.0, overlap=overlap),
        _shard_group_exposure(seconds, work, overlap),
    )


def consecutive_micro_batches(stages: float, micro_batches: float, virtual_stages: float) -> float:
    """The number of micro-batches that pass through one virtual stage before the next one starts: p, at most m; 1
    without virtual stages.

    >>> consecutive_micro_batches(4, 32, 2), consecutive_micro_batches(4, 32, 1)
    (4.0, 1.0)
    """
    several = smaller(virtual_stages - 1.0, 1.0)
    return 1.0 + several * (smaller(stages, micro_batches) - 1.0)


def _shard_group_exposure(seconds: ReplicaSeconds, work: ReplicaWork, overlap: ReplicaOverlap) -> Exposure:
    """The reductions between the shard groups of hsdp, during the last backward pass where the software
    overlaps them.
    """
    window = work.backward if overlap.hides_across else 0.0 * work.backward
    return _bucket_exposure(
        "sum_across_shard_groups", seconds.across, window, 1.0 / larger(1.0, work.layers), 1.0, overlap=overlap
    )


def _bucket_exposure(
    name: str, seconds: float, window: float, bucket: float, repeats: float, *, overlap: ReplicaOverlap
) -> Exposure:
    window = window if overlap.hides else 0.0
    exposed = exposed_time_with_bucket(seconds, window, overlap.interference, bucket)
    return Exposure(name, seconds, window, bucket, repeats, exposed)


# One optimizer step: micro-batches through the slowest stage, and all other times


class StepInputs(NamedTuple):
    """The sub-results of a step: numbers, or columns with one number per layout.

    ``stage`` is one micro-batch on the slowest stage and ``every`` the sum over all stages; ``layers`` the number of
    layers of the slowest stage; ``send`` the seconds to send one micro-batch to the next stage (0 with one stage);
    ``weights`` the weights whose optimizer states a rank holds.
    """

    stage: StageTime
    every: float
    stages: float
    virtual_stages: float
    micro_batches: float
    layers: float
    send: float
    replicas: ReplicaSeconds
    weights: float
    nodes: float


class HostUpdate(NamedTuple):
    """The optimizer update of the offloaded share, computed by the host's processors.

    Gradients of ``gradient_bytes`` cross a bus of ``bandwidth`` B/s, behind the backward pass of every micro-batch
    where ``copies_behind_backward``, else after the last. Then the update reads and writes ``update_bytes`` for each
    weight in host memory, at a ``share`` of the rank's ``memory`` B/s, and ``weight_bytes`` return to the accelerator.
    """

    gradient_bytes: float
    update_bytes: float
    weight_bytes: float
    bandwidth: float
    memory: float
    share: Figure
    copies_behind_backward: bool


class UpdateProducts(NamedTuple):
    """The matrix products of an update: ``flops`` for each weight, at a mean ``rate`` in FLOP/s."""

    flops: float
    rate: float

    def seconds(self, weights: float, offloaded: float) -> float:
        return orthogonal_update_time(weights, self.flops, self.rate, offloaded)


NO_PRODUCTS = UpdateProducts(0.0, 1.0)


class HostTimes(NamedTuple):
    """Seconds that a step waits for the update on the host."""

    gradients: float
    update: float
    weights: float


def hidden_copies(inputs: StepInputs, host: HostUpdate) -> tuple[float, float]:
    """The seconds of computation that hide one copy of the gradients, and the number of such copies per step."""
    if host.copies_behind_backward:
        return inputs.stage.backward_with_recompute, inputs.micro_batches
    return 0.0, 1.0


def host_times(inputs: StepInputs, choices: StepChoices) -> HostTimes:
    """The times of the update on the host; all 0 where nothing is offloaded."""
    host, weights, offloaded = choices.host, inputs.weights, choices.offloaded
    if host is None:
        return HostTimes(0.0, 0.0, 0.0)
    hidden, copies = hidden_copies(inputs, host)
    return HostTimes(
        host_copy_time(weights, host.gradient_bytes, host.bandwidth, offloaded, hidden=hidden, copies=copies),
        host_update_time(weights, host.update_bytes, host.memory, host.share.value, offloaded),
        host_copy_time(weights, host.weight_bytes, host.bandwidth, offloaded),
    )


class StepChoices(NamedTuple):
    """The settings that all layouts of a batch share.

    ``layer_by_layer`` where data parallelism communicates in every micro-batch; ``hides_sends`` where sends between
    stages overlap with computation. ``bytes_each`` are read and written to update a weight at ``bandwidth`` B/s, after
    its ``products``. ``host`` updates the share ``offloaded``. ``overhead`` and ``data_loading`` are seconds per step,
    ``jitter`` the mean delay of one node relative to its step.
    """

    schedule: str
    layer_by_layer: bool
    overlap: ReplicaOverlap
    hides_sends: bool
    bytes_each: float
    bandwidth: float
    offloaded: float
    host: HostUpdate | None
    data_loading: float
    overhead: float
    jitter: float
    products: UpdateProducts = NO_PRODUCTS


class StepTimes(NamedTuple):
    """Seconds of one step: ``work`` of the slowest stage in all micro-batches, and all other times."""

    work: float
    idle: float
    fill_sends: float
    sends: float
    replicas: float
    update: float
    offload: float
    data_loading: float
    overhead: float
    straggling: float

    @property
    def bubble(self) -> float:
        """Seconds in which the slowest stage waits for the others."""
        return self.idle + self.fill_sends

    @property
    def total(self) -> float:
        """Seconds of the step."""
        return sum_of(self)


def composed_step(inputs: StepInputs, choices: StepChoices) -> tuple[StepTimes, tuple[Exposure, ...]]:
    """The times of a step, and the exposures of data parallelism."""
    stage, count = inputs.stage, inputs.micro_batches
    exposures = data_parallel_exposures(inputs, choices)
    paced, every = paced_stages(inputs, choices, exposures)
    times = StepTimes(
        work=count * stage.total,
        idle=idle_seconds(choices.schedule, inputs.stages, inputs.virtual_stages, paced, every),
        fill_sends=fill_sends_time(inputs.stages, inputs.send),
        sends=0.0 if choices.hides_sends else sends_time(count, inputs.virtual_stages, inputs.send),
        replicas=exposed_seconds(exposures),
        update=update_time(inputs.weights, choices.bytes_each, choices.bandwidth, choices.offloaded)
        + choices.products.seconds(inputs.weights, choices.offloaded),
        offload=sum_of(host_times(inputs, choices)),
        data_loading=choices.data_loading,
        overhead=choices.overhead,
        straggling=0.0,
    )
    late = straggler_wait(choices.jitter, expected_longest(inputs.nodes), times.total)
    return times._replace(straggling=late), exposures


def data_parallel_exposures(inputs: StepInputs, choices: StepChoices) -> tuple[Exposure, ...]:
    """The exposures of data parallelism."""
    stage, count = inputs.stage, inputs.micro_batches
    turns = consecutive_micro_batches(inputs.stages, count, inputs.virtual_stages)
    work = ReplicaWork(stage.forward, stage.backward_with_recompute, inputs.layers, count, turns)
    timed = layer_by_layer_exposures if choices.layer_by_layer else once_per_step_exposures
    return timed(inputs.replicas, work, choices.overlap)


def paced_stages(inputs: StepInputs, choices: StepChoices, exposures: tuple[Exposure, ...]) -> tuple[StageTime, float]:
    """The time of one micro-batch on the slowest stage, and summed over all stages, including the data-parallel traffic
    that is exposed in it.

    Where micro-batches gather and reduce, the stages of a pipeline wait for each other's traffic as for their work.
    """
    stage, layers, overlap = inputs.stage, larger(1.0, inputs.layers), choices.overlap
    if not choices.layer_by_layer:
        return stage, inputs.every
    exposed = {one.name: one.exposed for one in exposures}
    back = exposed["gather_before_the_last_backward" if overlap.reduces_once else "reduction_of_a_layer"]
    several = smaller(1.0, inputs.stages - 1.0)
    forward = several * (0.0 if overlap.gathers_once else layers * exposed["gather_of_a_layer"])
    backward = several * (layers * back + exposed["embedding_and_head"])
    paced = StageTime(stage.forward + forward, stage.backward, stage.recomputation + backward)
    return paced, inputs.every + inputs.stages * (forward + backward)


def owned_weights(dense: float, expert: float, shards: float, expert_replicas: float) -> float:
    """Weights whose optimizer states a rank holds; an expert has no more shards than replicas.

    >>> owned_weights(8e9, 4e9, 8, 2)
    3000000000.0
    """
    return dense / shards + expert / smaller(shards, expert_replicas)
