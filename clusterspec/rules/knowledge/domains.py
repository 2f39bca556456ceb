"""Groups and scale-up domains: groups that fit a domain, texts on others, and bandwidths inside and across domains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from clusterspec.cluster.groups import Placement, contiguous_placement
from clusterspec.cluster.model import Cluster, Layout
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.units import display

LARGE = float(1 << 30)
"""Bytes of the collective for the comparison of bandwidths inside and across domains."""


def accelerators_of_tp(cluster: Cluster, layout: Layout) -> int:
    """Number of accelerators that the ranks of one tp group use."""
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
    if deviations.has_any_of("nic", "scale-up", "peer"):
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
            if cluster.nic_bandwidth_per_accelerator or placement.nodes == 1
            else None
        )
    except CollectiveUnavailableError:
        return None


def straddling_groups(placement: Placement) -> str:
    """The groups across domains as text: `4 of 27 tp groups span 2 scale-up domains (the first: ranks 64–79)`."""
    name = placement.axis.replace("_", " ")
    where = f"{placement.domains} scale-up domains" if placement.domains > 1 else "several scale-up domains"
    if placement.groups == 1:
        return f"the {name} group spans {where}"
    which = "all" if placement.straddling == placement.groups else f"{placement.straddling:,} of"
    first = ranks_text(placement.first_straddling, placement.ranks)
    span = "spans" if placement.straddling == 1 else "span"
    return f"{which} {placement.groups:,} {name} groups {span} {where} (the first: ranks {first})"


def ranks_text(ranks: Sequence[int], size: int) -> str:
    """Ranks of a group as text: ``0–15``, ``0, 8, 16 …``.

    >>> ranks_text((0, 1, 2, 3), 4), ranks_text((0, 8, 16, 24), 8)
    ('0–3', '0, 8, 16 …')
    """
    contiguous = len(ranks) > 2 and all(after - before == 1 for before, after in pairwise(ranks))
    if contiguous:
        return f"{ranks[0]}–{ranks[0] + size - 1}"
    listed = ", ".join(map(str, ranks[:3]))
    return listed + (" …" if size > 3 else "")
