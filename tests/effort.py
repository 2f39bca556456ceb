"""How much is tried: telling cases in `make test`, all in `make test-all` (CASES=all), and the draws of `make fuzz`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any, TypeVar

Case = TypeVar("Case")
FUZZING = os.environ.get("HYPOTHESIS_PROFILE") == "fuzz"
LONGER = 100
ALL_CASES = os.environ.get("CASES") == "all"


def examples(number: int) -> int:
    """How many examples to try where a quick run tries ``number``."""
    return number * LONGER if FUZZING else number


def sampled(cases: Iterable[Case], number: int) -> list[Case]:
    """As many cases, evenly spread over a table; all of them in `make test-all`."""
    table = list(cases)
    few = min(number, len(table))
    return table if ALL_CASES else [table[index * len(table) // few] for index in range(few)]


def diagonal(number: int, *axes: Sequence[Any]) -> list[tuple[Any, ...]]:
    """As many rows of a product, in which each value of each axis occurs; all rows in `make test-all`."""
    assert number >= max(map(len, axes))
    if ALL_CASES:
        return list(product(*axes))
    rows = {index: tuple(axis[index % len(axis)] for axis in axes) for index in range(number)}
    return list(dict.fromkeys(rows.values()))


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
