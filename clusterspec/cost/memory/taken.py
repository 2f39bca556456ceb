"""What memory takes for granted of a design, each with its reason."""

from __future__ import annotations

from clusterspec.cluster.model import Assumption
from clusterspec.cost.memory.habits import COMMUNICATOR, ROUTING
from clusterspec.cost.memory.job import Job
from clusterspec.cost.term import Term


def taken(job: Job, total: Term) -> tuple[Assumption, ...]:
    """The spreads that terms of ``total`` rest on, then the habits of the framework that change the sum."""
    spreads = [job.habits.context, COMMUNICATOR]
    names = {term.name for term in total.walk()}
    if "fragmentation" in names:
        spreads.append(job.habits.fragmentation)
    if "logits and loss" in names:
        spreads.append(job.habits.loss)
    if "experts" in names:
        spreads.append(ROUTING)
    if job.quantized_gradients:
        spreads.append(job.quantized_gradients)
    said = tuple(spread.assumption for spread in spreads)
    return said + (_habits(job) if job.workload.kind == "train" else ())


def _habits(job: Job) -> tuple[Assumption, ...]:
    habits, found = job.habits, []
    if job.layout.recompute == "selective":
        why = f"what selective recomputation keeps of a layer in {habits.name}"
        found.append(("memory.recompute", habits.selective.value, why))
    if habits.sharded_master:
        why = f"{habits.name} keeps the master weights alone, and casts what it gathers to 16 bits"
        found.append(("memory.weights", job.layout.master_precision, why))
    if habits.own_gradients and not job.gradients_said:
        why = f"{habits.name} keeps gradients as they are computed, with sums or the optimizer's part in fp32"
        found.append(
            ("memory.gradients", job.workload.precision, f"{why}; `gradient_precision` in the spec overrides it")
        )
    return tuple(found)
