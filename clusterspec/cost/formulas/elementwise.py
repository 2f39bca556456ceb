"""Larger, smaller, rounding up and powers, for numbers and for columns of numbers alike."""

from __future__ import annotations

from typing import cast

from clusterspec.cost.expressions import Column, library_of

Number = float
"""A number, or a column of numbers."""


def larger(first: float, second: float) -> float:
    """The larger of two, element by element.

    >>> larger(3.0, 5.0)
    5.0
    """
    if isinstance(first, float | int) and isinstance(second, float | int):
        return float(first if first >= second else second)
    return cast(float, library_of(first, second).maximum(first, second))


def smaller(first: float, second: float) -> float:
    """The smaller of two, element by element.

    >>> smaller(3.0, 5.0), smaller(1e17, 1)
    (3.0, 1.0)
    """
    if isinstance(first, float | int) and isinstance(second, float | int):
        return float(first if first <= second else second)
    return cast(float, library_of(first, second).minimum(first, second))


def positive(value: float) -> float:
    """What is above zero, else zero: max(0, x).

    >>> positive(-2.0), positive(2.0)
    (0.0, 2.0)
    """
    return larger(value, 0.0)


def rounded_up(value: float, multiple: float = 1) -> float:
    """The next whole multiple at or above a value: ⌈x / m⌉ m.

    >>> rounded_up(130, 128), rounded_up(128, 128)
    (256, 128)
    """
    return -(-value // multiple) * multiple


def chosen(condition: bool, yes: float, no: float) -> float:
    """``yes`` where the condition holds, else ``no``; the condition may be a column.

    >>> chosen(2.0 > 1.0, 3.0, 4.0)
    3.0
    """
    if isinstance(condition, bool):
        return yes if condition else no
    return cast(float, library_of(condition).where(condition, yes, no))


def absent(size: float) -> bool:
    """Whether a size is zero. A column is zero in all rows or in none.

    >>> absent(0.0), absent(2.0)
    (True, False)
    """
    return size == 0 if isinstance(size, float | int) else not cast(Column, size).any()


def divided(degree: float) -> bool:
    """Whether a degree divides anything, that is, exceeds one. A column exceeds one in all rows or in none.

    >>> divided(1), divided(8)
    (False, True)
    """
    return degree > 1 if isinstance(degree, float | int) else (cast(Column, degree) > 1).any()


def power(base: float, exponent: float) -> float:
    """A number at or above zero to a power.

    >>> power(9.0, 0.5)
    3.0
    """
    return cast(float, base**exponent)
