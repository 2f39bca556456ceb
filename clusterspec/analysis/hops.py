"""The hops of a path between two accelerators: the latency that each adds to a short message, and its link's rate."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from clusterspec.cluster.groups import contiguous_placement
from clusterspec.cluster.model import Cluster
from clusterspec.cost.collectives import CollectiveUnavailableError
from clusterspec.cost.collectives.predict import collective_cost
from clusterspec.cost.collectives.stack import PROTOCOLS
from clusterspec.cost.formulas.collectives import slot_rate
from clusterspec.results.machine import PathHop
from clusterspec.standard import sum_of

HOP = 0.3e-6
"""Seconds that each switch after the first adds to a message, assumed: resellers print 0.13 to 0.33 µs
from port to port of InfiniBand, Ethernet takes 0.5 to 1 µs. The latencies of the
cost model were measured below one leaf."""
SMALL = 8.0
"""Bytes of a message whose time is only the latency."""
START = "launch and library"
CROSSING = "NICs, cables, first switch"
LINK = "link"


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
    if out is None or not cluster.pcie_nic or out.belongs_to_accelerators:
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
