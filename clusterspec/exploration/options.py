"""Options of a search."""

from __future__ import annotations

from collections.abc import Mapping

from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """``pins`` fix keys of the layout, ``grid`` names two axes to tabulate.

    An empty ``objective`` selects the default: the step time of training, the accelerators of a serving plan with
    targets.
    """

    pins: Mapping[str, object]
    objective: str = ""
    top: int = 10
    min_headroom: float = 0.0
    grid: tuple[str, str] | None = None
