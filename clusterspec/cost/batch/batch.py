"""Step time and memory of many layouts: the divisions of the ranks, the rows of one call, and the call itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import nan
from typing import cast

from clusterspec.catalog.stacks import SHARDS_GRADIENTS
from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.columns import Array, ArrayLibrary, LayoutColumns, as_number, layout_of, stored_value
from clusterspec.cost.batch.index import Numbers, ValueTable
from clusterspec.cost.batch.layers import LayerRows
from clusterspec.cost.batch.memory import LAYER_AXES, BatchTables, MemoryRows, joined_rows, memory_totals
from clusterspec.cost.batch.slowest import ReplicaRows, ReplicaTable, SlowestStages, StageRows
from clusterspec.cost.layer_tables import Group, OverlappableCommunication
from clusterspec.cost.step import ReplicaSeconds, StepChoices, StepInputs, composed_step, owned_weights
from clusterspec.cost.tables import Tables
from clusterspec.cost.timing import LayoutTiming
from clusterspec.records import NamedTuple, replace

DIVIDED = ("tp", "cp", "ep", "expert_tp", "pp", "dp", "shard_group")
"""The degrees of a division."""
FIRST_AXES = frozenset({"tp", "expert_tp"})
"""The axes whose groups are the same in every order that begins with tp."""
SINGLE_STAGE = {"micro_batch": 1, "virtual_stages": 1}
"""The further inputs that the groups of a layout depend on."""


class Divisions:
    """Columns of the `DIVIDED` degrees, of expert_dp and of the ranks, and the index of each sub-result that depends on
    these degrees only.
    """

    def __init__(self, known: BatchTables, columns: Mapping[str, Array]) -> None:
        self.known, self.columns = known, {name: columns[name] for name in DIVIDED}
        dense, expert = columns["tp"] * columns["cp"] * columns["dp"], columns["expert_tp"] * columns["ep"]
        self.columns["expert_dp"] = known.library.maximum(dense // expert, 1)
        self.columns["ranks"] = columns["tp"] * columns["cp"] * columns["dp"] * columns["pp"]
        self.floats = {name: known.library.asarray(column, "float64") for name, column in self.columns.items()}
        self.numbers = {name: known.values[name](columns[name]) for name in DIVIDED}
        degrees = self.numbers
        self.shape = known.shapes([degrees[axis] for axis in LAYER_AXES])
        self.cut = known.cuts([degrees[axis] for axis in ("tp", "ep", "expert_tp")])
        self.several = 2 * (columns["tp"] > 1) + 1 * (columns["cp"] > 1)
        """2 if tp has several ranks, plus 1 if cp has several."""
        self.held = known.held([self.shape, degrees["pp"], degrees["shard_group"], degrees["dp"]])

    def placed_divisions(self, template: Layout, axes: frozenset[str] | None = None) -> PlacedDivisions:
        """The divisions with their ranks placed, by the order of axes and the sharding of a template.

        With ``axes``, all other axes have groups of one rank, which send nothing.
        """
        known, hsdp = self.known, template.sharding == "hsdp"
        inside = LAYER_AXES if known.tables.workload.model.experts else LAYER_AXES[:2]
        outside = ("shard", "replicate", "expert_dp") if hsdp else ("dp_cp", "expert_dp")

        def group_of(row: int, axis: str) -> Group:
            degrees = {name: int(column[row]) for name, column in self.columns.items()}
            return known.tables.group(layout_of(template, known.tables.workload, degrees | SINGLE_STAGE), axis)

        every = (*inside, "pp", *outside)
        placed = [axis for axis in every if axes is None or axis in axes]
        places = known.placements.numbers_of(template, self.columns, placed, group_of)
        if len(placed) < len(every):
            alone = known.placements.numbers_of_group(known.lone_rank, len(self.columns["tp"]))
            places = dict.fromkeys(every, alone) | places
        path = known.paths([self.shape, *(places[axis] for axis in inside)])
        stage = known.stages([path, self.numbers["pp"], places["pp"]])
        replicated = [self.cut, self.numbers["pp"], *(places[axis] for axis in outside)]
        return PlacedDivisions(self, places, path, stage, known.replicas["hsdp" if hsdp else ""](replicated))


class PlacedDivisions(NamedTuple):
    """Divisions with their ranks placed. ``places`` numbers the groups of each axis. ``path``, ``stage`` and
    ``replicas`` number the distinct inputs of a layer, of a stage and of data parallelism.
    """

    divisions: Divisions
    places: Mapping[str, Numbers]
    path: Numbers
    stage: Numbers
    replicas: Numbers


# One call of a batch: numbers its rows, computes new sub-results together, and composes the step of every row

ROWS = 1 << 13
"""Rows per block of a computation: the columns of one block fit the second-level cache of one core."""


class JobTables(BatchTables):
    """The tables of one job, with the slowest stages by kind of schedule and the transfers of data parallelism by
    sharding.
    """

    def __init__(self, tables: Tables, library: ArrayLibrary) -> None:
        super().__init__(tables, library)
        self.slowest: dict[object, SlowestStages] = {}
        self.replica_seconds: dict[object, ReplicaTable] = {}


class RowBlock:
    """Some rows of a call, before their ranks are placed."""

    def __init__(self, known: BatchTables, divisions: Divisions, codes: Array, rows: Mapping[str, Array]) -> None:
        self.known, self.divisions, self.rows = known, divisions, rows
        self.division = rows["division"]
        variant = codes.take(4 * rows["variant"] + divisions.several.take(self.division))
        self.variant = Numbers(variant, len(known.variants))
        micro_batch, virtual = (known.values[name](rows[name]) for name in ("micro_batch", "virtual_stages"))
        self.execution = known.executions(known.micro_batches(micro_batch, self.variant), virtual)

    def rows_at(self, rows: Array) -> LayoutColumns:
        """The layouts at the given positions."""
        division = self.division.take(rows)
        degrees = {name: column.take(division) for name, column in self.divisions.columns.items()}
        degrees |= {name: self.rows[name].take(rows) for name in ("micro_batch", "virtual_stages")}
        return LayoutColumns(self.known.library, self.known.tables.workload, degrees, self.variant.values.take(rows))

    def memory(self, rows: Array) -> MemoryRows:
        """The inputs of memory for the layouts at the given positions."""
        division = self.division.take(rows)
        return MemoryRows(self.rows_at(rows), self.divisions.cut.take(division), self.divisions.shape.take(division))

    def stages(self, placed: PlacedDivisions, rows: Array) -> StageRows:
        """The inputs of the slowest stage for the layouts at the given positions."""
        division, degrees = self.division.take(rows), self.divisions
        axes = [axis for axis in (*LAYER_AXES, "pp") if axis in placed.places]
        places = {axis: placed.places[axis].take(division) for axis in axes}
        layers = LayerRows(self.rows_at(rows), degrees.shape.take(division), placed.path.take(division), places)
        return StageRows(layers, degrees.cut.take(division), degrees.numbers["pp"].take(division))

    def replicas(self, placed: PlacedDivisions, share: Array, rows: Array) -> ReplicaRows:
        """The inputs of the data-parallel transfers for the layouts at the given positions."""
        division = self.division.take(rows)
        axes = [axis for axis in placed.places if axis not in (*LAYER_AXES, "pp")]
        places = {axis: placed.places[axis].values.take(division) for axis in axes}
        return ReplicaRows(self.rows_at(rows), share.take(rows), places)

    @cached_property
    def floats(self) -> dict[str, float]:
        """The inputs of `composed_step` for every row."""
        found = {
            name: as_number(self.divisions.floats[name].take(self.division))
            for name in ("pp", "shard_group", "expert_dp", "ranks")
        }
        library, batch = self.known.library, self.known.tables.workload.global_batch
        each = self.divisions.columns["dp"].take(self.division) * self.rows["micro_batch"]
        counts = {"micro_batches": library.maximum(batch // each, 1), "virtual_stages": self.rows["virtual_stages"]}
        return found | {name: as_number(library.asarray(column, "float64")) for name, column in counts.items()}


Part = tuple[Sequence[PlacedDivisions], Mapping[str, Array]]
"""Rows, and the placement of their divisions for each order of axes."""


class Call:
    """Rows that either all have one pipeline stage or all have several, evaluated with each of their orders of axes.

    With ``free``, the host spends no time on gathers and reductions of sharded weights.
    """

    def __init__(
        self,
        known: JobTables,
        variants: Sequence[Layout],
        divisions: Divisions,
        parts: Sequence[Part],
        free: bool = False,
    ) -> None:
        self.known, self.template, self._free = known, variants[0], free
        self.hiding = OverlappableCommunication.of(self.template.overlap, known.tables.software)
        codes = known.variant_codes(variants)
        self.parts = [
            [
                (
                    RowBlock(
                        known, divisions, codes, {name: column[first : first + ROWS] for name, column in rows.items()}
                    ),
                    placed,
                )
                for first in range(0, len(rows["division"]), ROWS)
            ]
            for placed, rows in parts
        ]
        self.blocks = [each for part in self.parts for each in part]
        """The rows in blocks, each with the divisions placed."""

    @property
    def mirrored(self) -> bool:
        """Whether a rank also holds the chunk of the opposite stage."""
        return self.template.schedule == "dualpipe"

    @cached_property
    def timing(self) -> LayoutTiming:
        """The timing of the first layout."""
        layouts, tables = self.blocks[0][0].rows_at(self.known.library.asarray([0], "int64")), self.known.tables
        return LayoutTiming(tables, layouts.layout(0, self.template), self.hiding, tables.workload)

    def memory(self) -> list[list[Array]]:
        """Bytes on the fullest accelerator and the high end of their range, block by block.

        Rows that differ in placement only share one result, and all new results are computed together.
        """
        known, template = self.known, self.template
        key = (
            *(template.sharding, template.schedule, template.gradient_sync),
            *(template.offload_optimizer, template.offload_activations),
        )
        table = stored_value(known.memory.totals, key, lambda: ValueTable(known.library, 2))
        numbers, waiting = [], []
        for block, _ in self.blocks:
            numbers.append(known.memory.rows(block.divisions.held.take(block.division), block.execution))
            fresh = table.reserve(numbers[-1])
            if fresh is not None:
                waiting.append(block.memory(fresh))
        if waiting:
            table.fill(memory_totals(known, template, joined_rows(known.library, waiting)))
        return [table[each] for each in numbers]

    @cached_property
    def slowest(self) -> SlowestStages:
        """The slowest stages of all layouts with this overlap, kind of schedule and gathers of sharded weights."""
        sharded = None if self._free else self.known.tables.sharded_passes(self.timing.layout)
        key = (self.hiding, self.mirrored, sharded)
        return stored_value(self.known.slowest, key, lambda: SlowestStages(self.known, self.hiding, sharded))

    @cached_property
    def replicas(self) -> ReplicaTable:
        """The data-parallel transfers of all layouts with this sharding."""
        template = self.template
        key = (
            *(self.hiding, self.mirrored, self.timing.layer_by_layer),
            *(template.sharding, template.gradient_compression, template.gradient_sync),
        )
        return stored_value(self.known.replica_seconds, key, lambda: ReplicaTable(self.known, self.slowest))

    def step_times(self) -> list[list[Array]]:
        """Seconds of a step with each of its orders, block by block."""
        stages = [[self._stage_numbers(placed, block) for placed in every] for block, every in self.blocks]
        self.slowest.fill(self.template)
        replicas = [
            [self._replica_numbers(placed, block, number) for placed, number in zip(every, numbers, strict=True)]
            for (block, every), numbers in zip(self.blocks, stages, strict=True)
        ]
        self.replicas.fill(self.template, several_stages=self.timing.layout.pp > 1)
        choices = self.timing.step_choices()
        return [
            [
                self._composed_times(choices, block, stage, self.replicas[replica])
                for stage, replica in zip(*numbers, strict=True)
            ]
            for (block, _), *numbers in zip(self.blocks, stages, replicas, strict=True)
        ]

    def time_lower_bounds(self) -> list[Array]:
        """For each part: the step time in seconds without data parallelism, for the first of its axis orders."""
        stages = [self._stage_numbers(every[0], block) for block, every in self.blocks]
        self.slowest.fill(self.template)
        choices, nothing = self.timing.step_choices(), ReplicaSeconds(0.0, 0.0, 0.0, 0.0)
        found = (
            self._composed_times(choices, block, stage, nothing)
            for (block, _), stage in zip(self.blocks, stages, strict=True)
        )
        return [self.known.library.concatenate([next(found) for _ in part]) for part in self.parts]

    def columns(self) -> list[list[Array]]:
        """For each part: the columns of memory and of the high end of its range, followed by one step-time column for
        each axis order.
        """
        blocks = iter([*held, *times] for held, times in zip(self.memory(), self.step_times(), strict=True))
        join = self.known.library.concatenate
        return [[join(pieces) for pieces in zip(*(next(blocks) for _ in part), strict=True)] for part in self.parts]

    def _stage_numbers(self, placed: PlacedDivisions, block: RowBlock) -> Numbers:
        stage = placed.stage.take(block.division)
        return self.slowest.reserve(stage, block.execution, lambda rows: block.stages(placed, rows))

    def _replica_numbers(self, placed: PlacedDivisions, block: RowBlock, stage: Numbers) -> Numbers:
        def rows_of(rows: Array) -> ReplicaRows:
            return block.replicas(placed, self.slowest.field("share", stage), rows)

        return self.replicas.reserve(placed.replicas.take(block.division), self.slowest.kind(stage), rows_of)

    def _composed_times(self, choices: StepChoices, block: RowBlock, stage: Numbers, replicas: ReplicaSeconds) -> Array:
        found, floats = self.slowest[stage], block.floats
        inputs = StepInputs(
            stage=found.time,
            every=found.every,
            stages=floats["pp"],
            virtual_stages=floats["virtual_stages"],
            micro_batches=floats["micro_batches"],
            layers=found.layers,
            send=found.send,
            replicas=replicas,
            weights=owned_weights(found.dense, found.expert, floats["shard_group"], floats["expert_dp"]),
            nodes=floats["ranks"] / self.known.tables.cluster.ranks_per_node,
        )
        return cast(Array, composed_step(inputs, choices)[0].total)


# Times many layouts at once: sub-results from tables, composed on columns

Order = tuple[str, ...]
RowsOfOrders = tuple[Sequence[Order], Mapping[str, Array]]
"""Orders of axes, and rows of layouts that each have all of them."""


class BatchResult(NamedTuple):
    """Columns of results: bytes on the fullest accelerator, the high end of their range, and for each axis order the
    seconds of a step. A step time is not a number if no fabric connects the ranks of a group.
    """

    step_times: list[Array]
    memory: Array
    upper: Array


class Batch:
    """Columns of layouts of one job. Results of one call are reused by later calls."""

    def __init__(self, tables: Tables, library: ArrayLibrary) -> None:
        self.library = library
        self._known = JobTables(tables, library)

    def __call__(
        self, variants: Sequence[Layout], divisions: Mapping[str, Array], some: Sequence[RowsOfOrders]
    ) -> list[BatchResult]:
        """The results of the given rows of layouts, each with every one of their orders of axes.

        A row has a ``division``, a ``micro_batch``, ``virtual_stages`` and a ``variant``. A ``division`` is a position
        in the columns of ``divisions`` (tp, cp, ep, expert_tp, pp, dp and shard_group); rows may have different numbers
        of ranks. A ``variant`` is a position in ``variants``: layouts that differ only in recomputation, sequence
        parallelism and the method of context parallelism.
        """
        known = Divisions(self._known, divisions)
        every = dict.fromkeys(order for orders, _ in some for order in orders)
        placed = {order: known.placed_divisions(replace(variants[0], order=order)) for order in every}
        parts = [([placed[order] for order in orders], rows) for orders, rows in some]
        if variants[0].sharding not in SHARDS_GRADIENTS:
            return [_batch_result(columns) for columns in Call(self._known, variants, known, parts).columns()]
        found = [[self.library.full(len(rows["division"]), nan) for _ in range(2 + len(each))] for each, rows in parts]
        for alike in (divisions["pp"] < 2, divisions["pp"] > 1):  # data parallelism differs between them
            self._fill(found, variants, known, parts, alike)
        return [_batch_result(columns) for columns in found]

    def time_lower_bounds(
        self, variants: Sequence[Layout], divisions: Mapping[str, Array], some: Sequence[RowsOfOrders]
    ) -> list[Array]:
        """A lower bound of the step time of each row in seconds, valid for all its orders of axes: it counts the
        transfers of tensor parallelism, which is always the first axis, and takes all other transfers as free, also for
        the host.

        Not a number where no fabric connects the ranks of a tensor-parallel group.
        """
        known = Divisions(self._known, divisions)
        first = all(order[0] == "tp" for orders, _ in some for order in orders)
        placed = known.placed_divisions(replace(variants[0], order=some[0][0][0]), FIRST_AXES if first else frozenset())
        parts = [([placed], rows) for _, rows in some]
        return Call(self._known, variants, known, parts, free=True).time_lower_bounds()

    def _fill(
        self,
        found: Sequence[Sequence[Array]],
        variants: Sequence[Layout],
        divisions: Divisions,
        parts: Sequence[Part],
        alike: Array,
    ) -> None:
        """Writes the result columns of the rows whose division is marked in ``alike``."""
        chosen = [self.library.flatnonzero(alike.take(rows["division"])) for _, rows in parts]
        numbers = [at for at, rows in enumerate(chosen) if len(rows)]
        taken = [(parts[at][0], {name: each[chosen[at]] for name, each in parts[at][1].items()}) for at in numbers]
        results = Call(self._known, variants, divisions, taken).columns() if taken else []
        for at, columns in zip(numbers, results, strict=True):
            for column, values in zip(found[at], columns, strict=True):
                column[chosen[at]] = values


def _batch_result(columns: Sequence[Array]) -> BatchResult:
    return BatchResult([*columns[2:]], *columns[:2])
