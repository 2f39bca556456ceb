"""Bytes of one rank at the peak of a step: every category, and the sum.

The functions accept columns of layouts: sharding, schedule, recomputation and precisions are words that group them,
degrees and counts are numbers. `clusterspec.cost.memory.explain` creates terms from the record.
"""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cost.formulas.elementwise import chosen, larger
from clusterspec.cost.layers import Chunk
from clusterspec.cost.memory import model_states, peak, reserved
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.line import Lines, added, squared_excess
from clusterspec.cost.memory.peak import PeakPoint
from clusterspec.cost.memory.rank import Layers, Rank
from clusterspec.cost.memory.recomputation import kept
from clusterspec.cost.memory.stored_activations import stored
from clusterspec.cost.memory.tensor import Tensor
from clusterspec.records import NamedTuple, dataclass

NOTHING = PeakPoint((), (), ())


@dataclass(frozen=True, slots=True)
class RankMemory:
    """Bytes of one rank. Transient memory is in ``at_loss`` and ``in_backward``, of which the larger counts. ``total``
    is the sum, ``upper`` the high end of its range: the errors of the lines are assumed to be independent.
    """

    weights: Lines
    gradients: Lines
    optimizer: Lines
    activations: Lines
    reserved: Lines
    at_loss: PeakPoint
    in_backward: PeakPoint
    total: float
    upper: float

    @property
    def peak(self) -> PeakPoint:
        """The point of the step with more memory; for numbers only, not for columns."""
        return self.at_loss if self.at_loss.value > self.in_backward.value else self.in_backward


class LayerMemory(NamedTuple):
    """Memory that follows from the degrees that shard a layer.

    ``tensors`` are stored for one micro-batch, ``logits`` at the loss; the third is the layer in its backward pass with
    the tensors that context parallelism exchanges.
    """

    tensors: Sequence[Tensor]
    logits: Lines
    working: Lines

    @classmethod
    def of(cls, job: Job, kinds: frozenset[Layers]) -> LayerMemory:
        """The memory of a rank whose layers have these kinds of feed-forward network."""
        return cls(kept(job), peak.logits(job), (peak.working(job, kinds), *peak.exchanged(job)))


def training(job: Job, rank: Rank) -> RankMemory:
    """Memory of one rank in training."""
    return filled(job, rank, LayerMemory.of(job, rank.kinds))


def filled(job: Job, rank: Rank, layer: LayerMemory) -> RankMemory:
    """Memory of one rank in training, from the memory of its layers."""
    weights, optimizer = model_states.weights(job, rank.share), model_states.optimizer(job, rank.share)
    activations, gradients = stored(job, rank, layer.tensors), model_states.gradients(job, rank.share)
    gradients = model_states.replacing(job, gradients, added(gradients), added(activations))
    at_loss, in_backward = peak.at_loss(job, rank, layer.logits), peak.in_backward(job, rank, layer.working)
    most = larger(at_loss.value, in_backward.value)
    held = (*weights, *gradients, *optimizer, *activations)
    allocated = added(held) + most
    beside = (*reserved.reserved(job, rank.share), *reserved.fragmentation(job, allocated))
    total = allocated + added(beside)
    transient = chosen(at_loss.value > in_backward.value, at_loss.squared_excess, in_backward.squared_excess)
    upper = total + (squared_excess((*held, *beside)) + transient) ** 0.5
    return RankMemory(weights, gradients, optimizer, activations, beside, at_loss, in_backward, total, upper)


def serve(job: Job, rank: Rank, chunks: tuple[Chunk, ...], limit: float) -> RankMemory:
    """Memory of one rank in serving; ``limit`` is the bytes available to it. Engines allocate once, without
    fragmentation.
    """
    from clusterspec.cost.memory import serving  # training needs none of its modules

    weights = serving.weights(job, rank.share)
    beside = (*reserved.reserved(job, rank.share), *serving.step_activations(job))
    taken = added((*weights, *beside))
    cache = serving.cache(job, chunks, serving.free_for_cache(job, limit - taken))
    total = taken + added(cache)
    upper = total + squared_excess((*weights, *cache, *beside)) ** 0.5
    return RankMemory(weights, (), (), cache, beside, NOTHING, NOTHING, total, upper)
