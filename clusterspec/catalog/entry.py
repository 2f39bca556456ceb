"""The base of every kind of catalog entry."""

from __future__ import annotations

from clusterspec.catalog.status import Status
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """The fields common to all entries; ``kind/id`` identifies one."""

    id: str
    name: str
    vendor: str
    status: Status
    notes: tuple[str, ...]

    @property
    def kind(self) -> str:
        return type(self).__name__.lower()
