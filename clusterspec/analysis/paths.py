"""The classes of paths between pairs of accelerators: in a domain, in a node, and by level of the fabric; the hops of a
path, with the latency that each adds to a short message, and the rate of its link.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from clusterspec.analysis.tiers import HOP, SMALL, host_rate, levels_and_climbed_rows, message_rows
from clusterspec.cluster.degrees import nodes_of_domain, rack_nodes
from clusterspec.cluster.fabric import TREES, Fabric
from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.planes import fabric_levels
from clusterspec.cluster.scaleout import RAIL_TOPOLOGIES
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.cost.collectives.stack import PROTOCOLS
from clusterspec.cost.formulas.collectives import slot_rate
from clusterspec.results.machine import PathClass, PathHop, Pod
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import sum_of

START = "launch and library"
CROSSING = "NICs, cables, first switch"
LINK = "link"


def pod_topology(cluster: Cluster, power: PowerSpec | None, fabric: Fabric | None = None) -> Pod:
    """The topology of a cluster; ``fabric`` has the counted switches."""
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
        racks=rack_nodes(cluster, power.nodes_per_rack if power else None) or 0,
        topology=out.topology if out else "none",
        shape=cluster.scale_up.shape if cluster.scale_up.topology == "torus" else (),
        classes=(*_local_path_classes(cluster), *_fabric_path_classes(cluster, fabric)),
    )


def _local_path_classes(cluster: Cluster) -> Iterator[PathClass]:
    """The classes of pairs within one scale-up domain, and within one node over the host bus."""
    up = cluster.scale_up
    if up.domain > 1:
        rows = message_rows(cluster, 2)
        direct = up.topology in ("full-mesh", "partial-mesh", "bridge", "torus", "ring")
        name = up.interconnect.name if up.interconnect else up.topology
        middle = (f"{name} link",) if direct else (f"{name} link", f"{name} switch", f"{name} link")
        parts = ("accelerator", *middle, "accelerator")
        shared = up.peer_bandwidth.value if direct else up.bandwidth.value / up.oversubscription
        yield PathClass(
            name="the same scale-up domain",
            nodes=nodes_of_domain(cluster),
            parts=parts,
            switches=0 if direct else 1,
            bandwidth=up.peer_bandwidth.value,
            bottleneck=f"{name}, between two accelerators",
            shared=shared,
            predicted=rows[1].busbw if rows else None,
            latency=rows[0].seconds if rows else None,
            hops=local_hops(parts, message_parts(cluster, 2), up.peer_bandwidth.value, shared),
        )
    slot = host_rate(cluster)
    if slot is not None and up.domain < cluster.accelerators_per_node:
        rows = message_rows(cluster, 2) if up.domain < 2 else ()
        name = f"PCIe {cluster.pcie_host} slot" if cluster.pcie_host else "slot"
        parts = ("accelerator", name, "host", name, "accelerator")
        yield PathClass(
            name="the same node",
            nodes=1,
            parts=parts,
            switches=0,
            bandwidth=slot,
            bottleneck=name,
            shared=slot,
            predicted=rows[1].busbw if rows else None,
            latency=rows[0].seconds if rows else None,
            hops=local_hops(parts, message_parts(cluster, 2) if up.domain < 2 else None, slot, slot),
        )


def _unknown_network(cluster: Cluster, out: ScaleOut) -> str:
    """Text in place of a network with unknown switches, such as a cloud's or one that is not a tree; else empty."""
    if cluster.cloud or out.technology.cloud:
        return "network of the cloud"
    return "" if out.topology in TREES or out.levels else f"{out.topology} network"


def _fabric_path_classes(cluster: Cluster, fabric: Fabric | None) -> tuple[PathClass, ...]:
    """The classes of pairs by fabric level, from the leaf upward."""
    out, share = cluster.scale_out, cluster.nic_bandwidth_per_accelerator
    if out is None or share is None or cluster.nodes < 2:
        return ()
    network = _unknown_network(cluster, out)
    levels, climbed = ((), (0,)) if network else levels_and_climbed_rows(cluster, fabric)
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
        pair = min(pair, cluster.accelerators) if cluster.accelerators > apart else 0
        rows = message_rows(cluster, pair)
        top = network or ("leaf switch", "spine switch", "core switch")[climbed[number]]
        way = ("leaf switch", "spine switch", "core switch")[: climbed[number]]
        alone = max(out.nic_bandwidth.value, share)
        parts = ("accelerator", "NIC", *way, top, *reversed(way), "NIC", "accelerator")
        tapers = [level.oversubscription for level in levels[:number]]
        nics = "one NIC" if alone == out.nic_bandwidth.value else "the NICs of one accelerator"
        found.append(
            PathClass(
                name=f"the same {levels[number].name}" if number < len(levels) else "the whole fabric",
                nodes=min(here, cluster.nodes),
                parts=parts,
                switches=0 if network else 2 * len(way) + 1,
                bandwidth=alone,
                bottleneck=nics if taper <= 1 else f"{nics}; {taper:g}:1 where all send",
                shared=share / taper,
                predicted=rows[1].busbw * share / taper / (rows[1].ceiling_busbw if taper > 1 else alone)
                if rows
                else None,
                latency=rows[0].seconds + 2 * len(way) * HOP if rows else None,
                hops=fabric_hops(cluster, parts, message_parts(cluster, pair), tapered_rates(alone, share, tapers)),
            )
        )
    return tuple(found)


# The hops of a path


def message_parts(cluster: Cluster, accelerators: int) -> tuple[float, float] | None:
    """Seconds of a short message in a group: launch and library, then network path; None without a connection."""
    ranks = accelerators * cluster.ranks_per_accelerator
    if ranks < 2:
        return None
    try:
        cost = collective_cost(cluster, "send-recv", contiguous_placement(cluster, ranks), SMALL)
    except CollectiveUnavailableError:
        return None
    if cost.candidate is None:
        return None
    library = sum_of(protocol.ring for protocol in PROTOCOLS if protocol.name == cost.candidate.protocol)
    start = min(cost.seconds, cost.candidate.launch + library)
    return start, cost.seconds - start


def local_hops(
    parts: Sequence[str], times: tuple[float, float] | None, rate: float, shared: float
) -> tuple[PathHop, ...]:
    """The hops of a path inside a domain or a node. ``parts`` alternates accelerators, switches or a host with the
    links between them; links are no hops. All links have one rate.
    """
    start, rest = times or (None, None)
    first, *others = (*parts[2:-2:2], parts[-1])
    after = [PathHop(part, 0.0, "", rate, shared) for part in others]
    return (PathHop(parts[0], start, START), PathHop(first, rest, LINK, rate, shared), *after)


def fabric_hops(
    cluster: Cluster,
    parts: Sequence[str],
    times: tuple[float, float] | None,
    rates: Sequence[tuple[float, float]],
) -> tuple[PathHop, ...]:
    """The hops of a path over the fabric.

    ``parts`` are an accelerator, its NIC, the switches, and the NIC and the accelerator at the other end. ``rates`` are
    the rates of the NIC link, then of the links above each level: if only this pair sends, and if all send. The time
    that NICs and cables add is counted at the first switch.
    """
    start, rest = times or (None, None)
    switches = parts[2:-2]
    slot = _slot_share(cluster)
    first = PathHop(switches[0], rest, CROSSING, *rates[0])
    ways = [
        PathHop(part, HOP, "", *_rates_of_link(number, len(switches) // 2, rates))
        for number, part in enumerate(switches[1:], 1)
    ]
    near, far = PathHop(parts[1], 0.0, "", slot, slot), PathHop(parts[-2], 0.0, "", *rates[0])
    return (PathHop(parts[0], start, START), near, first, *ways, far, PathHop(parts[-1], 0.0, "", slot, slot))


def _rates_of_link(number: int, top: int, rates: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The rates of the link into switch ``number``, counted from 0 along a path whose highest switch is ``top``."""
    up = number if number <= top else 2 * top - number + 1
    return rates[min(up, len(rates) - 1)]


def _slot_share(cluster: Cluster) -> float | None:
    """Bandwidth of the PCIe slots of all NICs of a node for each of its accelerators, in B/s per direction. None if the
    network ports are on the accelerators, or the PCIe generation is unknown.
    """
    out = cluster.scale_out
    if out is None or not cluster.pcie_nic or cluster.has_built_in_nics:
        return None
    return slot_rate(cluster.pcie_nic) * out.nics_per_node / cluster.accelerators_per_node


def tapered_rates(alone: float, share: float, tapers: Sequence[float]) -> list[tuple[float, float]]:
    """The rates of the link of a NIC, then of the links above each level; the oversubscriptions of levels multiply.

    ``alone`` is the rate if one pair sends, ``share`` the rate of each accelerator if all send.

    >>> tapered_rates(50.0, 50.0, [2.0, 1.0])
    [(50.0, 50.0), (50.0, 25.0), (50.0, 25.0)]
    """
    products = itertools.accumulate(tapers, lambda one, other: one * other, initial=1.0)
    return [(alone, share / taper) for taper in products]
