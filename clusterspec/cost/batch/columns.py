"""Columns where formulas are written for numbers, and values that are made when they are first asked for."""

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
    """What is kept under a key, made when it is first asked for."""
    if key not in tables:
        tables[key] = made()
    return tables[key]
