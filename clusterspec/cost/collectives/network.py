"""What the network between nodes really carries: the technology, its plugin, and falling back to sockets."""

from __future__ import annotations

from dataclasses import dataclass

from clusterspec.cluster.model import ScaleOut
from clusterspec.origin import Assumed, Cited, Origin
from clusterspec.quantity import Figure

STRANGERS = frozenset({"none"})
ALL_PROTOCOLS = frozenset({"LL", "LL128", "Simple"})
SOME_PROTOCOLS = {"efa-v1": frozenset({"LL", "Simple"}), "gpudirect-tcpx": frozenset({"Simple"})}
"""Technologies that carry fewer: EFA v1 does not deliver 128 bytes in one piece (aws-ofi-nccl leaves LL128
out there), and Google's settings for TCPX allow Simple alone.
"""
OVERLAPPED = frozenset({"gpudirect-tcpx", "ethernet"})
"""Technologies whose CPU threads keep many messages in flight, so that latency runs beside the sending."""
SHARES = {"infiniband": 0.965, "roce": 0.945, "efa": 0.95, "slingshot": 0.92, "omni-path": 0.9, "tcp": 0.6}
LATENCIES = {"infiniband": 0.0, "roce": 3e-6, "efa": 15e-6, "slingshot": 5e-6, "omni-path": 3e-6, "tcp": 50e-6}
SOCKET_RATE = 5.4e9
SOCKETS = Cited(
    "stack/nccl",
    "socket fall-back",
    "aws-ofi-nccl issue 803: 5.4 GB/s a node without the plugin, 122.6 with it",
    "https://github.com/aws/aws-ofi-nccl/issues/803",
    "2026-11-20",
)
STAGED = Figure(
    0.5, "1", Assumed("scale_out.gpudirect_rdma", "without it every byte passes the accelerator's slot twice")
)


@dataclass(frozen=True, slots=True)
class Network:
    """One NIC's line rate (B/s), the share of it that is reached, and what a crossing adds in seconds."""

    line: float
    share: Figure
    latency: Figure
    protocols: frozenset[str]
    overlapped: bool


def network_of(fabric: ScaleOut) -> Network:
    """How the fabric carries collectives, by its technology and its plugin."""
    entry = fabric.technology
    line = fabric.nic_bandwidth.value
    if falls_back(fabric):
        rate = min(1.0, SOCKET_RATE / (line * fabric.nics_per_node))
        latency = Figure(LATENCIES["tcp"], "s", SOCKETS)
        return Network(line, Figure(rate, "1", SOCKETS), latency, SOME_PROTOCOLS["gpudirect-tcpx"], overlapped=True)
    share = _known(fabric, "ring", SHARES.get(entry.family, 0.9), "1", "what this kind of network usually carries")
    if not fabric.gpudirect_rdma and entry.rdma:
        share = Figure(share.value * STAGED.value, "1", STAGED.origin)
    return Network(
        line,
        share,
        _known(fabric, "latency", LATENCIES.get(entry.family, 5e-6), "s", "what a crossing of such a network adds"),
        protocols=SOME_PROTOCOLS.get(entry.id, ALL_PROTOCOLS),
        overlapped=entry.id in OVERLAPPED,
    )


def falls_back(fabric: ScaleOut) -> bool:
    """Whether the library finds no way to the NICs but the kernel's sockets.

    That is so where a proprietary technology has no plugin, or one that belongs to another.
    """
    entry, plugin = fabric.technology, fabric.collective_plugin
    if not entry.proprietary or plugin is None:
        return False
    return plugin in STRANGERS or (bool(entry.plugins) and plugin not in entry.plugins)


def _known(fabric: ScaleOut, name: str, otherwise: float, unit: str, why: str) -> Figure:
    figure = fabric.technology.achievable.get(name)
    origin: Origin = Assumed(f"{fabric.technology.id}.{name}", why)
    return figure or Figure(otherwise, unit, origin)
