"""Quantities as written, and figures with a unit and an origin.

A `Quantity` is a value as written, converted to SI on input. A `Figure` is a number used by the
cluster and cost models. Bandwidths are figures in bytes per second per direction, peaks are figures
in dense FLOP/s; both require a statement of how the source counted.
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
    """A quantity as written, with its value in SI units.

    ``value`` is in ``unit`` (``B/s``, ``B``, ``FLOP/s``, ``W``, ``s``, ``1``) as counted by the
    author: a duplex bandwidth is the sum of both directions. ``written`` is the text, ``symbol`` its
    normalized unit (``Gb/s`` for ``Gbps``), ``bits`` whether that counts bits.
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


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its SI unit and its origin."""

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
    def of(cls, quantity: Quantity, origin: Origin) -> Bandwidth:
        """A bandwidth from a written quantity and its direction; without one it is per direction."""
        return cls(quantity.per_direction, quantity.unit, origin)


@dataclass(frozen=True, slots=True)
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
