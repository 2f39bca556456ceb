"""Memory of many layouts: bytes of layers and stages from tables, summed on columns.

The sums are those of `clusterspec.cost.memory.peak_memory`, which accept columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.columns import kept, number, whole
from clusterspec.cost.batch.index import Numbers, RowTable, ValueIndex
from clusterspec.cost.batch.layouts import DEGREES
from clusterspec.cost.formulas.elementwise import chosen, larger
from clusterspec.cost.formulas.rank_memory import several
from clusterspec.cost.memory import peak
from clusterspec.cost.memory.in_flight import in_flight
from clusterspec.cost.memory.job import Job
from clusterspec.cost.memory.line import MemoryLine, added
from clusterspec.cost.memory.peak_memory import LayerMemory, filled
from clusterspec.cost.memory.rank import Layers, Rank, passes
from clusterspec.cost.memory.recomputation import kept as stored_tensors
from clusterspec.cost.memory.tensor import Tensor
from clusterspec.cost.parameters import Share
from clusterspec.cost.stages import StageGroup, stage_groups
from clusterspec.records import replace

if TYPE_CHECKING:
    from clusterspec.cost.batch.call import Call

KINDS = tuple(Layers)
NETWORKS: tuple[frozenset[Layers], ...] = (
    frozenset(),
    frozenset({Layers.DENSE}),
    frozenset({Layers.EXPERT}),
    frozenset({Layers.DENSE, Layers.EXPERT}),
)
"""The kinds of feed-forward network that the layers of a rank may have."""
SHARES = ("dense", "replicated", "expert", "embedding", "head", "unit", "units", "shapes")


class MemoryTables:
    """The memory tables of a job by number."""

    def __init__(self, library: ArrayLibrary) -> None:
        self.library = library
        self.totals: dict[tuple[object, ...], RowTable] = {}
        self.layers = RowTable(library, 3, len(KINDS) + len(NETWORKS) + 1)
        self.groups: dict[bool, dict[int, tuple[StageGroup, ...]]] = {}
        self.shares: dict[tuple[bool, int], RowTable] = {}
        self.in_flight_tables: dict[tuple[str, int], RowTable] = {}
        self.micro_batches = ValueIndex(library)


def memory_of(call: Call) -> Array:
    """Bytes on the fullest accelerator for each row of a call. Rows that differ in placement only share one result."""
    template, known = call.template, call.known.memory
    columns = [call.shape, call.numbers["ep"], call.numbers["expert_tp"], call.kinds]
    if template.sharding == "hsdp":
        columns.append(call.numbers["shard_group"])
    key = (template.sharding, template.schedule, template.offload_optimizer, template.offload_activations)
    table = kept(known.totals, key, lambda: RowTable(call.library, len(columns), 1))
    (found,) = table.in_bulk(columns, lambda rows: (_Rows(call, rows).total(),))
    return found


class _Rows:
    """Some rows of a call: their job with columns for degrees, and the ranks at each position in stage order."""

    def __init__(self, call: Call, rows: Array) -> None:
        self.call, self.known, self.library, self.rows = call, call.known.memory, call.library, rows
        self.kinds = self._some(call.kinds)
        self.groups = self._groups()
        self.places = max(len(self.groups[kind]) for kind in set(self.kinds.values.tolist()))
        self.micro_batches = call.micro_batches[rows]
        self.job = self._job(self._columns_of_layout(call.template, rows))
        self._layers = self._layer_numbers()

    def _some(self, found: Numbers) -> Numbers:
        """The numbers of these rows."""
        return Numbers(found.values[self.rows], found.end)

    def total(self) -> Array:
        """Bytes on the fullest accelerator."""
        most: float = 0.0
        for place in range(self.places):
            most = larger(most, filled(self.job, self.rank(place), self.layer(place)).total)
        return cast(Array, most * self.call.tables.cluster.ranks_per_accelerator)

    def _groups(self) -> dict[int, tuple[StageGroup, ...]]:
        """The groups of equal stages by the number of pp and virtual stages."""
        known = self.known.groups.setdefault(self.call.mirrored, {})
        for position, kind in enumerate(self.kinds.values.tolist()):
            if kind not in known:
                layout = self.layout(position)
                known[kind] = stage_groups(self.call.tables.workload.model, layout)
        return known

    def layout(self, position: int) -> Layout:
        """The layout of one of the rows."""
        return self.call.row(int(self.rows[position])).layout

    def _job(self, layout: Layout) -> Job:
        tables = self.call.tables
        return Job.on(tables.cluster.accelerator.vendor, tables.workload, layout)

    def _columns_of_layout(self, variant: Layout, rows: Array) -> Layout:
        """A layout whose degrees are columns, with one number for each of some rows of the call."""
        call = self.call
        degrees: dict[str, Any] = {name: call.float_of(call.columns[name][rows]) for name in (*DEGREES, "expert_dp")}
        return replace(variant, **degrees, micro_batches=whole(call.micro_batches[rows] * 1.0))

    def _layer_numbers(self) -> list[float]:
        columns = [self.call.shape, self.call.numbers["ep"], self.call.numbers["expert_tp"]]
        return [number(column) for column in self.known.layers.in_bulk([*map(self._some, columns)], self._of_layers)]

    def _of_layers(self, positions: Array) -> list[Array]:
        """Bytes of one layer in some of the rows; rows with equal non-numeric settings (such as recomputation) are
        computed together.
        """
        rows = self.rows[positions]
        variant = self.call.columns["variant"][rows]
        found = [self.library.zeros(len(rows)) for _ in range(self.known.layers.width)]
        for index in sorted(set(variant.tolist())):
            chosen = self.library.flatnonzero(self.library.equal(variant, index))
            job = self._job(self._columns_of_layout(self.call.variants[index], rows[chosen]))
            for column, value in zip(found, _of_layer(job), strict=True):
                column[chosen] = value
        return found

    def _group(self, kind: int, place: int) -> StageGroup:
        """The stage group at a position; pipelines with fewer groups repeat their first."""
        groups = self.groups[kind]
        return groups[place if place < len(groups) else 0]

    def rank(self, place: int) -> Rank:
        """The ranks of the stages at a position."""
        shares = kept(self.known.shares, (self.call.mirrored, place), lambda: RowTable(self.library, 2, len(SHARES)))
        columns = [self._some(self.call.cut), self.kinds]
        found = dict(zip(SHARES, shares(columns, lambda position: self._share(position, place)), strict=True))
        units = whole(found.pop("units"))
        share = Share(**{name: number(column) for name, column in found.items()}, units=units)
        schedule = self.call.template.schedule
        table = kept(self.known.in_flight_tables, (schedule, place), lambda: RowTable(self.library, 2, len(KINDS) + 4))
        counted = self.known.micro_batches(self.micro_batches)
        counts = table([self.kinds, counted], lambda position: self._in_flight(position, place))
        *held, most, inputs, outputs, head = map(number, counts)
        return Rank(share, dict(zip(KINDS, held, strict=True)), most, inputs, outputs, head, frozenset())

    def _share(self, position: int, place: int) -> tuple[float, ...]:
        chunks = self._group(int(self.kinds.values[position]), place).chunks
        share = self.call.tables.share(self.layout(position), chunks)
        return tuple(getattr(share, name) for name in SHARES)

    def _in_flight(self, position: int, place: int) -> list[float]:
        """Layers of each kind times micro-batches in flight, and the fields of `Rank` that depend on the stage."""
        group, layout = self._group(int(self.kinds.values[position]), place), self.layout(position)
        counts = in_flight(layout, group.first, group.chunks, layout.micro_batches or 1)
        first, last = any(chunk.first for chunk in group.chunks), any(chunk.last for chunk in group.chunks)
        held = passes(group.chunks, counts)
        return [*(held[kind] for kind in KINDS), max(counts), float(not first), float(not last), float(last)]

    def layer(self, place: int) -> LayerMemory:
        """Memory of the layers of the stages at a position."""
        stored, working = self._layers[: len(KINDS)], self._layers[len(KINDS) : -1]
        tensors = [Tensor(_sum_of(value), kind) for kind, value in zip(KINDS, stored, strict=True) if self._has(kind)]
        return LayerMemory(tensors, (_sum_of(self._layers[-1]),), (_sum_of(self._working(working, place)),))

    def _has(self, kind: Layers) -> bool:
        """Whether the model may have layers of a kind."""
        model = self.call.tables.workload.model
        there = {
            Layers.WINDOW: model.window_layers,
            Layers.LINEAR: model.linear_layers,
            Layers.EXPERT: model.moe_layers,
        }
        return bool(there.get(kind, 1))

    def _working(self, working: Sequence[float], place: int) -> float:
        """The working memory of the layers at a position, by their feed-forward networks."""
        networks = {kind: self._networks(kind, place) for kind in set(self.kinds.values.tolist())}
        if len(set(networks.values())) == 1:
            return working[networks.popitem()[1]]
        codes = [networks.get(kind, 0) for kind in range(self.kinds.end)]
        which = self.library.asarray(codes, "int64").take(self.kinds.values)
        found = working[0]
        for code in set(networks.values()):
            found = chosen(cast(bool, self.library.equal(which, code)), working[code], found)
        return found

    def _networks(self, kind: int, place: int) -> int:
        """The index in `NETWORKS` of the feed-forward networks of the layers at a position."""
        chunks = self._group(kind, place).chunks
        dense, expert = any(chunk.dense_layers for chunk in chunks), any(chunk.moe_layers for chunk in chunks)
        return NETWORKS.index(frozenset(each for each, has in ((Layers.DENSE, dense), (Layers.EXPERT, expert)) if has))


def _of_layer(job: Job) -> list[float]:
    """Bytes that a layer stores, by the kind of layer; its working memory by feed-forward network; and the logits."""
    tensors = stored_tensors(job)
    stored = [added(tensor.line for tensor in tensors if tensor.layers is kind) for kind in KINDS]
    exchanged = added(peak.exchanged(job))
    working = [peak.working(job, kinds).value + exchanged for kinds in NETWORKS]
    return [*stored, *working, added(peak.logits(job))]


def _sum_of(value: float) -> MemoryLine:
    """A sum of bytes as one line."""
    return MemoryLine("sum", value, several, {})
