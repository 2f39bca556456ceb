"""The assumptions and problems of resolving a spec."""

from __future__ import annotations

from typing import TypeVar

from clusterspec.cluster.model import Assumption
from clusterspec.finding import Problem
from clusterspec.origin import Written
from clusterspec.quantity import Bandwidth, Figure, Quantity
from clusterspec.records import dataclass, field
from clusterspec.source import Path, dotted
from clusterspec.spec.model import Spec

T = TypeVar("T")


@dataclass(slots=True)
class ResolutionLog:
    """The problems and assumptions of one spec, in the order in which keys are resolved."""

    spec: Spec
    problems: list[Problem] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)

    def assume(self, key: str, value: T, why: str) -> T:
        """Assumes ``value`` for a key that the spec does not state, and lists the assumption."""
        self.assumptions.append((key, value, why))
        return value

    def either(self, written: T | None, key: str, default: T, why: str) -> T:
        """The written value, else the default as a listed assumption."""
        return written if written is not None else self.assume(key, default, why)

    def training(self, written: T | None, key: str, default: T, why: str, serves: bool) -> T:
        """The written value of a key that only training uses, else its default; not listed for a serving plan."""
        return default if serves and written is None else self.either(written, key, default, why)

    def unreadable(self, path: Path) -> bool:
        """Whether a finding already reports that the text of this key cannot be read."""
        return self.spec.unreadable(path)

    def missing(self, path: Path, why: str, remedy: str) -> None:
        """Reports a required key without a value, unless its text was unreadable."""
        if not self.unreadable(path):
            message = f"`{dotted(path)}` is missing: {why}"
            self.problems.append(Problem("missing-key", path, message, remedy))


def written_bandwidth(quantity: Quantity, key: str) -> Bandwidth:
    """A written bandwidth, per direction, with its key."""
    return Bandwidth.of(quantity, Written(key))


def written_figure(quantity: Quantity, key: str) -> Figure:
    """A written quantity in SI, with its key."""
    return Figure(quantity.value, quantity.unit, Written(key))
