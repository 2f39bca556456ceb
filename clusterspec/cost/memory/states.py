"""Weights, gradients and optimizer states that one rank keeps from step to step."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cost.formulas import states
from clusterspec.cost.memory import sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import ACTIVATION, Job
from clusterspec.cost.optimizer_states import MOMENTS, TABLE_MOMENTS
from clusterspec.cost.parameters import Share
from clusterspec.cost.term import Term
from clusterspec.precision import width

ZERO = "Rajbhandari et al., ZeRO, arXiv 1910.02054"
UNSAID = (0.75, 1.0)
"""Low and high of gradients whose precision nobody said: many recipes keep them in 16 bits."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How many ranks share one state, of weights outside experts and of experts."""

    dense: float = 1.0
    expert: float = 1.0


def _cut(job: Job, sharded: bool) -> Cut:
    return Cut(job.shards, job.expert_shards) if sharded else Cut()


def _state(
    what: str, job: Job, share: Share, each: float, cut: Cut, *, off: tuple[float, float] = (1.0, 1.0)
) -> list[Term]:
    """One state of all weights of the rank, experts apart."""
    parts = []
    for kind, weights, ranks in (("dense", share.not_expert, cut.dense), ("expert", share.expert, cut.expert)):
        inputs = (
            computed(f"{kind} weights", weights, "model cut by tp, ep, expert_tp and pp"),
            computed("bytes each", each, "the precision it is kept in", "B"),
            computed("ranks", ranks, f"sharding {job.layout.sharding}"),
        )
        value = states.sharded(weights, each, ranks)
        formula = f"{kind} weights × bytes each / ranks"
        parts.append(sums.leaf(f"{what}, {kind}", value, formula, inputs, source=ZERO, off=off))
    return parts


def weights(job: Job, share: Share) -> list[Term]:
    """Weights; where FSDP leaves them gathered from forward to backward, those as well."""
    stored = width(job.workload.parameter_precision)
    if job.habits.sharded_master:
        stored = max(stored, width(job.layout.master_precision))
    parts = _state("weights", job, share, stored, _cut(job, job.shards_weights))
    if job.leaves_gathered:
        parts += _state("gathered weights", job, share, ACTIVATION, Cut())
    return parts


def gradients(job: Job, share: Share) -> list[Term]:
    """Gradients as they are summed over the micro-batches of a step."""
    sharded = job.layout.sharding in {"zero2", "fsdp", "hsdp"} and not (job.leaves_gathered and job.layout.pp > 1)
    unsaid = not job.gradients_said and not job.habits.own_gradients
    parts = _state(
        "gradients", job, share, _gradient_width(job), _cut(job, sharded), off=UNSAID if unsaid else (1.0, 1.0)
    )
    if _accumulates(job):
        parts.append(_widened(job, share))
    if job.habits.placeholders:
        inputs = (computed("shapes", share.shapes, "one matrix of each shape"),)
        source = "Transformer Engine, get_dummy_wgrad"
        value = ACTIVATION * share.shapes
        parts.append(sums.leaf("placeholders", value, "2 B × shapes", inputs, source=source, off=(0.0, 1.0)))
    return parts


def _widened(job: Job, share: Share) -> Term:
    """The gradient of the largest tensor, widened to be added to its accumulator."""
    layer = share.unit / 2
    largest = max(share.embedding, share.head, layer)
    inputs = (computed("largest", largest, "weights of a table, or of half a layer"),)
    value = width("fp32") * largest
    return sums.leaf("widened gradient", value, "4 B × largest", inputs, source="DeepSpeed, bf16_optimizer.py")


def _gradient_width(job: Job) -> float:
    """Bytes of one gradient as it is kept until the step."""
    said = width(job.workload.gradient_precision)
    if job.gradients_said:
        return said
    if job.habits.own_gradients:
        return job.width + (said if _accumulates(job) else 0.0)
    spread = job.quantized_gradients
    return min(said, spread.value) if spread else said


def _accumulates(job: Job) -> bool:
    """Whether bf16 gradients are summed in fp32 buffers beside them."""
    said = job.gradients_said or job.workload.precision == "fp16"
    return job.habits.accumulators and job.workload.parameter_precision == "bf16" and not said


def optimizer(job: Job, share: Share) -> list[Term]:
    """The optimizer on the device: master weights, moments, and a copy of gradients where it has one."""
    cut = _cut(job, job.layout.sharding != "none")
    parts = []
    master = _master_width(job)
    if master:
        parts += _state("master weights", job, share, master, cut)
    parts += _moments(job, share, cut)
    if _copies_gradients(job):
        parts += _state("fp32 gradients", job, share, job.habits.gradient_copy, cut)
    kept = 1.0 - job.layout.offload_optimizer
    return [sums.scaled(part, kept, "(1 − offload)") for part in parts]


def _copies_gradients(job: Job) -> bool:
    """Whether the sharded optimizer keeps its part of the gradients in fp32; without sharding the copy lives
    during the step alone, when activations are gone.
    """
    own = job.habits.gradient_copy > 0 and not job.gradients_said and not _accumulates(job)
    return own and job.layout.sharding != "none"


def _master_width(job: Job) -> float:
    """Bytes of a master weight beside the weight; none where the weight itself is as wide."""
    master = width(job.layout.master_precision)
    if job.habits.sharded_master or master <= width(job.workload.parameter_precision):
        return 0.0
    return master


def _moments(job: Job, share: Share, cut: Cut) -> list[Term]:
    name = job.workload.optimizer
    each = width(job.layout.moments_precision)
    parts = _state("moments", job, share, MOMENTS[name] * each, cut)
    extra = (TABLE_MOMENTS[name] - MOMENTS[name]) * each
    if extra:
        tables = share.embedding + share.head
        inputs = (computed("tables", tables, "weights of embedding and head"),)
        value = states.sharded(tables, extra, cut.dense)
        parts.append(sums.leaf("moments of the tables", value, "tables × bytes each / ranks", inputs))
    return parts
