"""One kind of collective of an axis, and the computation that it may overlap with."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Transfer:
    """``calls`` collectives of ``size`` bytes each, as nccl-tests counts it, on the groups of one axis.

    ``overlap_window`` is the seconds of computation that each call may overlap with, 0 where there is none;
    ``hidden_by_default`` where a framework overlaps it without any setting.
    """

    axis: str
    collective: str
    size: float
    calls: float = 1.0
    overlap_window: float = 0.0
    hidden_by_default: bool = False
