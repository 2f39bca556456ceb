"""Sub-results that layouts of one cluster, workload and software release share."""

from __future__ import annotations

from operator import attrgetter

from clusterspec.catalog.models import Model
from clusterspec.catalog.stacks import SHARDS_GRADIENTS, Stack
from clusterspec.cluster.groups import group_runs, runs_placement
from clusterspec.cluster.model import Cluster, Design, Layout, Workload
from clusterspec.cost import parameters
from clusterspec.cost.collectives.paths import group_paths
from clusterspec.cost.collectives.predict import MeasuredLinks
from clusterspec.cost.compute import Shard, Work
from clusterspec.cost.compute.layer import (
    Parts,
    SoftwareBehavior,
    embedding_work,
    head_work,
    layer_parts,
    work_to_join_embedding,
)
from clusterspec.cost.compute.rates import PassKernels, Rates, Speed, rank_rates
from clusterspec.cost.formulas.collectives import PCIE_3_TRANSFERS, PCIE_128B130B, slot_bandwidth
from clusterspec.cost.layer_tables import (
    Group,
    LayerKernels,
    OverlappableCommunication,
    PartTime,
    PhaseTimer,
    layer_name,
    layer_time,
)
from clusterspec.cost.layers import Chunk, FeedForward, Layer, further_layers, model_layers
from clusterspec.cost.parameters import Share
from clusterspec.records import fields
from clusterspec.standard import Recent, recent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.sharded_layers import ShardedPasses

LANES = 16
USUAL_SLOT = 4
"""PCI Express generation if neither the spec nor the catalog states one."""


EMBEDDING, HEAD, JOIN = "embedding", "head", "join"
"""The ends of a model; a layer of multi-token prediction joins hidden states and the tokens after them."""
Part = Layer | str
"""A kind of layer, or embedding or head."""
Groups = dict[object, Group]
"""Process groups, by axis and degrees, by the offsets of their ranks, or by their links."""
Kernels = dict[tuple[Layer, Shard], LayerKernels]
"""The kernels of a layer on one rank, without recomputation."""
Works = dict[object, Parts]
"""The work of the parts of a model on one rank before any rate is known, by part and shard."""
_RECENT: Recent[tuple[Speed, tuple[float, ...], Kernels]] = Recent(4)
ONCE_IN_A_STEP = (
    *("global_batch", "tokens", "expected_mfu", "data_loading"),
    *("parameter_precision", "optimizer"),
)
"""The fields of a workload that do not affect the kernels and transfers of a micro-batch."""
_micro_batch_inputs = attrgetter(*(each.name for each in fields(Workload) if each.name not in ONCE_IN_A_STEP))
MOST_KERNELS = 1000
"""Maximum number of shards whose kernels are cached for other clusters."""
MOST_GROUPS = 1000
"""Maximum number of groups with different links that are cached for other clusters."""


def recent_kernels(speed: Speed, software: SoftwareBehavior) -> Kernels:
    """Cached kernels for these rates. Jobs that differ only in networks, size and host times share one entry."""
    figures = software.kernel_figures
    for speeds, same, kernels in _RECENT:
        if (speeds, same) == (speed, figures) and len(kernels) < MOST_KERNELS:
            return kernels
    return _RECENT.keep((speed, figures, {}))[2]


@recent(4)
def layer_kinds(model: Model) -> tuple[Layer, ...]:
    """The kinds of layers of a model, dense networks before experts."""
    return tuple(
        sorted(
            {*model_layers(model), *further_layers(model)}, key=lambda layer: (layer.network.value, layer.mixer.value)
        )
    )


def share_of_chunks(workload: Workload, layout: Layout, chunks: tuple[Chunk, ...]) -> Share:
    """The weights of a rank that holds these chunks, including adapter weights if the workload trains adapters."""
    share = parameters.rank_share(workload.model, layout, chunks)
    if workload.trainable is None:
        return share
    from clusterspec.cost.adapters import share_with_adapters  # few designs need it

    return share_with_adapters(share, workload, layout, chunks)


class Tables:
    """Sub-results that many layouts of one job share.

    ``parts`` belong to the model: each kind of layer, dense networks before experts, then embedding and head, and the
    joins before layers of multi-token prediction. They share equal objects with ``near``, the tables of another design:
    process groups, weights, and the work and times of kernels.
    """

    def __init__(
        self, cluster: Cluster, workload: Workload, stack: Stack, software_year: int, near: Tables | None = None
    ) -> None:
        self.cluster, self.workload, self.stack, self.software_year = cluster, workload, stack, software_year
        self.software = SoftwareBehavior.of(stack)
        self.rates: Rates | None = rank_rates(cluster, workload, self.software, software_year)
        same_links = near is not None and _has_same_links(near.cluster, cluster)
        self._placed: Groups = near._placed if near and same_links else {}
        self._named: Groups = near._named if near and same_links else {}
        self._linked: Groups = near._linked if near and len(near._linked) < MOST_GROUPS else {}
        same_work = near is not None and near.software.kernel_figures == self.software.kernel_figures
        self.works: Works = near.works if near and same_work else {}
        same_parts = near is not None and self._has_parts_of(near)
        self._parts: dict[object, PartTime] = near._parts if near and same_parts else {}
        self._kernels: dict[object, LayerKernels] = near._kernels if near and same_parts else {}
        self._recomputed: dict[object, PassKernels] = near._recomputed if near and same_parts else {}
        same_weights = near is not None and _has_same_weights(near.workload, workload)
        self._shares: dict[object, Share] = near._shares if near and same_weights else {}
        kinds = layer_kinds(workload.model)
        self.parts: tuple[Part, ...] = (*kinds, EMBEDDING, HEAD, *([JOIN] if workload.model.predicted else ()))
        self._one_mixer = len({layer.mixer for layer in kinds}) == 1

    def _has_parts_of(self, near: Tables) -> bool:
        """Whether the parts of the model take the same time with the tables ``near`` on the same groups."""
        return (
            near.rates is not None
            and self.rates is not None
            and near.rates.speed == self.rates.speed
            and near.software.part_figures == self.software.part_figures
            and _has_same_micro_batch(near.workload, self.workload)
        )

    def apply_to(self, design: Design) -> bool:
        """Whether these tables apply to a design: it has the same cluster, software, and work in a micro-batch.

        Its batch and the precisions of its weights may differ.
        """
        layout = design.layout
        if layout is None or layout.stack != self.stack or layout.software_year != self.software_year:
            return False
        same_cluster = design.cluster is self.cluster or design.cluster == self.cluster
        return same_cluster and design.workload is not None and _has_same_micro_batch(design.workload, self.workload)

    def group(self, layout: Layout, axis: str) -> Group:
        """The groups of an axis (`clusterspec.cluster.groups.AXES`); those with the same links are one object."""
        degrees = (layout.tp, layout.cp, layout.ep, layout.expert_tp, layout.pp, layout.dp, layout.attention_dp)
        named = (axis, layout.order, layout.shard_group, layout.expert_dp, layout.nodes_per_domain, degrees)
        found = self._named.get(named)
        if found is None:
            found = self._named[named] = self._group(layout, axis)
        return found

    def _group(self, layout: Layout, axis: str) -> Group:
        inside, outside = group_runs(layout, axis)
        key = (inside, outside, layout.nodes_per_domain)
        found = self._placed.get(key)
        if found is None:
            placement = runs_placement(self.cluster, axis, inside, outside, layout.nodes_per_domain)
            paths = group_paths(self.cluster, placement)
            links = MeasuredLinks.of(self.cluster, paths) if paths is not None else None
            same = (links or placement, placement.domains)
            found = self._placed[key] = self._linked.setdefault(same, Group(placement, links))
        return found

    def share(self, layout: Layout, chunks: tuple[Chunk, ...]) -> Share:
        """The weights of a rank that holds these chunks."""
        key = (layout.tp, layout.ep, layout.expert_tp, chunks)
        found = self._shares.get(key)
        if found is None:
            found = self._shares[key] = share_of_chunks(self.workload, layout, chunks)
        return found

    def part_time(self, part: Part, layout: Layout, hiding: OverlappableCommunication) -> PartTime:
        """One micro-batch through one of the ``parts``.

        Raises `NoPathError` where no fabric connects the ranks of a group that communicates there.
        """
        return self._end_time(part, layout, hiding) if isinstance(part, str) else self._layer_time(part, layout, hiding)

    def _layer_time(self, layer: Layer, layout: Layout, hiding: OverlappableCommunication) -> PartTime:
        experts = (layout.ep, layout.expert_tp, layout.dispatcher) if layer.network is FeedForward.EXPERTS else ()
        axes = ("tp", "cp", "ep", "expert_tp") if experts else ("tp", "cp")
        groups = {axis: self.group(layout, axis) for axis in axes if getattr(layout, axis) > 1}
        sharded = self.sharded_passes(layout)
        key = (layer, *_shape_degrees(layout), *experts, layout.cp_method, hiding, sharded, *groups.items())
        again = (layout.recompute, layout.recomputed_share, key)
        found = self._parts.get(again)
        if found is None:
            name, kernels = layer_name(layer, self._one_mixer), self._kernels_of(layer, layout)
            assert self.rates is not None
            timer = PhaseTimer(self.rates.speed, self.software, hiding, groups.__getitem__, sharded)
            found = self._parts[again] = layer_time(name, kernels, layout, timer)
        return found

    def sharded_passes(self, layout: Layout) -> ShardedPasses | None:
        """The gathers and reductions of sharded weights in every micro-batch; None where the software has no time of
        them, or shards no gradients.
        """
        if not self.software.interval_shard or layout.sharding not in SHARDS_GRADIENTS:
            return None
        from clusterspec.cost.sharded_layers import ShardedPasses  # few layouts shard gradients

        return ShardedPasses.of(layout, self.stack, self.software.by_matrix)

    def _kernels_of(self, layer: Layer, layout: Layout) -> LayerKernels:
        """The kernels of a layer. They do not depend on the placement of ranks."""
        assert self.rates is not None
        key = (layer, *_shape_degrees(layout), layout.ep, layout.expert_tp, layout.dispatcher)
        found = self._kernels.get(key)
        if found is None:
            known = recent_kernels(self.rates.speed, self.software)
            same = (layer, Shard.of(self.workload, layout, layer.mixer, layer.wide))
            found = self._kernels[key] = known.get(same) or self._timed_kernels(*same)
            known[same] = found
        wanted = (layout.recompute, layout.recomputed_share, key)
        again = self._recomputed.get(wanted)
        if again is None:
            again = self._recomputed[wanted] = found.recomputed_passes(layout, self.software, self.rates.speed)
        return found._replace(recomputed=again)

    def _timed_kernels(self, layer: Layer, shard: Shard) -> LayerKernels:
        assert self.rates is not None
        parts = self.works.get((layer, shard))
        if parts is None:
            parts = self.works[layer, shard] = layer_parts(layer.network, shard, self.software)
        return LayerKernels.of(layer, shard, parts, self.rates.speed)

    def layer_kernels(self, layer: Layer, layout: Layout) -> LayerKernels:
        """The kernels of a layer without recomputation; the degrees of the layout may be columns."""
        assert self.rates is not None
        shard = Shard.of(self.workload, layout, layer.mixer, layer.wide)
        return LayerKernels.of(layer, shard, layer_parts(layer.network, shard, self.software), self.rates.speed)

    def _end_time(self, name: str, layout: Layout, hiding: OverlappableCommunication) -> PartTime:
        key = (name, *_shape_degrees(layout))
        found = self._parts.get(key)
        if found is None:
            shard = Shard.of(self.workload, layout)
            held = (name, self.software.loss, shard)
            parts = self.works.get(held)
            if parts is None:
                parts = self.works[held] = {name: self._end_work(name, shard)}
            found = self._parts[key] = self._timer(layout, hiding).part_time(name, parts[name])
        return found

    def end_work(self, name: str, layout: Layout) -> Work:
        """The kernels of the embedding or the head; the degrees of the layout may be columns."""
        return self._end_work(name, Shard.of(self.workload, layout))

    def _end_work(self, name: str, shard: Shard) -> Work:
        if name == EMBEDDING:
            return embedding_work(shard)
        if name == JOIN:
            return work_to_join_embedding(shard, self.software.accumulation)
        return head_work(shard, self.software.loss, self.software.accumulation)

    def _timer(self, layout: Layout, hiding: OverlappableCommunication) -> PhaseTimer:
        assert self.rates is not None
        return PhaseTimer(self.rates.speed, self.software, hiding, lambda axis: self.group(layout, axis))

    @property
    def host_bandwidth(self) -> float:
        """B/s per direction between one rank and its host's memory: a slot of 16 lanes."""
        generation = self.cluster.pcie_host or USUAL_SLOT
        transfers = PCIE_3_TRANSFERS * 2.0 ** (generation - 3)
        return slot_bandwidth(transfers, LANES, PCIE_128B130B) / self.cluster.ranks_per_accelerator


def _has_same_links(one: Cluster, other: Cluster) -> bool:
    """Whether two clusters are equal except for the efficiencies that their accelerators achieve."""
    if one is other:
        return True
    from clusterspec.cluster.variation import with_values  # most plans are estimated on one machine

    known = other.accelerator.achievable
    return with_values(one, {("accelerator", "achievable"): known}) == other


def _has_same_micro_batch(one: Workload, other: Workload) -> bool:
    """Whether one micro-batch of two workloads does the same work, that is, all fields are equal except those that
    count once per step.
    """
    return one is other or bool(_micro_batch_inputs(one) == _micro_batch_inputs(other))


def _has_same_weights(one: Workload, other: Workload) -> bool:
    """Whether ranks hold the same weights of the models of two workloads."""
    return one.model == other.model and one.trainable == other.trainable


def _shape_degrees(layout: Layout) -> tuple[int, int, int, bool, bool, str]:
    """The settings that determine the shapes of all parts of the model: degrees, whether GEMMs gather their inputs, and
    the sharding, by which fp32 weights are copied whole or shard by shard.
    """
    gathers = layout.overlap.tp == "full"
    return layout.micro_batch, layout.tp, layout.cp, layout.sequence_parallel, gathers, layout.sharding
