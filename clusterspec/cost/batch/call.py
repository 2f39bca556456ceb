"""One call of a batch: numbers its rows, computes new sub-results together, and composes the step of every row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array
from clusterspec.cost.batch.columns import LayoutColumns, kept, number
from clusterspec.cost.batch.divisions import Divisions, PlacedDivisions
from clusterspec.cost.batch.index import Numbers
from clusterspec.cost.batch.layers import LayerRows
from clusterspec.cost.batch.memory import MemoryRows, memory_of
from clusterspec.cost.batch.replicas import ReplicaRows, ReplicaTable
from clusterspec.cost.batch.slowest import SlowestStages, StageRows
from clusterspec.cost.batch.tables import LAYER_AXES, BatchTables
from clusterspec.cost.step.step import StepChoices, StepInputs, compose, owned
from clusterspec.cost.tables.hiding import Hiding
from clusterspec.cost.timing import LayoutTiming

ROWS = 1 << 13
"""Rows that are composed together: their columns fit the second-level cache of one core."""


class RowBlock:
    """Some rows of a call, before their ranks are placed."""

    def __init__(self, known: BatchTables, divisions: Divisions, codes: Array, rows: Mapping[str, Array]) -> None:
        self.known, self.divisions, self.rows = known, divisions, rows
        self.division = rows["division"]
        variant = codes.take(4 * rows["variant"] + divisions.several.take(self.division))
        self.variant = Numbers(variant, len(known.variants))
        micro_batch, virtual = (known.values[name](rows[name]) for name in ("micro_batch", "virtual_stages"))
        self.execution = known.executions(known.micro_batches(micro_batch, self.variant), virtual)

    def some(self, rows: Array) -> LayoutColumns:
        """The layouts at the given positions."""
        division = self.division.take(rows)
        degrees = {name: column.take(division) for name, column in self.divisions.columns.items()}
        degrees |= {name: self.rows[name].take(rows) for name in ("micro_batch", "virtual_stages")}
        return LayoutColumns(self.known.library, self.known.tables.workload, degrees, self.variant.values.take(rows))

    def memory(self, rows: Array) -> MemoryRows:
        """The inputs of memory for the layouts at the given positions."""
        division = self.division.take(rows)
        return MemoryRows(self.some(rows), self.divisions.cut.take(division), self.divisions.shape.take(division))

    def stages(self, placed: PlacedDivisions, rows: Array) -> StageRows:
        """The inputs of the slowest stage for the layouts at the given positions."""
        division, degrees = self.division.take(rows), self.divisions
        axes = [axis for axis in (*LAYER_AXES, "pp") if axis in placed.places]
        places = {axis: placed.places[axis].take(division) for axis in axes}
        layers = LayerRows(self.some(rows), degrees.shape.take(division), placed.path.take(division), places)
        return StageRows(layers, degrees.cut.take(division), degrees.numbers["pp"].take(division))

    def replicas(self, placed: PlacedDivisions, share: Array, rows: Array) -> ReplicaRows:
        """The inputs of the data-parallel transfers for the layouts at the given positions."""
        division = self.division.take(rows)
        axes = [axis for axis in placed.places if axis not in (*LAYER_AXES, "pp")]
        places = {axis: placed.places[axis].values.take(division) for axis in axes}
        return ReplicaRows(self.some(rows), share.take(rows), places)

    @cached_property
    def floats(self) -> dict[str, float]:
        """The inputs of `compose` for every row."""
        found = {
            name: number(self.divisions.floats[name].take(self.division)) for name in ("pp", "shard_group", "expert_dp")
        }
        library, batch = self.known.library, self.known.tables.workload.global_batch
        each = self.divisions.columns["dp"].take(self.division) * self.rows["micro_batch"]
        counts = {"micro_batches": library.maximum(batch // each, 1), "virtual_stages": self.rows["virtual_stages"]}
        return found | {name: number(library.asarray(column, "float64")) for name, column in counts.items()}


class Call:
    """Rows that all have one pipeline stage or all have several, evaluated with each order of axes."""

    def __init__(
        self,
        known: BatchTables,
        variants: Sequence[Layout],
        placed: Sequence[PlacedDivisions],
        rows: Mapping[str, Array],
    ) -> None:
        self.known, self.template, self.placed = known, variants[0], placed
        self.hiding = Hiding.of(self.template.overlap, known.tables.software)
        divisions, codes = placed[0].divisions, known.variant_codes(variants)
        count = len(rows["division"])
        self.parts = [slice(first, first + ROWS) for first in range(0, count, ROWS)]
        self.blocks = [
            RowBlock(known, divisions, codes, {name: column[part] for name, column in rows.items()})
            for part in self.parts
        ]

    @property
    def mirrored(self) -> bool:
        """Whether a rank also holds the chunk of the opposite stage."""
        return self.template.schedule == "dualpipe"

    @cached_property
    def timing(self) -> LayoutTiming:
        """The timing of the first layout."""
        layouts = self.blocks[0].some(self.known.library.asarray([0], "int64"))
        return LayoutTiming(self.known.tables, layouts.layout(0, self.template), self.hiding)

    def memory(self) -> list[list[Array]]:
        """Bytes on the fullest accelerator and the high end of their range, block by block."""
        return memory_of(self.known, self.template, self.blocks)

    @cached_property
    def slowest(self) -> SlowestStages:
        """The slowest stages of all layouts with this overlap and kind of schedule."""
        key = (self.hiding, self.mirrored)
        return kept(self.known.slowest, key, lambda: SlowestStages(self.known, self.hiding))

    @cached_property
    def replicas(self) -> ReplicaTable:
        """The data-parallel transfers of all layouts with this sharding."""
        template = self.template
        key = (
            *(self.hiding, self.mirrored, self.timing.layer_by_layer),
            *(template.sharding, template.gradient_compression),
        )
        return kept(self.known.replica_seconds, key, lambda: ReplicaTable(self.known, self.slowest))

    def step_times(self) -> list[list[Array]]:
        """Seconds of a step with each order, block by block."""
        stages = [[self._stage(placed, block) for block in self.blocks] for placed in self.placed]
        self.slowest.fill(self.template)
        replicas = [
            [self._replica(placed, *pair) for pair in zip(self.blocks, numbers, strict=True)]
            for placed, numbers in zip(self.placed, stages, strict=True)
        ]
        self.replicas.fill(self.template, several_stages=self.timing.layout.pp > 1)
        choices = self.timing.choices()
        return [
            [self._composed(choices, *row) for row in zip(self.blocks, *numbers, strict=True)]
            for numbers in zip(stages, replicas, strict=True)
        ]

    def _stage(self, placed: PlacedDivisions, block: RowBlock) -> Numbers:
        stage = placed.stage.take(block.division)
        return self.slowest.reserve(stage, block.execution, lambda rows: block.stages(placed, rows))

    def _replica(self, placed: PlacedDivisions, block: RowBlock, stage: Numbers) -> Numbers:
        def rows_of(rows: Array) -> ReplicaRows:
            return block.replicas(placed, self.slowest.field("share", stage), rows)

        return self.replicas.reserve(placed.replicas.take(block.division), self.slowest.kind(stage), rows_of)

    def _composed(self, choices: StepChoices, block: RowBlock, stage: Numbers, replicas: Numbers) -> Array:
        found, floats = self.slowest[stage], block.floats
        inputs = StepInputs(
            stage=found.time,
            every=found.every,
            stages=floats["pp"],
            virtual_stages=floats["virtual_stages"],
            micro_batches=floats["micro_batches"],
            layers=found.layers,
            send=found.send,
            replicas=self.replicas[replicas],
            weights=owned(found.dense, found.expert, floats["shard_group"], floats["expert_dp"]),
            nodes=self.template.nodes,
        )
        return cast(Array, compose(inputs, choices)[0].total)
