"""Measurements, and the tests that a supplier must pass."""

from __future__ import annotations

from clusterspec.quantity import Quantity
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class MeasuredSpec:
    """One measurement of the user's machine: a figure, or a log of nccl-tests."""

    collective: str | None = None
    nodes: int | None = None
    ranks: int | None = None
    size: Quantity | None = None
    busbw: Quantity | None = None
    algbw: Quantity | None = None
    algorithm: str | None = None
    log: str | None = None


@dataclass(frozen=True, slots=True)
class AcceptanceSpec:
    """One test that a supplier must pass."""

    collective: str | None = None
    nodes: int | None = None
    ranks: int | None = None
    size: Quantity | None = None
    busbw: Quantity | None = None
    algbw: Quantity | None = None
    algorithm: str | None = None
    scope: str | None = None
    passes: str | None = None
    duration: Quantity | None = None
