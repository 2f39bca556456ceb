"""Product names that are no entries: servers of other makers, and slices of TPUs.

A PowerEdge XE9680 holds one of several boards of accelerators. At Google Cloud ``v5p-512`` counts parts of chips, and
``tpu7x-4x4x8`` gives the torus.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.document.schema import letters_and_digits
from clusterspec.records import NamedTuple

_LONGEST_SERVER = 96


def boards_of_server(name: str, catalog: Catalog) -> tuple[str, ...]:
    """The platforms that a server is sold with, by the ``servers`` facts of their entries.

    The product name matches in any spelling, with or without the words before its designation.

    >>> boards_of_server("XE9680L", Catalog.open()), boards_of_server("Dell PowerEdge XE9785L", Catalog.open())
    (('hgx-b200', 'hgx-h200'), ('mi355x-ubb8',))
    """
    wanted = letters_and_digits(name[:_LONGEST_SERVER].lower())
    return (
        tuple(each for each in catalog.ids("platform") if wanted in _names_of_servers(each, catalog)) if wanted else ()
    )


def _names_of_servers(platform: str, catalog: Catalog) -> Iterator[str]:
    """The names of a platform's servers in comparison form, each also without its first words."""
    fact = catalog.raw_entry("platform", platform).facts.get("servers")
    for server in fact.value if fact is not None and isinstance(fact.value, list) else ():
        words = str(server).lower().split()
        for first in range(len(words)):
            rest = letters_and_digits(" ".join(words[first:]))
            if any(each.isdigit() for each in rest) and any(each.isalpha() for each in rest) and len(rest) > 3:
                yield rest


_LONGEST_SLICE = 64
_TORUS = re.compile(r"[1-9]\d{0,3}(?:x[1-9]\d{0,3}){1,2}")


class TpuSlice(NamedTuple):
    """A slice: its chip, the number of chips, and the shape of their torus, empty if the name only counts."""

    chip: Accelerator
    chips: int
    shape: tuple[int, ...]


def torus_shape(text: str) -> tuple[int, ...]:
    """The sides of a torus; empty for another text.

    >>> torus_shape("4x4x8"), torus_shape("256")
    ((4, 4, 8), ())
    """
    return tuple(map(int, text.split("x"))) if _TORUS.fullmatch(text) else ()


def slice_of_name(name: str, catalog: Catalog) -> TpuSlice | None:
    """The slice with a name; None for other names, and for a count that is not a whole number of chips.

    >>> found = slice_of_name("v5p-512", Catalog.open())
    >>> found.chip.id, found.chips, slice_of_name("tpu7x-4x4x8", Catalog.open()).shape
    ('tpu-v5p', 256, (4, 4, 8))
    """
    generation, _, size = name[:_LONGEST_SLICE].lower().removeprefix("tpu-").partition("-")
    shape = torus_shape(size)
    if not generation or not (shape or (size.isascii() and size.isdigit())):
        return None
    parts = (catalog.find("accelerator", id_) for id_ in catalog.ids("accelerator"))
    chip = next((one for one in parts if isinstance(one, Accelerator) and generation in one.slice_names), None)
    if chip is None and shape:
        named = [catalog.find("accelerator", id_) for id_ in catalog.ids_named("accelerator", generation)]
        chip = next((one for one in named if isinstance(one, Accelerator)), None)
    if chip is None:
        return None
    if shape:
        return TpuSlice(chip, prod(shape), shape)
    chips, rest = divmod(int(size), chip.units_of_slices)
    return TpuSlice(chip, chips, ()) if chips and not rest else None
