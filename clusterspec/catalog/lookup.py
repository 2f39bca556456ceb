"""Lookup of entries by name, for ``catalog show``, ``diff`` and ``compare``."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from clusterspec.catalog.entry_view import Comparison, EntryView, comparison, entry_view
from clusterspec.catalog.library import Catalog, UnknownEntry
from clusterspec.catalog.side_by_side import SideBySide, side_by_side
from clusterspec.records import dataclass


def show(catalog: Catalog, name: str) -> EntryView:
    """The entry of an id, or of ``kind/id`` if several kinds share the id.

    Raises `UnknownEntry`, `BrokenEntry`, or `AmbiguousName`.
    """
    return entry_view(catalog.raw_entry(*resolve(catalog, name)))


def compare(catalog: Catalog, left: str, right: str) -> Comparison:
    """Two entries as written, fact by fact. Raises as `show`."""
    return comparison(*_together(catalog, (left, right)))


def compare_all(catalog: Catalog, names: Sequence[str]) -> SideBySide:
    """Two or more entries side by side in one convention. Raises as `show`."""
    return side_by_side(_together(catalog, names))


def _together(catalog: Catalog, names: Sequence[str]) -> list[EntryView]:
    """The entries of some names; an ambiguous id has the kind that all names share."""
    kinds = [_kinds(catalog, name) for name in names]
    shared = [kind for kind in kinds[0] if all(kind in each for each in kinds)]
    return [show(catalog, f"{shared[0]}/{name}" if len(shared) == 1 and "/" not in name else name) for name in names]


@dataclass(eq=False)
class AmbiguousName(LookupError):
    """Raised for an id that several kinds of entries have."""

    name: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"`{self.name}` is {' and '.join(self.kinds)}; write {' or '.join(f'{k}/{self.name}' for k in self.kinds)}"
        )


def resolve(catalog: Catalog, name: str) -> tuple[str, str]:
    """The kind and the id that ``id`` or ``kind/id`` names."""
    kinds, id_ = _kinds(catalog, name), name.rpartition("/")[2]
    if len(kinds) > 1:
        raise AmbiguousName(id_, kinds)
    if not kinds:
        raise UnknownEntry("entry", name, _nearest(catalog, id_))
    return kinds[0], id_


def _nearest(catalog: Catalog, id_: str) -> tuple[str, ...]:
    """The entries of any kind that are most similar to an id, as ``kind/id``."""
    family = [f"{kind}/{each}" for kind in catalog.kinds for each in catalog.family(kind, id_)]
    near = {f"{kind}/{each}": each for kind in catalog.kinds for each in catalog.nearest(kind, id_)}
    alike = get_close_matches(id_.lower(), near.values(), n=3, cutoff=0.55)
    others = [name for each in dict.fromkeys(alike) for name, it in near.items() if it == each]
    return tuple(dict.fromkeys((*family, *others)))[:3]


def _kinds(catalog: Catalog, name: str) -> tuple[str, ...]:
    kind, _, id_ = name.rpartition("/")
    return tuple(each for each in catalog.kinds_of(id_) if kind in {"", each})
