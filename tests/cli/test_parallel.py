"""Rounds of points in several processes: each key has one process, which keeps what it computed."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
    with parallel.results_of_rounds(args, numbers_so_far, key=lambda point: point[0]) as results:
        assert [*results([("a", 1), ("b", 2), ("c", 3)])] == [[1], [2], [3]], "in the order of the points"
        assert [*results([("c", 4), ("a", 5), ("c", 6)])] == [[3, 4], [1, 5], [3, 4, 6]]
        with pytest.raises(ValueError, match="b -1"):
            [*results([("b", -1)])]
    assert (SEEN == {}) is (jobs > 1), "several processes compute beside this one"


class Counted:
    """Stands for the processes of some rounds: it counts them, and computes where it is asked."""

    def __init__(self) -> None:
        self.started = 0

    @contextmanager
    def process(self, compute: Callable[[Point], list[int]]) -> Iterator[Any]:
        self.started += 1
        answers: list[tuple[list[int], None]] = []
        name = self.started

        def send(points: list[Point]) -> None:
            answers.extend(([name, number], None) for _, number in points)

        end: Any = type("End", (), {"send": staticmethod(send), "recv": staticmethod(lambda: answers.pop(0))})
        yield end()


@pytest.mark.parametrize(
    ("jobs", "keys", "started", "processes"),
    [
        (2, "ab", 2, [1, 2]),
        (2, "abcde", 2, [1, 2, 1, 2, 1]),
        (3, "aab", 2, [1, 1, 2]),
        (3, "abcd", 3, [1, 2, 3, 1]),
    ],
)
def test_keys_are_dealt_to_as_many_processes_as_are_asked_for(
    jobs: int, keys: str, started: int, processes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted()
    monkeypatch.setattr(parallel, "_process_of_rounds", counted.process)
    args = argparse.Namespace(jobs=jobs, dask=None)
    with parallel.results_of_rounds(args, numbers_so_far, key=lambda point: point[0]) as results:
        found = [*results([(key, number) for number, key in enumerate(keys)])]
    assert (counted.started, [process for process, _ in found]) == (started, processes)
    assert [number for _, number in found] == list(range(len(keys))), "in the order of the points"


@pytest.mark.parametrize(("cores", "started"), [(None, 0), (1, 0), (2, 2)])
def test_without_a_number_there_is_a_process_for_each_core(
    cores: int | None, started: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted()
    monkeypatch.setattr(parallel, "_process_of_rounds", counted.process)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    SEEN.clear()
    with parallel.results_of_rounds(
        argparse.Namespace(jobs=None, dask=None), numbers_so_far, key=lambda point: point[0]
    ) as results:
        assert len([*results([("a", 1), ("b", 2)])]) == 2
    assert counted.started == started
