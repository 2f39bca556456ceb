"""Exposed time of data parallelism: gradient reductions, weight gathers, and the computation that they overlap with.

All functions take numbers or columns; the behavior of a framework (``hides``, ``shards``) is one choice for all rows.
"""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import larger, smaller
from clusterspec.cost.formulas.overlap import exposed_at_least
from clusterspec.records import NamedTuple
from clusterspec.summation import sum_of

LAYER_BY_LAYER = frozenset({"fsdp", "hsdp", "zero2"})
"""Shardings that communicate in every micro-batch where there is one stage."""


class ReplicaSeconds(NamedTuple):
    """Seconds of the collectives of one rank.

    ``gather`` of weights and ``reduce`` of gradients (of one layer where communication is layer by layer, else of all
    layers); ``outside`` those of embedding and head; ``across`` those between the shard groups of hsdp.
    """

    gather: float
    reduce: float
    outside: float
    across: float


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

    ``hides`` is whether any of it may, ``hides_across`` whether the reductions between shard groups may.
    ``gathers_again`` is whether the backward pass gathers the weights again; ``interference`` is the share of the
    device that overlapped communication occupies.
    """

    hides: bool
    hides_across: bool
    gathers_again: bool
    interference: float


class Exposure(NamedTuple):
    """Traffic that runs together beside ``overlap_window`` seconds of computation, ``repeats`` times per step.

    At least the share ``bucket`` of ``seconds`` is exposed; ``exposed`` is the exposed time of one repeat.
    """

    name: str
    seconds: float
    overlap_window: float
    bucket: float
    repeats: float
    exposed: float


def total(exposures: tuple[Exposure, ...]) -> float:
    """The exposed seconds of a step."""
    return sum_of(one.repeats * one.exposed for one in exposures)


def every_micro_batch(seconds: ReplicaSeconds, work: ReplicaWork, overlap: ReplicaOverlap) -> tuple[Exposure, ...]:
    """Layer-by-layer communication: the next layer's weights are gathered during this layer, and its gradients are
    reduced during the next.

    Traffic outside the layers, and that of the first and the last layer of a step, overlaps with nothing.
    """
    layers = larger(1.0, work.layers)
    many, again = work.micro_batches * layers, overlap.gathers_again
    back = seconds.gather + seconds.reduce if again else seconds.reduce
    ends = seconds.gather + seconds.reduce if overlap.hides else 0.0
    return (
        _beside("gather_of_a_layer", seconds.gather, work.forward / layers, 0.0, many, overlap=overlap),
        _beside("reduction_of_a_layer", back, work.backward / layers, 0.0, many, overlap=overlap),
        _beside("first_and_last_layer", ends, 0.0, 0.0, 1.0, overlap=overlap),
        _beside("embedding_and_head", seconds.outside, 0.0, 0.0, work.micro_batches, overlap=overlap),
        _across(seconds, work, overlap),
    )


def once(seconds: ReplicaSeconds, work: ReplicaWork, overlap: ReplicaOverlap) -> tuple[Exposure, ...]:
    """Communication during the first forward and the last backward pass; the first and the last bucket cannot
    overlap.
    """
    bucket = 1.0 / larger(1.0, work.layers)
    return (
        _beside("gather", seconds.gather, work.turns * work.forward, bucket, 1.0, overlap=overlap),
        _beside("reduction", seconds.reduce, work.turns * work.backward, bucket, 1.0, overlap=overlap),
        _across(seconds, work, overlap),
    )


def turns(stages: float, micro_batches: float, virtual_stages: float) -> float:
    """Micro-batches that pass through one virtual stage before the next: p, at most m; 1 without virtual stages.

    >>> turns(4, 32, 2), turns(4, 32, 1)
    (4.0, 1.0)
    """
    several = smaller(virtual_stages - 1.0, 1.0)
    return 1.0 + several * (smaller(stages, micro_batches) - 1.0)


def _across(seconds: ReplicaSeconds, work: ReplicaWork, overlap: ReplicaOverlap) -> Exposure:
    """The reductions between the shard groups of hsdp, during the last backward pass where the software
    overlaps them.
    """
    window = work.backward if overlap.hides_across else 0.0 * work.backward
    return _beside(
        "sum_across_shard_groups", seconds.across, window, 1.0 / larger(1.0, work.layers), 1.0, overlap=overlap
    )


def _beside(
    name: str, seconds: float, window: float, bucket: float, repeats: float, *, overlap: ReplicaOverlap
) -> Exposure:
    window = window if overlap.hides else 0.0
    exposed = exposed_at_least(seconds, window, overlap.interference, bucket)
    return Exposure(name, seconds, window, bucket, repeats, exposed)
