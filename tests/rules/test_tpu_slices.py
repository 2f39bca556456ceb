"""Slices of TPU tori against the shapes and wrap-around links in docs.cloud.google.com/tpu/docs."""

from __future__ import annotations

from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Interconnect
from clusterspec.rules.knowledge.tpu_slices import open_axes, slice_exists


def torus(name: str) -> Interconnect:
    entry = Catalog.open().get("interconnect", name)
    assert isinstance(entry, Interconnect)
    return entry


def test_only_whole_pods_and_whole_cubes_close_their_rings() -> None:
    """v5e and v6e close an axis of 16, v4 and v5p one of a multiple of four; an axis of one has no link to close."""
    for name in ("ici-v5e", "ici-v6e"):
        flat = torus(name)
        opened = [open_axes(shape, flat) for shape in ((1, 1), (2, 4), (8, 16), (16, 16))]
        assert opened == [[], [0, 1], [0], []], name
    for name in ("ici-v4", "ici-v5p"):
        cubic = torus(name)
        opened = [open_axes(shape, cubic) for shape in ((4, 4, 4), (2, 4, 4), (1, 2, 2), (4, 8, 12))]
        assert opened == [[], [0], [1, 2], []], name


def test_slices_are_listed_rectangles_or_boxes_of_whole_cubes() -> None:
    flat, cubic = torus("ici-v6e"), torus("ici-v5p")
    rectangles = [(1, 1), (4, 2), (8, 16), (16, 16), (2, 8), (16, 32), (3, 4)]
    assert [slice_exists(shape, flat) for shape in rectangles] == [True] * 4 + [False] * 3
    boxes = [(2, 2, 1), (4, 4, 2), (12, 4, 8), (4, 4, 6), (2, 2, 8), (8, 8)]
    assert [slice_exists(shape, cubic) for shape in boxes] == [True] * 3 + [False] * 3
