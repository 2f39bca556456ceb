"""How much is tried: telling cases in `make test`, all in `make test-all` (CASES=all), and the draws of `make fuzz`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

import pytest

from tests.tables import loop_over

Case = TypeVar("Case")
FUZZING = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
LONGER = 100
ALL_CASES = os.environ.get("CASES") == "all"


thorough = pytest.mark.thorough
"""A slow test of `make test-all` alone: other tests run each block of code that it runs."""


def examples(number: int) -> int:
    """How many examples to try: a quarter of ``number`` in `make test`, four times as many in `make test-all`."""
    return number * LONGER if FUZZING else 4 * number if ALL_CASES else max(2, number // 4)


def sampled(cases: Iterable[Case], number: int) -> list[Case]:
    """A quarter of ``number`` cases, evenly spread over a table; all of them in `make test-all`."""
    table = list(cases)
    few = min(-(-number // 4), len(table))
    return table if ALL_CASES else [table[index * len(table) // few] for index in range(few)]


def telling(number: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As many rows of a parametrized test in `make test`, evenly spread over each of its tables; all of them in `make
    test-all`. It stands above the tables.
    """

    def thinned(test: Callable[..., None]) -> Callable[..., None]:
        if table := getattr(test, "table", None):
            return test if ALL_CASES else loop_over(table[0], table[1], sampled(table[2], 4 * number))
        marks = test.pytestmark  # type: ignore[attr-defined]
        assert {mark.name for mark in marks} == {"parametrize"} and not any("ids" in mark.kwargs for mark in marks)
        thin = (pytest.mark.parametrize(mark.args[0], sampled(mark.args[1], 4 * number)).mark for mark in marks)
        test.pytestmark = [*thin]  # type: ignore[attr-defined]
        return test

    return thinned


def diagonal(number: int, *axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """As many rows of a product, in which each value of each axis occurs; all rows in `make test-all`."""
    assert number >= max(map(len, axes))
    if ALL_CASES:
        return list(product(*axes))
    rows = {index: tuple(axis[index % len(axis)] for axis in axes) for index in range(number)}
    return list(dict.fromkeys(rows.values()))


def each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """One test over a whole table, in place of a parametrized test for each row. A failure names its row.

    Rows share the fixtures of the test, so that it is for tables of small cases that leave nothing behind.
    """
    wanted = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [dict(zip(wanted, row if len(wanted) > 1 else (row,), strict=True)) for row in cases]
    assert rows, "a test without cases cannot fail"

    return lambda test: loop_over(test, wanted, [(row, row) for row in rows])


class TooMany(AssertionError):
    """An action made more calls than it may."""


def steps(action: Callable[[], object], most: int | None = None) -> int:
    """How many functions an action calls, those of C among them: a measure of work that a busy machine does not change.

    Raises `TooMany` beyond ``most``, so that what would never end does.
    """
    count = 0

    def counted(_: object, event: str, __: object) -> None:
        nonlocal count
        if event in {"call", "c_call"}:
            count += 1
            if most is not None and count > most:
                sys.setprofile(None)
                raise TooMany(f"more than {most:,} calls")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
