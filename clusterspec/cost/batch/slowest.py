"""The slowest pipeline stage and the data-parallel transfers of many layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from clusterspec.cluster.model import Layout
from clusterspec.cost import step
from clusterspec.cost.batch.columns import (
    Array,
    GroupColumns,
    LayoutColumns,
    as_column,
    as_number,
    joined_layouts,
    positions_by_number,
)
from clusterspec.cost.batch.index import Numbers, PairIndex, RowTable, joined_numbers
from clusterspec.cost.batch.layers import LayerRows, LayerTimes, StageTable, stage_kinds
from clusterspec.cost.batch.memory import BatchTables
from clusterspec.cost.layer_tables import Group, OverlappableCommunication
from clusterspec.cost.parameters import ADAPTERS, Share
from clusterspec.cost.step import ReplicaSeconds, StageTime
from clusterspec.cost.timing import LayoutTiming, unsharded_weights
from clusterspec.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.sharded_layers import ShardedPasses

SHARES = ("dense", "replicated", "expert", "embedding", "head", "unit", "units", "shapes", *ADAPTERS)
"""The fields of `Share`."""


class StageRows(NamedTuple):
    """Layouts and the indices of the inputs of their stages; ``cut`` numbers the degrees that shard weights."""

    layers: LayerRows
    cut: Numbers
    pp: Numbers

    @property
    def layouts(self) -> LayoutColumns:
        return self.layers.layouts

    def rows_at(self, rows: Array) -> StageRows:
        """The rows at the given positions."""
        return StageRows(self.layers.rows_at(rows), self.cut.take(rows), self.pp.take(rows))


class SlowestStage(NamedTuple):
    """Columns of the slowest stage: seconds of one micro-batch on this stage and on all stages, seconds of one send,
    weights and layers. ``share`` numbers the weights; ``kind`` numbers the combinations of virtual stages and stage
    position.
    """

    forward: float
    backward: float
    recomputation: float
    every: float
    send: float
    dense: float
    expert: float
    layers: float
    share: float
    kind: float

    @property
    def time(self) -> StageTime:
        return StageTime(self.forward, self.backward, self.recomputation)


class SlowestStages:
    """The slowest stage of each layout, cached by its inputs. Layouts are numbered first, and computed together."""

    def __init__(self, known: BatchTables, hiding: OverlappableCommunication, sharded: ShardedPasses | None) -> None:
        self.known, self.library, self.hiding = known, known.library, hiding
        self.layers, self.stages = LayerTimes(known, hiding, sharded), StageTable(self.library)
        self.shares = RowTable(self.library, 3, len(SHARES))
        self._table = RowTable(self.library, 2, len(SlowestStage._fields))
        self._kinds = PairIndex(self.library)
        self._waiting: list[StageRows] = []

    def reserve(self, stage: Numbers, execution: Numbers, rows: Callable[[Array], StageRows]) -> Numbers:
        """The number of each row's stage. `fill` computes the new stages from their inputs, which ``rows`` returns by
        position.
        """
        found, fresh = self._table.reserve([stage, execution])
        if fresh is not None:
            self._waiting.append(rows(fresh))
        return found

    def fill(self, template: Layout) -> None:
        """Computes all reserved rows."""
        if self._waiting:
            rows = _joined_stages(self._waiting)
            self._waiting = []
            self._table.add(
                len(rows.layouts.variant), [as_column(value) for value in self._computed_stages(rows, template)]
            )

    def __getitem__(self, numbers: Numbers) -> SlowestStage:
        return SlowestStage(*map(as_number, self._table.look_up(numbers)))

    def field(self, name: str, numbers: Numbers) -> Array:
        """One integer field of `SlowestStage` for each row: ``share`` or ``kind``."""
        found = self._table.look_up(numbers, [SlowestStage._fields.index(name)])
        return self.library.asarray(found[0], "int64")

    def kind(self, numbers: Numbers) -> Numbers:
        """The index of the number of virtual stages and the position of the slowest stage, for each row."""
        return Numbers(self.field("kind", numbers), self._kinds.size)

    def _computed_stages(self, rows: StageRows, template: Layout) -> SlowestStage:
        tables, layouts = self.known.tables, rows.layouts
        virtual = self.known.values["virtual_stages"](layouts.degrees["virtual_stages"])

        def timing(row: int) -> LayoutTiming:
            return LayoutTiming(tables, layouts.layout(row, template), self.hiding, tables.workload)

        kinds = self.stages.numbers_of(rows.pp, virtual, lambda row: stage_kinds(timing(row).stages_by_content()))
        times = self.layers(rows.layers, template)
        stage, every, place = self._slowest_of_kinds(times, kinds, timing(0).chunk_share)

        def weight_values(row: int) -> Sequence[float]:
            chunks = self.stages.kinds[int(kinds.values[row])][int(place.values[row])].chunks
            held = tables.share(timing(row).layout, chunks)
            return [getattr(held, name) for name in SHARES]

        numbers = self.shares.numbers_of(
            [rows.cut, kinds, place], lambda fresh: self.shares.computed_columns(fresh, weight_values)
        )
        held = self.share(numbers)
        weights = unsharded_weights(held.trained_share(tables.workload), layouts.column_layout(template))
        kind = self._kinds(virtual, place)
        send = self._send_seconds(rows, template)
        floats = (as_number(numbers.values * 1.0), as_number(kind.values * 1.0))
        return SlowestStage(*stage, every, send, weights.dense, weights.expert, held.units, *floats)

    def share(self, numbers: Numbers) -> Share:
        """The weights of each number, as columns."""
        found = dict(zip(SHARES, map(as_number, self.shares.look_up(numbers)), strict=True))
        units = cast(int, found.pop("units"))
        return Share(**found, units=units)

    def _slowest_of_kinds(
        self, times: Sequence[StageTime], kinds: Numbers, chunk_share: float
    ) -> tuple[StageTime, float, Numbers]:
        """The time of one micro-batch on the slowest stage, its total over all stages, and the position of the slowest
        kind of stage.
        """
        stages: list[StageTime] = []
        every = 0.0
        for count, *content in self.stages.columns(kinds):
            parts = [(part, as_number(held)) for part, held in zip(times, content, strict=True)]
            stages.append(step.stage_time(parts, chunk_share))
            every = every + as_number(count) * stages[-1].total
        stage, place = step.slowest_stage(stages)
        found = self.library.full(len(kinds.values), 0.0) + place
        return stage, every, Numbers(self.library.asarray(found, "int64"), len(stages))

    def _send_seconds(self, rows: StageRows, template: Layout) -> float:
        """Seconds of the sends of one stage for one micro-batch; 0 with a single stage."""
        layouts = rows.layouts
        found = self.library.zeros(len(layouts.variant))
        degrees, variants = layouts.degrees, tuple(self.known.variants)
        parallel = self.library.asarray([each.sequence_parallel * 1 for each in variants]).take(layouts.variant)
        codes = 4 * parallel + 2 * (degrees["tp"] > 1) + 1 * (degrees["pp"] > 1)
        for code, at in positions_by_number(self.library, codes).items():
            if code % 2:
                part = rows.rows_at(at)
                layout = part.layouts.column_layout(
                    variants[int(part.layouts.variant[0])].of(template), () if code & 2 else ("tp",)
                )
                groups = {axis: self._groups(part, axis) for axis in ("tp", "pp")}
                tables = self.known.tables
                sends = LayoutTiming(tables, layout, self.hiding, tables.workload, groups).send_times()
                found[at] = as_column(sum(one.transfer.calls * one.cost.device_seconds for one in sends))
        return as_number(found)

    def _groups(self, rows: StageRows, axis: str) -> Group:
        places = rows.layers.places[axis].values
        return cast(Group, GroupColumns(self.library, self.known.placements.groups, places))


def _joined_stages(parts: Sequence[StageRows]) -> StageRows:
    """The rows of all parts, in order."""
    library = parts[0].layouts.library

    def numbers(found: Sequence[Numbers]) -> Numbers:
        return joined_numbers(library, found)

    layers = [part.layers for part in parts]
    places = {axis: numbers([each.places[axis] for each in layers]) for axis in layers[0].places}
    return StageRows(
        LayerRows(
            joined_layouts([each.layouts for each in layers]),
            numbers([each.shape for each in layers]),
            numbers([each.path for each in layers]),
            places,
        ),
        numbers([part.cut for part in parts]),
        numbers([part.pp for part in parts]),
    )


# The data-parallel transfers of many layouts


class ReplicaRows(NamedTuple):
    """Layouts with the index of their weights, and for each axis that replicates weights, the index of its groups."""

    layouts: LayoutColumns
    share: Array
    places: Mapping[str, Array]


class ReplicaTable:
    """`ReplicaSeconds` by the weights of the slowest stage and the groups. New rows are computed together."""

    def __init__(self, known: BatchTables, slowest: SlowestStages) -> None:
        self.known, self.library, self.slowest = known, known.library, slowest
        self._table = RowTable(self.library, 2, len(ReplicaSeconds._fields))
        self._waiting: list[ReplicaRows] = []

    def reserve(self, replicas: Numbers, kind: Numbers, rows: Callable[[Array], ReplicaRows]) -> Numbers:
        """The number of each row. `fill` computes the new numbers from their inputs, which ``rows`` returns by
        position.
        """
        found, fresh = self._table.reserve([replicas, kind])
        if fresh is not None:
            self._waiting.append(rows(fresh))
        return found

    def fill(self, template: Layout, several_stages: bool) -> None:
        """Computes all reserved rows, for layouts with one stage or for layouts with several."""
        if not self._waiting:
            return
        rows = _joined_replicas(self._waiting)
        self._waiting = []
        held = self.slowest.share(Numbers(rows.share, self.slowest.shares.size))
        layout = rows.layouts.column_layout(template, () if several_stages else ("pp",))
        groups = {
            axis: cast(Group, GroupColumns(self.library, self.known.placements.groups, numbers))
            for axis, numbers in rows.places.items()
        }
        timing = LayoutTiming(self.known.tables, layout, self.slowest.hiding, self.known.tables.workload, groups)
        found = timing.replica_seconds(timing.replica_transfers(held))
        self._table.add(len(rows.share), [as_column(seconds) for seconds in found])

    def __getitem__(self, numbers: Numbers) -> ReplicaSeconds:
        return ReplicaSeconds(*map(as_number, self._table.look_up(numbers)))


def _joined_replicas(parts: Sequence[ReplicaRows]) -> ReplicaRows:
    """The rows of all parts, in order."""
    library = parts[0].layouts.library
    places = {axis: library.concatenate([part.places[axis] for part in parts]) for axis in parts[0].places}
    share = library.concatenate([part.share for part in parts])
    return ReplicaRows(joined_layouts([part.layouts for part in parts]), share, places)
