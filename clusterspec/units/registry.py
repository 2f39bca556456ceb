"""The authority for conversions: pint, with this field's units and no others.

Importing pint takes 0.1 s and reading the definitions 0.01 s (measured; more where NumPy is
installed), a quantity read through the generated table 7 µs: so only `readings` and the tool that
writes the table come here.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

    import pint

_DEFINITIONS = FilePath(__file__).with_name("definitions.txt")


@cache
def registry() -> pint.UnitRegistry[Any]:
    """The registry of ``definitions.txt``; its numbers are exact fractions."""
    from fractions import Fraction

    import pint

    return pint.UnitRegistry(str(_DEFINITIONS), non_int_type=Fraction, cache_folder=None)


@cache
def factor(symbol: str, into: str) -> Fraction:
    """How many ``into`` one ``symbol`` is, exactly; both in the spelling of the definitions.

    >>> factor("Gb/s", "B/s")
    Fraction(125000000, 1)
    """
    from fractions import Fraction

    one = registry().Quantity(Fraction(1), registry().Unit(symbol))
    return Fraction(one.to(into).magnitude)


def convert(value: float, unit: str, into: str) -> float:
    """A value in one unit as a value in another, rounded once.

    >>> convert(400.0, "Gb/s", "GB/s")
    50.0
    """
    exact = factor(unit, into)
    return float(type(exact)(value) * exact)
