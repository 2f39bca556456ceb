"""Rounds of points in several processes: each key has one process, which keeps what it computed."""

from __future__ import annotations

import argparse

import pytest

from clusterspec.cli import parallel

Point = tuple[str, int]
SEEN: dict[str, list[int]] = {}


def numbers_so_far(point: Point) -> list[int]:
    """The numbers with the name of a point, of this point and those before. Raises `ValueError` below zero."""
    name, number = point
    if number < 0:
        raise ValueError(f"{name} {number}")
    SEEN.setdefault(name, []).append(number)
    return [*SEEN[name]]


@pytest.mark.parametrize("jobs", [1, 2])
def test_points_with_one_key_find_what_earlier_rounds_kept(jobs: int) -> None:
    SEEN.clear()
    args = argparse.Namespace(jobs=jobs, dask=None)
    with parallel.rounds(args, numbers_so_far, key=lambda point: point[0]) as results:
        assert [*results([("a", 1), ("b", 2), ("c", 3)])] == [[1], [2], [3]], "in the order of the points"
        assert [*results([("c", 4), ("a", 5), ("c", 6)])] == [[3, 4], [1, 5], [3, 4, 6]]
        with pytest.raises(ValueError, match="b -1"):
            [*results([("b", -1)])]
    assert (SEEN == {}) is (jobs > 1), "several processes compute beside this one"
