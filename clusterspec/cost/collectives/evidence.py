"""The networks and scale-up domains for which published collective measurements exist, and the part of a prediction
without any.
"""

from __future__ import annotations

from clusterspec.cluster.model import Cluster

MEASURED_FABRICS = frozenset(
    {
        ("efa-v1", 100),
        ("efa-v2", 100),
        ("efa-v3", 200),
        ("efa-v4", 400),
        ("gcp-roce", 400),
        ("gpudirect-tcpx", 200),
        ("gpudirect-tcpxo", 200),
        ("infiniband-hdr", 200),
        ("infiniband-ndr", 400),
        ("roce-v2", 100),
        ("roce-v2", 200),
        ("roce-v2", 400),
        ("slingshot-11", 200),
    }
)
"""Networks with NIC line rates (Gb/s per direction) for which predictions are compared with published collectives
across nodes, listed in ``tests/accuracy/collective_series.csv``.
"""
MEASURED_DOMAINS = frozenset(
    {"gaudi2-scale-up", "pcie-5", "nvlink-3", "nvlink-4", "nvlink-5", "xgmi-mi300x", "xgmi-mi355x"}
)
"""Scale-up interconnects for which predictions are compared with published collectives, listed in the same table."""


def unmeasured_part(cluster: Cluster, tier: str) -> str:
    """The part of a tier for which no measurement is published; empty if there is one, or if the spec states
    its own.
    """
    fabric = cluster.scale_out
    part = "network" if tier == "scale-out" else None
    if any(share.part == part if part else share.tier == tier for share in cluster.measured):
        return ""
    if tier == "scale-out" and fabric is not None:
        rate = round(fabric.nic_bandwidth.value * 8 / 1e9)
        if (fabric.technology.id, rate) in MEASURED_FABRICS:
            return ""
        what = f"collectives over NICs of {rate} Gb/s on {fabric.technology.name}"
    else:
        entry = cluster.scale_up.interconnect
        if entry is not None and entry.id in MEASURED_DOMAINS:
            return ""
        what = f"collectives over {entry.name if entry else 'the links inside a node'}"
    return (
        f"no published measurement of {what} is compared with predictions; "
        "measure on sound nodes, run `clusterspec diagnose --write`, and export again"
    )
