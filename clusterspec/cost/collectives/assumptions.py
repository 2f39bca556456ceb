"""What is taken of links and networks where their entries state no achieved share."""

from __future__ import annotations

from clusterspec.cost.constants import assumed, cited
from clusterspec.origin import Cited

LINKS = "links"
RING = assumed(
    LINKS, "ring", 0.8, "rings reach 0.70 to 0.82 of NVLink and xGMI, 0.9 and more of ICI and Gaudi, by their entries"
)
PAIR = assumed(LINKS, "pair", 0.75, "two accelerators of a mesh share one link: 0.745 of it on MI300X")
EXCHANGE = assumed(
    LINKS, "exchange over ring", 0.9, "direct exchanges reach 0.672 of the line on MI355X, where rings reach 0.757"
)
REDUCTION = assumed(LINKS, "reduction", 0.6, "reduction in NVSwitch reaches 0.49 to 0.69 of NVLink 4 and 5")
REDUCTION_RANKS = assumed(LINKS, "reduction.ranks", 5, "SHARP gains from five ranks on NVLink 4, six on NVLink 5")
HOST = assumed(LINKS, "pcie", 0.76, "NCCL expects 12 of the 15.75 GB/s of a PCIe 3 x16 slot")
NETWORKS = "networks"
SHARES = {
    "infiniband": assumed(NETWORKS, "infiniband.ring", 0.965, "as the entries of EDR to XDR"),
    "roce": assumed(NETWORKS, "roce.ring", 0.945, "as the entry of RoCE v2"),
    "efa": assumed(NETWORKS, "efa.ring", 0.95, "the middle of the entries of EFA, 0.9 to 0.955"),
    "slingshot": assumed(NETWORKS, "slingshot.ring", 0.92, "by judgment, between RoCE and Omni-Path"),
    "omni-path": assumed(NETWORKS, "omni-path.ring", 0.9, "by judgment: the host's processors drive it"),
    "tcp": assumed(NETWORKS, "tcp.ring", 0.6, "by judgment, below the 0.71 of GPUDirect-TCPX"),
}
"""Share of the line rate that rings reach, by family, where an entry has no figure of its own."""
OTHER_SHARE = assumed(NETWORKS, "other.ring", 0.9, "by judgment, the least of the families whose NICs move the data")
LATENCIES = {
    "infiniband": assumed(NETWORKS, "infiniband.latency", 0.0, "NCCL's latencies of the network are those of it", "s"),
    "roce": assumed(NETWORKS, "roce.latency", 3e-6, "as the entry of RoCE v2", "s"),
    "efa": assumed(NETWORKS, "efa.latency", 15e-6, "as the entry of EFA v3; those of others state 10 to 75 us", "s"),
    "slingshot": assumed(NETWORKS, "slingshot.latency", 5e-6, "by judgment, somewhat above RoCE", "s"),
    "omni-path": assumed(NETWORKS, "omni-path.latency", 3e-6, "by judgment, as RoCE", "s"),
    "tcp": assumed(NETWORKS, "tcp.latency", 50e-6, "near the 45 us of GPUDirect-TCPXO", "s"),
}
"""Seconds that one crossing adds to the network hop of NCCL, by family, likewise."""
OTHER_LATENCY = assumed(NETWORKS, "other.latency", 5e-6, "by judgment, somewhat above RoCE", "s")
WITHOUT_DIRECT = assumed(
    NETWORKS, "without gpudirect", 0.5, "without GPUDirect RDMA every byte passes the accelerator's slot twice"
)
SOCKETS = Cited(
    "stack/nccl",
    "socket fall-back",
    "aws-ofi-nccl issue 803: 5.4 GB/s a node without the plugin, 122.6 with it",
    "https://github.com/aws/aws-ofi-nccl/issues/803",
    "2026-11-20",
)
SOCKET_RATE = cited(NETWORKS, "sockets", 5.4e9, SOCKETS, "B/s")
