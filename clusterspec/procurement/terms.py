"""Cost terms, computed from formulas at the low, middle and high price."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from clusterspec.cost.expressions import EXPRESSIONS
from clusterspec.cost.term import Term
from clusterspec.money import CurrencyMismatch
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.summation import sum_of

Inputs = Sequence[tuple[str, Figure]]


def computed(name: str, formula: Callable[..., float], unit: str, inputs: Inputs) -> Term:
    """The value of a formula at its inputs, as a term that prints the formula's expression."""
    value = formula(**{key: figure.value for key, figure in inputs})
    return Term(name, value, unit, EXPRESSIONS[formula], tuple(inputs))


def summed(name: str, parts: Sequence[Term], unit: str) -> Term:
    """The sum of parts whose names are identifiers. Raises `CurrencyMismatch` for a part in another unit."""
    for part in parts:
        if part.unit != unit:
            raise CurrencyMismatch(f"{part.name} is in {part.unit}, the sum {name} in {unit}")
    return Term(
        name,
        sum_of(part.value for part in parts),
        unit,
        " + ".join(part.name for part in parts) or "0",
        parts=tuple(parts),
    )


def ranged(low: Term, middle: Term, high: Term) -> Term:
    """The middle term with the range of the other two, part by part; without a range if they are equal."""
    parts = tuple(map(ranged, low.parts, middle.parts, high.parts))
    ends = sorted((low.value, high.value))
    spread = (None, None) if ends[0] == ends[1] else (ends[0], ends[1])
    return replace(middle, parts=parts, low=spread[0], high=spread[1])
