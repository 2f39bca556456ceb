"""Memory of the fullest rank of a design in bytes, in training and in serving."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Assumption, Cluster, Design, Layout, Workload
from clusterspec.cluster.variation import layout_of_engines
from clusterspec.cost import assumed_figure
from clusterspec.cost.formulas.compute import larger, positive_part, value_where
from clusterspec.cost.layers import Chunk, LayerSet, StageGroup, micro_batches_in_flight, stage_groups, stored_passes
from clusterspec.cost.memory import GROUP, KEPT, Job, Lines, Rank, recomputation, squared_excess, states, summed_bytes
from clusterspec.cost.memory.activations import Tensor
from clusterspec.cost.memory.recomputation import PeakPoint, StoredTensors, stored_lines
from clusterspec.quantity import Figure
from clusterspec.records import NamedTuple, dataclass, replace
from clusterspec.source import Computed
from clusterspec.standard import sum_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.term import MemoryUse

NOTHING = PeakPoint((), (), ())
FRAGMENTATION = "fragmentation"
"""The name of the line for memory that the allocator has reserved but cannot use."""
ERROR = assumed_figure(
    GROUP,
    "error.activations",
    0.16,
    "error of the activations in addition to the errors of their parts: the smallest share, in steps of one "
    "percent, with which the range contains four in five published peaks of fitted sources, all sources with equal "
    "weight, whichever tenth of the sources is left out (238 peaks of 30 sources; 81 % of all without it, 79 % "
    "without three of them). Weights and optimizer states follow from counts, but programs differ in the tensors that "
    "they save",
)
"""Half-width that is added to the memory range in training, as a share of the predicted activations."""


@dataclass(frozen=True)
class RankMemory:
    """Bytes of one rank. Transient memory is the larger of ``at_loss`` and ``in_backward``; ``total`` is the sum of all
    lines.

    ``largest`` is the total with the software of most memory that it may run on (`Stack.of_most_memory`), 0 if known.
    """

    weights: Lines
    gradients: Lines
    optimizer: Lines
    activations: Lines
    reserved: Lines
    at_loss: PeakPoint
    in_backward: PeakPoint
    total: float
    largest: float = 0.0

    @property
    def upper_bytes(self) -> float:
        """The high end of the range of the total, in bytes. The errors of the lines, and the additional memory of other
        software that may be used, are assumed to be independent.
        """
        held = (*self.weights, *self.gradients, *self.optimizer, *self.activations, *self.reserved)
        one, other = self.at_loss, self.in_backward
        transient = value_where(one.value > other.value, one.squared_excess, other.squared_excess)
        more = positive_part(self.largest - self.total)
        width: float = (squared_excess(held) + transient + more**2) ** 0.5
        return self.total + width

    @property
    def peak(self) -> PeakPoint:
        """The larger of the two memory peaks of a step; for numbers only, not for columns."""
        return self.at_loss if self.at_loss.value > self.in_backward.value else self.in_backward


class LayerMemory(NamedTuple):
    """Memory determined by the degrees that shard a layer.

    ``tensors`` are stored for one micro-batch, ``logits`` at the loss. The third field is one layer in its backward
    pass, with the tensors that context parallelism exchanges.
    """

    tensors: Sequence[Tensor]
    logits: Lines
    working: Lines

    @classmethod
    def of(cls, job: Job, kinds: frozenset[LayerSet]) -> LayerMemory:
        """The memory of a rank whose layers have these kinds of feed-forward network."""
        tensors = StoredTensors.of(job)
        working = recomputation.working_line(job, tensors, kinds)
        return cls(tensors.kept, recomputation.logits_lines(job), (working, *recomputation.exchange_lines(job)))


def training_memory(job: Job, rank: Rank) -> RankMemory:
    """Memory of one rank in training."""
    return rank_memory(job, rank, LayerMemory.of(job, rank.kinds))


def rank_memory(job: Job, rank: Rank, layer: LayerMemory) -> RankMemory:
    """Memory of one rank in training, from the memory of its layers."""
    weights, optimizer = states.weight_lines(job, rank.share), states.optimizer_lines(job, rank.share)
    activations, gradients = stored_lines(job, rank, layer.tensors), states.gradient_lines(job, rank.share)
    gradients = states.late_gradient_lines(job, gradients, summed_bytes(gradients), summed_bytes(activations))
    at_loss, in_backward = (
        recomputation.peak_at_loss(job, rank, layer.logits),
        recomputation.peak_in_backward(job, rank, layer.working),
    )
    most = larger(at_loss.value, in_backward.value)
    optimizer = states.step_gradient_lines(optimizer, summed_bytes(activations) + most)
    held = (*weights, *gradients, *optimizer, *activations)
    allocated = summed_bytes(held) + most
    other = (*states.reserved_lines(job, rank.share), *states.fragmentation_lines(job, allocated))
    total = allocated + summed_bytes(other)
    return RankMemory(weights, gradients, optimizer, activations, other, at_loss, in_backward, total)


def serving_memory(job: Job, rank: Rank, chunks: tuple[Chunk, ...], limit: float) -> RankMemory:
    """Memory of one rank in serving; ``limit`` is the bytes available to it. Engines allocate once, without
    fragmentation.
    """
    from clusterspec.cost.memory import serving_states  # training needs none of its modules

    weights = serving_states.served_weight_lines(job, rank.share)
    weights += serving_states.draft_weight_lines(job) if any(chunk.last for chunk in chunks) else ()
    other = (*states.reserved_lines(job, rank.share), *serving_states.step_activation_lines(job))
    taken = summed_bytes((*weights, *other))
    cache = serving_states.cache_lines(job, chunks, serving_states.cache_budget(job, limit - taken))
    return RankMemory(weights, (), (), cache, other, NOTHING, NOTHING, taken + summed_bytes(cache))


class Memory(NamedTuple):
    """Memory in numbers: the fullest rank, the ranks per accelerator, and the accelerator's capacity in bytes.
    ``elsewhere`` is the accelerator of prefill engines if they run on another pool.
    """

    job: Job
    rank: RankMemory
    ranks: int
    capacity: Figure | None
    elsewhere: Accelerator | None = None

    @property
    def total(self) -> float:
        """Bytes on the fullest accelerator, summed over its ranks."""
        return self.rank.total * self.ranks

    @property
    def saved_on_host(self) -> float:
        """Bytes that selective recomputation stores in host memory for the fullest accelerator."""
        if not recomputation.offloads_saved(self.job):
            return 0.0
        there = recomputation.share_on_device(self.job)
        saved = summed_bytes(each for each in self.rank.activations if "on_device" in dict(each.factors))
        return saved * (1 - there) / there * self.ranks

    @property
    def kept(self) -> float:
        """Bytes on the fullest accelerator that the allocator may reserve without tensors and releases when memory is
        short.
        """
        if self.job.framework.expandable:
            return 0.0
        allocated = sum(line.numbers["count"] for line in self.rank.reserved if line.name == FRAGMENTATION)
        return KEPT.value * allocated * self.ranks

    @property
    def error(self) -> float:
        """Half-width in bytes that errors of activations add to the memory range of the fullest accelerator in
        training.
        """
        if self.job.workload.kind != "train":
            return 0.0
        activations = (*self.rank.activations, *self.rank.peak.activations)
        return ERROR.value * summed_bytes(activations) * self.ranks

    @property
    def upper_bytes(self) -> float:
        """The high end of the range of the bytes on the fullest accelerator."""
        return self.rank.upper_bytes * self.ranks


def design_memory(design: Design) -> Memory | None:
    """Memory of a design; None if it lacks a cluster, a workload, a layout, or `stage_layers`.

    The fullest rank belongs to the pipeline stage with the largest sum.
    """
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None:
        return None
    own = _fullest_of(cluster, _jobs_of_design(design, workload, layout))
    serving = workload.serving
    if serving is None or serving.prefill is None or serving.prefill.pool is None:
        return own
    from clusterspec.cluster.sites import design_on_pool  # few designs have two machines

    other = design_on_pool(design, serving.prefill.pool, {})
    if other.cluster is None or other.workload is None or other.layout is None:
        return own
    there = _fullest_of(other.cluster, [_prefill_job(other, other.workload, other.layout)])
    there = there._replace(elsewhere=other.cluster.accelerator) if there is not None else None
    return max((each for each in (own, there) if each is not None), key=_filled_share, default=None)


def _filled_share(memory: Memory) -> float:
    """The fraction of the capacity that is used on the fullest accelerator; 0 if the capacity is unknown."""
    return memory.total / memory.capacity.value if memory.capacity and memory.capacity.value else 0.0


def _fullest_of(cluster: Cluster, jobs: list[Job]) -> Memory | None:
    """The fullest rank of the given jobs on one machine."""
    if not jobs:
        return None
    capacity = _usable_capacity(cluster, jobs[0].workload)
    limit = capacity.value / cluster.ranks_per_accelerator if capacity else inf
    found = [each for job in jobs for each in _stage_memories(job, limit)]
    if not found:
        return None
    job, fullest = max(found, key=lambda each: each[1].total)
    return Memory(job, fullest, cluster.ranks_per_accelerator, capacity)


def _jobs_of_design(design: Design, workload: Workload, layout: Layout) -> list[Job]:
    """The job of the layout, and the job of separate prefill engines on the same machine."""
    prefill = workload.serving.prefill if workload.serving is not None else None
    jobs = [Job.of(design, workload, layout)]
    return [*jobs, _prefill_job(design, workload, layout)] if prefill is not None and prefill.pool is None else jobs


def _prefill_job(design: Design, workload: Workload, layout: Layout) -> Job:
    """The job of separate prefill engines, which hold one request per replica."""
    assert workload.serving is not None and workload.serving.prefill is not None
    other = layout_of_engines(layout, workload.serving.prefill, workload.model.layers)
    single = replace(workload.serving, concurrency=other.data_ranks)
    return Job.of(design, replace(workload, serving=single), other)


def _stage_memories(job: Job, limit: float) -> list[tuple[Job, RankMemory]]:
    """Memory of the stages that may be the fullest, in bytes of one rank."""
    groups = stage_groups(job.model, job.layout)
    layers: dict[frozenset[LayerSet], LayerMemory] = {}
    return (
        [(job, _group_memory(job, group, limit, layers)) for group in candidates_for_fullest(job, groups)]
        if groups
        else []
    )


def _group_memory(
    job: Job, group: StageGroup, limit: float, layers: dict[frozenset[LayerSet], LayerMemory]
) -> RankMemory:
    """Memory of one rank in a group of equal stages; ``limit`` is the bytes available to it, ``layers`` a cache of
    layer memory.
    """
    rank = Rank.of(job, group.first, group.chunks)
    if job.workload.kind == "serve":
        return serving_memory(job, rank, group.chunks, limit)
    if rank.kinds not in layers:
        layers[rank.kinds] = LayerMemory.of(job, rank.kinds)
    found, other = rank_memory(job, rank, layers[rank.kinds]), job.of_most_memory
    return found if other is None else replace(found, largest=training_memory(other, rank).total)


def _usable_capacity(cluster: Cluster, workload: Workload) -> Figure | None:
    """Memory of one accelerator in bytes; in serving, the share of it available to weights and cache."""
    whole = cluster.accelerator.memory
    if whole is None or workload.serving is None:
        return whole
    if workload.serving.of_free:
        return whole
    share = workload.serving.memory_fraction
    return Figure(whole.value * share, whole.unit, Computed(f"memory × memory_fraction {share:g}"))


def memory_use(design: Design) -> tuple[MemoryUse | None, tuple[Assumption, ...]]:
    """Bytes on the fullest accelerator as terms, and the assumptions made; None if `memory` is None."""
    from clusterspec.cost.memory.explain import explained_memory, memory_assumptions

    found = design_memory(design)
    if found is None:
        return None, ()
    return explained_memory(design, found), memory_assumptions(found.job, found.rank)


def spare_cache(memory: Memory) -> float:
    """Bytes of cache on the fullest accelerator beyond one request of full length; 0 in training.

    A request of full length has at most twice the cache of a request of mean length, with half of its output.
    """
    if memory.job.workload.kind != "serve":
        return 0.0
    return (
        sum_of(each.value * max(0.0, 1 - 2 / each.numbers["count"]) for each in memory.rank.activations) * memory.ranks
    )


# The pipeline stages that may hold the most memory

MOST = 64
"""Up to this number of groups, all of them are evaluated. No published pipeline has more."""
SHORTLIST = 16
"""Number of groups evaluated for each criterion in a longer pipeline."""


def distinct_groups(layout: Layout, groups: tuple[StageGroup, ...]) -> tuple[StageGroup, ...]:
    """The groups without repetitions. The result keeps the first of several groups with the same chunks, since it has
    the most micro-batches in flight. In DualPipe all groups are kept.
    """
    if layout.schedule == "dualpipe":
        return groups
    found: dict[tuple[Chunk, ...], StageGroup] = {}
    for group in groups:
        found.setdefault(group.chunks, group)
    return tuple(found.values())


def candidates_for_fullest(job: Job, groups: tuple[StageGroup, ...]) -> list[StageGroup]:
    """Groups of equal stages among which the fullest is.

    All distinct groups. In very long pipelines, the result has only both ends, the groups with the most layers, and the
    groups with the most micro-batches in flight. The first stage of a group has the most in flight.
    """
    groups = distinct_groups(job.layout, groups)
    if len(groups) <= MOST:
        return list(groups)

    def layers(group: StageGroup) -> float:
        return sum(chunk.layers for chunk in group.chunks)

    def stored_micro_batches(group: StageGroup) -> float:
        counts = micro_batches_in_flight(job.layout, group.first, group.chunks, job.micro_batches)
        return stored_passes(group.chunks, counts)[LayerSet.ALL]

    most_layers = sorted(groups, key=layers, reverse=True)[:SHORTLIST]
    most_held = sorted(groups, key=stored_micro_batches, reverse=True)[:SHORTLIST]
    chosen = {group.first: group for group in (groups[0], groups[-1], *most_layers, *most_held)}
    return [chosen[first] for first in sorted(chosen)]
