"""The parts of a sum as text: value, fraction and bar."""

from __future__ import annotations

from collections.abc import Iterable

from clusterspec.cost.term import Term
from clusterspec.report import TextStyle, share_bar, text_table
from clusterspec.units import display, portion

MOST = 10
"""Maximum rows of one sum on the first screen; the smallest parts are combined in the last row."""


def breakdown_text(term: Term, style: TextStyle, depth: int = 1, most: int | None = None) -> str:
    """A term with its parts in at most ``most`` rows. Parts that add up to the term have a fraction and a bar.

    The factors of a product have no fractions.
    """
    shown = folded_term(term, most) if most else term
    rows, added = [], False
    for part, level, is_share in nested_parts(shown, depth):
        share = part.value / term.value if is_share and term.value else None
        added = added or share is not None
        name, value = "  " * level + part.label, display(part.value, part.unit)
        bar = style.paint("blue", share_bar(share)) if share is not None and level == 1 else ""
        rows.append((name, value, portion(share) if share is not None else "", bar))
    value = "time" if {part.unit for part in shown.parts} == {"s"} else "size" if added else "value"
    heads = ("  part", value, "share", "") if added else ("  part", value)
    return text_table(heads, [row[: len(heads)] for row in rows], right=(1, 2), wrap=(0,), style=style)


def nested_parts(term: Term, depth: int, level: int = 1, whole: bool = True) -> Iterable[tuple[Term, int, bool]]:
    """The parts that are not zero, each with its depth, and whether all parts down to it are summands."""
    whole = whole and term.is_sum
    for part in term.parts:
        if part.value:
            yield part, level, whole
            if depth > 1:
                yield from nested_parts(part, depth - 1, level + 1, whole)


def folded_term(term: Term, most: int) -> Term:
    """The term with its smallest parts combined if more than ``most`` are not zero."""
    parts = tuple(part for part in term.parts if part.value)
    if len(parts) <= most:
        return term
    kept = sorted(parts, key=lambda part: -part.value)[: most - 1]
    rest = tuple(part for part in parts if part not in kept)
    small = Term.total(f"{len(rest)} smaller parts", rest, term.unit)
    return Term.total(term.name, (*(part for part in parts if part in kept), small), term.unit)
