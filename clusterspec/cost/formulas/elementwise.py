"""Maximum, minimum and rounding up, for floats and for arrays alike, without a branch on values."""

from __future__ import annotations

from typing import Any

Number = Any
"""A float, or an array of floats (anything with arithmetic operators and ``abs``)."""


def larger(first: Number, second: Number) -> Number:
    """The larger of two, element by element: (a + b + |a − b|) / 2.

    >>> larger(3.0, 5.0)
    5.0
    """
    return (first + second + abs(first - second)) / 2


def smaller(first: Number, second: Number) -> Number:
    """The smaller of two, element by element: (a + b − |a − b|) / 2.

    >>> smaller(3.0, 5.0)
    3.0
    """
    return (first + second - abs(first - second)) / 2


def positive(value: Number) -> Number:
    """What is above zero, else zero: (x + |x|) / 2.

    >>> positive(-2.0), positive(2.0)
    (0.0, 2.0)
    """
    return (value + abs(value)) / 2


def rounded_up(value: Number, multiple: Number = 1) -> Number:
    """The next whole multiple at or above a value: ⌈x / m⌉ m.

    >>> rounded_up(130, 128), rounded_up(128, 128)
    (256, 128)
    """
    return -(-value // multiple) * multiple
