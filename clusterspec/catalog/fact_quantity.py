"""Quantities and texts of catalog facts, for arithmetic, tables and documentation alike."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.raw_entry import Fact, Plain
from clusterspec.quantity import Quantity
from clusterspec.units import UnitFault, read

_KINDS = ("rate", "bytes", "power", "time")
"""Kinds of quantities whose units exclude each other, so that their order does not matter."""
_COUNTS = ("parameters", "active_parameters", "encoder_parameters")


def quantity_of(fact: Fact) -> Quantity | None:
    """The quantity of a fact, by its unit; None for words, bare numbers and lists."""
    if not isinstance(fact.value, str):
        return None
    peak = fact.name.startswith(("peak.", "sparse_peak."))
    for kind in ("peak",) if peak else ("count",) if fact.name in _COUNTS else (*_KINDS, "peak"):
        try:
            return read(fact.value, kind)
        except UnitFault:
            continue
    return None


def si_value(quantity: Quantity) -> float:
    """The value in SI units: a bandwidth per direction, a peak dense."""
    return quantity.dense if quantity.unit == "FLOP/s" else quantity.per_direction


def value_text(value: Plain) -> str:
    """The text of a value as written: words for true and false, commas between the items of a list."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value_text(each) for each in value) if isinstance(value, list) else str(value)


def figure_text(fact: Fact) -> str:
    """The value as written, with what it is a figure of, its scope and its basis."""
    counts = ", ".join(word for word in (fact.scope, fact.basis) if word)
    of = f" of {fact.of}" if fact.of else ""
    return f"{value_text(fact.value)}{of}" + (f" ({counts})" if counts else "")


def remarks(fact: Fact) -> Iterator[str]:
    """The note, the doubt, and the rejected figures of a fact, one text each."""
    if fact.note:
        yield f"note: {fact.note}"
    if fact.doubt:
        yield f"doubt: {fact.doubt}"
    for rejected in fact.rejected:
        source = f" ({rejected.source})" if rejected.source else ""
        yield f"not {rejected.value}{source}: {rejected.why}"
