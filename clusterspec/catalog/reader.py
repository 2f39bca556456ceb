"""Reads the facts of a raw entry as what they measure: counts, words, figures, bandwidths, peaks.

A fact that is absent reads as None. One that cannot be read reads as None too and leaves a
`Problem` at its place, so one bad line of a company's entry never hides the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from clusterspec.catalog.raw_entry import Fact, RawEntry
from clusterspec.finding import Problem
from clusterspec.origin import Assumed, Origin
from clusterspec.quantity import Bandwidth, Figure, Peak, Quantity
from clusterspec.units import UnitFault, read

_T = TypeVar("_T", str, int, bool)
_ACHIEVED = ("rate", "time", "bytes", "power", "peak")
"""What a measured figure with a unit may be; the unit says which."""


class Reader:
    """Typed access to one raw entry; ``problems`` holds what could not be read."""

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

    def counts(self, name: str) -> tuple[int, ...]:
        """Several whole numbers."""
        return tuple(value for value in self._values(name) if isinstance(value, int))

    def figure(self, name: str, kind: str) -> Figure | None:
        """A quantity of one kind (a key of ``units.kinds.KINDS``) in SI."""
        fact = self._fact(name)
        quantity = self._quantity(fact, fact.value, kind) if fact else None
        return Figure(quantity.value, quantity.unit, self._origin(fact)) if fact and quantity else None

    def bandwidth(self, name: str) -> Bandwidth | None:
        """A bandwidth in one direction."""
        fact = self._fact(name)
        quantity = self._directed(fact, fact.value) if fact else None
        return Bandwidth.of(quantity, self._origin(fact)) if fact and quantity else None

    def bandwidths(self, name: str) -> tuple[Bandwidth, ...]:
        """Several bandwidths in one direction each."""
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
        """What was measured: plain numbers are fractions, the others are in SI."""
        return {name: figure for name, fact in self.raw_entry.achievable.items() if (figure := self._achieved(fact))}

    def _achieved(self, fact: Fact) -> Figure | None:
        if isinstance(fact.value, int | float):
            return Figure(float(fact.value), "1", self._origin(fact))
        for kind in _ACHIEVED[:-1]:
            try:
                quantity = read(str(fact.value), kind)
            except UnitFault:
                continue
            return Figure(quantity.per_direction, quantity.unit, self._origin(fact))
        last = self._quantity(fact, fact.value, _ACHIEVED[-1])
        return Figure(last.dense, last.unit, self._origin(fact)) if last else None

    def _fact(self, name: str) -> Fact | None:
        return self.raw_entry.facts.get(name)

    def _plain(self, name: str, kind: type[_T], words: str) -> _T | None:
        fact = self._fact(name)
        if fact is None:
            return None
        if type(fact.value) is kind:
            return fact.value
        self._refuse(fact, "wrong-type", f"{name} is {fact.value!r}, where {words} belongs")
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
        message = f"{fact.name} is {quantity.written}, which does not say how it counts"
        self._refuse(fact, "missing-direction", message, "append `duplex` or `per direction`")
        return None

    def _quantity(self, fact: Fact, value: object, kind: str) -> Quantity | None:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self._refuse(fact, "wrong-type", f"{fact.name} is {value!r}, where a quantity belongs")
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
