"""The time of one optimizer step of a design: sub-results from the tables, composed to a record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clusterspec.catalog.stacks import FULLY, SHARDS_GRADIENTS
from clusterspec.cluster.model import Design, Layout, Workload
from clusterspec.cost import step
from clusterspec.cost.collectives import CollectiveCost
from clusterspec.cost.compute import Shard
from clusterspec.cost.formulas.compute import is_divided, larger, smaller
from clusterspec.cost.layer_tables import (
    Group,
    NoPathError,
    OverlappableCommunication,
    PartTime,
    TransferTime,
    interference_share,
)
from clusterspec.cost.layers import Chunk, StageGroup, stage_groups
from clusterspec.cost.parameters import (
    MOMENTS,
    ORTHOGONAL,
    UPDATE_PASSES,
    Share,
    frozen_precision,
    updates_operation_by_operation,
)
from clusterspec.cost.plan import ReplicaTransfers, StepRecord
from clusterspec.cost.step import (
    DUALPIPE_SHARE,
    HIDES_SENDS,
    Exposure,
    ReplicaOverlap,
    ReplicaSeconds,
    StageTime,
    StepChoices,
    StepInputs,
    composed_step,
    owned_weights,
)
from clusterspec.cost.tables import EMBEDDING, HEAD, JOIN, Part, Tables
from clusterspec.cost.traffic import (
    Transfer,
    Weights,
    activation_bytes,
    gradient_reductions,
    parameter_bytes,
    shard_group_reductions,
    weight_gathers,
)
from clusterspec.quantity import precision_width
from clusterspec.records import NamedTuple, dataclass, field
from clusterspec.standard import recent, sum_of


def design_tables(design: Design, near: Tables | None = None) -> Tables | None:
    """The tables of a design; None if an input of its time is missing, or the workload is not training.

    They share equal objects with ``near``, the tables of another design.
    """
    cluster, workload, layout = design.cluster, design.workload, design.layout
    if cluster is None or workload is None or layout is None or layout.stack is None:
        return None
    if workload.kind != "train" or layout.micro_batches is None or not layout.stage_layers:
        return None
    return Tables(cluster, workload, layout.stack, layout.software_year, near)


def timed_step(design: Design, tables: Tables) -> StepRecord | None:
    """The step of a design by tables that apply to it; None if the accelerator has no peak at the precision of the
    workload or if no fabric connects the ranks of a group.
    """
    layout = design.layout
    if tables.rates is None or layout is None or not layout.stage_layers or layout.micro_batches is None:
        return None
    try:
        hiding = OverlappableCommunication.of(layout.overlap, tables.software)
        return LayoutTiming(tables, layout, hiding, workload=design.workload or tables.workload).step_record()
    except NoPathError:
        return None


Content = tuple[int, ...]
"""How often each part of a model (`Tables.parts`) occurs in one stage, over all chunks of the stage."""


def stage_content(chunks: tuple[Chunk, ...], parts: tuple[Part, ...]) -> Content:
    """The content of a stage of these chunks."""
    predicted = sum(chunk.predicted for chunk in chunks)
    heads = sum(chunk.last for chunk in chunks) + predicted
    held: dict[Part, int] = {EMBEDDING: sum(chunk.first for chunk in chunks), HEAD: heads, JOIN: predicted}
    for chunk in chunks:
        for layer, count in chunk.kinds:
            held[layer] = held.get(layer, 0) + count
    return tuple(held.get(part, 0) for part in parts)


@recent(4)
def _groups_by_content(groups: tuple[StageGroup, ...], parts: tuple[Part, ...]) -> Mapping[Content, list[StageGroup]]:
    found: dict[Content, list[StageGroup]] = {}
    for group in groups:
        found.setdefault(stage_content(group.chunks, parts), []).append(group)
    return found


def stage_passes(parts: Sequence[PartTime | None], content: Content, share: float) -> StageTime:
    """One micro-batch through all parts of a stage; ``share`` of the micro-batches run there."""
    return step.stage_time([(part.time, count) for part, count in zip(parts, content, strict=True) if part], share)


@dataclass(frozen=True)
class LayoutTiming:
    """One layout and the tables that compose its step; the tables apply to its ``workload``."""

    tables: Tables
    layout: Layout
    hiding: OverlappableCommunication
    workload: Workload
    column_groups: Mapping[str, Group] = field(default_factory=dict)
    """The groups of each axis where the degrees of the layout are columns."""

    def group(self, axis: str) -> Group:
        """The groups of an axis."""
        return self.column_groups[axis] if self.column_groups else self.tables.group(self.layout, axis)

    def step_record(self) -> StepRecord:
        groups = self.stages_by_content()
        counts = [sum_of(group.count for group in same) for same in groups.values()]
        parts = self.times_of_parts(groups)
        times = [stage_passes(parts, content, self.chunk_share) for content in groups]
        stage, index = step.slowest_stage(times)
        every = sum_of(count * time.total for count, time in zip(counts, times, strict=True))
        content, same = list(groups.items())[int(index)]
        share = self.tables.share(self.layout, same[0].chunks)
        sends, transfers = self.send_times(), self.replica_transfers(share)
        inputs = self._step_inputs(stage, every, share, sends, transfers)
        choices = self.step_choices()
        times_of_step, exposures = composed_step(inputs, choices)
        assert self.tables.rates is not None
        return StepRecord(
            parts=tuple((part, count) for part, count in zip(parts, content, strict=True) if part and count),
            chunk_share=self.chunk_share,
            sends=sends,
            replicas=self._exposed_transfers(transfers, exposures),
            inputs=inputs,
            choices=choices,
            times=times_of_step,
            rates=self.tables.rates,
            software=self.tables.software,
        )

    def _step_inputs(
        self, stage: StageTime, every: float, share: Share, sends: tuple[TransferTime, ...], transfers: ReplicaGroups
    ) -> StepInputs:
        layout = self.layout
        weights = unsharded_weights(share.trained_share(self.workload), layout)
        return StepInputs(
            stage=stage,
            every=every,
            stages=layout.pp,
            virtual_stages=layout.virtual_stages,
            micro_batches=layout.micro_batches or 1,
            layers=share.units,
            send=sum_of(one.transfer.calls * one.cost.device_seconds for one in sends),
            replicas=self.replica_seconds(transfers),
            weights=owned_weights(weights.dense, weights.expert, layout.shard_group, layout.expert_dp),
            nodes=layout.nodes,
        )

    def step_choices(self) -> StepChoices:
        layout, workload, software = self.layout, self.workload, self.tables.software
        assert self.tables.rates is not None
        return StepChoices(
            schedule=layout.schedule,
            layer_by_layer=self.layer_by_layer,
            overlap=ReplicaOverlap(
                hides=self.hiding.dp,
                hides_across=software.overlaps("replicas"),
                gathers_again=layout.sharding != "zero2",
                interference=software.interference * interference_share(self.tables.cluster),
                reduces_once=self.reduces_once,
                gathers_once=self.gathers_once,
            ),
            hides_sends=self.hiding.pp and layout.schedule in HIDES_SENDS,
            bytes_each=update_bytes(workload, layout),
            bandwidth=self.tables.rates.speed.bandwidth,
            offloaded=layout.offload_optimizer,
            host=self._host_update(),
            data_loading=workload.data_loading or 0.0,
            overhead=software.step,
            jitter=software.jitter,
            products=self._update_products(),
        )

    def _host_update(self) -> step.HostUpdate | None:
        """The update of offloaded states by the host's processors; None if no states are offloaded."""
        if not self.layout.offload_optimizer:
            return None
        from clusterspec.cost.host_memory import host_update  # few layouts offload

        return host_update(self.tables, self.layout, self.workload)

    def _update_products(self) -> step.UpdateProducts:
        """The matrix products of the update; most optimizers have none."""
        if self.workload.optimizer not in ORTHOGONAL:
            return step.NO_PRODUCTS
        from clusterspec.cost.orthogonal import update_products  # few designs need it

        assert self.tables.rates is not None
        return update_products(self.workload, self.layout, self.tables.software, self.tables.rates.speed)

    @property
    def layer_by_layer(self) -> bool:
        """Whether each micro-batch gathers weights or reduces gradients."""
        if self.layout.sharding not in SHARDS_GRADIENTS:
            return False
        from clusterspec.cost.sharded_layers import communicates_by_layer  # few layouts shard gradients

        return communicates_by_layer(self.layout, self.tables.software.stack)

    @property
    def reduces_once(self) -> bool:
        """Whether the gradients of the layers are reduced only in the last micro-batch of a step."""
        return self.layer_by_layer and self.layout.gradient_sync == "step"

    @property
    def gathers_once(self) -> bool:
        """Whether weights that are sharded with their gradients stay whole from one update to the next."""
        if not self.layer_by_layer:
            return False
        from clusterspec.cost.sharded_layers import gathers_once

        return gathers_once(self.layout, self.tables.software.stack)

    @property
    def gather(self) -> float:
        """The rate of data-parallel transfers, relative to the rate of the same collectives in other uses."""
        return self.tables.software.gather if self.layout.sharding == "fsdp" else 1.0

    @property
    def chunk_share(self) -> float:
        return DUALPIPE_SHARE if self.layout.schedule == "dualpipe" else 1.0

    def stages_by_content(self) -> Mapping[Content, list[StageGroup]]:
        """The stages by contents, in order of their first stage."""
        return _groups_by_content(stage_groups(self.workload.model, self.layout), self.tables.parts)

    def times_of_parts(self, contents: Iterable[Content]) -> tuple[PartTime | None, ...]:
        """One micro-batch through each part of the model; None for parts that are in no stage. Raises `NoPathError`."""
        held = [any(counts) for counts in zip(*contents, strict=True)]
        return tuple(
            self.tables.part_time(part, self.layout, self.hiding) if each else None
            for part, each in zip(self.tables.parts, held, strict=True)
        )

    def replica_transfers(self, share: Share) -> ReplicaGroups:
        """The data-parallel transfers of the slowest stage, or of one layer if they run layer by layer."""
        layout, workload = self.layout, self.workload
        if workload.trainable is not None:
            return self._adapter_transfers(share)
        weights, outside = Weights.of(share, layout), Weights(share.embedding + share.head)
        each = weights * (1 / larger(1, share.units)) if self.layer_by_layer else weights + outside
        gathers, sums = weight_gathers(outside, workload, layout), gradient_reductions(outside, workload, layout)
        each_time = (() if self.gathers_once else gathers) + (() if self.reduces_once else sums)
        once = (gathers if self.gathers_once else ()) + (sums if self.reduces_once else ())
        return ReplicaGroups(
            gather=weight_gathers(each, workload, layout),
            reduce=gradient_reductions(each, workload, layout),
            outside=each_time if self.layer_by_layer else (),
            across=shard_group_reductions(weights + outside, workload, layout),
            outside_once=once,
        )

    def _adapter_transfers(self, share: Share) -> ReplicaGroups:
        """The data-parallel transfers of adapters and of frozen weights.

        Gradients are those of adapters. Frozen weights are gathered in their stored precision if full sharding divides
        them.
        """
        layout, workload = self.layout, self.workload
        layers = larger(1, share.units) if self.layer_by_layer else 1
        trained = Weights.of(share.trained_share(workload), layout)
        gathers = weight_gathers(trained * (1 / layers), workload, layout)
        ends: tuple[Transfer, ...] = ()
        if layout.sharding in FULLY:
            outside = weight_gathers(Weights(share.embedding + share.head), workload, layout)
            width = precision_width(frozen_precision(workload)) / parameter_bytes(workload)
            gathers += weight_gathers(Weights.of(share, layout) * (width / layers), workload, layout)
            gathers, ends = (gathers, outside) if self.layer_by_layer else (gathers + outside, ())
        return ReplicaGroups(
            gather=gathers,
            reduce=gradient_reductions(trained * (1 / layers), workload, layout),
            outside=ends,
            across=shard_group_reductions(trained, workload, layout),
        )

    def replica_seconds(self, transfers: ReplicaGroups) -> ReplicaSeconds:
        """Seconds of the data-parallel transfers of a stage."""
        return ReplicaSeconds(*(self.transfer_seconds(sent) / self.gather for sent in transfers))

    def _exposed_transfers(self, sent: ReplicaGroups, exposures: tuple[Exposure, ...]) -> tuple[ReplicaTransfers, ...]:
        """Each exposure with the transfers that cause it."""
        behind: tuple[tuple[Transfer, ...], ...] = (sent.gather, sent.reduce, sent.across)
        if self.layer_by_layer:
            back = sent.reduce if self.layout.sharding == "zero2" else sent.gather + sent.reduce
            ends = sent.gather + sent.reduce
            behind = (sent.gather, sent.gather, back, ends, sent.outside, sent.outside_once, sent.across)
        pairs = zip(exposures, behind, strict=True)
        return tuple(
            ReplicaTransfers(one, each, self._transfer_costs(each), self.gather) for one, each in pairs if one.seconds
        )

    def _transfer_costs(self, transfers: tuple[Transfer, ...]) -> tuple[CollectiveCost, ...]:
        return tuple(self.group(each.axis).cost(each.collective, each.size) for each in transfers)

    def transfer_seconds(self, transfers: tuple[Transfer, ...]) -> float:
        return sum_of(cost.device_seconds for cost in self._transfer_costs(transfers))

    def send_times(self) -> tuple[TransferTime, ...]:
        """The transfers of one micro-batch from the slowest stage to the next. They are exposed unless computation
        overlaps them.

        Each tensor-parallel rank sends its part; without sequence parallelism the receivers then all-gather the parts
        (Narayanan et al., arXiv 2104.04473, section 4.1).
        """
        layout = self.layout
        if not is_divided(layout.pp):
            return ()
        shard = Shard.of(self.workload, layout)
        whole = activation_bytes(shard) * shard.residual_width / shard.width
        sends = self._sends_to_neighbors(whole / layout.tp)
        if is_divided(layout.tp) and not layout.sequence_parallel:
            gather = Transfer("tp", "all-gather", whole)
            sends.append((gather, self.group("tp").cost(gather.collective, whole)))
        hidden = self.hiding.pp and layout.schedule in HIDES_SENDS
        return tuple(
            TransferTime(each, cost, 0.0, 0.0, 0.0 if hidden else each.calls * cost.device_seconds)
            for each, cost in sends
        )

    def _sends_to_neighbors(self, size: float) -> list[tuple[Transfer, CollectiveCost]]:
        """The sends of one micro-batch from a stage, averaged over its neighbors. If several stages share an island, at
        most one neighbor of a stage is in another island.
        """
        group, neighbors = self.group("pp"), neighbors_of_stage(self.layout)
        island = group.island
        if island is group:
            return [(Transfer("pp", "send-recv", size, 0.5 * neighbors), group.cost("send-recv", size))]
        far = Transfer("pp", "send-recv", size, 0.5, purpose="of different islands")
        near = Transfer("pp", "send-recv", size, 0.5 * (neighbors - 1.0), purpose="of one island")
        return [(far, group.cost("send-recv", size)), (near, island.cost("send-recv", size))]


def neighbors_of_stage(layout: Layout) -> float:
    """The number of stages with which a middle stage exchanges data: 2, or 1 in a pipeline of two stages without
    virtual stages. The degrees may be columns.
    """
    return 1.0 + smaller(1.0, layout.pp - 2.0 + layout.virtual_stages - 1.0)


class ReplicaGroups(NamedTuple):
    """The data-parallel transfers of one rank, in the fields of `ReplicaSeconds`."""

    gather: tuple[Transfer, ...]
    reduce: tuple[Transfer, ...]
    outside: tuple[Transfer, ...]
    across: tuple[Transfer, ...]
    outside_once: tuple[Transfer, ...] = ()


def unsharded_weights(share: Share, layout: Layout) -> Weights:
    """All weights of a rank before data-parallel sharding."""
    return Weights.of(share, layout) + Weights(share.embedding + share.head)


def update_traffic(
    optimizer: str, master: str, moments: str, gradient: str, parameter: str, *, fused: bool = True
) -> float:
    """Bytes that one parameter's update reads and writes.

    Moments and master copy are read and written, the gradient is read twice (once for its norm), the parameter is
    written, and also read if there is no master copy. Without ``fused``, Adam reads and writes the operands of each of
    its operations.

    >>> update_traffic("adam", "fp32", "fp32", "fp32", "bf16")
    34.0
    """
    kept = precision_width(parameter)
    cast = kept if precision_width(master) else 0.0
    if not fused:
        updated = precision_width(master) or kept
        passes = precision_width(moments), updated, precision_width(gradient)
        return sum_of((each.value * width for each, width in zip(UPDATE_PASSES.values(), passes, strict=True)), cast)
    states = 2 * MOMENTS[optimizer] * precision_width(moments) + 2 * precision_width(master)
    return states + 2 * precision_width(gradient) + (cast or 2 * kept)


def update_bytes(workload: Workload, layout: Layout, *, fused: bool = False) -> float:
    """Bytes that the update of one weight reads and writes; ``fused`` is true if the update is known to be one
    operation.
    """
    return update_traffic(
        workload.optimizer,
        layout.master_precision,
        layout.moments_precision,
        workload.gradient_precision,
        workload.parameter_precision,
        fused=fused or not updates_operation_by_operation(workload.optimizer, layout.stack),
    )
