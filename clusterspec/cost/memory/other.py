"""What lies beside weights and activations: contexts, communication buffers, and fragmentation."""

from __future__ import annotations

from clusterspec.cost.memory import sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.habits import COMMUNICATOR
from clusterspec.cost.memory.job import ACTIVATION, Job
from clusterspec.cost.memory.spread import Spread
from clusterspec.cost.parameters import Share
from clusterspec.cost.term import Term


def other(job: Job, share: Share, allocated: float) -> Term:
    """Everything else; ``allocated`` bytes of weights, states and activations may be fragmented."""
    parts = [_spread("context", job.habits.context), _communicators(job), _buckets(job, share)]
    parts.append(_fragmentation(job, allocated))
    return sums.total("other", parts)


def _spread(name: str, spread: Spread) -> Term:
    off = (spread.low / spread.value, spread.high / spread.value)
    return sums.leaf(name, spread.value, "assumed", ((name, spread.figure),), source=spread.why, off=off)


def _communicators(job: Job) -> Term:
    """Buffers of the collective library, one communicator for each axis that communicates, and one of all ranks."""
    layout = job.layout
    axes = [axis for axis in ("tp", "cp", "ep", "pp", "dp") if getattr(layout, axis) > 1]
    count = len(axes) + 1 + job.habits.communicators if layout.ranks > 1 else 0
    inputs = (
        computed("communicators", count, "axes that communicate, all ranks, and the framework's own"),
        ("each", COMMUNICATOR.figure),
    )
    off = (COMMUNICATOR.low / COMMUNICATOR.value, COMMUNICATOR.high / COMMUNICATOR.value)
    return sums.leaf(
        "communication buffers",
        count * COMMUNICATOR.value,
        "communicators × each",
        inputs,
        source=COMMUNICATOR.why,
        off=off,
    )


def _buckets(job: Job, share: Share) -> Term:
    """Flat 16-bit buffers in which gradients are reduced and weights gathered."""
    numbers = min(job.habits.buckets, 2 * share.total)
    inputs = (computed("numbers", numbers, "two buckets of 5e8, or the weights where they are fewer"),)
    why = "DeepSpeed, reduce_bucket_size and allgather_bucket_size"
    return sums.leaf("buckets", ACTIVATION * numbers, "2 B × numbers", inputs, source=why, off=(0.25, 1.0))


def _fragmentation(job: Job, allocated: float) -> Term:
    share = job.habits.fragmentation
    inputs = (computed("allocated", allocated, "weights, states and activations", "B"), ("share", share.figure))
    off = (share.low / share.value, share.high / share.value)
    return sums.leaf("fragmentation", allocated * share.value, "allocated × share", inputs, source=share.why, off=off)
