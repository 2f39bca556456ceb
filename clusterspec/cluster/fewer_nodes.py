"""Part of the nodes of a cluster, on which the degrees of a layout divide better."""

from __future__ import annotations

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.model import Cluster
from clusterspec.spec.model import LayoutSpec

LEAST_USED = 0.75
"""Share of the nodes that a job on fewer nodes uses at least."""


def fewer_nodes(section: LayoutSpec | None, cluster: Cluster) -> tuple[str, int] | None:
    """The key of the layout, and its value, with which a job uses a power of two of nodes, or three times one, in each
    domain or in all.

    The degrees of a layout rarely divide the 72 ranks of a domain of 18 nodes, and divide the 64 of 16 nodes; those of
    52 nodes rarely divide as those of 48. None where the spec states the nodes, they are such a number, or more than a
    quarter of them would be left over.
    """
    if section is not None and (section.nodes is not None or section.nodes_per_domain is not None):
        return None
    there = nodes_of_domain(cluster)
    if there > 1 and (cluster.nodes < there or cluster.scale_up.topology != "switched"):
        return None
    key, nodes = ("nodes_per_domain", there) if there > 1 else ("nodes", cluster.nodes)
    power = 1 << (max(1, nodes).bit_length() - 1)
    used = 3 * power // 2 if 3 * power // 2 <= nodes else power
    return (key, used) if LEAST_USED * nodes <= used < nodes else None
