"""One kind of collective that an axis runs, and what it may hide under."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Flow:
    """``calls`` collectives of ``size`` bytes each, as nccl-tests counts it, on the groups of one axis.

    ``room`` is the seconds of computation that may run beside each call, 0 where nothing does;
    ``unasked`` that a framework hides it there without being asked to.
    """

    axis: str
    collective: str
    size: float
    calls: float = 1.0
    room: float = 0.0
    unasked: bool = False
