"""Memory of many layouts, and the tables that the calls of one batch share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Layout
from clusterspec.cluster.variation import layout_of_most_memory
from clusterspec.cost.batch.columns import (
    DEGREES,
    Array,
    ArrayLibrary,
    LayoutColumns,
    Variant,
    as_integer,
    as_number,
    joined_layouts,
    positions_by_number,
    stored_value,
)
from clusterspec.cost.batch.index import (
    Numbers,
    PairIndex,
    PlacementIndex,
    RowIndex,
    RowTable,
    ValueIndex,
    ValueTable,
    joined_numbers,
)
from clusterspec.cost.formulas.compute import larger, value_where
from clusterspec.cost.formulas.memory import buffer_bytes
from clusterspec.cost.layer_tables import Group
from clusterspec.cost.layers import (
    LayerSet,
    StageGroup,
    logits_count,
    micro_batches_in_flight,
    stage_groups,
    stored_passes,
)
from clusterspec.cost.memory import Job, MemoryLine, Rank, recomputation, squared_excess, summed_bytes
from clusterspec.cost.memory.activations import Tensor
from clusterspec.cost.memory.fullest import LayerMemory, RankMemory, distinct_groups, rank_memory
from clusterspec.cost.memory.recomputation import StoredTensors
from clusterspec.cost.parameters import ADAPTERS, Share
from clusterspec.cost.tables import Tables, share_of_chunks
from clusterspec.records import NamedTuple, replace

KINDS = tuple(LayerSet)
NETWORKS: tuple[frozenset[LayerSet], ...] = (
    frozenset(),
    frozenset({LayerSet.DENSE}),
    frozenset({LayerSet.EXPERT}),
    frozenset({LayerSet.DENSE, LayerSet.EXPERT}),
)
"""The kinds of feed-forward network that the layers of a rank may have."""
LAYER_NUMBERS = 2 * (len(KINDS) + len(NETWORKS) + 1)
"""The number of values stored for a layer: for each sum, its bytes and the factor to the high end of its range."""
TOGETHER = 1 << 14
"""Rows per block of a memory computation: the columns of one block fit the caches of one core."""
SHARES = ("dense", "replicated", "expert", "embedding", "head", "unit", "units", "shapes", *ADAPTERS)


class MemoryTables:
    """The memory tables of a job by number."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.rows = PairIndex(library)
        self.totals: dict[tuple[object, ...], ValueTable] = {}
        self.layers: dict[tuple[bool, bool], RowTable] = {}
        """Keyed by whether the layouts shard weights, since a framework may then use other memory, and by whether their
        software is known to be plain.
        """
        self.executions, self.stages = PairIndex(library), PairIndex(library)
        self.groups: dict[tuple[str, int], tuple[StageGroup, ...]] = {}
        self.shares: dict[tuple[str, int], RowTable] = {}
        self.in_flight_tables: dict[tuple[str, int], RowTable] = {}
        self.micro_batches = ValueIndex(library)


class MemoryRows(NamedTuple):
    """Layouts with two indices: ``cut`` numbers the degrees that shard weights, ``shape`` those that shard a layer."""

    layouts: LayoutColumns
    cut: Numbers
    shape: Numbers

    def rows_at(self, rows: Array) -> MemoryRows:
        """The rows at the given positions."""
        return MemoryRows(self.layouts.rows_at(rows), self.cut.take(rows), self.shape.take(rows))


def joined_rows(library: ArrayLibrary, parts: Sequence[MemoryRows]) -> MemoryRows:
    """The rows of all parts, in order."""
    return MemoryRows(
        joined_layouts([part.layouts for part in parts]),
        joined_numbers(library, [part.cut for part in parts]),
        joined_numbers(library, [part.shape for part in parts]),
    )


def memory_totals(known: BatchTables, template: Layout, rows: MemoryRows) -> list[Array]:
    """Bytes on the fullest accelerator, and the high end of their range. Rows with the same number of distinct stages
    are computed together.
    """
    groups = _StageGroups(known, template, rows.layouts)
    found = [known.library.zeros(len(rows.layouts.variant)) for _ in range(2)]
    for at in positions_by_number(known.library, groups.counts()).values():
        for first in range(0, len(at), TOGETHER):
            some = at[first : first + TOGETHER]
            for column, values in zip(found, _MemoryRows(known, template, rows.rows_at(some)).totals(), strict=True):
                column[some] = values
    return found


class _StageGroups:
    """The groups of distinct stages of some layouts, by the index of their pp and virtual stages."""

    def __init__(self, known: BatchTables, template: Layout, layouts: LayoutColumns) -> None:
        library, memory = known.library, known.memory
        self.library, self.mirrored = library, template.schedule == "dualpipe"
        pp, virtual = (known.values[name](layouts.degrees[name]) for name in ("pp", "virtual_stages"))
        self.kinds = memory.stages(pp, virtual)
        kinds, first = library.unique(self.kinds.values, return_index=True)
        self.groups: dict[int, tuple[StageGroup, ...]] = {}
        for kind, row in zip(kinds.tolist(), first.tolist(), strict=True):
            key = (template.schedule, kind)
            if key not in memory.groups:
                layout = layouts.layout(row, template)
                memory.groups[key] = distinct_groups(layout, stage_groups(known.tables.workload.model, layout))
            self.groups[kind] = memory.groups[key]

    def counts(self) -> Array:
        """The number of groups in each layout."""
        counts = [len(self.groups.get(kind, ())) for kind in range(self.kinds.end)]
        return self.library.asarray(counts, "int64").take(self.kinds.values)

    def group_at(self, kind: int, place: int) -> StageGroup:
        """The group at a position."""
        return self.groups[kind][place]


class _MemoryRows:
    """Some rows: their job with columns for degrees, and the ranks at each position in stage order."""

    def __init__(self, known: BatchTables, template: Layout, rows: MemoryRows) -> None:
        self.tables, self.known, self.library, self.template = known.tables, known.memory, known.library, template
        self._layouts: dict[int, Layout] = {}
        self.layouts, self.variants, self.cut = rows.layouts, tuple(known.variants), rows.cut
        self.groups = _StageGroups(known, template, self.layouts)
        self.kinds = self.groups.kinds
        micro_batch = known.values["micro_batch"](self.layouts.degrees["micro_batch"])
        execution = self.known.executions(micro_batch, Numbers(self.layouts.variant, len(self.variants)))
        self.places = max(map(len, self.groups.groups.values()))
        self.job = self._job(self.layouts.column_layout(template))
        largest = layout_of_most_memory(template)
        self.largest = None if largest is None else _MemoryRows(known, largest, rows)
        key = (self.job.is_fully_sharded, self.largest is None)
        table = stored_value(self.known.layers, key, lambda: RowTable(self.library, 2, LAYER_NUMBERS))
        self._layers = [as_number(column) for column in table([rows.shape, execution], self._layer_columns)]

    def totals(self) -> tuple[Array, Array]:
        """Bytes on the fullest accelerator, and the high end of their range."""
        most, upper = 0.0, 0.0
        for place in range(self.places):
            found = self._rank_memory(place)
            if self.largest is not None:
                found = replace(found, largest=self.largest._rank_memory(place).total)
            upper = found.upper_bytes if place == 0 else value_where(found.total > most, found.upper_bytes, upper)
            most = larger(most, found.total)
        ranks = self.tables.cluster.ranks_per_accelerator
        return cast(Array, most * ranks), cast(Array, upper * ranks)

    def _rank_memory(self, place: int) -> RankMemory:
        """Memory of the ranks of the stages at a position."""
        return rank_memory(self.job, self.rank_at(place), self.layer_memory(place))

    def layout(self, row: int) -> Layout:
        """The layout of a row."""
        return stored_value(self._layouts, row, lambda: self.layouts.layout(row, self.template))

    def _job(self, layout: Layout) -> Job:
        return Job.on_vendor(self.tables.cluster.accelerator.vendor, self.tables.workload, layout)

    def _layer_columns(self, rows: Array) -> list[Array]:
        """Bytes of one layer in some of the rows. Rows with equal non-numeric settings, such as recomputation, are
        computed together.
        """
        layouts = self.layouts.rows_at(rows)
        found = [self.library.zeros(len(rows)) for _ in range(LAYER_NUMBERS)]
        for variant, at in positions_by_number(self.library, layouts.variant).items():
            job = self._job(layouts.rows_at(at).column_layout(self.variants[variant].of(self.template)))
            for column, value in zip(found, _layer_numbers(job), strict=True):
                column[at] = value
        return found

    def rank_at(self, place: int) -> Rank:
        """The ranks of the stages at a position."""
        key = (self.template.schedule, place)
        shares = stored_value(self.known.shares, key, lambda: RowTable(self.library, 2, len(SHARES)))
        columns = shares([self.cut, self.kinds], lambda rows: self._weight_columns(rows, place))
        found = dict(zip(SHARES, columns, strict=True))
        units = as_integer(found.pop("units"))
        held_weights = Share(**{name: as_number(column) for name, column in found.items()}, units=units)
        table = stored_value(self.known.in_flight_tables, key, lambda: RowTable(self.library, 2, len(KINDS) + 4))
        counted = self.known.micro_batches(self.layouts.micro_batches)
        counts = table.one_by_one([self.kinds, counted], lambda row: self._in_flight_numbers(row, place))
        *held, most, inputs, outputs, head = map(as_number, counts)
        return Rank(held_weights, dict(zip(KINDS, held, strict=True)), most, inputs, outputs, head, frozenset())

    def _weight_columns(self, rows: Array, place: int) -> list[Array]:
        """The weights of the stages at a position in some rows; those with the same layers are computed together."""
        found = [self.library.zeros(len(rows)) for _ in SHARES]
        layouts = self.layouts.rows_at(rows)
        for kind, at in positions_by_number(self.library, self.kinds.values.take(rows)).items():
            layout = layouts.rows_at(at).column_layout(self.template)
            held = share_of_chunks(self.tables.workload, layout, self.groups.group_at(kind, place).chunks)
            for column, name in zip(found, SHARES, strict=True):
                column[at] = getattr(held, name)
        return found

    def _in_flight_numbers(self, row: int, place: int) -> list[float]:
        """For one row and stage: layers of each kind times micro-batches in flight, and the fields of `Rank` that
        depend on the stage.
        """
        group, layout = self.groups.group_at(int(self.kinds.values[row]), place), self.layout(row)
        counts = micro_batches_in_flight(layout, group.first, group.chunks, layout.micro_batches or 1)
        first, last = any(chunk.first for chunk in group.chunks), any(chunk.last for chunk in group.chunks)
        held = stored_passes(group.chunks, counts)
        return [
            *(held[kind] for kind in KINDS),
            max(counts),
            float(not first),
            float(not last),
            logits_count(group.chunks),
        ]

    def layer_memory(self, place: int) -> LayerMemory:
        """Memory of the layers of the stages at a position."""
        sums = [_sum_line(*pair) for pair in zip(self._layers[::2], self._layers[1::2], strict=True)]
        tensors = [Tensor(line, kind) for kind, line in zip(KINDS, sums, strict=False) if self._may_have(kind)]
        return LayerMemory(tensors, (sums[-1],), (self._working_memory(sums[len(KINDS) : -1], place),))

    def _may_have(self, kind: LayerSet) -> bool:
        """Whether the model may have layers of a kind."""
        model = self.tables.workload.model
        there = {
            LayerSet.WINDOW: model.window_layers,
            LayerSet.LINEAR: model.linear_layers,
            LayerSet.EXPERT: model.moe_layers,
        }
        return bool(there.get(kind, 1))

    def _working_memory(self, working: Sequence[MemoryLine], place: int) -> MemoryLine:
        """The working memory of the layers at a position, by their feed-forward networks."""
        networks = {kind: self._network_index(kind, place) for kind in self.groups.groups}
        if len(set(networks.values())) == 1:
            return working[networks.popitem()[1]]
        codes = [networks.get(kind, 0) for kind in range(self.kinds.end)]
        which = self.library.asarray(codes, "int64").take(self.kinds.values)
        value, high = working[0].value, working[0].high
        for code in set(networks.values()):
            here = cast(bool, self.library.equal(which, code))
            value, high = value_where(here, working[code].value, value), value_where(here, working[code].high, high)
        return _sum_line(value, high)

    def _network_index(self, kind: int, place: int) -> int:
        """The index in `NETWORKS` of the feed-forward networks of the layers at a position."""
        chunks = self.groups.group_at(kind, place).chunks
        dense, expert = any(chunk.dense_layers for chunk in chunks), any(chunk.moe_layers for chunk in chunks)
        return NETWORKS.index(
            frozenset(each for each, has in ((LayerSet.DENSE, dense), (LayerSet.EXPERT, expert)) if has)
        )


def _layer_numbers(job: Job) -> list[float]:
    """The `LAYER_NUMBERS` values of a layer: stored bytes by kind of layer, working memory by feed-forward network, and
    logits. Each is followed by the factor to the high end of its range.
    """
    tensors, exchanged = StoredTensors.of(job), recomputation.exchange_lines(job)
    stored = [tuple(tensor.line for tensor in tensors.kept if tensor.layers is kind) for kind in KINDS]
    working = [(recomputation.working_line(job, tensors, kinds), *exchanged) for kinds in NETWORKS]
    return [
        number
        for lines in (*stored, *working, recomputation.logits_lines(job))
        for number in _sum_and_high_factor(lines)
    ]


def _sum_and_high_factor(lines: Sequence[MemoryLine]) -> tuple[float, float]:
    """The sum of the given lines, and the factor to the high end of its range."""
    total = summed_bytes(lines)
    return total, 1 + squared_excess(lines) ** 0.5 / larger(total, 1.0)


def _sum_line(value: float, high: float) -> MemoryLine:
    """A sum of bytes as one line."""
    return MemoryLine("sum", value, buffer_bytes, {}, high=high)


# State shared by the calls of a batch: an index of degrees, and the sub-results of each index

LAYER_AXES = ("tp", "cp", "ep", "expert_tp")
"""The axes that shard a layer."""


class BatchTables:
    """The tables of one job. Each index numbers the distinct inputs of a sub-result:

    ``executions`` micro-batch, variant and virtual stages; ``shapes`` the degrees that shard a layer; ``paths`` those
    and the groups of its axes; ``stages`` those and the pipeline; ``replicas`` sharded weights and their groups;
    ``held`` the inputs of memory.
    """

    def __init__(self, tables: Tables, library: ArrayLibrary) -> None:
        self.tables, self.library = tables, library
        self.placements = PlacementIndex(library)
        self.lone_rank = Group(contiguous_placement(tables.cluster, 1), None)
        """A group that sends nothing."""
        self.values = {name: ValueIndex(library) for name in DEGREES}
        self.variants: dict[Variant, int] = {}
        self.micro_batches, self.executions = PairIndex(library), PairIndex(library)
        self.shapes, self.cuts, self.held = RowIndex(library, 4), RowIndex(library, 3), RowIndex(library, 4)
        experts = bool(tables.workload.model.experts)
        self.paths = RowIndex(library, 5 if experts else 3)
        self.stages = RowIndex(library, 3)
        self.replicas = {"hsdp": RowIndex(library, 5), "": RowIndex(library, 4)}
        self.memory = MemoryTables(library)

    def variant_codes(self, variants: Sequence[Layout]) -> Array:
        """The number of each layout's `Variant` in four cases: with one or several ranks in tp, and with one or several
        in cp.
        """
        found = [
            self.variants.setdefault(
                Variant(one.recompute, one.cp_method if of_cp else "", one.sequence_parallel and of_tp),
                len(self.variants),
            )
            for one in variants
            for of_tp in (False, True)
            for of_cp in (False, True)
        ]
        return self.library.asarray(found, "int64")
