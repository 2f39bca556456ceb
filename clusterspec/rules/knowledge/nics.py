"""The NICs of a node, compared with the usual NICs of its accelerators and the NICs of its cloud instance."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator, Platform
from clusterspec.cluster.model import Cluster
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units.display import agrees_within

ROUNDED = 0.02
"""Relative tolerance of totals: data sheets and specs are rounded."""
WORKABLE = 0.5
"""Share of the usual NIC rate: users report ZeRO-3 at half of it as workable, below as unusable (DeepSpeed
issue 2928).
"""


PER_FLOP = 50e9 / 989.4e12
"""Network bytes per dense bf16 FLOP: a DGX H100 has 50 GB/s for 989 TFLOP/s (data sheet).

Earlier accelerators were sold with a higher ratio, which their training did not need; later ones have a lower one.
"""


def usual_network(accelerator: Accelerator) -> float | None:
    """Usual scale-out bandwidth per accelerator in B/s per direction."""
    if accelerator.nic_bandwidth is None:
        return None
    return accelerator.nic_bandwidth.value * (accelerator.nics_per_accelerator or 1)


def network_of_peak(accelerator: Accelerator) -> float | None:
    """Scale-out bandwidth per accelerator, in B/s per direction, that suits its peak: the usual one, limited to
    `PER_FLOP` times the peak.

    A part with a fifth of the peak needs a fifth of the bandwidth.
    """
    sold = usual_network(accelerator)
    if sold is None:
        return None
    peak = accelerator.peaks.get("bf16") or accelerator.peaks.get("fp16")
    return min(sold, PER_FLOP * peak.value) if peak else sold


def is_starved(cluster: Cluster, deviations: Deviations) -> bool:
    """Whether a job over several domains has less than `WORKABLE` of the usual network bandwidth per accelerator."""
    if cluster.scale_out is None or cluster.nodes < 2 or cluster.accelerators <= cluster.scale_up.domain:
        return False
    usual, share = network_of_peak(cluster.accelerator), cluster.nic_bandwidth_per_accelerator or 0.0
    return usual is not None and not deviations.has_any_of("nic") and 0 < share < WORKABLE * usual


def includes_frontend(platform: Platform | None, cluster: Cluster | None, written: ScaleOutSpec | None) -> bool:
    """Whether the stated fabric bandwidth equals the sum of the instance's fabric and frontend."""
    fabric = cluster.scale_out if cluster else None
    if platform is None or fabric is None or written is None:
        return False
    if written.nics_per_node is None and written.nic_bandwidth is None:
        return False
    if platform.nics_per_node is None or platform.nic_bandwidth is None or platform.frontend_bandwidth is None:
        return False
    frontend = (platform.frontend_nics or 1) * platform.frontend_bandwidth.value
    both = platform.nics_per_node * platform.nic_bandwidth.value + frontend
    return agrees_within(fabric.node_bandwidth, both, ROUNDED)
