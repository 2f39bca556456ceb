"""Bytes of one rank in training other than activations: weights, gradients, optimizer states and buffers."""

from __future__ import annotations

from math import inf

from clusterspec.catalog.stacks import SHARDS_GRADIENTS
from clusterspec.cost.formulas import memory
from clusterspec.cost.formulas.compute import is_zero, larger, smaller, value_where
from clusterspec.cost.formulas.memory import bucket_bytes, buffer_bytes, sub_group_bytes
from clusterspec.cost.memory import COMMUNICATOR, GATHERED, Job, Lines, MemoryLine, memory_line
from clusterspec.cost.parameters import (
    MOMENTS,
    TABLE_MOMENTS,
    Share,
    copies_weights,
    frozen_precision,
    updates_operation_by_operation,
)
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple
from clusterspec.standard import sum_of

LORA = "Hu et al., LoRA, arXiv 2106.09685, section 4.2"
ZERO = "Rajbhandari et al., ZeRO, arXiv 1910.02054"
DEEPSPEED = "DeepSpeed, runtime/bf16_optimizer.py"
DEEPSPEED_STAGE_3 = "DeepSpeed, runtime/zero/stage3.py"
STEP_GRADIENTS = "fp32 gradients"
"""The name of the line for fp32 gradients that an optimizer copies by sub-groups during its step."""
STEP_RESULTS = "results of the update"
"""The name of the line for the denominators of all Adam updates, which exist if the update runs operation by operation.
"""
ADAM = "torch.optim.adamw, _multi_tensor_adamw"
AUTOCAST = "torch.autocast, which caches the copies of weights"
TRANSFORMER_ENGINE = "Transformer Engine, get_dummy_wgrad"


class Shards(NamedTuple):
    """The number of ranks that shard a state, of weights outside experts and of experts."""

    dense: float = 1.0
    expert: float = 1.0


def _state_shards(job: Job, sharded: bool) -> Shards:
    return Shards(job.shards, job.expert_shards) if sharded else Shards()


def _state_lines(name: str, share: Share, each: float, shards: Shards) -> Lines:
    """One state of all weights of the rank, experts separately; a model without experts has no line for them."""
    kinds = [("dense", share.sharded_non_expert_weights, shards.dense), ("expert", share.expert, shards.expert)]
    return tuple(
        memory_line(f"{name}, {kind}", memory.sharded_bytes, ZERO, weights=weights, width=each, ranks=ranks)
        for kind, weights, ranks in (kinds[:1] if is_zero(share.expert) else kinds)
    )


def weight_lines(job: Job, share: Share) -> Lines:
    """Weights; also those that FSDP keeps gathered from forward to backward pass."""
    if job.workload.trainable is not None:
        return _frozen_weight_lines(job, share)
    stored = precision_width(job.workload.parameter_precision)
    if job.framework.sharded_master:
        stored = max(stored, precision_width(job.layout.master_precision))
    gathered = job.keeps_gathered
    copies = (
        each.with_factor("kept_gathered", gathered)
        for each in _state_lines("gathered weights", share, GATHERED, Shards())
    )
    narrow = _narrow_weight_lines(job, share) if copies_weights(job.workload, job.layout.sharding) else ()
    return (*_stored_weight_lines(job, share, stored, gathered), *copies, *narrow)


def _narrow_weight_lines(job: Job, share: Share) -> Lines:
    """The copies of matrices in fp32 that narrower products read, until the backward pass has read them."""
    matrices = share.dense + share.expert + share.head
    return (memory_line("weights in 16 bits", buffer_bytes, AUTOCAST, count=matrices, each=GATHERED),)


def _frozen_weight_lines(job: Job, share: Share) -> Lines:
    """Frozen weights in their stored precision, and adapters. Frozen weights are divided over ranks only by full
    sharding, and not where the framework keeps gathered weights in pipelines.
    """
    work, shards = job.workload, _frozen_weight_shards(job)
    layers, tables = precision_width(frozen_precision(work)), precision_width(work.parameter_precision)
    kinds = (
        ("dense", share.dense, layers, shards.dense),
        ("tables and norms", share.replicated + share.embedding + share.head, tables, shards.dense),
        ("expert", share.expert, layers, shards.expert),
    )
    frozen = tuple(
        memory_line(f"frozen weights, {kind}", memory.sharded_bytes, LORA, weights=count, width=width, ranks=ranks)
        for kind, count, width, ranks in kinds
    )
    stored = max(tables, precision_width(job.layout.master_precision)) if job.framework.sharded_master else tables
    return (
        *frozen,
        *_state_lines("adapters", share.trained_share(work), stored, _state_shards(job, job.is_fully_sharded)),
    )


def _frozen_weight_shards(job: Job) -> Shards:
    """The number of shards of frozen weights; 1 if weights stay gathered."""
    dense, expert = _state_shards(job, job.is_fully_sharded)
    apart = 1 - job.keeps_gathered
    return Shards(1 + apart * (dense - 1), 1 + apart * (expert - 1))


def _stored_weight_lines(job: Job, share: Share, stored: float, gathered: float) -> Lines:
    """The weights stored on a rank: its shard, or all weights if they stay gathered."""
    if job.is_fully_sharded:
        return _state_lines("weights", share, stored, _state_shards(job, True))
    dense, expert = (1 + gathered * (shards - 1) for shards in (job.shards, job.expert_shards))
    return _state_lines("weights", share, stored, Shards(dense, expert))


def gradient_lines(job: Job, share: Share) -> Lines:
    """Gradients as they are accumulated over the micro-batches of a step; frozen weights have none."""
    share = share.trained_share(job.workload)
    kept = precision_width(job.workload.gradient_precision) + (job.width if accumulates_in_fp32(job) else 0.0)
    found = _state_lines("gradients", share, kept, _gradient_shards(job))
    if job.framework.offloads_gradients and job.layout.offload_optimizer and job.layout.sharding in SHARDS_GRADIENTS:
        found = tuple(each.with_factor("on_device", 1.0 - job.layout.offload_optimizer) for each in found)
    if accumulates_in_fp32(job):
        largest = larger(larger(share.embedding, share.head), share.unit / 2)
        found += (
            memory_line("widened gradient", buffer_bytes, DEEPSPEED, count=largest, each=precision_width("fp32")),
        )
    if job.framework.placeholders:
        found += (memory_line("placeholders", buffer_bytes, TRANSFORMER_ENGINE, count=share.shapes, each=GATHERED),)
    return found


def _gradient_shards(job: Job) -> Shards:
    """The number of shards of gradients. Gradients are accumulated unsharded if they are reduced only at the end of a
    step: in pipelines that the framework synchronizes once, and for several micro-batches with ``gradient_sync: step``.
    """
    if job.layout.sharding not in SHARDS_GRADIENTS:
        return Shards()
    whole = job.synchronizes_once
    if job.layout.gradient_sync == "step":
        whole = value_where(job.micro_batches > 1, 1.0, whole)
    apart = 1 - whole
    return Shards(1 + apart * (job.shards - 1), 1 + apart * (job.expert_shards - 1))


def accumulates_in_fp32(job: Job) -> bool:
    """Whether bf16 gradients are also accumulated in fp32 buffers, by an optimizer that does not shard gradients."""
    work = job.workload
    if job.layout.sharding in SHARDS_GRADIENTS:
        return False
    in_bf16 = work.parameter_precision == "bf16" and work.precision != "fp16"
    return job.framework.accumulators and in_bf16 and work.gradient_precision == "fp32"


def optimizer_lines(job: Job, share: Share) -> Lines:
    """Optimizer states on the device: master weights, moments, and a copy of gradients where the optimizer has one."""
    share, shards = share.trained_share(job.workload), _state_shards(job, job.layout.sharding != "none")
    found = (*_master_lines(job, share, shards), *_moment_lines(job, share, shards))
    if _copies_gradients(job):
        found += _gradient_copy_lines(job, share, shards)
    if updates_operation_by_operation(job.workload.optimizer, job.layout.stack):
        width = precision_width(job.layout.moments_precision)
        found += (_step_line(STEP_RESULTS, share, shards, width=width, group=share.total),)
    if job.layout.offload_optimizer == 0:
        return found
    return tuple(each.with_factor("on_device", 1.0 - job.layout.offload_optimizer) for each in found)


def _gradient_copy_lines(job: Job, share: Share, shards: Shards) -> Lines:
    """The copy of the gradients: all gradients of the rank, or the part that full sharding updates at a time."""
    width = job.framework.gradient_copy
    if not _updates_by_sub_group(job):
        return _state_lines("fp32 gradients", share, width, shards)
    line = _step_line(STEP_GRADIENTS, share, shards, width=width, group=job.framework.sub_group)
    return (line._replace(source=DEEPSPEED_STAGE_3),)


def _step_line(name: str, share: Share, shards: Shards, *, width: float, group: float) -> MemoryLine:
    """A line with one number for each trained weight of the rank, or for each of the ``group`` weights updated at a
    time.
    """
    held = {"dense": share.sharded_non_expert_weights, "expert": share.expert, "group": group, "width": width}
    return memory_line(name, sub_group_bytes, ADAM, dense_ranks=shards.dense, expert_ranks=shards.expert, **held)


def _copies_gradients(job: Job) -> bool:
    """Whether a sharded optimizer stores its part of the gradients in fp32. Without sharding the copy exists only
    during the optimizer step, after activations are freed.
    """
    narrow = precision_width(job.workload.gradient_precision) < precision_width("fp32")
    copied = narrow or _updates_by_sub_group(job)
    return job.framework.gradient_copy > 0 and copied and job.layout.sharding != "none"


def _updates_by_sub_group(job: Job) -> bool:
    """Whether the optimizer converts gradients to fp32 one sub-group at a time, whatever their precision."""
    return job.is_fully_sharded and job.framework.sub_group < inf


def _master_lines(job: Job, share: Share, shards: Shards) -> Lines:
    """Master weights; none if the weights have the same precision."""
    master = precision_width(job.layout.master_precision)
    if job.framework.sharded_master or master <= precision_width(job.workload.parameter_precision):
        return ()
    return _state_lines("master weights", share, master, shards)


def _moment_lines(job: Job, share: Share, shards: Shards) -> Lines:
    name, each = job.workload.optimizer, precision_width(job.layout.moments_precision)
    found = _state_lines("moments", share, MOMENTS[name] * each, shards)
    more = (TABLE_MOMENTS[name] - MOMENTS[name]) * each
    if not more:
        return found
    return (*found, _table_moments_line(share, more, shards))


def _table_moments_line(share: Share, each: float, shards: Shards) -> MemoryLine:
    tables = share.embedding + share.head
    return memory_line(
        "moments of the tables", memory.sharded_bytes, ZERO, weights=tables, width=each, ranks=shards.dense
    )


def late_gradient_lines(job: Job, found: Lines, there: float, freed: float) -> Lines:
    """Gradients beyond the memory of freed activations, where the framework frees activations during backward.

    ``there`` bytes of gradients and ``freed`` bytes of activations; with accumulation nothing is replaced.
    """
    if not job.framework.late_gradients:
        return found
    share = value_where(job.micro_batches > 1, 1.0, _share_beyond(there, freed))
    return tuple(each.with_factor("beyond_activations", share) for each in found)


def _share_beyond(there: float, freed: float) -> float:
    """The share of ``there`` bytes that exceeds the ``freed`` bytes of activations."""
    return 1.0 - smaller(1.0, freed / larger(there, 1.0))


def step_gradient_lines(found: Lines, freed: float) -> Lines:
    """Lines of the optimizer. Memory that exists only during the optimizer step counts only as far as it exceeds the
    ``freed`` bytes of activations; this applies to gradient copies of a sub-group and to results of separate
    operations.
    """
    return tuple(
        each.with_factor("beyond_activations", _share_beyond(each.value, freed))
        if each.name in (STEP_GRADIENTS, STEP_RESULTS)
        else each
        for each in found
    )


# Memory other than weights, states and activations: contexts, communication buffers, and fragmentation

DEEPSPEED_BUCKETS = "DeepSpeed, reduce_bucket_size and allgather_bucket_size"


def reserved_lines(job: Job, share: Share) -> Lines:
    """Memory that does not depend on allocated bytes."""
    found: Lines = (_communicator_line(job),)
    if job.framework.context is not None:
        spread = job.framework.context
        context = memory_line("context", buffer_bytes, count=1, each=spread.value)
        found = (context._replace(low=spread.low / spread.value, high=spread.high / spread.value), *found)
    if job.framework.buckets:
        trained = share.trained_share(job.workload).total
        sizes = {"buckets": job.framework.buckets, "weights": trained, "width": GATHERED}
        found += (memory_line("buckets", bucket_bytes, DEEPSPEED_BUCKETS, **sizes),)
    return found


def communicator_count(job: Job) -> float:
    """Number of communicators of a rank: one per axis that communicates, one of all ranks, and the framework's own."""
    layout = job.layout
    degrees = (layout.tp, layout.cp, layout.ep, layout.pp, layout.data_ranks)
    axes = sum_of((value_where(degree > 1, 1.0, 0.0) for degree in degrees), 0.0)
    return value_where(layout.ranks > 1, axes + 1 + job.framework.communicators, 0.0)


def _communicator_line(job: Job) -> MemoryLine:
    found = memory_line("communication buffers", buffer_bytes, count=communicator_count(job), each=COMMUNICATOR.value)
    low, high = COMMUNICATOR.low / COMMUNICATOR.value, COMMUNICATOR.high / COMMUNICATOR.value
    return found._replace(low=low, high=high)


def fragmentation_lines(job: Job, allocated: float) -> Lines:
    """Memory that the allocator holds but cannot use, for ``allocated`` bytes of weights, states and activations."""
    spread = job.framework.fragmentation
    if spread is None or not spread.value:
        return ()
    found = memory_line("fragmentation", buffer_bytes, count=allocated, each=spread.value)
    return (found._replace(low=spread.low / spread.value, high=spread.high / spread.value),)
