"""Slices of TPUs by their names at Google Cloud: ``v5p-512`` counts parts of chips, ``tpu7x-4x4x8`` gives the torus."""

from __future__ import annotations

import re
from math import prod

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.records import NamedTuple

_LONGEST = 64
_TORUS = re.compile(r"[1-9]\d{0,3}(?:x[1-9]\d{0,3}){1,2}")


class TpuSlice(NamedTuple):
    """A slice: its chip, the number of chips, and the shape of their torus, empty where the name only counts."""

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
    """The slice of a name; None for another name, or for a count that is no whole number of chips.

    >>> found = slice_of_name("v5p-512", Catalog.open())
    >>> found.chip.id, found.chips, slice_of_name("tpu7x-4x4x8", Catalog.open()).shape
    ('tpu-v5p', 256, (4, 4, 8))
    """
    generation, _, size = name[:_LONGEST].lower().removeprefix("tpu-").partition("-")
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
