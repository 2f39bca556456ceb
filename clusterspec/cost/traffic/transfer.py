"""One kind of collective that an axis runs, and the computation that may run beside it."""

from __future__ import annotations

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Transfer:
    """``calls`` collectives of ``size`` bytes each, as nccl-tests counts it, on the groups of one axis.

    ``overlap_window`` is the seconds of computation that may run beside each call, 0 where nothing does;
    ``hidden_by_default`` where a framework runs it beside that computation without any setting.
    """

    axis: str
    collective: str
    size: float
    calls: float = 1.0
    overlap_window: float = 0.0
    hidden_by_default: bool = False
