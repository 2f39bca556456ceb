"""Groups and scale-up domains: which groups fit a domain, and the bandwidth inside and across domains."""

from __future__ import annotations

from clusterspec.cluster.groups import Placement, contiguous_placement
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.units import display

LARGE = float(1 << 30)
"""Bytes of the collective for the comparison of bandwidths inside and across domains."""


def accelerators_of_tp(cluster: Cluster, layout: Layout) -> int:
    """Accelerators that the ranks of one tp group occupy."""
    return -(-layout.tp // cluster.ranks_per_accelerator)


def exceeds_domain(cluster: Cluster, layout: Layout) -> bool:
    """Whether a tp group needs more accelerators than one domain has."""
    return accelerators_of_tp(cluster, layout) > cluster.scale_up.domain


def used_domain(cluster: Cluster, layout: Layout) -> int:
    """Ranks of one domain that the job uses."""
    if layout.nodes_per_domain:
        return layout.nodes_per_domain * cluster.ranks_per_node
    return cluster.ranks_per_domain


def bandwidth_across(deviations: Deviations, cluster: Cluster, placement: Placement, name: str) -> str:
    """The end of a sentence: the bus bandwidth of a collective across domains and inside one, both predicted.

    For example ``: all-to-all reaches 53 GB/s of bus bandwidth there, 390 GB/s inside a domain``. Empty without a
    prediction, and where a bandwidth that it rests on is reported as wrong.
    """
    if deviations.concern("nic", "scale-up", "peer"):
        return ""
    if placement.nodes == 1:
        return " and communicate over PCIe"
    if cluster.ranks_per_domain == 1:
        return ""  # nothing to compare with
    inside = contiguous_placement(cluster, min(placement.ranks, cluster.ranks_per_domain))
    across, within = _bus_bandwidth(cluster, placement, name), _bus_bandwidth(cluster, inside, name)
    if across is None or within is None:
        return ""
    return f": {name} reaches {display(across, 'B/s')} of bus bandwidth there, {display(within, 'B/s')} inside a domain"


def _bus_bandwidth(cluster: Cluster, placement: Placement, name: str) -> float | None:
    """Predicted bus bandwidth of a large collective in B/s; None without a prediction."""
    try:
        return (
            collective_cost(cluster, name, placement, LARGE).busbw
            if cluster.nic_share or placement.nodes == 1
            else None
        )
    except CollectiveUnavailableError:
        return None
