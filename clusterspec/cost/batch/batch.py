"""Times many layouts at once: sub-results from tables, composed on columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.call import Call
from clusterspec.cost.batch.divisions import Divisions
from clusterspec.cost.batch.tables import BatchTables
from clusterspec.cost.step.replicas import LAYER_BY_LAYER
from clusterspec.cost.tables import Tables
from clusterspec.records import NamedTuple, replace

Order = tuple[str, ...]


class BatchResult(NamedTuple):
    """Columns of memory, bytes on the fullest accelerator and the high end of their range, and for each order a column
    of the seconds of a step, not a number where no fabric connects the ranks of a group.
    """

    step_times: list[Array]
    memory: Array
    upper: Array


class Batch:
    """Columns of layouts of one job. Results of one call are reused by later calls."""

    def __init__(self, tables: Tables, library: ArrayLibrary) -> None:
        self.library = library
        self._known = BatchTables(tables, library)

    def __call__(
        self,
        variants: Sequence[Layout],
        orders: Sequence[Order],
        divisions: Mapping[str, Array],
        rows: Mapping[str, Array],
    ) -> BatchResult:
        """The results of the layouts, one per row, with each of the ``orders`` of axes.

        A row has a ``division`` (a position in the columns of ``divisions``: tp, cp, ep, expert_tp, pp, dp and
        shard_group, which make up all the ranks), a ``micro_batch``, ``virtual_stages`` and a ``variant`` (a position
        in ``variants``: layouts that differ in recomputation, sequence parallelism and the method of context
        parallelism alone).
        """
        count, known = len(rows["division"]), Divisions(self._known, divisions)
        placed = [known.placed(replace(variants[0], order=order)) for order in orders]
        step_times, memory, upper = [
            [self.library.full(count, nan) for _ in range(many)] for many in (len(orders), 1, 1)
        ]
        columns = (*memory, *upper, *step_times)
        for chosen in self._apart(variants[0], divisions["pp"].take(rows["division"])):
            part = {name: column[chosen] for name, column in rows.items()}
            call = Call(self._known, variants, placed, part)
            for column, blocks in zip(columns, (*zip(*call.memory(), strict=True), *call.step_times()), strict=True):
                column[chosen] = self.library.concatenate(blocks)
        return BatchResult(step_times, *memory, *upper)

    def _apart(self, template: Layout, pp: Array) -> list[object]:
        """Rows with one stage and rows with several, where data parallelism differs between them; else all rows."""
        if template.sharding not in LAYER_BY_LAYER:
            return [slice(None)]
        return [rows for rows in (self.library.flatnonzero(pp < 2), self.library.flatnonzero(pp > 1)) if len(rows)]
