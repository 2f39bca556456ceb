"""Type casts for columns passed to functions typed for numbers, and a cache lookup."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from clusterspec.cost.batch.arrays import Array

K = TypeVar("K")
T = TypeVar("T")


def number(column: Array) -> float:
    """A column where a formula is written for a number: formulas hold for both."""
    return cast(float, column)


def whole(column: Array) -> int:
    """A column where a layout has a whole number."""
    return cast(int, column)


def kept(tables: dict[K, T], key: K, made: Callable[[], T]) -> T:
    """The value stored under a key; computed on the first request."""
    if key not in tables:
        tables[key] = made()
    return tables[key]
