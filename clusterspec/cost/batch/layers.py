"""Pass times of the layers and the contents of the pipeline stages of many layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.columns import (
    Array,
    ArrayLibrary,
    GroupColumns,
    LayoutColumns,
    as_column,
    as_number,
    positions_by_number,
)
from clusterspec.cost.batch.index import Numbers, PairIndex, RowTable
from clusterspec.cost.batch.memory import LAYER_AXES, BatchTables
from clusterspec.cost.compute import Shard
from clusterspec.cost.compute.rates import PassKernels
from clusterspec.cost.layer_tables import Group, LayerKernels, OverlappableCommunication, PhaseTimer, layer_time
from clusterspec.cost.layers import Chunk, Layer, StageGroup
from clusterspec.cost.step import StageTime
from clusterspec.cost.timing import Content
from clusterspec.records import NamedTuple, dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.sharded_layers import ShardedPasses


@dataclass(frozen=True)
class StageKind:
    """Stages of one layout with equal contents: the number of such stages, their `Content`, and the chunks of the first
    one.
    """

    count: int
    content: Content
    chunks: tuple[Chunk, ...]


def stage_kinds(groups: Mapping[Content, list[StageGroup]]) -> list[StageKind]:
    """The kinds of stages of a layout, in order of their first stage."""
    return [StageKind(sum(one.count for one in same), content, same[0].chunks) for content, same in groups.items()]


class StageTable:
    """The kinds of stages for each pair of pp and virtual stages."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self._index = PairIndex(library)
        self.kinds: list[list[StageKind]] = []
        self._columns: list[list[Array]] = []
        self._lengths = library.zeros(0, "int64")

    def numbers_of(self, pp: Numbers, virtual_stages: Numbers, compute: Callable[[int], list[StageKind]]) -> Numbers:
        """The number of each row's pair of pp and virtual stages; ``compute`` returns the stage kinds for the row at a
        position.
        """
        found, fresh = self._index.numbers_and_new_rows(pp, virtual_stages)
        if fresh is not None:
            self.kinds += map(compute, fresh.tolist())
            self._columns = list(self._filled_columns())
            self._lengths = self.library.asarray([len(kinds) for kinds in self.kinds])
        return found

    def _filled_columns(self) -> Iterator[list[Array]]:
        """For each position in the list of kinds: columns of stage counts and contents. A layout with fewer kinds has a
        count of zero at the further positions, with the contents of its first kind.
        """
        for place in range(max(map(len, self.kinds))):
            rows = [
                (kinds[place].count, *kinds[place].content) if place < len(kinds) else (0, *kinds[0].content)
                for kinds in self.kinds
            ]
            yield [self.library.asarray(column, "float64") for column in zip(*rows, strict=True)]

    def columns(self, numbers: Numbers) -> Iterator[Sequence[Array]]:
        """For each position in the list of kinds: the count of such stages, and the numbers of their `Content`."""
        most = int(self._lengths.take(numbers.values).max())
        for place in self._columns[:most]:
            yield [column.take(numbers.values) for column in place]


# The layers of many layouts, timed together: kernels by the degrees that shard them, transfers by their groups

SUMS = ("device", "mixing_gemms", "network_gemms", "core", "launches", "expert_launches")
"""The sums over the kernels of a pass that are stored."""
AGAIN = ("device", "launches", "expert_launches")
"""The sums stored for recomputed kernels, which overlap with no transfer."""
PASSES = ("forward", "backward", "exposed", "calls", "collectives")
"""Stored values of a layer: seconds of both passes, exposed seconds and calls of the transfers that recomputation
repeats.
"""


class LayerRows(NamedTuple):
    """Layouts with the indices of the inputs of their layers. ``shape`` numbers the degrees that shard a layer,
    ``places`` the groups of each axis, and ``path`` the combinations of both.
    """

    layouts: LayoutColumns
    shape: Numbers
    path: Numbers
    places: Mapping[str, Numbers]

    def rows_at(self, rows: Array) -> LayerRows:
        """The rows at the given positions."""
        places = {axis: found.take(rows) for axis, found in self.places.items()}
        return LayerRows(self.layouts.rows_at(rows), self.shape.take(rows), self.path.take(rows), places)


Part = tuple[Array, LayerRows, Layout]
"""Rows whose layouts differ only in numbers: their positions, the rows, and a layout with the common settings."""


class LayerTimes:
    """Tables of the times of all parts of the model."""

    def __init__(self, known: BatchTables, hiding: OverlappableCommunication, sharded: ShardedPasses | None) -> None:
        self.known, self.tables, self.library, self.hiding = known, known.tables, known.library, hiding
        self.sharded = sharded
        self.layers = tuple(part for part in self.tables.parts if isinstance(part, Layer))
        self.ends = tuple(part for part in self.tables.parts if isinstance(part, str))
        self._executions, self._repetitions = PairIndex(self.library), PairIndex(self.library)
        self._kernels = RowTable(self.library, 2, 2 * len(SUMS) * len(self.layers) + 2 * len(self.ends))
        self._again = RowTable(self.library, 2, len(AGAIN) * len(self.layers))
        self._passes = RowTable(self.library, 2, len(PASSES) * len(self.layers))

    def __call__(self, rows: LayerRows, template: Layout) -> list[StageTime]:
        """One micro-batch through each part; not a number if nothing connects the ranks of a group."""
        variants = tuple(self.known.variants)
        method, again = (
            self._setting_numbers(rows, words)
            for words in ([one[1:] for one in variants], [one[0] for one in variants])
        )
        micro_batch = self.known.values["micro_batch"](rows.layouts.degrees["micro_batch"])
        execution = self._executions(micro_batch, method)

        def parts(fresh: Array, codes: Numbers) -> Iterator[Part]:
            return self._rows_of_equal_codes(rows.rows_at(fresh), codes.values.take(fresh), template)

        kernels = self._kernels.numbers_of(
            [rows.shape, execution], lambda new: self._kernel_sums(len(new), parts(new, method))
        )
        sums = self._kernels.look_up(kernels)
        words = Numbers(method.values * again.end + again.values, method.end * again.end)
        axes, repetition = self._divided_axes(rows, words), self._repetitions(micro_batch, words)
        passes = self._passes(
            [rows.path, repetition],
            lambda new: self._pass_times(len(new), parts(new, axes), _selected_columns(sums, new)),
        )
        repeated = self._again(
            [kernels, again],
            lambda new: self._recomputation_sums(len(new), parts(new, words), _selected_columns(sums, new)),
        )
        times = [self._layer_time(index, passes, repeated) for index in range(len(self.layers))]
        ends = [*map(as_number, sums[2 * len(SUMS) * len(self.layers) :])]
        return [*times, *(StageTime(there, back, 0.0) for there, back in zip(ends[::2], ends[1::2], strict=True))]

    def _setting_numbers(self, rows: LayerRows, words: Sequence[object]) -> Numbers:
        """The number of each row's setting, given the setting of every variant."""
        found: dict[object, int] = {}
        codes = [found.setdefault(word, len(found)) for word in words]
        return Numbers(self.library.asarray(codes, "int64").take(rows.layouts.variant), len(found))

    def _divided_axes(self, rows: LayerRows, method: Numbers) -> Numbers:
        """A code for each row that combines its setting in ``method`` with the axes that have several ranks."""
        codes = method.values
        for axis in LAYER_AXES:
            codes = 2 * codes + 1 * (rows.layouts.degrees[axis] > 1)
        return Numbers(codes, method.end * 2 ** len(LAYER_AXES))

    def _rows_of_equal_codes(self, rows: LayerRows, codes: Array, template: Layout) -> Iterator[Part]:
        """Rows grouped by equal codes. The layouts of a group differ in numbers only; axes with a single rank in all
        rows of a group have the degree 1.
        """
        variants = tuple(self.known.variants)
        for at in positions_by_number(self.library, codes).values():
            part = rows.rows_at(at)
            ones = [axis for axis in LAYER_AXES if not (part.layouts.degrees[axis] > 1).any()]
            variant = variants[int(part.layouts.variant[0])]
            yield at, part, part.layouts.column_layout(variant.of(template), ones)

    def _kernel_sums(self, count: int, parts: Iterator[Part]) -> list[Array]:
        """Kernel times of each layer, and the seconds of embedding and head."""
        found = self._empty_columns(count, self._kernels)
        for at, _, layout in parts:
            kernels = [self.tables.layer_kernels(layer, layout) for layer in self.layers]
            sums = [getattr(one, name) for each in kernels for one in (each.forward, each.backward) for name in SUMS]
            ends = [self._phase_timer({}).part_time(end, self.tables.end_work(end, layout)).time for end in self.ends]
            _set_columns(found, at, [*sums, *(seconds for time in ends for seconds in time[:2])])
        return found

    def _pass_times(self, count: int, parts: Iterator[Part], sums: Sequence[Array]) -> list[Array]:
        """The time of each pass of each layer, transfers included."""
        found = self._empty_columns(count, self._passes)
        for at, rows, layout in parts:
            timer = self._phase_timer({axis: self._group_columns(axis, places) for axis, places in rows.places.items()})
            values: list[float] = []
            for layer, there, back in zip(self.layers, *self._stored_passes(_selected_columns(sums, at)), strict=True):
                shard = Shard.of(self.tables.workload, layout, layer.mixer, layer.wide)
                time = layer_time("", LayerKernels(layer, shard, {}, there, back), layout, timer)
                again = time.recomputation
                calls = sum(one.transfer.calls for one in again.transfers)
                values += [time.forward.total, time.backward.total, again.exposed, calls, again.collectives]
            _set_columns(found, at, values)
        return found

    def _stored_passes(self, sums: Sequence[Array]) -> tuple[list[PassKernels], list[PassKernels]]:
        """The kernels of the forward and of the backward pass of each layer."""
        passes = [
            PassKernels((), flops=0.0, **dict(zip(SUMS, map(as_number, sums[first:]), strict=False)))
            for first in range(0, 2 * len(SUMS) * len(self.layers), len(SUMS))
        ]
        return passes[::2], passes[1::2]

    def _recomputation_sums(self, count: int, parts: Iterator[Part], sums: Sequence[Array]) -> list[Array]:
        """Times of the kernels that each layer recomputes."""
        found = self._empty_columns(count, self._again)
        assert self.tables.rates is not None
        for at, _, layout in parts:
            again = self._stored_passes(_selected_columns(sums, at))[0]
            if layout.recompute != "full":
                kernels = (self.tables.layer_kernels(layer, layout) for layer in self.layers)
                software, speed = self.tables.software, self.tables.rates.speed
                again = [each.recomputed_passes(layout, software, speed) for each in kernels]
            _set_columns(found, at, [getattr(one, name) for one in again for name in AGAIN])
        return found

    def _layer_time(self, index: int, passes: Sequence[Array], repeated: Sequence[Array]) -> StageTime:
        """Pass times of one kind of layer."""
        forward, backward, exposed, *sent = passes[len(PASSES) * index :][: len(PASSES)]
        sums = dict(zip(AGAIN, map(as_number, repeated[len(AGAIN) * index :]), strict=False))
        kernels = PassKernels((), mixing_gemms=0.0, network_gemms=0.0, core=0.0, flops=0.0, **sums)
        waited = as_number(exposed)
        launch = self._phase_timer({}).launch_seconds(kernels, waited, *map(as_number, sent))
        return StageTime(as_number(forward), as_number(backward), kernels.device + waited + launch)

    def _group_columns(self, axis: str, places: Numbers) -> GroupColumns:
        return GroupColumns(self.library, self.known.placements.groups, places.values)

    def _phase_timer(self, groups: Mapping[str, GroupColumns]) -> PhaseTimer:
        assert self.tables.rates is not None
        found = cast(Mapping[str, Group], groups)
        speed, software = self.tables.rates.speed, self.tables.software
        return PhaseTimer(speed, software, self.hiding, found.__getitem__, self.sharded)

    def _empty_columns(self, count: int, table: RowTable) -> list[Array]:
        return [self.library.zeros(count) for _ in range(table.width)]


def _selected_columns(columns: Sequence[Array], rows: Array) -> list[Array]:
    return [each.take(rows) for each in columns]


def _set_columns(columns: Sequence[Array], rows: Array, values: Sequence[float]) -> None:
    for each, value in zip(columns, values, strict=True):
        each[rows] = as_column(value)
