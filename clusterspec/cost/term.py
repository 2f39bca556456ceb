"""One line of a cost: a number, its formula, its inputs and its parts."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.quantity import Figure
from clusterspec.records import dataclass
from clusterspec.summation import sum_of


@dataclass(frozen=True, slots=True)
class Term:
    """A figure with its derivation.

    ``value`` in ``unit`` (``s``, ``B``, ``FLOP``, ``1`` …); ``formula`` an expression over the names of ``inputs`` and
    ``parts``, all of them identifiers, that gives the value; ``source`` the paper or manual behind the formula; ``low``
    and ``high`` the uncertainty range. The parts of a sum add up to its value.
    """

    name: str
    value: float
    unit: str
    formula: str
    inputs: tuple[tuple[str, Figure], ...] = ()
    parts: tuple[Term, ...] = ()
    source: str = ""
    low: float | None = None
    high: float | None = None

    @classmethod
    def total(cls, name: str, parts: tuple[Term, ...], unit: str = "s", formula: str = "") -> Term:
        """The sum of its parts."""
        formula = formula or (" + ".join(part.name for part in parts) or "0")
        return cls(name, sum_of(part.value for part in parts), unit, formula, parts=parts)

    @property
    def label(self) -> str:
        """The name for display."""
        return self.name.replace("_", " ")

    def walk(self) -> Iterator[Term]:
        """This term and every term below it."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Communication:
    """Communication of one axis of the layout in one step, per accelerator.

    ``bytes`` the size as nccl-tests counts it, summed over ``calls``; ``seconds`` the time on the wire summed over the
    calls, ``exposed`` the part not overlapped with computation.
    """

    axis: str
    collective: str
    tier: str
    ranks: int
    calls: float
    bytes: float
    seconds: float
    exposed: float


OUTSIDE = frozenset({"context", "communication_buffers"})
"""Parts of memory that the counters of a framework's allocator do not see."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Bytes on the fullest accelerator, all its ranks together; each part a term.

    ``capacity`` is that accelerator's memory, None where not known. Published peaks should lie in the range of
    ``total``.
    """

    total: Term
    weights: Term
    gradients: Term
    optimizer: Term
    activations: Term
    other: Term
    capacity: Figure | None

    @property
    def allocator(self) -> float:
        """Bytes that the framework's allocator holds at the peak; ``total`` is what the driver reports.

        The context of the driver and the buffers of the collective library are allocated outside it.
        """
        outside = (part.value for part in self.other.parts if isinstance(part, Term) and part.name in OUTSIDE)
        return self.total.value - sum(outside)

    @property
    def fits(self) -> bool | None:
        """Whether the total is at most the capacity; None where that is not known."""
        return None if self.capacity is None else self.total.value <= self.capacity.value
