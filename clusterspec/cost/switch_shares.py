"""The share of a leaf's or pod's uplinks that end at one switch of the level above."""

from __future__ import annotations

from math import gcd

from clusterspec.cluster.clos import parts_needed
from clusterspec.cluster.fabric import Fabric
from clusterspec.cluster.model import Cluster
from clusterspec.records import NamedTuple


class SwitchShare(NamedTuple):
    """The number of uplinks, out of the ``links`` of a leaf or pod over all planes, that end at one switch of the level
    above: ``most`` applies to the leaves or pods with the most links, ``fewest`` to the others. They differ if uplinks
    do not spread evenly.
    """

    links: float
    most: float
    fewest: float

    def text(self, whole: str, wholes: str) -> str:
        """The uplinks that are lost with the switch, as text.

        >>> SwitchShare(128.0, 2, 1).text("a pod", "pods")
        '2 of 128 uplinks of the pods with the most links to it, 1 of the others'
        """
        if self.most == self.fewest:
            return f"{self.most:.0f} of {self.links:.0f} uplinks of {whole}"
        others = f", {self.fewest:.0f} of the others" if self.fewest else ""
        return f"{self.most:.0f} of {self.links:.0f} uplinks of the {wholes} {self.reached}{others}"

    @property
    def reached(self) -> str:
        """Words for the leaves or pods that lose the most uplinks."""
        return "with the most links to it" if self.fewest else "that it connects"


def _spine_counts(cluster: Cluster, fabric: Fabric) -> tuple[int, int]:
    """The uplinks of a leaf, and the spines of a pod, in one plane."""
    of_leaf = max(1, round(fabric.links["leaf_spine"] / fabric.leaf_switches))
    return of_leaf, max(1, fabric.spine_switches // (pod_count(cluster, fabric) * fabric.planes))


def spine_share(cluster: Cluster, fabric: Fabric) -> SwitchShare:
    """The uplinks of a leaf that end at one spine."""
    of_leaf, of_pod = _spine_counts(cluster, fabric)
    return SwitchShare(float(of_leaf * fabric.planes), parts_needed(of_leaf, of_pod), of_leaf // of_pod)


def core_share(cluster: Cluster, fabric: Fabric) -> SwitchShare:
    """The uplinks of a pod that end at one core, where the fabric has cores.

    Leaves of one pod without a common spine meet in the core, like leaves of different pods. A spine connects to one
    group of cores; the number of groups is the greatest common divisor of the spines per pod and the cores. Leaves with
    common spines reach only the groups of those spines.
    """
    of_leaf, of_pod = _spine_counts(cluster, fabric)
    apart = of_pod // of_leaf if of_pod % of_leaf == 0 else 1
    links = max(1.0, fabric.links["spine_core"] / (pod_count(cluster, fabric) * apart))
    of_plane, each = max(1, round(links / fabric.planes)), max(1, fabric.core_switches // fabric.planes)
    groups = gcd(of_pod, each)
    reached = parts_needed(groups, apart)
    most = parts_needed(parts_needed(of_plane, reached), each // groups)
    return SwitchShare(float(of_plane * fabric.planes), most, of_plane // reached // (each // groups))


def pod_count(cluster: Cluster, fabric: Fabric) -> int:
    """Number of groups of leaves with separate spines."""
    out = cluster.scale_out
    assert out is not None
    if out.levels and len(out.levels) > 1:
        return parts_needed(cluster.all_nodes, out.levels[1].nodes or cluster.all_nodes)
    return fabric.pods * (out.rails if out.topology == "rail-only" else 1)
