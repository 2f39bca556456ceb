"""State shared by the calls of a batch: an index of degrees, and the sub-results of each index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.columns import Variant
from clusterspec.cost.batch.index import PairIndex, RowIndex, ValueIndex
from clusterspec.cost.batch.layouts import DEGREES
from clusterspec.cost.batch.memory import MemoryTables
from clusterspec.cost.batch.placement import PlacementIndex
from clusterspec.cost.tables import Tables

if TYPE_CHECKING:
    from clusterspec.cost.batch.replicas import ReplicaTable
    from clusterspec.cost.batch.slowest import SlowestStages


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
        self.values = {name: ValueIndex(library) for name in DEGREES}
        self.variants: dict[Variant, int] = {}
        self.micro_batches, self.executions = PairIndex(library), PairIndex(library)
        self.shapes, self.cuts, self.held = RowIndex(library, 4), RowIndex(library, 3), RowIndex(library, 3)
        experts = bool(tables.workload.model.experts)
        self.paths = RowIndex(library, 5 if experts else 3)
        self.stages = RowIndex(library, 3)
        self.replicas = {"hsdp": RowIndex(library, 5), "": RowIndex(library, 4)}
        self.slowest: dict[object, SlowestStages] = {}
        self.replica_seconds: dict[object, ReplicaTable] = {}
        self.memory = MemoryTables(library)

    def variant_codes(self, variants: Sequence[Layout]) -> Array:
        """The number of the `Variant` of each layout with one rank in tp and cp, several in cp, in tp, and in both."""
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
