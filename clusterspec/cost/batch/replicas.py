"""The data-parallel transfers of many layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from clusterspec.cluster.model import Layout
from clusterspec.cost.batch.arrays import Array
from clusterspec.cost.batch.columns import LayoutColumns, column, joined, number
from clusterspec.cost.batch.groups import GroupColumns
from clusterspec.cost.batch.index import Numbers, RowTable
from clusterspec.cost.batch.slowest import SlowestStages
from clusterspec.cost.batch.tables import BatchTables
from clusterspec.cost.step.replicas import ReplicaSeconds
from clusterspec.cost.tables.group import Group
from clusterspec.cost.timing import LayoutTiming
from clusterspec.records import NamedTuple


class ReplicaRows(NamedTuple):
    """Some layouts, the numbers of their weights, and of the groups of each axis that shares them."""

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
        """The number of each row; the new ones, which ``rows`` gives by position, are computed by `fill`."""
        found, fresh = self._table.reserve([replicas, kind])
        if fresh is not None:
            self._waiting.append(rows(fresh))
        return found

    def fill(self, template: Layout, several_stages: bool) -> None:
        """Computes all reserved rows, for layouts with one stage or for layouts with several."""
        if not self._waiting:
            return
        rows = _joined(self._waiting)
        self._waiting = []
        held = self.slowest.share(Numbers(rows.share, self.slowest.shares.size))
        layout = rows.layouts.together(template, () if several_stages else ("pp",))
        groups = {
            axis: cast(Group, GroupColumns(self.library, self.known.placements.groups, numbers))
            for axis, numbers in rows.places.items()
        }
        timing = LayoutTiming(self.known.tables, layout, self.slowest.hiding, groups)
        self._table.add(len(rows.share), [column(seconds) for seconds in timing.replica_seconds(held)])

    def __getitem__(self, numbers: Numbers) -> ReplicaSeconds:
        return ReplicaSeconds(*map(number, self._table.look_up(numbers)))


def _joined(parts: Sequence[ReplicaRows]) -> ReplicaRows:
    """The rows of all parts, in order."""
    library = parts[0].layouts.library
    places = {axis: library.concatenate([part.places[axis] for part in parts]) for axis in parts[0].places}
    share = library.concatenate([part.share for part in parts])
    return ReplicaRows(joined([part.layouts for part in parts]), share, places)
