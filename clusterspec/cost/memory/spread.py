"""A number that nobody states, with the range it was seen in and the reason to take it."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cluster.model import Assumption
from clusterspec.origin import Assumed
from clusterspec.quantity import Figure


@dataclass(frozen=True, slots=True)
class Spread:
    """``value`` in ``unit``, taken for ``key`` because of ``why``; real machines lie from ``low`` to ``high``."""

    key: str
    unit: str
    low: float
    value: float
    high: float
    why: str

    @property
    def figure(self) -> Figure:
        return Figure(self.value, self.unit, Assumed(self.key, self.why))

    @property
    def assumption(self) -> Assumption:
        return (self.key, self.figure, self.why)
