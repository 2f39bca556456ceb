"""The authority for conversions: pint, with this field's units and no others.

pint takes about 0.1 s to import here and 0.03 s to read the definitions (it also imports NumPy
where that is installed), where reading a quantity through the generated table takes
microseconds and no import: so only `convert` and the tool that writes the table come here.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pint

_DEFINITIONS = FilePath(__file__).with_name("definitions.txt")


@cache
def registry() -> pint.UnitRegistry[Any]:
    """The registry of ``definitions.txt``; its numbers are exact fractions."""
    import pint

    return pint.UnitRegistry(str(_DEFINITIONS), non_int_type=Fraction, cache_folder=None)


def factor(symbol: str, into: str) -> Fraction:
    """How many ``into`` one ``symbol`` is, exactly; both in the spelling of the definitions.

    >>> factor("Gb/s", "B/s")
    Fraction(125000000, 1)
    """
    one = registry().Quantity(Fraction(1), registry().Unit(symbol))
    return Fraction(one.to(into).magnitude)
