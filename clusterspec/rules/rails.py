"""Whether groups of ranks keep to their rails: rank i of every node behind the same leaf."""

from __future__ import annotations

from clusterspec.cluster.model import Cluster, Layout, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES


def railed(fabric: ScaleOut) -> bool:
    """Whether the fabric has rails."""
    return fabric.topology in RAIL_TOPOLOGIES


def step_of(layout: Layout, axis: str) -> int:
    """Ranks from one member of a group to the next: the degrees of the dense axes that vary faster."""
    step = 1
    for name in layout.order:
        if name == axis or name.startswith(f"{axis}_"):
            break
        step *= 1 if name == "ep" else _degree(layout, name)
    return step


def _degree(layout: Layout, name: str) -> int:
    """The degree of an axis; the halves of dp count as all of it, which is met once."""
    whole: int = getattr(layout, "dp" if name == "dp_shard" else name, 1)
    return whole


def off_rail(cluster: Cluster, step: int) -> bool:
    """Whether members so many ranks apart meet different local ranks from node to node."""
    node = cluster.ranks_per_node
    return step > 1 and step % node != 0 and node % step != 0


def culprit(cluster: Cluster, layout: Layout, axis: str) -> str:
    """The axis whose degree first takes the step off the rails."""
    step = 1
    for name in layout.order:
        if name in {axis, "ep"}:
            continue
        step *= _degree(layout, name)
        if off_rail(cluster, step):
            return name
    return axis
