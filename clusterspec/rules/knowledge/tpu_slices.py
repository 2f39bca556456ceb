"""Slices of TPU tori: which shapes exist, and which axes have wrap-around links."""

from __future__ import annotations

from clusterspec.catalog.entries import Interconnect

SMALL_CUBES = {(1, 2, 2), (2, 2, 2), (2, 2, 4), (2, 4, 4)}
FLAT = {(1, 1), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16)}
CUBE_SIDE = 4
FULL_SIDE = 16


def consists_of_cubes(entry: Interconnect) -> bool:
    """Whether the generation consists of 4×4×4 cubes (six links per chip), not of flat slices (four)."""
    return entry.links == 6


def slice_exists(shape: tuple[int, ...], entry: Interconnect) -> bool:
    """Whether the cloud offers a slice of this shape (docs.cloud.google.com/tpu/docs/v5p and v6e)."""
    sides = tuple(sorted(shape))
    if not consists_of_cubes(entry):
        return sides in FLAT
    return len(sides) == 3 and (sides in SMALL_CUBES or all(side % CUBE_SIDE == 0 for side in sides))


def open_axes(shape: tuple[int, ...], entry: Interconnect) -> list[int]:
    """The indices of the axes of a slice that no wrap-around links close."""
    if not consists_of_cubes(entry):
        return [axis for axis, side in enumerate(shape) if 1 < side < FULL_SIDE]
    return [axis for axis, side in enumerate(shape) if side > 1 and side % CUBE_SIDE]
