"""What the machine can and should show in nccl-tests, for the figures that a spec measures or asks for."""

from __future__ import annotations

from dataclasses import replace

from clusterspec.cluster.groups import contiguous
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import NAMES, CollectiveCost, NoWay, collective, names_of
from clusterspec.cost.collectives.ceilings import factor
from clusterspec.cost.measured import Measurement
from clusterspec.spec.model import AcceptanceSpec
from clusterspec.units import percent, say

GIB = float(1 << 30)
PLATEAU = 16 * GIB
"""A size at which every fabric that we know of has reached its bandwidth."""
FAIR = (0.80, 0.90)
"""Of what is expected: between these a floor is one that a sound machine passes and a broken one does not."""
SOCKETS = 0.15
"""Of what the NICs carry: sockets reach less, everything that finds its network more (aws-ofi-nccl issue 803: 5.4
GB/s against 122.6).
"""
FORCED = ("ring", "tree", "direct")
"""Algorithms that do not reduce in switches, so that a test which asks for them is held to the wire."""


def ranks_of(stated: AcceptanceSpec, cluster: Cluster) -> int | None:
    """Ranks of the test: as stated, else all of its nodes; None where neither is said, or they contradict the nodes."""
    whole = stated.nodes * cluster.ranks_per_node if stated.nodes else None
    if stated.ranks is None:
        return whole
    fits = whole is None or (stated.ranks <= whole and stated.ranks % (stated.nodes or 1) == 0)
    return stated.ranks if fits else None


def nodes_of(stated: AcceptanceSpec, cluster: Cluster) -> int:
    """Nodes of the test: as stated, else as few as its ranks need."""
    return stated.nodes or -(-(stated.ranks or 1) // cluster.ranks_per_node)


def bus_bandwidth(stated: AcceptanceSpec, cluster: Cluster) -> float | None:
    """The bus bandwidth stated, B/s; an algorithm bandwidth times the factor of nccl-tests."""
    if stated.busbw is not None:
        return stated.busbw.per_direction
    ranks = ranks_of(stated, cluster)
    if stated.algbw is None or not ranks or stated.collective is None:
        return None
    return stated.algbw.per_direction * factor(stated.collective, ranks)


def predicted(stated: AcceptanceSpec, cluster: Cluster, size: float) -> CollectiveCost | None:
    """What the cost model says of the same test at a size, whatever was measured; None where it cannot say."""
    ranks, name = ranks_of(stated, cluster), stated.collective
    there = cluster.ranks_per_node * cluster.all_nodes
    if name not in NAMES or not ranks or not 1 < ranks <= there:
        return None
    algorithm = stated.algorithm if stated.algorithm in names_of(name) else None
    machine = _without_reduction(cluster) if algorithm in FORCED else replace(cluster, measured=())
    try:
        return collective(machine, name, contiguous(cluster, ranks, nodes_of(stated, cluster)), size, algorithm)
    except NoWay:
        return None


def _without_reduction(cluster: Cluster) -> Cluster:
    up, out = replace(cluster.scale_up, in_network_reduction=False), cluster.scale_out
    out = replace(out, in_network_reduction=False) if out else None
    return replace(cluster, scale_up=up, scale_out=out, measured=())


def fair_floor(best: CollectiveCost) -> str:
    """`304 GB/s to 342 GB/s: 80 to 90 % of what this machine should show`."""
    low, high = (say(share * best.busbw, "B/s") for share in FAIR)
    return f"{low} to {high}: {FAIR[0] * 100:.0f} to {percent(FAIR[1])} of what this machine should show"


def key(stated: AcceptanceSpec) -> str:
    """The key that holds the figure."""
    return "busbw" if stated.busbw is not None or stated.algbw is None else "algbw"


def titled(stated: AcceptanceSpec, cluster: Cluster) -> str:
    """`all-reduce over 32 ranks`."""
    return f"{stated.collective} over {ranks_of(stated, cluster):,} ranks"


def shown(measurement: Measurement) -> str:
    """`all-reduce over 32 ranks`."""
    return f"{measurement.collective} over {measurement.ranks:,} ranks"
