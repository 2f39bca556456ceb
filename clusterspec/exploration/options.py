"""Options of a search."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """``pins`` fix keys of the layout, ``grid`` names two axes to tabulate. ``explain`` compares the best
    layout with others.

    ``min_headroom`` is the share of the memory that the predicted use leaves free. Without it the upper end of the
    range of the use has to fit.

    An empty ``objective`` selects the default: the step time of training, the accelerators of a serving plan with
    targets.
    """

    pins: Mapping[str, object]
    objective: str = ""
    top: int = 10
    min_headroom: float | None = None
    grid: tuple[str, str] | None = None
    explain: bool = False
