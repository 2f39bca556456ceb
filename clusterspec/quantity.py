"""Quantities as written, and figures with a unit and an origin.

A `Quantity` is a value as written, converted to SI on input. A `Figure` is a number used by the
cluster and cost models. Bandwidths are figures in bytes per second per direction, peaks are figures
in dense FLOP/s; both require a statement of how the source counted. Values that count differently neither add nor
compare.
"""

from __future__ import annotations

from enum import StrEnum

from clusterspec.origin import Computed, Origin
from clusterspec.records import dataclass

HOUR = 3_600.0
DAY = 24 * HOUR
YEAR = 365.25 * DAY
"""Seconds of an hour, of a day, and of a year as the unit `year` of a spec counts it."""


class Direction(StrEnum):
    """How a written bandwidth counts: one direction, or both summed."""

    ONE_WAY = "unidirectional"
    DUPLEX = "duplex"


class Basis(StrEnum):
    """The bytes that a bandwidth counts: those on a link, the payload of a collective, or its payload on the bus."""

    LINE = "line rate"
    ALGORITHM = "algbw"
    BUS = "busbw"


class Sparsity(StrEnum):
    """How a written peak counts: dense, or with 2:4 structured sparsity."""

    DENSE = "dense"
    SPARSE = "sparse"


class UnlikeQuantities(ValueError):
    """Raised if values are added or compared that differ in unit, direction, sparsity or basis (the bytes counted)."""


@dataclass(frozen=True)
class Quantity:
    """A quantity as written, with its value in SI units.

    ``value`` is in ``unit`` (``B/s``, ``B``, ``FLOP/s``, ``W``, ``s``, ``1``) as counted by the
    author: a duplex bandwidth is the sum of both directions. ``written`` is the text, ``symbol`` its
    normalized unit (``Gb/s`` for ``Gbps``), ``bits`` says whether that counts bits.
    """

    value: float
    unit: str
    written: str
    symbol: str = ""
    bits: bool = False
    direction: Direction | None = None
    sparsity: Sparsity | None = None

    @property
    def per_direction(self) -> float:
        """Bytes per second per direction; a quantity without a direction is per direction."""
        return self.value / 2 if self.direction is Direction.DUPLEX else self.value

    @property
    def dense(self) -> float:
        """FLOP/s without structured sparsity; a quantity without a sparsity is dense."""
        return self.value / 2 if self.sparsity is Sparsity.SPARSE else self.value

    @property
    def counting(self) -> tuple[str, ...]:
        """Properties that quantities must share to be added or compared; one without a direction is per direction."""
        return self.unit, self.direction or Direction.ONE_WAY, self.sparsity or Sparsity.DENSE

    def __add__(self, other: Quantity) -> Quantity:
        _refuse_unlike(self, other)
        written = f"{self.written} + {other.written}"
        return Quantity(self.value + other.value, self.unit, written, "", False, self.direction, self.sparsity)

    def __lt__(self, other: Quantity) -> bool:
        """Whether the value is below the other's. Raises `UnlikeQuantities`."""
        _refuse_unlike(self, other)
        return self.value < other.value


@dataclass(frozen=True)
class Figure:
    """A number with its SI unit and its origin."""

    value: float
    unit: str
    origin: Origin

    @property
    def counting(self) -> tuple[str, ...]:
        """Properties that figures must share to be added or compared."""
        return (self.unit,)

    def __lt__(self, other: Figure) -> bool:
        """Whether the value is below the other's. Raises `UnlikeQuantities`."""
        _refuse_unlike(self, other)
        return self.value < other.value


RATE = "B/s"
"""The unit of every bandwidth."""


@dataclass(frozen=True)
class Bandwidth(Figure):
    """Bytes per second in one direction. Build it with `one_way`, `duplex`, `line_rate` or `of`.

    Raises `ValueError` for any other unit.
    """

    basis: Basis = Basis.LINE

    def __post_init__(self) -> None:
        if self.unit != RATE:
            raise ValueError(f"a bandwidth is in {RATE}, not in {self.unit or 'no unit'}")

    @classmethod
    def one_way(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """A bandwidth from a figure per direction."""
        return cls(bytes_per_second, RATE, origin)

    @classmethod
    def duplex(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """A bandwidth from a figure that sums both directions."""
        return cls(bytes_per_second / 2, RATE, origin)

    @classmethod
    def line_rate(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """A bandwidth from the line rate of a port, which is per direction."""
        return cls(bytes_per_second, RATE, origin)

    @classmethod
    def of(cls, quantity: Quantity, origin: Origin, basis: Basis = Basis.LINE) -> Bandwidth:
        """A bandwidth from a written quantity and its direction; per direction if none is written."""
        return cls(quantity.per_direction, quantity.unit, origin, basis)

    @property
    def counting(self) -> tuple[str, ...]:
        """Properties that bandwidths must share to be added or compared."""
        return self.unit, Direction.ONE_WAY, self.basis

    def on_bus(self, factor: float) -> Bandwidth:
        """The bus bandwidth of a collective from its algorithm bandwidth and the factor of nccl-tests.

        Raises `UnlikeQuantities` for a line rate.

        >>> from clusterspec.origin import Assumed
        >>> Bandwidth(200e9, "B/s", Assumed("algbw", "example"), Basis.ALGORITHM).on_bus(1.75).value
        350000000000.0
        """
        if self.basis is Basis.BUS:
            return self
        if self.basis is Basis.LINE:
            raise UnlikeQuantities("a line rate is not the bandwidth of a collective")
        return Bandwidth(self.value * factor, RATE, self.origin, Basis.BUS)

    def __add__(self, other: Bandwidth) -> Bandwidth:
        _refuse_unlike(self, other)
        return Bandwidth(self.value + other.value, RATE, Computed("the sum of two bandwidths"), self.basis)


@dataclass(frozen=True)
class Peak(Figure):
    """Dense FLOP/s of one accelerator. Build it with `dense` or `sparse`."""

    @classmethod
    def dense(cls, flops: float, origin: Origin) -> Peak:
        """A peak from a dense figure."""
        return cls(flops, "FLOP/s", origin)

    @classmethod
    def sparse(cls, flops: float, origin: Origin) -> Peak:
        """A peak from a figure with 2:4 structured sparsity, which is twice the dense one."""
        return cls(flops / 2, "FLOP/s", origin)


def _refuse_unlike(one: Quantity | Figure, other: Quantity | Figure) -> None:
    if one.counting != other.counting:
        left, right = (" ".join(word for word in value.counting if word) or "no unit" for value in (one, other))
        raise UnlikeQuantities(f"values in {left} and in {right} neither add nor compare")
