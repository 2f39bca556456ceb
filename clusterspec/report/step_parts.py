"""The parts of a sum as text: value, fraction and bar."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.cost.term import Term
from clusterspec.report.grid import bar, grid
from clusterspec.report.ink import Ink
from clusterspec.units import display, portion

MOST = 10
"""Rows of one sum on the first screen; the small parts are put together in a last one."""


def breakdown(term: Term, ink: Ink, depth: int = 1, most: int | None = None) -> str:
    """A sum with its parts, each with its fraction and a bar; at most ``most`` rows."""
    shown = folded(term, most) if most else term
    rows = [
        (
            "  " * level + part.label,
            display(part.value, part.unit),
            portion(part.value / term.value) if term.value else "",
            ink.paint("blue", bar(part.value / term.value)) if term.value and level == 1 else "",
        )
        for part, level in nested(shown, depth)
    ]
    return grid(("  part", "time" if term.unit == "s" else "size", "share", ""), rows, right=(1, 2), wrap=(0,), ink=ink)


def nested(term: Term, depth: int, level: int = 1) -> Iterable[tuple[Term, int]]:
    """The parts that are not zero, each with its depth."""
    for part in term.parts:
        if part.value:
            yield part, level
            if depth > 1:
                yield from nested(part, depth - 1, level + 1)


def folded(term: Term, most: int) -> Term:
    """The term with its smallest parts combined if more than ``most`` are not zero."""
    parts = tuple(part for part in term.parts if part.value)
    if len(parts) <= most:
        return term
    kept = sorted(parts, key=lambda part: -part.value)[: most - 1]
    rest = tuple(part for part in parts if part not in kept)
    small = Term.total(f"{len(rest)} smaller parts", rest, term.unit)
    return Term.total(term.name, (*(part for part in parts if part in kept), small), term.unit)
