"""Paths between pairs of accelerators, one class per fabric level crossed."""

from __future__ import annotations

from typing import Any

from clusterspec.cluster.degrees import nodes_of_domain
from clusterspec.cluster.levels import fabric_levels
from clusterspec.cluster.model import Cluster
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.records import asdict, dataclass
from clusterspec.results.tiers import message_rows


@dataclass(frozen=True, slots=True)
class PathClass:
    """Pairs whose path goes up to the same level: the parts on the path, including switches.

    ``bandwidth`` is the line rate of the bottleneck if only this pair sends, ``shared`` if all accelerators send,
    ``predicted`` the prediction for a long message, all in B/s per direction. ``latency`` is in seconds.
    """

    name: str
    nodes: int
    parts: tuple[str, ...]
    switches: int
    bandwidth: float
    bottleneck: str
    shared: float
    predicted: float | None
    latency: float | None


@dataclass(frozen=True, slots=True)
class Pod:
    """The topology of a machine: nodes in groups of ``block`` under one leaf, and the classes of pairs from the domain
    outward; a pair belongs to the first class whose ``nodes`` include both. ``shape`` is that of a torus domain.
    """

    nodes: int
    accelerators_per_node: int
    nics_per_node: int
    domain_nodes: int
    domain: int
    rails: int
    block: int
    racks: int
    topology: str
    shape: tuple[int, ...]
    classes: tuple[PathClass, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def pod(cluster: Cluster, nodes_per_rack: int | None) -> Pod:
    """The topology of a cluster."""
    out = cluster.scale_out
    levels = fabric_levels(cluster)
    return Pod(
        nodes=cluster.nodes,
        accelerators_per_node=cluster.accelerators_per_node,
        nics_per_node=out.nics_per_node if out else 0,
        domain_nodes=nodes_of_domain(cluster),
        domain=cluster.scale_up.domain,
        rails=out.rails if out and out.topology in RAIL_TOPOLOGIES else 1,
        block=min(cluster.nodes, (levels[0].nodes or 1) if levels else cluster.nodes),
        racks=nodes_per_rack or 0,
        topology=out.topology if out else "none",
        shape=cluster.scale_up.shape if cluster.scale_up.topology == "torus" else (),
        classes=(*_inside(cluster), *_outside(cluster)),
    )


def _inside(cluster: Cluster) -> tuple[PathClass, ...]:
    """The classes of pairs in one scale-up domain, or in one node without an interconnect."""
    up = cluster.scale_up
    if up.domain < 2:
        return ()
    rows = message_rows(cluster, 2)
    direct = up.topology in ("full-mesh", "partial-mesh", "bridge", "torus", "ring")
    name = up.interconnect.name if up.interconnect else up.topology
    middle = (f"{name} link",) if direct else (f"{name} link", f"{name} switch", f"{name} link")
    return (
        PathClass(
            name="the same scale-up domain",
            nodes=nodes_of_domain(cluster),
            parts=("accelerator", *middle, "accelerator"),
            switches=0 if direct else 1,
            bandwidth=up.peer_bandwidth.value,
            bottleneck=f"{name}, between two accelerators",
            shared=up.peer_bandwidth.value if direct else up.bandwidth.value / up.oversubscription,
            predicted=rows[1].busbw if rows else None,
            latency=rows[0].seconds if rows else None,
        ),
    )


def _outside(cluster: Cluster) -> tuple[PathClass, ...]:
    """The classes of pairs by fabric level, from the leaf upward."""
    out, share = cluster.scale_out, cluster.nic_share
    if out is None or share is None or cluster.nodes < 2:
        return ()
    levels = fabric_levels(cluster)
    apart = max(cluster.accelerators_per_node, cluster.scale_up.domain)
    found: list[PathClass] = []
    taper = 1.0
    for number in range(len(levels) + 1):
        below = (levels[number - 1].nodes or 1) if number else 1
        here = (levels[number].nodes or 1) if number < len(levels) else cluster.nodes
        taper *= levels[number - 1].oversubscription if number else 1.0
        if number and below >= cluster.nodes:
            break
        pair = max(2 * apart, 2 * below * cluster.accelerators_per_node)
        rows = message_rows(cluster, min(pair, cluster.accelerators)) if cluster.accelerators > apart else ()
        top = ("leaf switch", "spine switch", "core switch")[min(number, 2)]
        way = ("leaf switch", "spine switch", "core switch")[: min(number, 2)]
        alone = max(out.nic_bandwidth.value, share)
        nics = "one NIC" if alone == out.nic_bandwidth.value else "the NICs of one accelerator"
        found.append(
            PathClass(
                name=f"the same {levels[number].name}" if number < len(levels) else "the whole fabric",
                nodes=min(here, cluster.nodes),
                parts=("accelerator", "NIC", *way, top, *reversed(way), "NIC", "accelerator"),
                switches=2 * len(way) + 1,
                bandwidth=alone,
                bottleneck=nics if taper <= 1 else f"{nics}; {taper:g}:1 where all send",
                shared=share / taper,
                predicted=rows[1].busbw if rows else None,
                latency=rows[0].seconds if rows else None,
            )
        )
    return tuple(found)
