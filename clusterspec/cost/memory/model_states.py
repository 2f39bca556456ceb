"""Model states of one rank: weights, gradients and optimizer states."""

from __future__ import annotations

from clusterspec.cost.formulas import states
from clusterspec.cost.formulas.elementwise import chosen, larger, smaller
from clusterspec.cost.formulas.rank_memory import several
from clusterspec.cost.memory.job import GATHERED, Job
from clusterspec.cost.memory.line import Lines, MemoryLine, line
from clusterspec.cost.optimizer_states import MOMENTS, TABLE_MOMENTS
from clusterspec.cost.parameters import Share
from clusterspec.precision import width
from clusterspec.records import NamedTuple

ZERO = "Rajbhandari et al., ZeRO, arXiv 1910.02054"
DEEPSPEED = "DeepSpeed, runtime/bf16_optimizer.py"
TRANSFORMER_ENGINE = "Transformer Engine, get_dummy_wgrad"


class Shards(NamedTuple):
    """The number of ranks that shard a state, of weights outside experts and of experts."""

    dense: float = 1.0
    expert: float = 1.0


def _shards(job: Job, sharded: bool) -> Shards:
    return Shards(job.shards, job.expert_shards) if sharded else Shards()


def _state(name: str, share: Share, each: float, shards: Shards) -> Lines:
    """One state of all weights of the rank, experts separately."""
    kinds = (("dense", share.not_expert, shards.dense), ("expert", share.expert, shards.expert))
    return tuple(
        line(f"{name}, {kind}", states.sharded, ZERO, weights=weights, width=each, ranks=ranks)
        for kind, weights, ranks in kinds
    )


def weights(job: Job, share: Share) -> Lines:
    """Weights; also those that FSDP keeps gathered from forward to backward pass."""
    stored = width(job.workload.parameter_precision)
    if job.framework.sharded_master:
        stored = max(stored, width(job.layout.master_precision))
    gathered = job.keeps_gathered
    copies = (each.times("kept_gathered", gathered) for each in _state("gathered weights", share, GATHERED, Shards()))
    return (*_weights(job, share, stored, gathered), *copies)


def _weights(job: Job, share: Share, stored: float, gathered: float) -> Lines:
    """The weights stored on a rank: its shard, or the gathered weights as well."""
    if job.sharded_fully:
        return _state("weights", share, stored, _shards(job, True))
    dense, expert = (1 + gathered * (shards - 1) for shards in (job.shards, job.expert_shards))
    return _state("weights", share, stored, Shards(dense, expert))


def gradients(job: Job, share: Share) -> Lines:
    """Gradients as they are accumulated over the micro-batches of a step."""
    kept = width(job.workload.gradient_precision) + (job.width if accumulates(job) else 0.0)
    found = _state("gradients", share, kept, _gradient_shards(job))
    if accumulates(job):
        largest = larger(larger(share.embedding, share.head), share.unit / 2)
        found += (line("widened gradient", several, DEEPSPEED, count=largest, each=width("fp32")),)
    if job.framework.placeholders:
        found += (line("placeholders", several, TRANSFORMER_ENGINE, count=share.shapes, each=GATHERED),)
    return found


def _gradient_shards(job: Job) -> Shards:
    """The shards of gradients; FSDP in a pipeline accumulates full gradients, since it reduces them at the end of a
    step.
    """
    if job.layout.sharding not in {"zero2", "fsdp", "hsdp"}:
        return Shards()
    apart = 1 - job.keeps_gathered * chosen(job.layout.pp > 1, 1.0, 0.0)
    return Shards(1 + apart * (job.shards - 1), 1 + apart * (job.expert_shards - 1))


def accumulates(job: Job) -> bool:
    """Whether bf16 gradients are also accumulated in fp32 buffers."""
    work = job.workload
    in_bf16 = work.parameter_precision == "bf16" and work.precision != "fp16"
    return job.framework.accumulators and in_bf16 and work.gradient_precision == "fp32"


def optimizer(job: Job, share: Share) -> Lines:
    """Optimizer states on the device: master weights, moments, and a copy of gradients where the optimizer has one."""
    shards = _shards(job, job.layout.sharding != "none")
    found = (*_master(job, share, shards), *_moments(job, share, shards))
    if _copies_gradients(job):
        found += _state("fp32 gradients", share, job.framework.gradient_copy, shards)
    if job.layout.offload_optimizer == 0:
        return found
    return tuple(each.times("on_device", 1.0 - job.layout.offload_optimizer) for each in found)


def _copies_gradients(job: Job) -> bool:
    """Whether the sharded optimizer stores its part of the gradients in fp32; without sharding the copy exists only
    during the optimizer step, after activations are freed.
    """
    narrow = width(job.workload.gradient_precision) < width("fp32")
    return job.framework.gradient_copy > 0 and narrow and job.layout.sharding != "none"


def _master(job: Job, share: Share, shards: Shards) -> Lines:
    """Master weights; none where the weights have the same precision."""
    master = width(job.layout.master_precision)
    if job.framework.sharded_master or master <= width(job.workload.parameter_precision):
        return ()
    return _state("master weights", share, master, shards)


def _moments(job: Job, share: Share, shards: Shards) -> Lines:
    name, each = job.workload.optimizer, width(job.layout.moments_precision)
    found = _state("moments", share, MOMENTS[name] * each, shards)
    more = (TABLE_MOMENTS[name] - MOMENTS[name]) * each
    if not more:
        return found
    return (*found, _tables(share, more, shards))


def _tables(share: Share, each: float, shards: Shards) -> MemoryLine:
    tables = share.embedding + share.head
    return line("moments of the tables", states.sharded, ZERO, weights=tables, width=each, ranks=shards.dense)


def replacing(job: Job, found: Lines, there: float, freed: float) -> Lines:
    """Gradients beyond the memory of freed activations, where the framework frees as it goes.

    ``there`` bytes of gradients and ``freed`` bytes of activations; with accumulation nothing is replaced.
    """
    if not job.framework.late_gradients:
        return found
    beyond = 1.0 - smaller(1.0, freed / larger(there, 1.0))
    share = chosen(job.micro_batches > 1, 1.0, beyond)
    return tuple(each.times("beyond_activations", share) for each in found)
