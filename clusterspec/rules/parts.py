"""Parts of a design that checks take: placements of groups, and configured thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from clusterspec.cluster.groups import Placement, axis_placement
from clusterspec.cluster.levels import fabric_levels
from clusterspec.cluster.model import Cluster, Layout, Workload


class Placements:
    """The placements of the groups of each axis, computed once per axis."""

    def __init__(self, cluster: Cluster, layout: Layout) -> None:
        self._cluster = cluster
        self._layout = layout
        self._placed: dict[str, Placement | None] = {}

    def of(self, axis: str) -> Placement | None:
        """The placement of one axis (tp, cp, dp, ep, pp, shard …)."""
        if axis not in self._placed:
            self._placed[axis] = axis_placement(self._cluster, self._layout, axis)
        return self._placed[axis]

    def oversubscription(self, axis: str) -> float:
        """The product of the ratios (down over up) of the fabric levels that the groups of an axis cross."""
        placement = self.of(axis)
        if placement is None or placement.nodes == 1:
            return 1.0
        levels = fabric_levels(self._cluster)
        return prod(levels[index].oversubscription for index in placement.levels)


def groups_use_nics(placements: Placements, layout: Layout, workload: Workload) -> bool:
    """Whether some group of a layout leaves its scale-up domain and its node; the engines of a serving plan form no
    group.
    """
    axes = ("tp", "cp", "ep", "pp") if workload.kind == "serve" else ("tp", "cp", "ep", "pp", "dp")
    found = (placements.of(axis) for axis in axes if getattr(layout, axis) > 1)
    return any(placement is not None and placement.domains > 1 and placement.nodes > 1 for placement in found)


def traffic_uses_nics(placements: Placements, layout: Layout, workload: Workload) -> bool:
    """Whether a group leaves its domain and node, or caches move from engines of prefill to engines of decode."""
    return layout.separate_engines or groups_use_nics(placements, layout, workload)


class Thresholds:
    """The configured thresholds, by rule."""

    def __init__(self, configured: Mapping[str, float]) -> None:
        self._configured = configured

    def of(self, rule: str, default: float) -> float:
        """The threshold of a rule, by its name: as configured, else the rule's own default."""
        return self._configured.get(rule, default)
