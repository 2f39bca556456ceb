"""Terms of memory: leaves with their range, and sums that carry the range of their parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from clusterspec.cost.term import Term
from clusterspec.quantity import Figure

Inputs = tuple[tuple[str, Figure], ...]
UNIT = "B"


def leaf(
    name: str,
    value: float,
    formula: str,
    inputs: Inputs = (),
    *,
    source: str = "",
    off: tuple[float, float] = (1.0, 1.0),
) -> Term:
    """A term of bytes; ``off`` are the factors that its low and its high have to its value."""
    return Term(name, value, UNIT, formula, inputs, source=source, low=value * off[0], high=value * off[1])


def total(name: str, parts: Iterable[Term]) -> Term:
    """The sum of its parts. Their errors are independent, so their distances add as squares do."""
    kept = tuple(part for part in parts if part.value)
    added = Term.total(name, kept, UNIT)
    below = sum((part.value - low(part)) ** 2 for part in kept) ** 0.5
    above = sum((high(part) - part.value) ** 2 for part in kept) ** 0.5
    return replace(added, low=added.value - below, high=added.value + above)


def low(term: Term) -> float:
    return term.value if term.low is None else term.low


def high(term: Term) -> float:
    return term.value if term.high is None else term.high


def scaled(term: Term, factor: float, why: str) -> Term:
    """A term and all its parts ``factor`` times over; ``why`` names the factor."""
    if factor == 1:
        return term
    return replace(
        term,
        value=term.value * factor,
        formula=f"{why} × ({term.formula})",
        parts=tuple(scaled(part, factor, why) for part in term.parts),
        low=low(term) * factor,
        high=high(term) * factor,
    )
