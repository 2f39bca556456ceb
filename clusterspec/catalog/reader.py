"""Typed access to the facts of a raw entry: counts, words, figures, bandwidths, peaks.

An absent fact is None. An invalid fact is None, too, and adds a `Problem` at its position, so that
one invalid line of a company entry does not hide the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from clusterspec.catalog.fact_quantity import quantity_of, si_value
from clusterspec.catalog.raw_entry import Fact, RawEntry
from clusterspec.finding import Problem
from clusterspec.origin import Assumed, Origin
from clusterspec.quantity import Bandwidth, Figure, Peak, Quantity
from clusterspec.units import UnitFault, read

_T = TypeVar("_T", str, int, bool)
"""The types of plain facts."""


class FactReader:
    """Typed access to a raw entry; ``problems`` has the errors of invalid facts."""

    def __init__(self, raw_entry: RawEntry) -> None:
        self.raw_entry = raw_entry
        self.problems: list[Problem] = []

    def has(self, name: str) -> bool:
        """Whether the entry has this fact."""
        return name in self.raw_entry.facts

    def text(self, name: str) -> str | None:
        """A word or an id."""
        return self._plain(name, str, "a word")

    def flag(self, name: str) -> bool | None:
        """True or false."""
        return self._plain(name, bool, "true or false")

    def count(self, name: str) -> int | None:
        """A whole number."""
        return self._plain(name, int, "a whole number")

    def number(self, name: str) -> float | None:
        """A number without a unit."""
        fact = self._fact(name)
        quantity = self._quantity(fact, fact.value, "number") if fact else None
        return None if quantity is None else quantity.value

    def texts(self, name: str) -> tuple[str, ...]:
        """Several words."""
        return tuple(str(value) for value in self._values(name))

    def printed(self, name: str) -> str:
        """A figure as the vendor prints it; empty where that is the figure itself."""
        fact = self._fact(name)
        return fact.prints if fact else ""

    def counts(self, name: str) -> tuple[int, ...]:
        """Several whole numbers."""
        return tuple(value for value in self._values(name) if isinstance(value, int))

    def figure(self, name: str, kind: str) -> Figure | None:
        """A quantity of a kind (a key of ``units.kinds.KINDS``) in SI units."""
        fact = self._fact(name)
        quantity = self._quantity(fact, fact.value, kind) if fact else None
        return Figure(quantity.value, quantity.unit, self._origin(fact)) if fact and quantity else None

    def bandwidth(self, name: str) -> Bandwidth | None:
        """A bandwidth per direction."""
        fact = self._fact(name)
        quantity = self._directed(fact, fact.value) if fact else None
        return Bandwidth.of(quantity, self._origin(fact)) if fact and quantity else None

    def bandwidths(self, name: str) -> tuple[Bandwidth, ...]:
        """Several bandwidths per direction."""
        fact = self._fact(name)
        if fact is None:
            return ()
        quantities = (self._directed(fact, value) for value in self._values(name))
        return tuple(Bandwidth.of(quantity, self._origin(fact)) for quantity in quantities if quantity)

    def peaks(self, group: str) -> Mapping[str, Peak]:
        """Dense peaks by precision."""
        found: dict[str, Peak] = {}
        for name, fact in self.raw_entry.facts.items():
            if name.startswith(f"{group}.") and (quantity := self._quantity(fact, fact.value, "peak")):
                found[name.removeprefix(f"{group}.")] = Peak.dense(quantity.dense, self._origin(fact))
        return found

    def achievable(self) -> Mapping[str, Figure]:
        """The measured figures: plain numbers are fractions, others are in SI units."""
        return {name: figure for name, fact in self.raw_entry.achievable.items() if (figure := self._achieved(fact))}

    def _achieved(self, fact: Fact) -> Figure | None:
        if isinstance(fact.value, int | float):
            return Figure(float(fact.value), "1", self._origin(fact))
        if (quantity := quantity_of(fact)) is not None:
            return Figure(si_value(quantity), quantity.unit, self._origin(fact))
        self._quantity(fact, fact.value, "peak")  # reports why the text is not a quantity
        return None

    def _fact(self, name: str) -> Fact | None:
        return self.raw_entry.facts.get(name)

    def _plain(self, name: str, kind: type[_T], words: str) -> _T | None:
        fact = self._fact(name)
        if fact is None:
            return None
        if type(fact.value) is kind:
            return fact.value
        self._refuse(fact, "wrong-type", f"{name} is {fact.value!r}, not {words}")
        return None

    def _values(self, name: str) -> list[object]:
        fact = self._fact(name)
        if fact is None:
            return []
        return fact.value if isinstance(fact.value, list) else [fact.value]

    def _directed(self, fact: Fact, value: object) -> Quantity | None:
        quantity = self._quantity(fact, value, "bandwidth")
        if quantity is None or quantity.direction:
            return quantity
        message = f"{fact.name} is {quantity.written}, which does not state its direction"
        self._refuse(fact, "missing-direction", message, "append `duplex` or `per direction`")
        return None

    def _quantity(self, fact: Fact, value: object, kind: str) -> Quantity | None:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self._refuse(fact, "wrong-type", f"{fact.name} is {value!r}, not a quantity")
            return None
        try:
            return read(value, kind)
        except UnitFault as fault:
            self._refuse(fact, fault.rule, f"{fact.name}: {fault.message}", fault.help)
            return None

    def _origin(self, fact: Fact) -> Origin:
        unsourced = "its entry names no source"  # which `checks` refuses
        return fact.origin or Assumed(f"{self.raw_entry.kind}/{self.raw_entry.id} {fact.name}", unsourced)

    def _refuse(self, fact: Fact, rule: str, message: str, advice: str = "") -> None:
        path = fact.path if fact.bare else (*fact.path, "is")
        self.problems.append(Problem(rule, path, message, advice))
