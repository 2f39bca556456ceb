"""Achieved bandwidth and latency of the network between nodes: technology, plugin, and fallback to TCP sockets."""

from __future__ import annotations

from clusterspec.cluster.model import ScaleOut
from clusterspec.cost.collectives.assumptions import (
    LATENCY,
    RING_BETWEEN,
    SOCKET_LATENCY,
    SOCKET_RATE,
    SOCKETS,
    WITHOUT_DIRECT,
)
from clusterspec.origin import Assumed
from clusterspec.quantity import Figure
from clusterspec.records import dataclass

NO_PLUGIN = frozenset({"none"})
ALL_PROTOCOLS = frozenset({"LL", "LL128", "Simple"})
SOCKET_PROTOCOLS = frozenset({"Simple"})
"""Protocols assumed over TCP sockets where a plugin is missing, as over GPUDirect-TCPX."""


@dataclass(frozen=True, slots=True)
class Network:
    """One NIC's line rate (B/s), the achieved share of it, and the latency of a crossing (LL; chunks) in seconds."""

    line: float
    share: Figure
    latency: Figure
    chunk_latency: Figure
    protocols: frozenset[str]
    overlapped: bool


def network_of(fabric: ScaleOut) -> Network:
    """The achieved bandwidth and latency of the fabric, by its technology and plugin."""
    entry = fabric.technology
    line = fabric.nic_bandwidth.value
    if falls_back(fabric):
        rate = min(1.0, SOCKET_RATE.value / (line * fabric.nics_per_node))
        return Network(
            line, Figure(rate, "1", SOCKETS), SOCKET_LATENCY, SOCKET_LATENCY, SOCKET_PROTOCOLS, overlapped=True
        )
    share = _known(fabric, "ring", RING_BETWEEN)
    if not fabric.gpudirect_rdma and entry.rdma:
        share = Figure(share.value * WITHOUT_DIRECT.value, "1", WITHOUT_DIRECT.origin)
    latency = _known(fabric, "latency", LATENCY)
    return Network(
        line,
        share,
        latency,
        entry.achievable.get("latency.chunk", latency),
        protocols=frozenset(entry.protocols) or ALL_PROTOCOLS,
        overlapped=entry.overlapped_latency,
    )


def falls_back(fabric: ScaleOut) -> bool:
    """Whether the library falls back to TCP sockets of the kernel.

    That is the case where a proprietary technology has no plugin, or the plugin of another technology.
    """
    entry, plugin = fabric.technology, fabric.collective_plugin
    if not entry.proprietary or plugin is None:
        return False
    return plugin in NO_PLUGIN or (bool(entry.plugins) and plugin not in entry.plugins)


def _known(fabric: ScaleOut, name: str, otherwise: Figure) -> Figure:
    """A figure of the technology's entry, else the assumption for all networks."""
    figure = fabric.technology.achievable.get(name)
    origin = Assumed(f"{fabric.technology.id}.{name}", str(otherwise.origin).removeprefix("assumed: "))
    return figure or Figure(otherwise.value, otherwise.unit, origin)
