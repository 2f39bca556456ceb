"""The boundary of a scale-up domain: what fits inside, and what a group finds beyond."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.units import say


def accelerators_of_tp(cluster: Cluster, layout: Layout) -> int:
    """Packages that the ranks of one tp group fill."""
    return -(-layout.tp // cluster.ranks_per_accelerator)


def beyond(cluster: Cluster, layout: Layout) -> bool:
    """Whether no placement could keep a tp group inside one domain."""
    return accelerators_of_tp(cluster, layout) > cluster.scale_up.domain


def used_domain(cluster: Cluster, layout: Layout) -> int:
    """Ranks of one domain that the job fills."""
    if layout.nodes_per_domain:
        return layout.nodes_per_domain * cluster.ranks_per_node
    return cluster.ranks_per_domain


def tiers(cluster: Cluster, placement: Placement) -> str:
    """`at 50 GB/s of NICs an accelerator instead of the 450 GB/s inside`."""
    within = say(cluster.scale_up.bandwidth.value, "B/s")
    if placement.nodes == 1:
        return f"over PCIe instead of the {within} inside"
    if cluster.nic_share is None:
        return f"over a network that is not described instead of the {within} inside"
    return f"at {say(cluster.nic_share, 'B/s')} of NICs an accelerator instead of the {within} inside"
