"""Assumed shares and latencies of links and networks whose catalog entries state none."""

from __future__ import annotations

from clusterspec.cost.constants import assumed, cited
from clusterspec.origin import Cited

LINKS = "links"
RING = assumed(
    LINKS, "ring", 0.8, "rings reach 0.70 to 0.82 of NVLink and xGMI, 0.9 and more of ICI and Gaudi, by their entries"
)
PAIR = assumed(LINKS, "pair", 0.75, "two accelerators of a mesh share one link: 0.745 of it on MI300X")
EXCHANGE = assumed(
    LINKS,
    "exchange over ring",
    0.95,
    "all-to-alls of 512 MiB over 8 ranks reach 0.93 to 0.97 of rings on A100, H100 and B200, the copy of the own part"
    " apart (nccl-tests, aiconfigurator), and 0.89 on MI355X",
)
REDUCTION = assumed(LINKS, "reduction", 0.6, "reduction in NVSwitch reaches 0.49 to 0.69 of NVLink 4 and 5")
REDUCTION_RANKS = assumed(LINKS, "reduction.ranks", 5, "SHARP gains from five ranks on NVLink 4, six on NVLink 5")
REDUCTION_CHANNELS = assumed(LINKS, "reduction.channels", 32, "as NVLink 5 between domains")
HOST = assumed(LINKS, "pcie", 0.76, "NCCL expects 12 of the 15.75 GB/s of a PCIe 3 x16 slot")
NETWORKS = "networks"
RING_BETWEEN = assumed(NETWORKS, "ring", 0.9, "by judgment, the lowest share of the families with RDMA")
"""Share of line rate that rings achieve, where an entry has no figure."""
LATENCY = assumed(NETWORKS, "latency", 5e-6, "by judgment, somewhat above RoCE", "s")
"""Seconds that one crossing adds to the network hop of NCCL, where an entry has no figure."""
WITHOUT_DIRECT = assumed(
    NETWORKS, "without gpudirect", 0.5, "without GPUDirect RDMA every byte crosses the accelerator's slot twice"
)
SOCKETS = Cited(
    "stack/nccl",
    "socket fall-back",
    "aws-ofi-nccl issue 803: 5.4 GB/s per node without the plugin, 122.6 with it",
    "https://github.com/aws/aws-ofi-nccl/issues/803",
    "2026-11-20",
)
SOCKET_RATE = cited(NETWORKS, "sockets", 5.4e9, SOCKETS, "B/s")
SOCKET_LATENCY = assumed(NETWORKS, "sockets.latency", 50e-6, "as the entry of Ethernet with TCP sockets", "s")
