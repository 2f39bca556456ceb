"""How much network an accelerator has, beside what its kind usually has."""

from __future__ import annotations

from clusterspec.catalog.entries import Accelerator
from clusterspec.rules.facts import Facts
from clusterspec.rules.slips import slipped

ENOUGH = 0.5
"""Of the usual NIC rate: ZeRO-3 at half of it is reported as workable, below as unusable (DeepSpeed issue 2928)."""


def usual_network(accelerator: Accelerator) -> float | None:
    """B/s per direction of scale-out that one accelerator usually has."""
    if accelerator.nic_bandwidth is None:
        return None
    return accelerator.nic_bandwidth.value * (accelerator.nics_per_accelerator or 1)


def starved(facts: Facts) -> bool:
    """Whether training goes over several domains with less than half of the usual network an accelerator."""
    cluster, fabric = facts.cluster, facts.scale_out
    if facts.training is None or cluster is None or fabric is None or cluster.accelerators <= cluster.scale_up.domain:
        return False
    usual, share = usual_network(cluster.accelerator), cluster.nic_share or 0.0
    return usual is not None and not slipped(facts, "nic") and 0 < share < ENOUGH * usual
