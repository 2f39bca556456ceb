"""One optimizer step: micro-batches through the slowest stage, and all other times.

`compose` takes numbers or columns of numbers. For one plan its numbers are floats.
"""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import smaller
from clusterspec.cost.formulas.overlap import expected_longest, waiting
from clusterspec.cost.formulas.pipeline import fill_sends, sends
from clusterspec.cost.formulas.update import offload_time, update_time
from clusterspec.cost.step import replicas
from clusterspec.cost.step.pipeline import StageTime, idle
from clusterspec.cost.step.replicas import Exposure, ReplicaOverlap, ReplicaSeconds, ReplicaWork
from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of


class StepInputs(NamedTuple):
    """The sub-results of a step: numbers, or columns with one number per layout.

    ``stage`` is one micro-batch on the slowest stage and ``every`` the sum over all stages; ``layers`` those of the
    slowest stage; ``send`` the seconds to send one micro-batch to the next stage (0 with one stage); ``weights`` those
    whose optimizer states a rank holds.
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


class StepChoices(NamedTuple):
    """The settings that all layouts of a batch share.

    ``layer_by_layer`` where data parallelism communicates in every micro-batch; ``hides_sends`` where sends between
    stages overlap with computation. ``bytes_each`` are read and written to update a weight at ``bandwidth`` B/s; for
    the share ``offloaded`` to host memory ``gradient_bytes`` each cross a bus of ``host_bandwidth`` B/s. ``overhead``
    and ``data_loading`` are seconds per step, ``jitter`` the mean delay of one node relative to its step.
    """

    schedule: str
    layer_by_layer: bool
    overlap: ReplicaOverlap
    hides_sends: bool
    bytes_each: float
    bandwidth: float
    offloaded: float
    gradient_bytes: float
    host_bandwidth: float
    data_loading: float
    overhead: float
    jitter: float


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


def compose(inputs: StepInputs, choices: StepChoices) -> tuple[StepTimes, tuple[Exposure, ...]]:
    """The times of a step, and the exposures of data parallelism."""
    stage, count = inputs.stage, inputs.micro_batches
    exposures = data_parallel(inputs, choices)
    times = StepTimes(
        work=count * stage.total,
        idle=idle(choices.schedule, inputs.stages, inputs.virtual_stages, stage, inputs.every),
        fill_sends=fill_sends(inputs.stages, inputs.send),
        sends=0.0 if choices.hides_sends else sends(count, inputs.virtual_stages, inputs.send),
        replicas=replicas.total(exposures),
        update=update_time(inputs.weights, choices.bytes_each, choices.bandwidth, choices.offloaded),
        offload=offload_time(inputs.weights, choices.gradient_bytes, choices.host_bandwidth, choices.offloaded),
        data_loading=choices.data_loading,
        overhead=choices.overhead,
        straggling=0.0,
    )
    late = waiting(choices.jitter, expected_longest(inputs.nodes), times.total)
    return times._replace(straggling=late), exposures


def data_parallel(inputs: StepInputs, choices: StepChoices) -> tuple[Exposure, ...]:
    """The exposures of data parallelism."""
    stage, count = inputs.stage, inputs.micro_batches
    turns = replicas.turns(inputs.stages, count, inputs.virtual_stages)
    work = ReplicaWork(stage.forward, stage.return_time, inputs.layers, count, turns)
    timed = replicas.every_micro_batch if choices.layer_by_layer else replicas.once
    return timed(inputs.replicas, work, choices.overlap)


def owned(dense: float, expert: float, shards: float, expert_replicas: float) -> float:
    """Weights whose optimizer states a rank holds; an expert has no more shards than replicas.

    >>> owned(8e9, 4e9, 8, 2)
    3000000000.0
    """
    return dense / shards + expert / smaller(shards, expert_replicas)
