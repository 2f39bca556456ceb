"""Lookup of catalog entries by name for ``catalog show``, ``diff`` and ``compare``, and the reason why a name has no
entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from clusterspec.catalog import Catalog, UnknownEntry
from clusterspec.catalog.known_parts import KnownPart, part_of_name
from clusterspec.catalog.product_names import TpuSlice, boards_of_server, slice_of_name
from clusterspec.catalog.views import Comparison, EntryComparison, EntryView, comparison, entry_view, side_by_side
from clusterspec.document.schema import letters_and_digits
from clusterspec.records import dataclass


def entry_named(catalog: Catalog, name: str) -> EntryView:
    """The entry of an id, or of ``kind/id`` if several kinds share the id.

    Raises `UnknownEntry`, `BrokenEntry`, or `AmbiguousName`.
    """
    return entry_view(catalog.raw_entry(*resolved_id(catalog, name)))


def entries_named(catalog: Catalog, name: str) -> tuple[EntryView, tuple[str, ...]]:
    """The entry to show for a name, and the others of this name as ``kind/id``.

    A name of one entry in several kinds is shown as the first kind: Ironwood is an accelerator, and the platform that
    has it. The name of a generation stands for its accelerators.
    Raises `UnknownEntry`, `BrokenEntry`, or `SeveralEntries`.
    """
    kinds, id_ = _kinds_of_name(catalog, name), name.rpartition("/")[2]
    named = [(kind, id_) for kind in kinds] or _named_entries(catalog, name)
    if not named:
        named = [("platform", each) for each in catalog.ids_meant("platform", name)]
    if not named:
        named = [(kind, each) for kind in catalog.kinds for each in catalog.family(kind, name)]
    if "/" not in name and named[:1] and named[0][0] == "kernels":
        named = [*_accelerators_of(catalog, named[0][1]), *named]
    if not named:
        named = [("framework", each) for each in _frameworks_beneath(catalog, name)]
        if named:
            raise RunsOnFrameworks(name, tuple(map("/".join, named)))
        if held := boards_of_server(name, catalog):
            raise HoldsBoards(name, tuple(f"platform/{each}" for each in held))
        if sliced := slice_of_name(name, catalog):
            raise NamesSlice(name, sliced)
        if part := part_of_name(name):
            raise KnownByName(name, part)
        raise UnknownEntry("entry", name, nearest_entries(catalog, id_))
    first = [each for each in named if each[0] == named[0][0]]
    if len(first) > 1:
        raise SeveralEntries(name, tuple(map("/".join, first)))
    return entry_view(catalog.raw_entry(*named[0])), tuple(map("/".join, named[1:]))


def _named_entries(catalog: Catalog, name: str) -> list[tuple[str, str]]:
    return [(kind, each) for kind in catalog.kinds for each in catalog.ids_named(kind, name)]


def _accelerators_of(catalog: Catalog, kernels: str) -> Iterator[tuple[str, str]]:
    """The accelerators that have the kernels of a generation."""
    for each in catalog.ids("accelerator"):
        fact = catalog.raw_entry("accelerator", each).facts.get("kernels")
        if fact is not None and fact.value == kernels:
            yield "accelerator", each


def _frameworks_beneath(catalog: Catalog, program: str) -> Iterator[str]:
    """The frameworks on which a program is based: verl trains with FSDP or Megatron Core."""
    wanted = letters_and_digits(program.lower())
    for each in catalog.ids("framework"):
        fact = catalog.raw_entry("framework", each).facts.get("run_by")
        if (
            fact is not None
            and isinstance(fact.value, list)
            and wanted in map(letters_and_digits, map(str, fact.value))
        ):
            yield each


@dataclass(eq=False)
class RunsOnFrameworks(LookupError):
    """Raised for a program without an entry that runs frameworks underneath."""

    name: str
    entries: tuple[str, ...]

    def __str__(self) -> str:
        return f"`{self.name}` runs {' or '.join(self.entries)} underneath, which the catalog describes"


@dataclass(eq=False)
class HoldsBoards(LookupError):
    """Raised for another maker's server, whose accelerators are on a board with an entry."""

    name: str
    entries: tuple[str, ...]

    def __str__(self) -> str:
        held = " or ".join(self.entries)
        return f"`{self.name}` is a server with {held}; the server decides NICs, cages and power"


@dataclass(eq=False)
class NamesSlice(LookupError):
    """Raised for the name of a slice of TPUs, which says how many chips it has."""

    name: str
    slice: TpuSlice

    def __str__(self) -> str:
        chip, chips, shape = self.slice
        torus = f" as {'x'.join(map(str, shape))}" if shape else ""
        return f"`{self.name}` is a slice: {chips} chips of accelerator/{chip.id}{torus}"


@dataclass(eq=False)
class KnownByName(LookupError):
    """Raised for a part without an entry, since its figures are unknown."""

    name: str
    part: KnownPart

    def __str__(self) -> str:
        part = self.part
        vendor = "" if part.name.endswith(f" of {part.vendor}") else f" of {part.vendor}"
        return (
            f"`{self.name}` has no entry: {part.name}{vendor} is {part.status}, and these figures are unknown:"
            f" {part.unknown}; `clusterspec catalog search {self.name}` prints what is known"
        )


@dataclass(eq=False)
class SeveralEntries(LookupError):
    """Raised for a name of several entries of one kind: H100 is sold as SXM, PCIe and NVL."""

    name: str
    entries: tuple[str, ...]

    def __str__(self) -> str:
        return f"`{self.name}` is {len(self.entries)} entries; write one of {', '.join(self.entries)}"


def compare(catalog: Catalog, left: str, right: str) -> Comparison:
    """Two entries as written, fact by fact. Raises as `entry_named`."""
    return comparison(*_entry_views(catalog, (left, right)))


def compare_all(catalog: Catalog, names: Sequence[str]) -> EntryComparison:
    """Two or more entries side by side in one convention. Raises as `entry_named`."""
    return side_by_side(_entry_views(catalog, names))


def _entry_views(catalog: Catalog, names: Sequence[str]) -> list[EntryView]:
    """The entries of the given names; an ambiguous id has the kind that all names share."""
    kinds = [_kinds_of_name(catalog, name) for name in names]
    shared = [kind for kind in kinds[0] if all(kind in each for each in kinds)]
    return [
        entry_named(catalog, f"{shared[0]}/{name}" if len(shared) == 1 and "/" not in name else name) for name in names
    ]


@dataclass(eq=False)
class AmbiguousName(LookupError):
    """Raised for an id that several kinds of entries have."""

    name: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"`{self.name}` is {' and '.join(self.kinds)}; write {' or '.join(f'{k}/{self.name}' for k in self.kinds)}"
        )


MISSED = (AmbiguousName, SeveralEntries, RunsOnFrameworks, HoldsBoards, NamesSlice, KnownByName)
"""Errors of a lookup by a name that does not denote exactly one entry."""


def resolved_id(catalog: Catalog, name: str) -> tuple[str, str]:
    """The kind and the id for ``id``, ``kind/id`` or the name of a product, an instance or a checkpoint."""
    kinds, id_ = _kinds_of_name(catalog, name), name.rpartition("/")[2]
    if len(kinds) > 1:
        raise AmbiguousName(id_, kinds)
    if kinds:
        return kinds[0], id_
    named = _named_entries(catalog, name)
    if len(named) != 1:
        near = tuple("/".join(each) for each in named[:3])
        raise UnknownEntry("entry", name, near or nearest_entries(catalog, id_))
    return named[0]


def nearest_entries(catalog: Catalog, id_: str) -> tuple[str, ...]:
    """The entries of any kind that are most similar to an id, as ``kind/id``."""
    family = [f"{kind}/{each}" for kind in catalog.kinds for each in catalog.family(kind, id_)]
    near = {f"{kind}/{each}": each for kind in catalog.kinds for each in catalog.nearest_ids(kind, id_)}
    alike = get_close_matches(id_.lower(), near.values(), n=3, cutoff=0.65)
    others = [name for each in dict.fromkeys(alike) for name, it in near.items() if it == each]
    return tuple(dict.fromkeys((*family, *others)))[:3]


def _kinds_of_name(catalog: Catalog, name: str) -> tuple[str, ...]:
    kind, _, id_ = name.rpartition("/")
    return tuple(each for each in catalog.kinds_of(id_) if kind in {"", each})
