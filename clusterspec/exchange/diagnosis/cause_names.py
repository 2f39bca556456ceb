"""The causes that a diagnosis can report, and their meaning."""

from __future__ import annotations

MEANINGS = {
    "socket-fall-back": "The library uses TCP sockets, not RDMA.",
    "plugin-missing": "The network needs a plugin of the collective library, and it is not loaded.",
    "one-nic": "One or a few NICs of each node are used, and the bandwidth corresponds to that number.",
    "few-nics": "The log names fewer NICs than a node has.",
    "gpudirect-off": "Data passes host memory between accelerator and NIC.",
    "acs": "Access control in PCIe bridges sends traffic between devices through the CPU.",
    "no-nvls": "The switches of the scale-up domain do not reduce (NVLink SHARP).",
    "small-messages": "The log ends below the sizes at which bandwidth, not latency, limits the time.",
    "wrong-pcie-generation": "The slots run at an earlier generation than the spec states.",
    "oversubscribed-level": "A level of the fabric is more oversubscribed than the spec states.",
    "straggler": "One size is far slower than its neighbors: an intermittent delay.",
    "duplex-misreading": "The sum of both directions was stated as one direction.",
    "peer-access-off": "Peer access between accelerators is turned off.",
    "wrong-results": "The benchmark found wrong values.",
}
"""What a cause means, by its name."""
