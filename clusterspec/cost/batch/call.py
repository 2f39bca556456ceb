"""One call of a batch: rows are looked up in the tables and composed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, cast

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.columns import kept, number
from clusterspec.cost.batch.index import Numbers, RowTable
from clusterspec.cost.batch.layouts import DEGREES, layout_of
from clusterspec.cost.batch.stages import StageTable, kinds_of
from clusterspec.cost.layers import Layer
from clusterspec.cost.parameters import Chunk
from clusterspec.cost.record import PHASES
from clusterspec.cost.step import pipeline
from clusterspec.cost.step.pipeline import StageTime
from clusterspec.cost.step.replicas import ReplicaSeconds
from clusterspec.cost.step.step import StepInputs, compose, owned
from clusterspec.cost.tables import Tables
from clusterspec.cost.tables.group import Group, NoPathError
from clusterspec.cost.tables.hiding import Hiding
from clusterspec.cost.timing import LayoutTiming, weights_of

if TYPE_CHECKING:
    from clusterspec.cost.batch.batch import BatchTables

AXES = ("tp", "cp", "ep", "expert_tp", "pp", "dp_cp", "expert_dp")
SHARDED_AXES = (*AXES, "shard", "replicate")
NUMBERED = ("tp", "cp", "ep", "expert_tp", "pp", "virtual_stages", "micro_batch", "shard_group")
"""The degrees by which sub-results are stored."""
COMPOSED = ("pp", "virtual_stages", "shard_group", "expert_dp")
NO_TIME = StageTime(0.0, 0.0, 0.0)


class Call:
    """Rows that all have one pipeline stage, or all have several."""

    def __init__(
        self,
        tables: Tables,
        known: BatchTables,
        library: ArrayLibrary,
        variants: Sequence[Layout],
        columns: Mapping[str, Array],
    ) -> None:
        self.tables, self.known, self.library, self.variants = tables, known, library, variants
        self.template = variants[0]
        self.columns = dict(columns)
        if "variant" not in columns:
            self.columns["variant"] = library.zeros(len(columns["tp"]), "int64")
        self.columns["expert_dp"] = self._expert_dp()
        self.hiding = Hiding.of(self.template.overlap, tables.software)
        self.numbers = {name: known.values[name](self.columns[name]) for name in NUMBERED}
        axes = SHARDED_AXES if self.template.sharding == "hsdp" else AXES
        self.places = known.placements.number(self.template, self.columns, axes, self._group)
        tp, cp = self.numbers["tp"], self.numbers["cp"]
        sequence_parallel, variant = self._variant()
        self.tokens = known.tokens([self.numbers["micro_batch"], tp, cp, sequence_parallel])
        self.shape = known.shapes(self.tokens, variant)

    def _group(self, row: int, axis: str) -> Group:
        return self.tables.group(self.row(row).layout, axis)

    def _expert_dp(self) -> Array:
        columns = self.columns
        dense, expert = columns["tp"] * columns["cp"] * columns["dp"], columns["expert_tp"] * columns["ep"]
        return self.library.maximum(dense // expert, 1)

    def _variant(self) -> tuple[Numbers, Numbers]:
        """Whether each row has sequence parallelism, and the number of the other settings of its variant, equal in
        every call. Without tensor parallelism there is no sequence parallelism; without context parallelism its method
        has no effect.
        """
        several = [(self.columns[axis] > 1) * 1 for axis in ("tp", "cp")]
        parallel = self.library.asarray([int(one.sequence_parallel) for one in self.variants], "int64")
        known = self.known.variants
        keys = [(one.recompute, method) for one in self.variants for method in ("", one.cp_method)]
        numbers = self.library.asarray([known.setdefault(key, len(known)) for key in keys], "int64")
        chosen = numbers.take(2 * self.columns["variant"] + several[1])
        return Numbers(parallel.take(self.columns["variant"]) * several[0], 2), Numbers(chosen, len(known))

    def row(self, index: int) -> LayoutTiming:
        """The timing of the layout of one row."""
        degrees = {name: int(self.columns[name][index]) for name in DEGREES}
        layout = layout_of(self.variants[int(self.columns["variant"][index])], self.tables.workload, degrees)
        return LayoutTiming(self.tables, layout, self.hiding)

    @property
    def mirrored(self) -> bool:
        """Whether each rank also holds the chunk of the opposite stage."""
        return self.template.schedule == "dualpipe"

    @cached_property
    def stages(self) -> StageTable:
        return kept(self.known.stages, self.mirrored, lambda: StageTable(self.library))

    @cached_property
    def kinds(self) -> Numbers:
        """The number of the stages of each row."""
        pair = self.numbers["pp"], self.numbers["virtual_stages"]
        return self.stages.number(*pair, lambda row: kinds_of(self.row(row).groups()))

    @cached_property
    def cut(self) -> Numbers:
        """The number of the combination of degrees that shard weights."""
        return self.known.cuts([self.numbers[axis] for axis in ("tp", "ep", "expert_tp")])

    def step_time(self) -> Array:
        """Seconds of a step for each row."""
        first, mirrored, stages, kinds = self.row(0), self.mirrored, self.stages, self.kinds
        stage, every, slowest = self._stage(stages, kinds, first.chunk_share)
        table = kept(self.known.weights, mirrored, lambda: RowTable(self.library, 3, 3))

        def chunks_of(row: int) -> tuple[Chunk, ...]:
            return stages.kinds[int(kinds.values[row])][int(slowest.values[row])].chunks

        weights = table.number([self.cut, kinds, slowest], lambda row: self._weights(row, chunks_of(row)))
        dense, expert, layers = map(number, table.look_up(weights))
        floats = {
            name: self.float_of(self.columns[name]) for name in ("pp", "virtual_stages", "shard_group", "expert_dp")
        }
        inputs = StepInputs(
            stage=stage,
            every=every,
            stages=floats["pp"],
            virtual_stages=floats["virtual_stages"],
            micro_batches=self.float_of(self.micro_batches),
            layers=layers,
            send=self._send(),
            replicas=self._replicas(mirrored, weights, lambda row: self._replica_seconds(row, chunks_of(row))),
            weights=owned(dense, expert, floats["shard_group"], floats["expert_dp"]),
            nodes=self.template.nodes,
        )
        times, _ = compose(inputs, first.choices())
        return cast(Array, times.total)

    def float_of(self, column: Array) -> float:
        return number(self.library.asarray(column, "float64"))

    @cached_property
    def micro_batches(self) -> Array:
        """Micro-batches of one replica and step."""
        columns, batch = self.columns, self.tables.workload.global_batch
        return self.library.maximum(batch // (columns["dp"] * columns["micro_batch"]), 1)

    def _stage(self, stages: StageTable, kinds: Numbers, share: float) -> tuple[StageTime, float, Numbers]:
        """The time of one micro-batch on the slowest stage, its sum over all stages, and the index of that stage."""
        parts = self._parts()
        times, every = [], 0.0
        for count, *content in stages.columns(kinds):
            pairs = [(part, number(held)) for part, held in zip(parts, content, strict=True)]
            times.append(pipeline.stage_time(pairs, share))
            every = every + number(count) * times[-1].total
        stage, place = pipeline.slowest(times)
        slowest = self.library.asarray(place, "int64")
        if len(times) == 1:
            slowest = self.library.zeros(len(kinds.values), "int64")
        return stage, every, Numbers(slowest, len(times))

    def _parts(self) -> list[StageTime]:
        """One micro-batch through each part of the model."""
        columns = [self.shape, self.places["tp"], self.places["cp"]]
        if self.tables.workload.model.experts:
            columns += [self.numbers["ep"], self.numbers["expert_tp"], self.places["ep"], self.places["expert_tp"]]
        width = sum(len(passes) for passes in self._passes)
        table = kept(self.known.layers, self.hiding, lambda: RowTable(self.library, len(columns), width))
        values = iter(table(columns, self._part_seconds))
        found: list[StageTime] = []
        for passes in self._passes:
            seconds = {name: number(next(values)) for name in passes}
            found.append(StageTime(**{**NO_TIME._asdict(), **seconds}))
        return found

    @cached_property
    def _passes(self) -> tuple[tuple[str, ...], ...]:
        """The passes that take time in each part of the model; only layers are recomputed."""
        return tuple(PHASES if isinstance(part, Layer) else PHASES[:2] for part in self.tables.parts)

    def _part_seconds(self, row: int) -> list[float]:
        """The passes of every part, in order; NaN where no fabric connects the ranks of a group."""
        timing = self.row(row)
        found: list[float] = []
        for part, passes in zip(self.tables.parts, self._passes, strict=True):
            try:
                time = timing.part(part).time
                found += [getattr(time, each) for each in passes]
            except NoPathError:
                found += [nan] * len(passes)
        return found

    def _weights(self, row: int, chunks: tuple[Chunk, ...]) -> tuple[float, float, float]:
        layout = self.row(row).layout
        share = self.tables.share(layout, chunks)
        weights = weights_of(share, layout)
        return weights.dense, weights.expert, share.units

    def _send(self) -> float:
        """Seconds in which a stage sends one micro-batch to the next stage; 0 with one stage."""
        several = bool((self.columns["pp"] > 1).any())
        if not several:
            return 0.0
        table = kept(self.known.sends, True, lambda: RowTable(self.library, 3, 1))
        return number(table([self.tokens, self.places["pp"], self.places["tp"]], self._send_seconds)[0])

    def _send_seconds(self, row: int) -> tuple[float]:
        try:
            return (sum(one.cost.queued for one in self.row(row).sends()),)
        except NoPathError:
            return (nan,)

    def _replicas(self, mirrored: bool, weights: Numbers, compute: Callable[[int], ReplicaSeconds]) -> ReplicaSeconds:
        template = self.template
        axes = ("shard", "replicate", "expert_dp") if template.sharding == "hsdp" else ("dp_cp", "expert_dp")
        layered = self.row(0).layer_by_layer
        key = (template.sharding, layered, template.gradient_compression, mirrored)
        table = kept(self.known.replicas, key, lambda: RowTable(self.library, 1 + len(axes), 4))
        columns = [weights, *(self.places[axis] for axis in axes)]
        return ReplicaSeconds(*map(number, table(columns, compute)))

    def _replica_seconds(self, row: int, chunks: tuple[Chunk, ...]) -> ReplicaSeconds:
        timing = self.row(row)
        try:
            return timing.replica_seconds(self.tables.share(timing.layout, chunks))
        except NoPathError:
            return ReplicaSeconds(nan, nan, nan, nan)
