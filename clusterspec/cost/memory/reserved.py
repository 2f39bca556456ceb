"""Memory other than weights, states and activations: contexts, communication buffers, and fragmentation."""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import chosen
from clusterspec.cost.formulas.rank_memory import bucket_bytes, several
from clusterspec.cost.memory.constants import COMMUNICATOR
from clusterspec.cost.memory.job import GATHERED, Job
from clusterspec.cost.memory.line import Lines, MemoryLine, line
from clusterspec.cost.parameters import Share
from clusterspec.summation import sum_of

DEEPSPEED = "DeepSpeed, reduce_bucket_size and allgather_bucket_size"


def reserved(job: Job, share: Share) -> Lines:
    """Memory that does not depend on allocated bytes."""
    found: Lines = (_communicators(job),)
    if job.framework.context is not None:
        spread = job.framework.context
        context = line("context", several, count=1, each=spread.value)
        found = (context._replace(low=spread.low / spread.value, high=spread.high / spread.value), *found)
    if job.framework.buckets:
        sizes = {"buckets": job.framework.buckets, "weights": share.total, "width": GATHERED}
        found += (line("buckets", bucket_bytes, DEEPSPEED, **sizes),)
    return found


def communicators(job: Job) -> float:
    """Communicators of one rank: one for each axis that communicates, one of all ranks, and the framework's own."""
    layout = job.layout
    degrees = (layout.tp, layout.cp, layout.ep, layout.pp, layout.data_ranks)
    axes = sum_of((chosen(degree > 1, 1.0, 0.0) for degree in degrees), 0.0)
    return chosen(layout.ranks > 1, axes + 1 + job.framework.communicators, 0.0)


def _communicators(job: Job) -> MemoryLine:
    found = line("communication buffers", several, count=communicators(job), each=COMMUNICATOR.value)
    low, high = COMMUNICATOR.low / COMMUNICATOR.value, COMMUNICATOR.high / COMMUNICATOR.value
    return found._replace(low=low, high=high)


def fragmentation(job: Job, allocated: float) -> Lines:
    """Memory that the allocator holds but cannot use, for ``allocated`` bytes of weights, states and activations."""
    spread = job.framework.fragmentation
    if spread is None:
        return ()
    found = line("fragmentation", several, count=allocated, each=spread.value)
    return (found._replace(low=spread.low / spread.value, high=spread.high / spread.value),)
