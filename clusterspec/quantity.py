"""What we measure: quantities as written, and figures with a unit and an origin.

A `Quantity` is a value as written, converted to SI on input. A `Figure` is a number that
the cluster or a cost works with. Bandwidths are figures in bytes per second per direction,
peaks are figures in dense FLOP/s; neither can be built without saying how the source counted.
"""

from __future__ import annotations

from enum import StrEnum

from clusterspec.origin import Origin
from clusterspec.records import dataclass


class Direction(StrEnum):
    """How a written bandwidth counts: one direction, or both summed."""

    ONE_WAY = "unidirectional"
    DUPLEX = "duplex"


class Sparsity(StrEnum):
    """How a written peak counts: dense, or with 2:4 structured sparsity."""

    DENSE = "dense"
    SPARSE = "sparse"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity as written, with its value in SI as the words say it.

    ``value`` is in ``unit`` (``B/s``, ``B``, ``FLOP/s``, ``W``, ``s``, ``1``), exactly as
    counted by the author: a duplex bandwidth is still both directions here. ``written`` is the
    text, ``symbol`` the unit that it means (``Gb/s``, also where ``Gbps`` was written), ``bits`` whether
    that counts bits.
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
        """Bytes per second in one direction; a quantity without a direction counts one."""
        return self.value / 2 if self.direction is Direction.DUPLEX else self.value

    @property
    def dense(self) -> float:
        """FLOP/s without structured sparsity; a quantity that does not say counts dense."""
        return self.value / 2 if self.sparsity is Sparsity.SPARSE else self.value


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, its SI unit, and why we believe it."""

    value: float
    unit: str
    origin: Origin


RATE = "B/s"
"""The unit of every bandwidth."""


@dataclass(frozen=True, slots=True)
class Bandwidth(Figure):
    """Bytes per second in one direction. Build it with `one_way`, `duplex` or `line_rate`.

    Raises `ValueError` for any other unit.
    """

    def __post_init__(self) -> None:
        if self.unit != RATE:
            raise ValueError(f"a bandwidth is in {RATE}, not in {self.unit or 'no unit'}")

    @classmethod
    def one_way(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """From a figure that counts one direction."""
        return cls(bytes_per_second, RATE, origin)

    @classmethod
    def duplex(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """From a figure that sums both directions."""
        return cls(bytes_per_second / 2, RATE, origin)

    @classmethod
    def line_rate(cls, bytes_per_second: float, origin: Origin) -> Bandwidth:
        """From the line rate of a port, which by the field's usage counts one direction."""
        return cls(bytes_per_second, RATE, origin)

    @classmethod
    def of(cls, quantity: Quantity, origin: Origin) -> Bandwidth:
        """From a written quantity, by the direction it says; without one, it counts one direction."""
        return cls(quantity.per_direction, quantity.unit, origin)


@dataclass(frozen=True, slots=True)
class Peak(Figure):
    """Dense FLOP/s of one accelerator. Build it with `dense` or `sparse`."""

    @classmethod
    def dense(cls, flops: float, origin: Origin) -> Peak:
        """From a figure without structured sparsity."""
        return cls(flops, "FLOP/s", origin)

    @classmethod
    def sparse(cls, flops: float, origin: Origin) -> Peak:
        """From a figure that counts 2:4 structured sparsity, which is twice the dense one."""
        return cls(flops / 2, "FLOP/s", origin)
