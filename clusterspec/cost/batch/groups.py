"""The process groups of one axis in many layouts, and the time of their collectives."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from clusterspec.cost.batch.arrays import Array, ArrayLibrary
from clusterspec.cost.batch.columns import column, number, positions
from clusterspec.cost.tables.group import Group, NoPathError
from clusterspec.records import NamedTuple


class QueuedSeconds(NamedTuple):
    """The seconds of one collective on the device in each layout, launch overhead excluded."""

    queued: float


class GroupColumns:
    """The groups of one axis, one for each layout: ``numbers`` are positions in ``groups``."""

    def __init__(self, library: ArrayLibrary, groups: Sequence[Group], numbers: Array) -> None:
        self.library, self.count = library, len(numbers)
        self._groups = [(groups[index], rows) for index, rows in positions(library, numbers).items()]

    @property
    def domains(self) -> float:
        """Scale-up domains that one group spans."""
        found = self.library.full(self.count, 1.0)
        for group, rows in self._groups:
            found[rows] = group.domains
        return number(found)

    def cost(self, name: str, size: float) -> QueuedSeconds:
        """One collective of ``size`` bytes in each layout: 0 where nothing is sent, not a number without a path."""
        sizes = self.library.full(self.count, 0.0) + size
        found = self.library.full(self.count, 0.0)
        for group, rows in self._groups:
            if group.placement.ranks > 1:
                sent = sizes.take(rows)
                found[rows] = self.library.where(sent > 0, _queued(group, name, sent), 0.0)
        return QueuedSeconds(number(found))


def _queued(group: Group, name: str, sizes: Array) -> Array | float:
    try:
        return column(group.timing(name).queued(number(sizes)))
    except NoPathError:
        return nan
