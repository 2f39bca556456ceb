"""Weights, gradients and optimizer states of one rank."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cost.formulas import states
from clusterspec.cost.memory import sums
from clusterspec.cost.memory.given import computed
from clusterspec.cost.memory.job import ACTIVATION, BYTES, Job
from clusterspec.cost.parameters import Share
from clusterspec.cost.term import Term

ZERO = "Rajbhandari et al., ZeRO, arXiv 1910.02054"
FSDP = "Zhao et al., PyTorch FSDP, arXiv 2304.11277"
REDUCED = 4.0
"""Bytes of one gradient while it is reduced: sums over ranks are taken in fp32."""
MOMENTS = {"adam": 2, "adamw": 2, "lion": 1, "momentum": 1, "muon": 1, "sgd": 0, "adafactor": 0}
"""Numbers that the optimizer keeps for each weight of a matrix beside the weight. Adafactor keeps a row and a
column for each matrix, which is nothing beside it (arXiv 1804.04235)."""
TABLE_MOMENTS = {**MOMENTS, "muon": 2}
"""The same for embedding and head: Muon leaves those to Adam."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How many ranks share one state, of weights outside experts and of experts."""

    dense: float
    expert: float


def _cut(job: Job, sharded: bool) -> Cut:
    return Cut(job.shards, job.expert_shards) if sharded else Cut(1.0, 1.0)


def _state(what: str, job: Job, share: Share, width: float, cut: Cut) -> list[Term]:
    """One state of all weights of the rank, experts apart."""
    parts = []
    for kind, weights, ranks in (("dense", share.not_expert, cut.dense), ("expert", share.expert, cut.expert)):
        inputs = (
            computed(f"{kind} weights", weights, "model cut by tp, ep, expert_tp and pp"),
            computed("bytes each", width, "the precision it is kept in", "B"),
            computed("ranks", ranks, f"sharding {job.layout.sharding}"),
        )
        value = states.sharded(weights, width, ranks)
        parts.append(sums.leaf(f"{what}, {kind}", value, f"{kind} weights × bytes each / ranks", inputs, source=ZERO))
    return parts


def weights(job: Job, share: Share) -> Term:
    """Bytes of weights: what is kept, and what fully sharded data parallelism has gathered."""
    stored = BYTES[job.workload.parameter_precision]
    if job.habits.sharded_master:
        stored = max(stored, BYTES[job.layout.master_precision])
    parts = _state("weights", job, share, stored, _cut(job, job.gathers or _gathers_whole(job)))
    if _gathers_whole(job):
        parts += _state("gathered weights", job, share, ACTIVATION, Cut(1.0, 1.0))
    elif job.gathers and job.shards > 1:
        parts.append(_gathered(share))
    return sums.total("weights", parts)


def _gathers_whole(job: Job) -> bool:
    """Whether 16-bit weights stay gathered from forward to backward: by ZeRO-2 as FSDP does it, and in pipelines."""
    if not job.habits.sharded_master or job.shards == 1:
        return False
    return job.layout.sharding == "zero2" or (job.gathers and job.layout.pp > 1)


def _gathered(share: Share) -> Term:
    value = states.gathered_units(share.unit, share.units, share.head + share.embedding)
    inputs = (
        computed("unit", share.unit, "weights of the largest layer"),
        computed("ends", share.head + share.embedding, "weights of embedding and head"),
    )
    return sums.leaf("gathered units", value, "2 B × (2 unit + ends)", inputs, source=FSDP, off=(0.5, 1.5))


def gradients(job: Job, share: Share) -> Term:
    """Bytes of gradients: what is kept until the step, and what lies beside it while they are reduced."""
    sharded = job.layout.sharding in {"zero2", "fsdp", "hsdp"} and not (job.habits.sharded_master and job.layout.pp > 1)
    parts = _state("gradients", job, share, _gradient_width(job), _cut(job, sharded))
    if job.gathers and job.shards > 1:
        unit = max(share.unit, share.head)
        inputs = (computed("unit", unit, "weights of the largest layer, or of the head"),)
        value = unit * (ACTIVATION + REDUCED)
        parts.append(sums.leaf("unit being reduced", value, "(2 B + 4 B) × unit", inputs, source=FSDP, off=(0.3, 1.5)))
    if job.habits.placeholders:
        inputs = (computed("shapes", share.shapes, "one matrix of each shape"),)
        why = "Transformer Engine, get_dummy_wgrad"
        parts.append(
            sums.leaf("placeholders", ACTIVATION * share.shapes, "2 B × shapes", inputs, source=why, off=(0.0, 1.0))
        )
    if not job.gradients_said and not job.habits.own_gradients and parts[0].low is not None:
        parts[0] = _perhaps_half(parts[0])
    return sums.total("gradients", parts)


def _perhaps_half(term: Term) -> Term:
    """Nobody said the precision: gradients may as well be kept in 16 bits."""
    return sums.leaf(term.name, term.value, term.formula, term.inputs, source=term.source, off=(0.75, 1.0))


def _gradient_width(job: Job) -> float:
    """Bytes of one gradient as it is kept until the step."""
    said = BYTES[job.workload.gradient_precision]
    if job.gradients_said or not job.habits.own_gradients:
        return said
    return job.width + (said if _accumulates(job) else 0.0)


def _accumulates(job: Job) -> bool:
    """Whether bf16 gradients are summed in fp32 buffers beside them."""
    return job.habits.accumulators and job.workload.parameter_precision == "bf16" and job.workload.precision != "fp16"


def optimizer(job: Job, share: Share) -> Term:
    """Bytes of the optimizer on the device: master weights, moments, and a copy of gradients where it has one."""
    cut = _cut(job, job.layout.sharding != "none")
    parts = []
    master = _master_width(job)
    if master:
        parts += _state("master weights", job, share, master, cut)
    parts += _moments(job, share, cut)
    if job.habits.gradient_copy and not job.gradients_said and not _accumulates(job):
        parts += _state("fp32 gradients", job, share, job.habits.gradient_copy, cut)
    kept = 1.0 - job.layout.offload_optimizer
    return sums.total("optimizer", [sums.scaled(part, kept, "1 − offload") for part in parts])


def _master_width(job: Job) -> float:
    """Bytes of a master weight beside the weight; none where the weight itself is as wide."""
    master = BYTES[job.layout.master_precision]
    if job.habits.sharded_master or master <= BYTES[job.workload.parameter_precision]:
        return 0.0
    return master


def _moments(job: Job, share: Share, cut: Cut) -> list[Term]:
    name = job.workload.optimizer
    width = BYTES[job.layout.moments_precision]
    parts = _state("moments", job, share, MOMENTS.get(name, 2) * width, cut)
    extra = (TABLE_MOMENTS.get(name, 2) - MOMENTS.get(name, 2)) * width
    if extra:
        tables = share.embedding + share.head
        inputs = (computed("tables", tables, "weights of embedding and head"),)
        value = states.sharded(tables, extra, cut.dense)
        parts.append(sums.leaf("moments of the tables", value, "tables × bytes each / ranks", inputs))
    return parts
