"""The switch levels of the fabric that groups of ranks cross."""

from __future__ import annotations

from clusterspec.cluster.clos import Ports
from clusterspec.cluster.fabric_plane import tiers_of
from clusterspec.cluster.model import Cluster, Level, ScaleOut
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES


def fabric_levels(cluster: Cluster) -> tuple[Level, ...]:
    """The levels of the scale-out fabric from the leaf upward, each with the nodes under one block of it.

    As written in `levels`; else the pod, where the spec states that the oversubscription is above it; else one level
    for each ratio, with as many nodes per leaf as its ports allow. A level with an unknown number of nodes is assumed
    to be crossed by all traffic that crosses the level below it. A fabric of one tier has no level to cross, and one of
    n tiers has n - 1; the bill of materials counts the same (`fabric_plane`).
    """
    fabric = cluster.scale_out
    if fabric is None:
        return ()
    if fabric.levels:
        return _bounded(fabric.levels)
    tiers = tiers_of(cluster)
    if tiers == 1:
        return ()
    if fabric.pod_nodes:
        return (Level("pod", fabric.pod_nodes, fabric.taper),)
    names = ("leaf", "spine", "core")
    built = fabric.oversubscription[: tiers - 1] if tiers else fabric.oversubscription
    leaf, *above = (Level(names[min(index, 2)], None, ratio) for index, ratio in enumerate(built))
    return _bounded((Level(leaf.name, _nodes_of_leaf(fabric), leaf.oversubscription), *above))


def _nodes_of_leaf(fabric: ScaleOut) -> int:
    """Nodes that share a leaf; 1 where the ports of a switch are not known, so that all traffic between nodes crosses
    it.
    """
    if not fabric.switch_ports:
        return 1
    rails = fabric.rails if fabric.topology in RAIL_TOPOLOGIES else 1
    per_leaf = max(1, -(-fabric.nics_per_node // rails))
    return max(1, Ports.split(fabric.switch_ports, fabric.oversubscription[0]).down // per_leaf)


def _bounded(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    bounded: list[Level] = []
    for level in levels:
        below = bounded[-1].nodes if bounded else 1
        nodes = level.nodes or below
        bounded.append(
            Level(level.name, nodes, level.oversubscription, level.switch_ports, level.uplink_bandwidth, level.count)
        )
    return tuple(bounded)
