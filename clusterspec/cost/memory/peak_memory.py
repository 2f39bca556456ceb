"""Bytes of one rank at the peak of a step, in numbers: every part, and their sum.

The functions hold for columns of layouts: sharding, schedule, recomputation and precisions are words that group
them, degrees and counts are numbers. Terms are made of the record in `clusterspec.cost.memory.explain`.
"""

from __future__ import annotations

from clusterspec.cost.formulas.elementwise import larger
from clusterspec.cost.layers import Chunk
from clusterspec.cost.memory import model_states, peak, reserved, serving
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.line import Lines, added
from clusterspec.cost.memory.peak import Peak
from clusterspec.cost.memory.rank import Rank
from clusterspec.cost.memory.stored_activations import stored
from clusterspec.records import dataclass

NOTHING = Peak((), (), ())


@dataclass(frozen=True, slots=True)
class RankMemory:
    """Bytes of one rank. What is there at one point of the step only is in ``at_loss`` and ``in_backward``, of which
    the larger counts. ``total`` is the sum of all.
    """

    weights: Lines
    gradients: Lines
    optimizer: Lines
    activations: Lines
    reserved: Lines
    at_loss: Peak
    in_backward: Peak
    total: float

    @property
    def peak(self) -> Peak:
        """The point of the step at which there is more; of numbers only, not of columns."""
        return self.at_loss if self.at_loss.value > self.in_backward.value else self.in_backward


def training(job: Job, rank: Rank) -> RankMemory:
    """One rank that trains."""
    weights, optimizer = model_states.weights(job, rank.share), model_states.optimizer(job, rank.share)
    activations, gradients = stored(job, rank), model_states.gradients(job, rank.share)
    gradients = model_states.replacing(job, gradients, added(gradients), added(activations))
    at_loss, in_backward = peak.at_loss(job, rank), peak.in_backward(job, rank)
    most = larger(at_loss.value, in_backward.value)
    allocated = added((*weights, *gradients, *optimizer, *activations)) + most
    beside = (*reserved.reserved(job, rank.share), *reserved.fragmentation(job, allocated))
    total = allocated + added(beside)
    return RankMemory(weights, gradients, optimizer, activations, beside, at_loss, in_backward, total)


def serve(job: Job, rank: Rank, chunks: tuple[Chunk, ...], limit: float) -> RankMemory:
    """One rank that serves; ``limit`` is the bytes that it may fill. Engines allocate once: nothing is fragmented."""
    weights = serving.weights(job, rank.share)
    beside = (*reserved.reserved(job, rank.share), *serving.step_activations(job))
    taken = added((*weights, *beside))
    cache = serving.cache(job, chunks, max(0.0, limit - taken))
    return RankMemory(weights, (), (), cache, beside, NOTHING, NOTHING, taken + added(cache))
